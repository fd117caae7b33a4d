//! Synthesis, in which the model writes the answer from the results of the steps, and the end of a run. A run always ends with a
//! response, even if the model cannot be asked.

use std::collections::BTreeMap;

use art_core::JsonObject;
use art_core::agent::{AgentFinalResponse, ExecutionMetadata, RunStatus};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::error::{ArtError, ErrorCode};
use art_core::observation::ObservationType;
use art_core::pes::{TodoItem, TodoItemStatus};
use art_core::stream::{ModelReply, PartialReply, Phase};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use art_core::tool::{Source, ToolResult};
use art_core::usage::ModelWork;
use serde_json::{Value, json};

use super::{OpenAction, Run, Stage};
use crate::effect::Outbox;
use crate::event::CallRefusal;
use crate::parse;
use crate::prompt;
use crate::report::{self, RunReport, collect_sources};

/// The answer and status with which a run ends.
pub(super) struct RunEnding {
    pub(super) status: RunStatus,
    pub(super) text: String,
    /// Metadata of the answer for a user interface.
    pub(super) ui_metadata: Option<Value>,
    pub(super) error: Option<ArtError>,
    /// Parts of the question that the model reports as unanswered.
    pub(super) unanswered: Vec<String>,
    /// Whether the text is the output of a tool as it is, in place of an answer of the model.
    raw: bool,
}

impl RunEnding {
    pub(super) const fn new(status: RunStatus, text: String) -> Self {
        Self {
            status,
            text,
            ui_metadata: None,
            error: None,
            unanswered: Vec::new(),
            raw: false,
        }
    }

    /// Creates the end of a run whose answer is the output of a tool.
    pub(super) fn with_output(output: &Value) -> Self {
        let text = output.as_str().map_or_else(|| output.to_string(), str::to_owned);
        Self {
            raw: true,
            ..Self::new(RunStatus::Success, text)
        }
    }

    pub(super) fn with_error(self, error: ArtError) -> Self {
        let error = Some(error);
        Self { error, ..self }
    }

    pub(super) fn with_ui_metadata(self, ui_metadata: Option<Value>) -> Self {
        Self { ui_metadata, ..self }
    }
}

impl Run {
    /// Asks the model for the answer. Ends the run at once if no model has to write the answer, or if the model cannot be asked.
    pub(super) fn begin_synthesis(&mut self, out: &mut Outbox) {
        if let Some(call) = &self.start.call {
            let ending = self.direct_ending(&call.tool_name);
            return self.finish(ending, out);
        }
        if let Some(ending) = self.raw_ending() {
            return self.finish(ending, out);
        }
        if self.conversation.messages.is_empty() {
            // The run asked no planner, because it began with a plan.
            self.conversation = prompt::planner_conversation(&self.start, &self.state, self.files.all());
        }
        let files = self.files.of_this_run();
        let request_text = prompt::answer_request_text(&self.start, self.own_items(), files, &self.limits_hit);
        // The conversation with the planner goes on: in it, the model also writes the answer.
        self.tell_planner(&request_text);
        self.stage = Stage::Synthesis;
        if self.state.current_step_id.take().is_some() {
            out.mark_state_changed();
        }
        out.observe(ObservationType::Synthesis, None, self.step_summary());
        if let Err(refusal) = self.open_model_call(OpenAction::Answer) {
            self.end_answer_after_refusal(&refusal, out);
        }
    }

    /// Ends the run because its model cannot be asked for the answer.
    pub(super) fn end_answer_after_refusal(&mut self, refusal: &CallRefusal, out: &mut Outbox) {
        match refusal {
            CallRefusal::TooLong { reason } => self.end_after_failed_answer(reason, out),
            CallRefusal::Invalid { error } => self.end_without_answer(error.code, &error.message, out),
            // `handle_model_call_refusal` handles `NotShorter` itself.
            CallRefusal::BudgetSpent | CallRefusal::NotShorter => self.finish_over_budget(out),
        }
    }

    /// If the person wants the output of the only step as it is, returns the end of the run with this output. Returns `None` if
    /// there is no such output or the run is incomplete.
    pub(super) fn raw_ending(&self) -> Option<RunEnding> {
        let [item] = self.own_items() else { return None };
        let may_be_raw = self.start.props.raw && self.is_complete();
        report::only_output(item)
            .filter(|_| may_be_raw)
            .map(RunEnding::with_output)
    }

    /// Ends the run with the answer in `reply`, or with an error if the reply contains no answer.
    pub(super) fn handle_answer(&mut self, reply: &ModelReply, out: &mut Outbox) {
        let parsed = parse::parse_answer(reply);
        self.observe_thoughts(Phase::Synthesis, None, &parsed.thoughts, out);
        if parsed.answer.is_empty() {
            let reason = if parse::is_withheld(reply) {
                parse::WITHHELD_REASON
            } else {
                "the model gave an empty answer"
            };
            return self.end_after_failed_answer(reason, out);
        }
        if parse::is_cut_off(reply) {
            self.record_limit("the answer was cut off before its end".to_owned());
        }
        self.record_answer_usage();
        let status = self.answer_status(reply);
        let ending = RunEnding {
            unanswered: reply.unanswered.clone(),
            ..RunEnding::new(status, parsed.answer).with_ui_metadata(parsed.ui_metadata)
        };
        self.finish(ending, out);
    }

    /// Records the usage of the last model call as that of the answer, if the run had tool calls.
    pub(super) fn record_answer_usage(&mut self) {
        if self.usage.tool_calls > 0 {
            self.record_model_work(ModelWork::Answer, self.usage.last_call);
        }
    }

    /// Returns the status of a run whose answer is in `reply`.
    pub(super) fn answer_status(&self, reply: &ModelReply) -> RunStatus {
        // Unanswered parts do not make an answer partial if no tool was called: then there was no work to complete.
        let has_gaps = !reply.unanswered.is_empty() && self.usage.tool_calls > 0;
        if self.is_complete() && !has_gaps {
            RunStatus::Success
        } else {
            RunStatus::Partial
        }
    }

    /// Ends the run as `end_without_answer` does, with the code of a failed synthesis, because the model gave no answer. `reason`
    /// says why.
    pub(super) fn end_after_failed_answer(&mut self, reason: &str, out: &mut Outbox) {
        self.end_without_answer(ErrorCode::SynthesisFailed, reason, out);
    }

    /// Ends the run with a list of results in place of an answer of the model (contract P79). The status is `partial`
    /// if the list has a result, else `error`.
    fn end_without_answer(&mut self, code: ErrorCode, reason: &str, out: &mut Outbox) {
        let message = format!("synthesis failed: {reason}");
        let mut items = self.own_items().iter();
        let has_result = items.any(|item| item.status == TodoItemStatus::Completed);
        let status = if has_result {
            RunStatus::Partial
        } else {
            RunStatus::Error
        };
        let text = self.with_result_listing(&format!("The model could not write an answer: {reason}."));
        let error = self.art_error(code, &message);
        self.finish(RunEnding::new(status, text).with_error(error), out);
    }

    /// Ends the run with an error (contract P82).
    pub(super) fn fail_run(&mut self, code: ErrorCode, message: &str, out: &mut Outbox) {
        let error = self.art_error(code, message);
        let text = format!("The query could not be answered: {message}.");
        self.finish(RunEnding::new(RunStatus::Error, text).with_error(error), out);
    }

    /// Ends the run with an error, because its host cannot continue it.
    pub(super) fn end_after_host_failure(&mut self, reason: &str, out: &mut Outbox) {
        // An earlier error of the model is not the reason for this end.
        self.model_error = None;
        self.fail_run(ErrorCode::AgentProcessingError, reason, out);
    }

    /// Ends the run with a list of results, because a budget is used up or a plan would exceed it.
    pub(super) fn finish_over_budget(&mut self, out: &mut Outbox) {
        let text = self.with_result_listing(&format!("The run ended early: {}.", self.limits_hit.join("; ")));
        self.finish(RunEnding::new(RunStatus::Partial, text), out);
    }

    /// Ends the run. Adds the answer to the conversation, and then records an observation of it (contract P81).
    pub(super) fn finish(&mut self, ending: RunEnding, out: &mut Outbox) {
        let phase = self.phase_label();
        self.abandon_open_work(out);
        let mut answer = self.answer_message(&ending);
        if ending.raw {
            // The report has the whole output, but the conversation only as much of it as a prompt would contain.
            answer.content = truncate(&answer.content, DEFAULT_STRINGIFY_LIMIT);
        }
        if let Some(error) = &ending.error {
            out.observe_error(phase, None, &error.message);
        }
        // The text of a failed or cancelled run is returned to the caller and not added to the conversation (contract P82).
        if !matches!(ending.status, RunStatus::Error | RunStatus::Cancelled) {
            out.add_message(answer.clone());
        }
        let content = json!({"message": answer, "uiMetadata": ending.ui_metadata});
        out.observe(ObservationType::FinalResponse, None, content);
        self.stage = Stage::Finished(Box::new(self.report(ending)));
    }

    /// Returns the report of the run with `ending` as its answer and status. A run that waits for a decision also has one.
    pub(super) fn report(&self, ending: RunEnding) -> RunReport {
        RunReport {
            response: AgentFinalResponse {
                response: self.answer_message(&ending),
                metadata: self.metadata(&ending),
            },
            raw: ending.raw,
            ui_metadata: ending.ui_metadata,
            unanswered: ending.unanswered,
            model_error: self.model_error.clone(),
            sources: self.sources(),
            items: self.own_items().to_vec(),
            files: self.files.of_this_run().to_vec(),
        }
    }

    /// Returns the sources of all results, and the attachments of earlier questions that calls used.
    fn sources(&self) -> Vec<Source> {
        let calls = self.own_items().iter().flat_map(|item| &item.actual_tool_calls);
        let files = self.files.earlier_attachments_in(calls).into_iter();
        let attached = files.map(|file| Source {
            source_name: format!("{}, attached to an earlier question", file.name),
            url: None,
            extra: JsonObject::new(),
        });
        collect_sources(self.own_items()).into_iter().chain(attached).collect()
    }

    /// Drops what is open at the end of a run: counts the interrupted model calls, and sets the items in progress to pending, so
    /// that a later run can start them again. Keeps the results of their calls (contract P66).
    fn abandon_open_work(&mut self, out: &mut Outbox) {
        let interrupted: Vec<_> = self.model_calls_in_progress.keys().copied().collect();
        for action in interrupted {
            self.interrupt_model_call(action, &PartialReply::default());
        }
        self.refused_requests.clear();
        if !self.suspensions().is_empty() {
            self.state.is_paused = false;
            out.mark_state_changed();
        }
        let mut results_by_item: BTreeMap<String, Vec<ToolResult>> = BTreeMap::new();
        for action in std::mem::take(&mut self.open_actions).into_values() {
            if let OpenAction::Tools(batch) = action {
                results_by_item.entry(batch.item_id).or_default().extend(batch.results);
            }
        }
        let ids: Vec<_> = self.running.keys().cloned().collect();
        for id in ids {
            self.stop_item_and_keep_results(&id, results_by_item.get(&id).map_or(&[], Vec::as_slice));
            self.set_status(&id, TodoItemStatus::Pending, out);
        }
        if self.state.current_step_id.take().is_some() {
            out.mark_state_changed();
        }
    }

    /// Adds the question to the conversation. A run that only continues an earlier plan has no question.
    pub(super) fn add_question(&self, out: &mut Outbox) {
        let query = &self.start.props.query;
        if !query.trim().is_empty() {
            out.add_message(self.run_message("question", MessageRole::User, query));
        }
    }

    /// Returns the message of the conversation that contains the answer.
    fn answer_message(&self, ending: &RunEnding) -> ConversationMessage {
        let mut message = self.run_message("answer", MessageRole::Ai, &ending.text);
        if ending.status == RunStatus::Error {
            message.metadata.insert("error".to_owned(), json!(true));
        }
        message
    }

    /// Creates a message of the conversation that belongs to this run. In a replay it gets the same identifier, so it is never
    /// stored twice.
    pub(super) fn run_message(&self, suffix: &str, role: MessageRole, content: &str) -> ConversationMessage {
        let mut metadata = JsonObject::new();
        metadata.insert("traceId".to_owned(), json!(self.trace_id));
        ConversationMessage {
            message_id: format!("{}:{suffix}", self.trace_id),
            thread_id: self.start.props.thread_id.clone(),
            role,
            content: content.to_owned(),
            timestamp: self.now,
            metadata,
        }
    }

    /// Returns the counts and the status of the run.
    fn metadata(&self, ending: &RunEnding) -> ExecutionMetadata {
        ExecutionMetadata {
            thread_id: self.start.props.thread_id.clone(),
            trace_id: self.trace_id.clone(),
            user_id: self.start.props.user_id.clone(),
            status: ending.status,
            total_duration_ms: self.now.saturating_sub(self.started_at),
            llm_calls: self.usage.llm_calls,
            estimated_calls: self.usage.estimated_calls,
            tool_calls: self.usage.tool_calls,
            tokens: self.usage.tokens,
            llm_cost: self.usage.llm_cost(),
            llm_metadata: self.usage.llm.clone(),
            usage: self.usage.tool_usage,
            error: ending.error.clone(),
            limits_hit: self.limits_hit.clone(),
        }
    }

    /// Creates an error of the current phase.
    pub(super) fn art_error(&self, code: ErrorCode, message: &str) -> ArtError {
        ArtError {
            code,
            message: message.to_owned(),
            phase: self.phase_label().to_owned(),
        }
    }

    /// Returns whether every item of the plan was completed without an error and no limit was hit (contracts X7, A49).
    /// Items that the model removed from the plan before they started do not count. A failed item that was created for a
    /// call of the planner does not count either, if the planner then called the same tool again.
    fn is_complete(&self) -> bool {
        let is_incomplete = |item: &TodoItem| match item.status {
            TodoItemStatus::Completed => item.error.is_some(),
            // An item that was started and then removed from the plan counts as failed.
            TodoItemStatus::Cancelled => item.error.is_some() || self.started_items.contains(&item.id),
            _ => true,
        };
        let items = self.own_items().iter();
        let mut items = items.filter(|item| !self.retried_items.contains(&item.id));
        self.limits_hit.is_empty() && !items.any(is_incomplete)
    }

    /// Returns `text` followed by the list of results, if there are any.
    pub(super) fn with_result_listing(&self, text: &str) -> String {
        let listing = prompt::result_listing(self.own_items());
        if listing.is_empty() {
            text.to_owned()
        } else {
            format!("{text}\n\n{listing}")
        }
    }

    /// Returns the identifiers of the completed, the failed and the unfinished items, as JSON.
    fn step_summary(&self) -> Value {
        let ids_with = |has_status: fn(TodoItemStatus) -> bool| -> Vec<&str> {
            let items = self.own_items().iter().filter(|item| has_status(item.status));
            items.map(|item| item.id.as_str()).collect()
        };
        use TodoItemStatus::{Completed, Failed};
        json!({
            "completed": ids_with(|status| status == Completed),
            "failed": ids_with(|status| status == Failed),
            "unfinished": ids_with(|status| !matches!(status, Completed | Failed)),
        })
    }
}
