//! Finds out from recorded runs what the calls of a tool did under its grants (the rights that an operator gave to the tool), and
//! what these calls were denied.

use std::collections::HashMap;

use art_agent::RunEvent;
use art_core::capability::ObservedCalls;
use art_core::suspension::SuspensionCause;
use art_store::{RunFilter, Store};

use crate::error::RuntimeError;
use crate::recording::Recording;

/// The results of [`observe_runs`] for a tool.
#[derive(Clone, Debug, Default)]
pub struct ObservedRuns {
    /// Uses and denials of the tool's calls.
    pub observed: ObservedCalls,
    /// Number of runs that were read.
    pub runs: usize,
    /// Number of runs that could not be read.
    pub unreadable: usize,
}

/// Reads what the calls of `tool` used and were denied in the runs that `filter` selects. `digest` is that of its component:
/// calls that ran another version of the component are left out.
///
/// # Errors
/// Fails if the store cannot be read.
pub async fn observe_runs(
    store: &dyn Store,
    filter: RunFilter,
    tool: &str,
    digest: &str,
) -> Result<ObservedRuns, RuntimeError> {
    let mut found = ObservedRuns::default();
    for run in store.list_runs(filter).await? {
        let read = Recording::read(store, &run.trace_id).await;
        match read.and_then(|recording| observe(&recording, tool, digest, &mut found.observed)) {
            Ok(()) => found.runs += 1,
            Err(error) => {
                tracing::warn!(run = run.trace_id, %error, "the run cannot be read");
                found.unreadable += 1;
            }
        }
    }
    Ok(found)
}

/// Adds to `observed` what the calls of `tool` in a run used and were denied.
fn observe(recording: &Recording, tool: &str, digest: &str, observed: &mut ObservedCalls) -> Result<(), RuntimeError> {
    // A call that was denied before the tool ran has no digest and is counted for each version of the component.
    let is_counted = |call_digest: Option<&str>| call_digest.is_none_or(|call_digest| call_digest == digest);
    let mut digests_by_call = HashMap::new();
    for event in recording.events() {
        match event? {
            RunEvent::ToolCalled {
                call_id, tool_digest, ..
            } => drop(digests_by_call.insert(call_id, tool_digest)),
            RunEvent::CallSuspended { suspension, .. } if suspension.call.tool_name == tool => {
                if let SuspensionCause::Grant { denials } = &suspension.cause
                    && is_counted(suspension.tool_digest.as_deref())
                {
                    observed.add_denials(denials);
                }
            }
            RunEvent::ToolEnded { end, .. } if end.result.tool_name == tool => {
                let call_digest = digests_by_call.get(&end.result.call_id).and_then(Option::as_deref);
                if is_counted(call_digest) {
                    observed.add(&end.uses, &end.result.metadata.denials);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
