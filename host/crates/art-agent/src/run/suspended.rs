//! Suspended calls, which wait for the decision of a person, and what follows from the decision. A suspension contains the call
//! and the question to the person. Either the host suspends a call before it is made, because of a rule or a missing grant, or
//! the tool of the call runs and asks the person itself.

use art_core::agent::RunStatus;
use art_core::conversation::MessageRole;
use art_core::error::ToolErrorCode;
use art_core::hitl::Feedback;
use art_core::observation::ObservationType;
use art_core::pes::TodoItemStatus;
use art_core::suspension::{DecidedBy, Decision, REQUEST_USER_INPUT, SuspendedCall, SuspensionCause};
use art_core::tool::{ParsedToolCall, ToolResult};
use art_core::{JsonObject, Timestamp};
use serde_json::{Value, json};

use super::finish::RunEnding;
use super::{OpenAction, Run, WaitingCall};
use crate::action::{ActionId, Approval};
use crate::effect::Outbox;
use crate::report::RunReport;

/// A call that waits for a decision, with the item that makes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenSuspension<'a> {
    /// The plan item that makes the call.
    pub item_id: &'a str,
    /// The call and the question about it.
    pub suspension: &'a SuspendedCall,
    /// Time since which the call waits.
    pub since: Timestamp,
}

impl Run {
    /// Returns the calls that wait for a decision: first the planned calls whose items have not started, then the calls of open
    /// actions, oldest action first.
    #[must_use]
    pub fn suspensions(&self) -> Vec<OpenSuspension<'_>> {
        let batches = self.open_actions.values().filter_map(|open| match open {
            OpenAction::Tools(batch) => Some(batch),
            _ => None,
        });
        let waiting = batches.flat_map(|batch| {
            let calls = batch.calls.iter().filter_map(|call| batch.waiting.get(&call.call_id));
            calls.map(|waiting| (batch.item_id.as_str(), &waiting.suspension, waiting.since))
        });
        let all = self.open_plan_questions().chain(waiting);
        all.map(|(item_id, suspension, since)| OpenSuspension {
            item_id,
            suspension,
            since,
        })
        .collect()
    }

    /// Returns whether no part of the run can continue before a person has decided.
    #[must_use]
    pub fn waits_for_decision(&self) -> bool {
        let only_waits = |open: &OpenAction| match open {
            OpenAction::Tools(batch) => !batch.waiting.is_empty() && batch.made.iter().all(|id| batch.has_result(id)),
            _ => false,
        };
        self.finished().is_none()
            && !self.suspensions().is_empty()
            && self.open_actions.values().all(only_waits)
            && self.ready_calls().is_empty()
    }

    /// Returns the provisional report of a run that can only wait for decisions (contract X6). It stands in for the
    /// answer until a person has decided. Returns `None` if a part of the run can continue.
    #[must_use]
    pub fn waiting_report(&self) -> Option<RunReport> {
        if !self.waits_for_decision() {
            return None;
        }
        let suspensions = self.suspensions();
        let first = suspensions.first()?.suspension.suspension_id.as_str();
        let ids: Vec<_> = suspensions.iter().map(|open| &open.suspension.suspension_id).collect();
        let ui_metadata = json!({"status": "suspended", "suspensionId": first, "suspensionIds": ids});
        let tools: Vec<_> = suspensions
            .iter()
            .map(|open| format!("`{}`", open.suspension.call.tool_name))
            .collect();
        let text = format!("The run waits for a decision about {}.", tools.join(", "));
        let ending = RunEnding::new(RunStatus::Suspended, self.with_result_listing(&text));
        Some(self.report(ending.with_ui_metadata(Some(ui_metadata))))
    }

    /// Finds the call that waits because of this suspension, and returns the action and the identifier of the call. Does not
    /// search the questions about planned calls whose items have not started.
    pub(super) fn find_waiting_call(&self, suspension_id: &str) -> Option<(ActionId, &str)> {
        self.open_actions.iter().find_map(|(action, open)| {
            let OpenAction::Tools(batch) = open else { return None };
            let mut waiting = batch.waiting.iter();
            let (call_id, _) = waiting.find(|(_, waiting)| waiting.suspension.suspension_id == suspension_id)?;
            Some((*action, call_id.as_str()))
        })
    }

    /// Lets a call wait for a decision. Its item waits with it, and other items continue. A call that was made after an approval
    /// may wait again, for another decision (contract P72).
    pub(super) fn suspend_call(&mut self, action: ActionId, suspension: &SuspendedCall, out: &mut Outbox) {
        let since = self.now;
        let Some(batch) = self.batch_mut(action) else { return };
        let (item_id, call_id) = (batch.item_id.clone(), suspension.call.call_id.clone());
        batch.made.remove(&call_id);
        batch.approved.remove(&call_id);
        let waiting = WaitingCall {
            suspension: suspension.clone(),
            since,
        };
        batch.waiting.insert(call_id, waiting);
        self.state.is_paused = true;
        self.set_status(&item_id, TodoItemStatus::Waiting, out);
        observe_suspended(&item_id, suspension, out);
    }

    /// Carries out a decision: the call may be made, or the decision becomes its result.
    pub(super) fn handle_decision(&mut self, suspension_id: &str, decision: &Decision, out: &mut Outbox) {
        if self.decide_about_plan(suspension_id, decision, out) {
            return;
        }
        let found = self.find_waiting_call(suspension_id);
        let Some((action, call_id)) = found.map(|(action, call_id)| (action, call_id.to_owned())) else {
            return;
        };
        let Some(batch) = self.batch_mut(action) else { return };
        let Some(WaitingCall { suspension, since }) = batch.waiting.remove(&call_id) else {
            return;
        };
        let item_id = batch.item_id.clone();
        let item_still_waits = !batch.waiting.is_empty();
        self.state.is_paused = !self.suspensions().is_empty();
        if !item_still_waits {
            self.set_status(&item_id, TodoItemStatus::InProgress, out);
        }
        observe_decision(&item_id, &suspension, decision, out);
        self.add_answer_to_conversation(&suspension, decision, out);
        self.apply_decision(action, suspension, decision, since);
        self.continue_if_batch_ended(action, out);
    }

    /// Lets a call be made if it was approved and is to be made on approval, or else adds the decision as its result.
    pub(super) fn apply_decision(
        &mut self,
        action: ActionId,
        suspension: SuspendedCall,
        decision: &Decision,
        since: Timestamp,
    ) {
        if decision.feedback.approved && suspension.runs_on_approval {
            return self.approve(action, suspension, decision);
        }
        let result = self.decision_as_result(&suspension, decision, since);
        self.note_decided(action, &suspension, &result);
        self.add_result(action, result);
    }

    /// Adds the person's answer to the conversation if the model asked for it with a call of [`REQUEST_USER_INPUT`]
    /// (contract C104).
    fn add_answer_to_conversation(&self, suspension: &SuspendedCall, decision: &Decision, out: &mut Outbox) {
        if suspension.call.tool_name == REQUEST_USER_INPUT
            && let Some(Value::String(answer)) = decision.feedback.answer().filter(|_| decision.feedback.approved)
        {
            let suffix = format!("input:{}", suspension.call.call_id);
            out.add_message(self.run_message(&suffix, MessageRole::User, &answer));
        }
    }

    /// Lets an approved call be made, with the arguments that the person gave if they changed them.
    fn approve(&mut self, action: ActionId, suspension: SuspendedCall, decision: &Decision) {
        let call_id = suspension.call.call_id.clone();
        // If the tool itself asked, it has run once, and running it again counts as another call. A call that was suspended
        // before it was made was counted when it was opened.
        let runs_again = suspension.cause == SuspensionCause::Tool;
        if runs_again && self.usage.tool_calls_opened >= self.config().max_tool_calls {
            let limit = format!(
                "the run made its maximum of {} tool calls",
                self.config().max_tool_calls
            );
            let message = format!("not called: {limit}");
            let mut result = ToolResult::error(&suspension.call, ToolErrorCode::Cancelled, message);
            result.metadata.not_run = true;
            self.record_limit(limit);
            return self.add_result(action, result);
        }
        self.usage.tool_calls_opened += u32::from(runs_again);
        if let Some(arguments) = &decision.feedback.modified_args {
            self.change_arguments(action, &call_id, arguments);
        }
        let decision = decision.clone();
        if let Some(batch) = self.batch_mut(action) {
            batch.approved.insert(call_id, Approval { suspension, decision });
        }
    }

    /// Changes the arguments of a call to those that a person gave. No text in the new arguments counts as the name of a file.
    fn change_arguments(&mut self, action: ActionId, call_id: &str, arguments: &Value) {
        let Some(batch) = self.batch_mut(action) else { return };
        let item_id = batch.item_id.clone();
        let is_call = |call: &&mut ParsedToolCall| call.call_id == call_id;
        for call in batch.calls.iter_mut().filter(is_call) {
            call.arguments = arguments.clone();
        }
        if let Some(item) = self.item_mut(&item_id) {
            for call in item.actual_tool_calls.iter_mut().filter(is_call) {
                call.arguments = arguments.clone();
            }
        }
        if let Some(item_run) = self.running.get_mut(&item_id) {
            item_run.change_arguments(call_id, arguments);
        }
    }

    /// Returns the decision as the result of a call whose tool does not run after it (contracts C20, C21). A rejection is
    /// a success with `approved` set to false (contract X15).
    fn decision_as_result(&self, suspension: &SuspendedCall, decision: &Decision, since: Timestamp) -> ToolResult {
        let feedback = &decision.feedback;
        let mut output = json!({
            "message": decision_text(decision), "approved": feedback.approved, "feedback": feedback_json(feedback),
        });
        let value = feedback.answer().filter(|_| feedback.approved);
        if let (Some(map), Some(value)) = (output.as_object_mut(), value) {
            map.insert("value".to_owned(), value);
        }
        let mut result = ToolResult::success(&suspension.call, output);
        result.metadata.suspension_id = Some(suspension.suspension_id.clone());
        result.metadata.rejected = !feedback.approved;
        let waited = self.now.saturating_sub(since);
        let times = [("completedAt", self.now), ("waitDurationMs", waited)];
        let times = times.map(|(name, time)| (name.to_owned(), json!(time)));
        result.metadata.extra = JsonObject::from_iter(times);
        result
    }

    /// Records that a call was decided, so that the model cannot make it again (contract A39). A rejected call is recorded
    /// with the arguments that the model gave, because those in `suspension` may also contain defaults and contents of files.
    fn note_decided(&mut self, action: ActionId, suspension: &SuspendedCall, result: &ToolResult) {
        let call_id = &suspension.call.call_id;
        let Some(batch) = self.batch(action) else { return };
        let call = batch.calls.iter().find(|call| call.call_id == *call_id).cloned();
        let item_id = batch.item_id.clone();
        if result.metadata.rejected {
            call.iter()
                .for_each(|call| self.rejections.add(call, suspension.allow_retry));
        } else if let Some(item_run) = self.running.get_mut(&item_id) {
            item_run.note_person_answered(call_id);
        }
    }
}

/// Records the observation that a call waits for a person.
pub(super) fn observe_suspended(item_id: &str, suspension: &SuspendedCall, out: &mut Outbox) {
    let content = json!({
        "suspensionId": suspension.suspension_id,
        "itemId": item_id,
        "toolName": suspension.call.tool_name,
        "toolInput": suspension.call.arguments,
        "toolOutput": {
            "message": suspension.form.prompt, "details": suspension.details, "previewData": suspension.preview,
        },
        "feedbackSchema": suspension.form,
        "cause": suspension.cause,
        "riskLevel": suspension.risk_level,
        "expires": suspension.expires,
    });
    out.observe(ObservationType::AgentSuspended, Some(item_id), content);
}

/// Records the observation of a person's decision, or the observation that the time for a decision is over.
pub(super) fn observe_decision(item_id: &str, suspension: &SuspendedCall, decision: &Decision, out: &mut Outbox) {
    let kind = match decision.by {
        DecidedBy::Person { .. } => ObservationType::AgentResumed,
        DecidedBy::Expiry => ObservationType::SuspensionTimeout,
    };
    let content = json!({
        "suspensionId": suspension.suspension_id,
        "itemId": item_id,
        "toolName": suspension.call.tool_name,
        "approved": decision.feedback.approved,
        "feedback": observed_feedback(suspension, &decision.feedback),
        "by": decision.by,
    });
    out.observe(kind, Some(item_id), content);
}

/// Returns the decision as observations contain it, without a sensitive answer. Only `value` has to be removed: when the host
/// accepts a decision, it moves an answer in one of the older fields to `value`.
fn observed_feedback(suspension: &SuspendedCall, feedback: &Feedback) -> Value {
    let mut observed = feedback.clone();
    if suspension.form.sensitive {
        observed.value = None;
    }
    feedback_json(&observed)
}

/// Returns a decision as JSON.
fn feedback_json(feedback: &Feedback) -> Value {
    // Serialising feedback cannot fail.
    serde_json::to_value(feedback).unwrap_or_default()
}

/// Returns the decision in words (contract C21).
fn decision_text(decision: &Decision) -> String {
    let feedback = &decision.feedback;
    if decision.by == DecidedBy::Expiry {
        let outcome = if feedback.approved { "approved" } else { "rejected" };
        return format!("Nobody decided in time, so the action counts as {outcome}.");
    }
    match (feedback.approved, feedback.answer(), &feedback.reason) {
        (true, Some(value), _) => format!("User approved with input: {value}"),
        (true, None, _) => "User approved the action.".to_owned(),
        (false, _, Some(reason)) => format!("User rejected: {reason}"),
        (false, _, None) => "User rejected the action.".to_owned(),
    }
}
