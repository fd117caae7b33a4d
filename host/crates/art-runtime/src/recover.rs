//! Resumes, cancels or ends runs that an earlier process of the host left unfinished. What such a run had done is not done again
//! (contract B33); the calls that were in progress are made again, or end with an unknown outcome (contract P86).
//!
//! A run is *rebuilt* from the events of its journal. Then more events are applied to it and added to its log, which writes them
//! to the journal. Only the host that has the *lease* of the run's thread may do this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use art_agent::{CallEnd, Run, RunEvent, RunStart, ToolCall};
use art_core::agent::RunStatus;
use art_core::error::ToolErrorCode;
use art_core::outcome::EndingKind;
use art_core::tool::ToolResult;
use art_core::usage::ToolUsage;
use art_sandbox::Sandbox;
use art_store::{Commit, FailPoint, Lease, Owner, RunEnd, RunFilter, RunRecord, RunState, Store, StoreError};
use art_tools::ToolRegistry;
use serde_json::json;
use tokio::time::{Instant, sleep};

use crate::decisions;
use crate::drive::clock::now;
use crate::drive::lease::ThreadLease;
use crate::drive::log::RunLog;
use crate::drive::{CallUsage, UserRun};
use crate::error::RuntimeError;
use crate::journal::read_events;
use crate::runtime::Runtime;

/// Maximum time to wait until a host that has suspended a run releases the lease of the run's thread.
const MAX_RELEASE_WAIT: Duration = Duration::from_secs(2);
/// Interval at which a waiting host checks whether the lease is released.
const RELEASE_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// The reason for the end of a run whose host stopped.
const HOST_STOPPED: &str = "the host stopped before the run was finished";

/// The reason for the end of a run that an older version of the host began. The journals of that version do not record enough to
/// resume a run.
const OLDER_VERSION: &str = "an earlier version of the host began the run, so it cannot go on; ask again";

impl Runtime {
    /// Returns the runs of this owner that an earlier process of the host left unfinished and on which no process works now, the
    /// most recently started first.
    ///
    /// # Errors
    /// Fails if the store cannot be read.
    pub async fn interrupted_runs(&self, owner: Owner) -> Result<Vec<RunRecord>, RuntimeError> {
        let filter = RunFilter {
            owner,
            abandoned: true,
            ..RunFilter::default()
        };
        Ok(self.store.list_runs(filter).await?)
    }
}

impl Runtime {
    /// Cancels a run that waits for a decision or was interrupted. Calls that had ended keep their results. `run` is the
    /// identifier of the run, with the owner of its conversation if the conversation belongs to a particular person.
    ///
    /// # Errors
    /// Fails if the owner has no such run, the run has ended, another process works on it, or the store fails.
    pub async fn cancel(&self, run: impl Into<UserRun>) -> Result<(), RuntimeError> {
        let UserRun { trace_id, owner } = run.into();
        let no_run = || RuntimeError::NoRun { id: trace_id.clone() };
        let found = self.store.find_run(&trace_id, &owner).await?.ok_or_else(no_run)?;
        check_unfinished(&found)?;
        let lease = acquire_lease(self, &found).await?;
        let ended = cancel_under_lease(self, &trace_id, lease.lease()).await;
        lease.release().await;
        ended
    }
}

/// Acquires the lease of a run's thread. If the run is suspended, waits for a moment until the host that suspended the run has
/// released the lease.
async fn acquire_lease(runtime: &Runtime, run: &RunRecord) -> Result<ThreadLease, StoreError> {
    let start = Instant::now();
    loop {
        match ThreadLease::acquire(runtime, &run.thread_id).await {
            Err(StoreError::ThreadBusy { .. })
                if run.status == RunState::Suspended && start.elapsed() < MAX_RELEASE_WAIT =>
            {
                sleep(RELEASE_CHECK_INTERVAL).await;
            }
            acquired => return acquired,
        }
    }
}

async fn cancel_under_lease(runtime: &Runtime, trace_id: &str, lease: &Lease) -> Result<(), RuntimeError> {
    let record = runtime.store.get_run(trace_id).await?;
    let record = record.ok_or_else(|| RuntimeError::NoRun {
        id: trace_id.to_owned(),
    })?;
    check_unfinished(&record)?;
    let RebuiltRun { mut run, mut log, .. } = rebuild(&runtime.store, &record, lease).await?;
    check_suspension_did_not_end_run(&record, &run)?;
    end_unrepeatable_calls(
        &mut run,
        &mut log,
        runtime.tools.registry(),
        "the run was cancelled while the tool ran",
    )?;
    if run.finished().is_none() {
        let cancelled = RunEvent::CancelRequested {
            at: now(),
            interrupted: Vec::new(),
        };
        apply(&mut run, &mut log, &cancelled)?;
    }
    log.commit(&run).await
}

/// An unfinished run that this host goes on with.
pub(crate) struct TakenOverRun {
    pub(crate) run: Run,
    /// The log, which continues after the last event.
    pub(crate) log: RunLog,
    /// The lease of its thread.
    pub(crate) lease: ThreadLease,
    /// The resources that each ended tool call used.
    pub(crate) call_usages: Vec<CallUsage>,
}

/// Takes over an unfinished run: acquires the lease of its thread, and rebuilds the run. The returned log contains events that
/// are not yet committed.
///
/// # Errors
/// Fails if the owner has no such run, the run has ended, another process works on it, its model is not set up, a newer
/// version of the host began it, or the store cannot be read.
pub(crate) async fn take_over(runtime: &Runtime, run: &UserRun) -> Result<TakenOverRun, RuntimeError> {
    let UserRun { trace_id, owner } = run;
    let store = &runtime.store;
    let no_run = || RuntimeError::NoRun { id: trace_id.clone() };
    let found = store.find_run(trace_id, owner).await?.ok_or_else(no_run)?;
    check_unfinished(&found)?;
    let lease = acquire_lease(runtime, &found).await?;
    // Tests of crashes stop the process here.
    FailPoint::TakenOver.reach();
    resume_under_lease(runtime, trace_id, lease).await
}

async fn resume_under_lease(
    runtime: &Runtime,
    trace_id: &str,
    lease: ThreadLease,
) -> Result<TakenOverRun, RuntimeError> {
    // Read again: the host that had the lease may have ended the run.
    let record = runtime.store.get_run(trace_id).await?;
    let record = record.ok_or_else(|| RuntimeError::NoRun {
        id: trace_id.to_owned(),
    })?;
    check_unfinished(&record)?;
    let RebuiltRun {
        mut run,
        mut log,
        mut call_usages,
    } = rebuild(&runtime.store, &record, lease.lease()).await?;
    check_suspension_did_not_end_run(&record, &run)?;
    check_resumable(runtime, &run)?;
    // This also stores the default decision about each suspended call that no person decided in time.
    let decided = decisions::load_ready_decisions(runtime.store.as_ref(), trace_id).await?;
    // A run that still waits for its decisions stays suspended, so no event is added.
    if run.waits_for_decision() && decided.is_empty() {
        return Ok(TakenOverRun {
            run,
            log,
            lease,
            call_usages,
        });
    }
    if run.started_with().version < RunStart::VERSION && run.finished().is_none() {
        let (at, reason) = (now(), OLDER_VERSION.to_owned());
        apply(&mut run, &mut log, &RunEvent::HostFailed { at, reason })?;
    }
    let registry = runtime.tools.registry();
    call_usages.extend(end_unrepeatable_calls(
        &mut run,
        &mut log,
        registry,
        "the host stopped while the tool ran",
    )?);
    if run.finished().is_none() {
        // From here on, the engine and the fuel prices of this host decide how much fuel calls use.
        let resumed = RunEvent::Resumed {
            at: now(),
            fuel_basis: Sandbox::fuel_basis().to_owned(),
        };
        apply(&mut run, &mut log, &resumed)?;
        for (suspension_id, decision) in &decided {
            if run.finished().is_none() {
                apply(&mut run, &mut log, &decisions::decided_event(suspension_id, decision))?;
            }
        }
    }
    Ok(TakenOverRun {
        run,
        log,
        lease,
        call_usages,
    })
}

/// Fails if this host cannot resume a run, because the model of the run is not set up or a newer version of the host began the
/// run. No event is applied before this check.
fn check_resumable(runtime: &Runtime, run: &Run) -> Result<(), RuntimeError> {
    let start = run.started_with();
    if start.version > RunStart::VERSION {
        return Err(RuntimeError::Damaged(format!(
            "the journal of run `{}` has version `{}`, this host supports up to `{}`; use a newer art",
            run.trace_id(),
            start.version,
            RunStart::VERSION
        )));
    }
    // A run that was started with a tool call in place of a question asks no model.
    if start.call.is_some() {
        return Ok(());
    }
    match runtime.engine.describe(&start.model)?.problem {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }
}

/// Ends the unfinished runs of a thread, because another question is asked in the thread. Suspended runs stay as they are.
/// `lease` is that of the thread, so no host works on these runs. Calls that had ended keep their results. A run whose journal
/// cannot be used is ended without another event.
///
/// # Errors
/// Fails if the store fails.
pub(crate) async fn end_unfinished_runs(runtime: &Runtime, thread_id: &str, lease: &Lease) -> Result<(), RuntimeError> {
    let filter = RunFilter {
        thread_id: Some(thread_id.to_owned()),
        status: Some(RunState::Running),
        ..RunFilter::default()
    };
    // End the oldest run first, so that the thread keeps the state of the newest.
    for record in runtime.store.list_runs(filter).await?.into_iter().rev() {
        if let Err(error) = end_unfinished_run(runtime, &record, lease).await {
            if error.is_lost_lease() {
                return Err(error);
            }
            tracing::warn!(run = record.trace_id, %error, "an interrupted run is ended without an event");
            end_without_event(runtime, &record, lease).await?;
        }
    }
    Ok(())
}

async fn end_unfinished_run(runtime: &Runtime, record: &RunRecord, lease: &Lease) -> Result<(), RuntimeError> {
    let RebuiltRun { mut run, mut log, .. } = rebuild(&runtime.store, record, lease).await?;
    end_unrepeatable_calls(
        &mut run,
        &mut log,
        runtime.tools.registry(),
        "the host stopped while the tool ran",
    )?;
    if run.finished().is_none() {
        let (at, reason) = (now(), HOST_STOPPED.to_owned());
        apply(&mut run, &mut log, &RunEvent::HostFailed { at, reason })?;
    }
    log.commit(&run).await
}

async fn end_without_event(runtime: &Runtime, record: &RunRecord, lease: &Lease) -> Result<(), RuntimeError> {
    let commit = Commit {
        trace_id: record.trace_id.clone(),
        lease: lease.clone(),
        expected_last_sequence: record.last_sequence,
        end: Some(RunEnd {
            status: RunStatus::Error,
            summary: json!({"error": HOST_STOPPED}),
        }),
        ..Commit::default()
    };
    runtime.store.commit(commit).await?;
    Ok(())
}

/// Ends those calls in progress that may not be made again, because it is not known whether they took effect and their tools are
/// not repeatable. Each ends with an error, in which `why` says what happened. Returns the usages of these calls.
///
/// # Errors
/// Fails if an event does not fit the run, which only a bug of the host can cause.
pub(crate) fn end_unrepeatable_calls(
    run: &mut Run,
    log: &mut RunLog,
    registry: &ToolRegistry,
    why: &str,
) -> Result<Vec<CallUsage>, RuntimeError> {
    let mut call_usages = Vec::new();
    for call in run.calls_in_progress() {
        // The end of an earlier call in this loop may have ended the run.
        if run.finished().is_none() && !registry.is_repeatable(&call.call.tool_name) {
            apply(run, log, &unknown_outcome_event(&call, why))?;
            call_usages.push(CallUsage {
                item_id: call.item_id,
                tool: call.call.tool_name,
                ending: EndingKind::UnknownOutcome,
                usage: ToolUsage::default(),
                tool_digest: None,
            });
        }
    }
    Ok(call_usages)
}

/// A run that is rebuilt from its journal.
struct RebuiltRun {
    run: Run,
    /// The log, which continues after the last event of the journal.
    log: RunLog,
    /// The resources that each ended tool call used.
    call_usages: Vec<CallUsage>,
}

async fn rebuild(store: &Arc<dyn Store>, record: &RunRecord, lease: &Lease) -> Result<RebuiltRun, RuntimeError> {
    let events = read_events(store.as_ref(), &record.trace_id).await?;
    let damaged = |error| {
        RuntimeError::Damaged(format!(
            "run `{}` cannot be restored from its journal: {error}",
            record.trace_id
        ))
    };
    let run = Run::replay(&events).map_err(damaged)?;
    let log = RunLog::resume(Arc::clone(store), lease.clone(), record, &run).await?;
    let call_usages = usages_of_ended_calls(&events);
    Ok(RebuiltRun { run, log, call_usages })
}

/// Returns the usages of those tool calls that were made and have ended according to `events`, in the order in which they ended.
/// A call that was refused before it was made is left out.
fn usages_of_ended_calls(events: &[RunEvent]) -> Vec<CallUsage> {
    let mut made_calls = BTreeMap::new();
    let mut call_usages = Vec::new();
    for event in events {
        match event {
            RunEvent::ToolCalled {
                call_id,
                item_id,
                tool_digest,
                ..
            } => drop(made_calls.insert(call_id, (item_id, tool_digest))),
            RunEvent::ToolEnded { end, .. } => {
                let made_call = made_calls.get(&end.result.call_id);
                call_usages.extend(made_call.map(|(item_id, tool_digest)| CallUsage {
                    item_id: (*item_id).clone(),
                    tool: end.result.tool_name.clone(),
                    ending: end.ending,
                    usage: end.usage,
                    tool_digest: tool_digest.as_deref().map(Into::into),
                }));
            }
            _ => {}
        }
    }
    call_usages
}

fn apply(run: &mut Run, log: &mut RunLog, event: &RunEvent) -> Result<(), RuntimeError> {
    let effects = run.apply(event).map_err(RuntimeError::internal)?;
    log.add(event, effects)
}

fn check_unfinished(record: &RunRecord) -> Result<(), RuntimeError> {
    if record.status.is_final() {
        return Err(has_ended_error(record));
    }
    Ok(())
}

/// Fails if the suspension of a run was its end, as in the journals of earlier versions of the host. The record of such a run
/// says that it is suspended, but it cannot go on.
fn check_suspension_did_not_end_run(record: &RunRecord, run: &Run) -> Result<(), RuntimeError> {
    if record.status == RunState::Suspended && run.finished().is_some() {
        return Err(has_ended_error(record));
    }
    Ok(())
}

fn has_ended_error(record: &RunRecord) -> RuntimeError {
    RuntimeError::CannotResume {
        id: record.trace_id.clone(),
        status: record.status,
    }
}

/// Returns the event that ends a call with an unknown outcome. `why` says why the outcome is unknown.
fn unknown_outcome_event(call: &ToolCall, why: &str) -> RunEvent {
    let message = format!(
        "it is not known whether `{}` took effect: {why}; find out before you call it again",
        call.call.tool_name
    );
    let result = ToolResult::error(&call.call, ToolErrorCode::UnknownOutcome, message);
    RunEvent::ToolEnded {
        at: now(),
        action: call.action,
        end: Box::new(CallEnd::new(result, EndingKind::UnknownOutcome)),
    }
}
