//! Applies approval rules to the calls of earlier runs, without making a call. These rules decide whether a call runs, is
//! refused, or waits for a person. A *standing approval* is one that a person gave in advance for all calls that match it.

use std::collections::BTreeMap;

use art_agent::{Run, RunEvent, ToolCall};
use art_core::error::ToolErrorCode;
use art_core::text::truncate;
use art_store::{RunFilter, RunRecord};
use art_tools::{ApprovalPolicy, CallScope, EnabledTools, Verdict};
use serde::Serialize;

use crate::drive::work::files::insert_files;
use crate::error::{RuntimeError, in_one_line};
use crate::journal::read_events;
use crate::runtime::Runtime;
use crate::standing::StandingApprovals;

/// Maximum length of the arguments of a call in a preview, in characters.
const MAX_ARGUMENT_CHARS: usize = 1_000;

/// The decisions of rules about the calls of earlier runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalPreview {
    /// Number of the selected runs, including those that cannot be read.
    pub runs: usize,
    /// The runs that cannot be read, with the reason.
    pub unreadable: Vec<(String, String)>,
    /// The calls, those of the newest run first.
    pub calls: Vec<PreviewedCall>,
}

/// A call of an earlier run, and the decision of the rules about it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PreviewedCall {
    /// Identifier of the run.
    pub trace_id: String,
    /// Identifier of the step of the plan.
    pub item_id: String,
    /// Name of the tool.
    pub tool: String,
    /// The arguments as JSON, cut after 1,000 characters. Files are named, not shown.
    pub arguments: String,
    /// Whether the tool was called.
    pub ran: bool,
    /// Whether a person was asked before the call.
    pub was_asked: bool,
    /// The decision of the rules.
    pub now: PreviewedVerdict,
}

/// The decision of rules about a call of an earlier run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum PreviewedVerdict {
    /// The call would run.
    Allowed {
        /// Identifier of the standing approval that allows the call, if a person would be asked otherwise.
        #[serde(rename = "standingApproval", skip_serializing_if = "Option::is_none")]
        standing_approval: Option<String>,
    },
    /// A person would be asked.
    Asked {
        /// Why.
        reason: String,
    },
    /// The call would be refused.
    Refused {
        /// Why.
        reason: String,
    },
    /// The call would fail before the rules decide about it, for example because its tool was removed.
    Invalid {
        /// Why.
        reason: String,
    },
}

impl Runtime {
    /// Returns what `policy`, together with the standing approvals, decides about the calls of the runs that `filter` selects.
    /// Reads the journals, and calls nothing.
    ///
    /// # Errors
    /// Fails if the runs cannot be listed. A run whose journal cannot be read is listed with the reason.
    pub async fn preview_approval(
        &self,
        policy: &ApprovalPolicy,
        filter: RunFilter,
    ) -> Result<ApprovalPreview, RuntimeError> {
        let mut preview = ApprovalPreview::default();
        for run in self.store.list_runs(filter).await? {
            preview.runs += 1;
            match self.preview_run(policy, &run).await {
                Ok(calls) => preview.calls.extend(calls),
                Err(error) => preview.unreadable.push((run.trace_id, in_one_line(&error))),
            }
        }
        Ok(preview)
    }

    async fn preview_run(
        &self,
        policy: &ApprovalPolicy,
        record: &RunRecord,
    ) -> Result<Vec<PreviewedCall>, RuntimeError> {
        let events = read_events(self.store.as_ref(), &record.trace_id).await?;
        let damaged = |error: &dyn std::fmt::Display| {
            RuntimeError::Damaged(format!("the run cannot be restored from its journal: {error}"))
        };
        let Some((first, rest)) = events.split_first() else {
            return Ok(Vec::new());
        };
        let mut run = Run::restore(first).map_err(|error| damaged(&error))?;
        let mut calls = RunCalls::default();
        for event in rest {
            if let Some((call, fate)) = recorded_call(&run, event) {
                let id = call.call.call_id.clone();
                // The first event about a call adds it to the list; later events only add what happened to it.
                if !calls.add_fate(&id, fate) {
                    calls.add(&id, self.preview_call(policy, &run, call).await);
                    calls.add_fate(&id, fate);
                }
            }
            run.apply_recorded(event).map_err(|error| damaged(&error))?;
        }
        Ok(calls.list)
    }

    /// Returns a call with what the rules decide about it. The call is checked as if it was made now, but its tool counts as
    /// enabled for the thread.
    async fn preview_call(&self, policy: &ApprovalPolicy, run: &Run, call: ToolCall) -> PreviewedCall {
        let ToolCall {
            item_id,
            mut call,
            files,
            ..
        } = call;
        let (tool, arguments) = (call.tool_name.clone(), call.arguments.to_string());
        let props = &run.started_with().props;
        let inserted = insert_files(self.store.as_ref(), &props.thread_id, &mut call.arguments, &files).await;
        let scope = CallScope {
            thread_id: props.thread_id.clone(),
            trace_id: run.trace_id().to_owned(),
            user_id: props.user_id.clone(),
            enabled_tools: EnabledTools::named([tool.clone()]),
            ..CallScope::default()
        };
        let now = match inserted {
            Ok(()) => self.admit_and_decide(policy, call, &scope).await,
            Err(reason) => PreviewedVerdict::Invalid { reason },
        };
        PreviewedCall {
            trace_id: run.trace_id().to_owned(),
            item_id,
            tool,
            arguments: truncate(&arguments, MAX_ARGUMENT_CHARS),
            ran: false,
            was_asked: false,
            now,
        }
    }

    /// Makes all other checks of a call first, and then returns what the rules decide about it.
    async fn admit_and_decide(
        &self,
        policy: &ApprovalPolicy,
        call: art_core::tool::ParsedToolCall,
        scope: &CallScope,
    ) -> PreviewedVerdict {
        let admitted = match self.tools.admit(call, scope).await {
            Ok(admitted) => admitted,
            Err(report) => {
                let reason = report.result.error.unwrap_or_default();
                return PreviewedVerdict::Invalid { reason };
            }
        };
        let allowed = |standing_approval| PreviewedVerdict::Allowed { standing_approval };
        match policy.verdict(admitted.schema(), &admitted.call().arguments) {
            Verdict::Run => allowed(None),
            Verdict::Refuse { reason } => PreviewedVerdict::Refused { reason },
            Verdict::Ask { reason } => {
                let approval =
                    StandingApprovals::of(&self.config).find_for_admitted(&admitted, scope.user_id.as_deref());
                match approval {
                    Some(id) => allowed(Some(id)),
                    None => PreviewedVerdict::Asked { reason },
                }
            }
        }
    }
}

/// What happened to a call, as one event records it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecordedFate {
    /// The tool was called.
    Ran,
    /// A person was asked.
    Asked,
    /// The call was refused.
    Refused,
}

/// The calls of a run, each once, though several events may be about the same call.
#[derive(Default)]
struct RunCalls {
    list: Vec<PreviewedCall>,
    /// Positions in the list, by the identifiers of the calls.
    positions: BTreeMap<String, usize>,
}

impl RunCalls {
    /// Adds what happened to a listed call. Returns whether the call is listed.
    fn add_fate(&mut self, id: &str, fate: RecordedFate) -> bool {
        let position = self.positions.get(id).copied();
        let Some(call) = position.and_then(|position| self.list.get_mut(position)) else {
            return false;
        };
        call.ran |= fate == RecordedFate::Ran;
        call.was_asked |= fate == RecordedFate::Asked;
        true
    }

    fn add(&mut self, id: &str, call: PreviewedCall) {
        self.positions.insert(id.to_owned(), self.list.len());
        self.list.push(call);
    }
}

/// Returns the call that an event records as made, suspended or refused, and which of the three; or `None` for another event.
/// `run` is the run as it was before the event.
fn recorded_call(run: &Run, event: &RunEvent) -> Option<(ToolCall, RecordedFate)> {
    match event {
        RunEvent::ToolCalled { action, call_id, .. } => Some((run.open_call(*action, call_id)?, RecordedFate::Ran)),
        RunEvent::CallSuspended { action, suspension, .. } => {
            Some((run.open_call(*action, &suspension.call.call_id)?, RecordedFate::Asked))
        }
        RunEvent::ToolEnded { action, end, .. } => {
            let result = &end.result;
            let is_refused = result.metadata.not_run && result.code == Some(ToolErrorCode::PermissionDenied);
            let call = run.open_call(*action, &result.call_id).filter(|_| is_refused)?;
            Some((call, RecordedFate::Refused))
        }
        _ => None,
    }
}
