//! The loop of one item: call the model, call the tools that its reply requests, and repeat until the item ends (P47).

mod admit;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use art_core::agent::ExecutionConfig;
use art_core::error::ToolErrorCode;
use art_core::pes::{TodoItem, ToolValidationMode, ValidationStatus};
use art_core::prompt::Message;
use art_core::stream::ProviderState;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, safe_stringify, truncate};
use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};
use art_core::usage::ModelUsage;
use serde_json::Value;

use crate::attachment::{self, Places};
use crate::call::{RawCall, as_request, fingerprint};
use crate::file::RunFile;
use crate::parse::{Decision, ExecutionReply, is_blank};
use crate::report::last_output;
use crate::truncate::is_cut;
use crate::{prompt, taef};

pub(crate) use admit::{Admission, MAX_SAME_CALLS, Rejections};

/// An item in progress.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemRun {
    /// The conversation with the model so far.
    pub(crate) messages: Vec<Message>,
    /// Whether the model is sent tools in its provider's format.
    pub(crate) native_tools: bool,
    /// Why the planned calls could not be made, for the model that carries out the item instead.
    pub(crate) problem: Option<String>,
    /// Whether the open calls are those of the plan, so that no model waits for their results.
    runs_plan: bool,
    /// Number of the current or last model call, from 1.
    pub(crate) iteration: u32,
    /// What the model calls of the item used.
    pub(crate) used: ModelUsage,
    /// All results so far, without those of refused calls.
    pub(crate) results: Vec<ToolResult>,
    /// Planned calls that succeeded when the item was in progress before, with their results. They are not made again.
    earlier: Vec<(ParsedToolCall, ToolResult)>,
    /// The identifiers of the planned calls, including refused calls.
    pub(crate) planned_call_ids: Vec<String>,
    /// Whether the item used all of its model calls.
    pub(crate) out_of_iterations: bool,
    /// Whether a call was refused because the run had used all of its tool calls.
    pub(crate) out_of_calls: bool,
    /// Number of reminders to call the required tools.
    reminders: u32,
    /// Names of the tools that were called.
    called_tools: BTreeSet<String>,
    /// How often each call was made, by its fingerprint.
    call_counts: BTreeMap<String, u32>,
    /// Calls that may not be repeated, by their fingerprint, with the reason.
    not_repeatable: BTreeMap<String, NoRepeat>,
    /// The last content that was not blank.
    last_content: Value,
    /// The last problem of a reply without calls.
    last_problem: Option<String>,
    batch: Batch,
}

/// The calls of one reply or of the plan, until all have results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Batch {
    calls: Vec<ParsedToolCall>,
    /// Where the arguments of each call may name files, by the identifier of the call.
    file_places: BTreeMap<String, Places>,
    /// Results of calls that succeeded before and are not made again.
    kept: Vec<ToolResult>,
    /// Results of refused calls.
    refused: Vec<ToolResult>,
    /// What the model said beside the calls.
    text: String,
    /// State of the provider that belongs to the reply.
    provider_state: Option<ProviderState>,
    /// Problems to report to the model after the results.
    problems: Vec<String>,
}

impl Batch {
    /// Creates a batch for a reply, without its calls.
    fn of(reply: &ExecutionReply) -> Self {
        let text = reply.content.as_str();
        Self {
            text: text.map_or_else(String::new, |text| prompt::sanitize(&truncate_for_prompt(text))),
            provider_state: reply.state.clone(),
            problems: reply.problems.clone(),
            ..Self::default()
        }
    }
}

/// Why a call may not be made again with the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoRepeat {
    /// The tool was denied a right.
    Denied,
    /// The plan made the call, and it succeeded. The model continues from its result.
    Done,
    /// A person answered the question of its tool (A39).
    Answered,
}

/// The next action for an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextStep {
    /// Call the model again.
    CallModel,
    /// Let the model carry out the item, because its planned calls did not complete it, for this reason.
    HandOver(String),
    /// Call these tools. Refused calls are not among them.
    CallTools(Vec<ParsedToolCall>),
    /// Complete the item with this result.
    Complete(Value),
    /// Fail the item with this reason.
    Fail(String),
}

impl ItemRun {
    pub(crate) fn new(messages: Vec<Message>, native_tools: bool) -> Self {
        Self {
            messages,
            native_tools,
            problem: None,
            runs_plan: false,
            iteration: 1,
            used: ModelUsage::default(),
            results: Vec::new(),
            earlier: Vec::new(),
            planned_call_ids: Vec::new(),
            out_of_iterations: false,
            out_of_calls: false,
            reminders: 0,
            called_tools: BTreeSet::new(),
            call_counts: BTreeMap::new(),
            not_repeatable: BTreeMap::new(),
            last_content: Value::Null,
            last_problem: None,
            batch: Batch::default(),
        }
    }

    /// Creates a run of an item that may have been in progress before. Keeps complete results of planned calls that succeeded then
    /// and took no file.
    pub(crate) fn of(item: &TodoItem, native_tools: bool) -> Self {
        let mut item_run = Self::new(Vec::new(), native_tools);
        if !item.tool_calls.is_empty() {
            let is_uncut = |result: &&ToolResult| !result.output.as_ref().is_some_and(is_cut);
            let succeeded = |result: &&ToolResult| result.status == ToolStatus::Success && is_uncut(result);
            let results = item.tool_results.iter().filter(succeeded);
            let calls = results.filter_map(|result| {
                let mut calls = item.actual_tool_calls.iter();
                let call = calls.find(|call| call.call_id == result.call_id)?;
                // A file of the same name may have other content now.
                let takes_a_file = attachment::may_name_a_file(&call.arguments);
                (!takes_a_file).then(|| (call.clone(), result.clone()))
            });
            item_run.earlier = calls.collect();
        }
        item_run
    }

    /// Returns where the arguments of an open call may name files.
    pub(crate) fn file_places(&self, call_id: &str) -> Places {
        self.batch.file_places.get(call_id).cloned().unwrap_or(Places::NONE)
    }

    /// Returns the action that follows a reply. `reply_text` is its raw text.
    pub(crate) fn handle_reply(
        &mut self,
        item: &TodoItem,
        reply: &ExecutionReply,
        reply_text: &str,
        admission: &mut Admission<'_>,
    ) -> NextStep {
        if reply.has_content() {
            self.last_content.clone_from(&reply.content);
        }
        if reply.decision == Some(Decision::FailItem) && reply.calls.is_empty() {
            return NextStep::Fail(self.failure_reason(&reply.problems));
        }
        if !reply.cut && self.remind_of_required_tools(item, reply, reply_text, admission.config) {
            return self.ask_again(admission.config);
        }
        if !reply.calls.is_empty() {
            self.batch = Batch::of(reply);
            return self.start_batch(item, reply.calls.clone(), admission);
        }
        match self.correction_message(reply, admission.config) {
            Some(message) => {
                self.push_reply(reply_text, reply);
                self.messages.push(message);
                self.ask_again(admission.config)
            }
            None => self.complete(&reply.content),
        }
    }

    /// Records the results of the calls. Unless planned calls complete the item, adds the results and the files that they produced to
    /// the messages, so that every call has a result there (P63). Returns the action that follows.
    pub(crate) fn handle_results(
        &mut self,
        item: &TodoItem,
        results: &[ToolResult],
        files: &[RunFile],
        config: ExecutionConfig,
    ) -> NextStep {
        let batch = std::mem::take(&mut self.batch);
        let ran = results.iter().filter(|result| !result.metadata.not_run);
        self.called_tools.extend(ran.map(|result| result.tool_name.clone()));
        // Adds the results in the order of the calls, whatever the order in which the calls ended.
        let find_result = |call: &ParsedToolCall| {
            let mut all = results.iter().chain(&batch.kept);
            all.find(|result| result.call_id == call.call_id).cloned()
        };
        self.results.extend(batch.calls.iter().filter_map(find_result));
        if !std::mem::take(&mut self.runs_plan) {
            self.push_batch(batch, results, files, config);
            return self.ask_again(config);
        }
        match self.planned_output(item, &batch) {
            Ok(output) => NextStep::Complete(output),
            Err(reason) => {
                let succeeded: Vec<_> = self.successful_calls(&batch).map(fingerprint).collect();
                for call in succeeded {
                    self.not_repeatable.entry(call).or_insert(NoRepeat::Done);
                }
                self.push_batch(batch, results, files, config);
                NextStep::HandOver(reason)
            }
        }
    }

    /// Adds the calls of a reply and their results to the messages.
    fn push_batch(&mut self, batch: Batch, results: &[ToolResult], files: &[RunFile], config: ExecutionConfig) {
        let requests = batch.calls.iter().map(as_request).collect();
        self.messages.push(Message {
            provider_state: batch.provider_state,
            ..Message::assistant_calls(&batch.text, requests)
        });
        let share = config.tool_result_max_length / results.len().max(1);
        for call in &batch.calls {
            let mut all = results.iter().chain(&batch.refused).chain(&batch.kept);
            let Some(result) = all.find(|result| result.call_id == call.call_id) else {
                continue;
            };
            self.messages.push(prompt::tool_message(result, files, share));
            if result.code == Some(ToolErrorCode::PermissionDenied) {
                self.not_repeatable.insert(fingerprint(call), NoRepeat::Denied);
            }
        }
        let rejected = results.iter().filter(|result| result.metadata.rejected);
        self.messages.extend(rejected.map(prompt::rejection_message));
        if !batch.problems.is_empty() {
            self.messages.push(prompt::problem_message(&batch.problems));
        }
    }

    /// Changes the arguments of an open call. No text in the new arguments counts as the name of a file.
    pub(crate) fn change_arguments(&mut self, call_id: &str, arguments: &Value) {
        for call in self.batch.calls.iter_mut().filter(|call| call.call_id == call_id) {
            call.arguments = arguments.clone();
            self.batch.file_places.insert(call_id.to_owned(), Places::NONE);
        }
    }

    /// Notes that a person answered the question of an open call, so that the model does not make the call again.
    pub(crate) fn note_answer(&mut self, call_id: &str) {
        let call = self.batch.calls.iter().find(|call| call.call_id == call_id);
        self.not_repeatable
            .extend(call.map(|call| (fingerprint(call), NoRepeat::Answered)));
    }

    /// Makes the planned calls, whose references are resolved.
    pub(crate) fn start_planned(
        &mut self,
        item: &TodoItem,
        calls: Vec<RawCall>,
        admission: &mut Admission<'_>,
    ) -> NextStep {
        self.runs_plan = true;
        self.start_batch(item, calls, admission)
    }

    /// Returns the calls of `batch` that succeeded.
    fn successful_calls<'b>(&self, batch: &'b Batch) -> impl Iterator<Item = &'b ParsedToolCall> {
        let successes = self
            .results
            .iter()
            .filter(|result| result.status == ToolStatus::Success);
        let ids: BTreeSet<&str> = successes.map(|result| result.call_id.as_str()).collect();
        batch
            .calls
            .iter()
            .filter(move |call| ids.contains(call.call_id.as_str()))
    }

    /// Returns the output of the planned calls. Fails with the reason if one failed or they do not complete the item.
    fn planned_output(&self, item: &TodoItem, batch: &Batch) -> Result<Value, String> {
        let mut results = batch.refused.iter().chain(&self.results);
        if let Some(failed) = results.find(|result| result.status != ToolStatus::Success || result.metadata.rejected) {
            let reason = failed.error.as_deref().unwrap_or("a call failed without a reason");
            let rejected = || format!("a person rejected the call of `{}`", failed.tool_name);
            return Err(if failed.metadata.rejected {
                rejected()
            } else {
                reason.to_owned()
            });
        }
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        if strict && self.validation(item) == ValidationStatus::Failed {
            return Err("its planned calls do not use all of its required tools".to_owned());
        }
        let output = last_output(&self.results).map(Cow::into_owned);
        output.ok_or_else(|| "its planned calls gave no output".to_owned())
    }

    /// Returns whether the next reply has to call a tool: the item is strict and requires tools, no call was made yet, and the run
    /// may still make calls. A model whose call was made and failed may end the item.
    pub(crate) fn must_call(&self, item: &TodoItem) -> bool {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        strict && !item.required_tools.is_empty() && item.actual_tool_calls.is_empty() && !self.out_of_calls
    }

    /// Returns the status that says whether the required tools were called. Their results do not matter (X19).
    pub(crate) fn validation(&self, item: &TodoItem) -> ValidationStatus {
        taef::validate(item, &self.called_tools, false).status
    }

    /// Returns the reason why a completed item counts as incomplete, if there is one: a required tool failed each time (X19) or
    /// was never called. Only a strict item must call its required tools.
    pub(crate) fn incomplete_reason(&self, item: &TodoItem) -> Option<String> {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        let mut reasons = Vec::new();
        for tool in &item.required_tools {
            if let Some(error) = self.error_if_all_failed(tool) {
                reasons.push(format!("its required tool `{tool}` only failed: {error}"));
            } else if strict && !self.called_tools.contains(tool) {
                reasons.push(format!("its required tool `{tool}` was never called"));
            }
        }
        (!reasons.is_empty()).then(|| reasons.join("; "))
    }

    /// Returns the last error of `tool` if it was called and every call failed.
    fn error_if_all_failed(&self, tool: &str) -> Option<&str> {
        let mut results = self.results.iter().filter(|result| result.tool_name == tool);
        let all_failed = results.clone().all(|result| result.status == ToolStatus::Error);
        let last = results.next_back().filter(|_| all_failed)?;
        Some(last.error.as_deref().unwrap_or("no reason was given"))
    }

    /// Returns whether the model is reminded to call the required tools, because the reply does not call them. If so, adds the
    /// reminder to the messages.
    fn remind_of_required_tools(
        &mut self,
        item: &TodoItem,
        reply: &ExecutionReply,
        reply_text: &str,
        config: ExecutionConfig,
    ) -> bool {
        let valid = reply.calls.iter().filter(|call| call.problem.is_none());
        let called = valid
            .map(|call| call.tool_name.clone())
            .chain(self.called_tools.iter().cloned())
            .collect();
        let may_remind = self.reminders < config.taef_max_retries && self.iteration < config.max_iterations;
        let validation = taef::validate(item, &called, may_remind);
        if validation.must_remind {
            self.reminders += 1;
            self.push_reply(reply_text, reply);
            self.messages
                .push(prompt::enforcement_message(&validation.missing, &reply.problems));
        }
        validation.must_remind
    }

    /// Returns the message that rejects a reply without calls, or `None` if the reply ends the item (P50).
    fn correction_message(&mut self, reply: &ExecutionReply, config: ExecutionConfig) -> Option<Message> {
        let is_last_call = self.iteration >= config.max_iterations;
        if is_last_call && reply.has_content() && reply.problems.is_empty() {
            return None;
        }
        if !reply.problems.is_empty() {
            self.last_problem = reply.problems.first().cloned();
            return Some(prompt::problem_message(&reply.problems));
        }
        let wants_more = reply.decision == Some(Decision::Continue) && !reply.has_content();
        let has_no_result = !reply.has_content() && self.results.is_empty();
        if wants_more || has_no_result {
            self.last_problem = Some("the reply was empty".to_owned());
            return Some(prompt::continue_message());
        }
        None
    }

    /// Calls the model again, or ends the item if it has used all of its model calls (P50).
    fn ask_again(&mut self, config: ExecutionConfig) -> NextStep {
        if self.iteration < config.max_iterations {
            self.iteration += 1;
            return NextStep::CallModel;
        }
        self.out_of_iterations = true;
        if !is_blank(&self.last_content) {
            return NextStep::Complete(self.last_content.clone());
        }
        match last_output(&self.results) {
            Some(output) => NextStep::Complete(output.into_owned()),
            None => NextStep::Fail(self.no_result_reason()),
        }
    }

    /// Completes the item with the content of the reply, or else with the last output (P37).
    fn complete(&self, content: &Value) -> NextStep {
        let non_blank = |content: &Value| (!is_blank(content)).then(|| content.clone());
        let result = non_blank(content).or_else(|| last_output(&self.results).map(Cow::into_owned));
        match result.or_else(|| non_blank(&self.last_content)) {
            Some(result) => NextStep::Complete(result),
            None => NextStep::Fail(self.no_result_reason()),
        }
    }

    /// Returns the reason why the item has no result: the last error of a tool, or the last problem of a reply.
    fn no_result_reason(&self) -> String {
        let error = self.results.iter().rev().find_map(|result| {
            let error = result.error.as_deref()?;
            Some(format!("`{}` failed: {error}", result.tool_name))
        });
        let problem = self
            .last_problem
            .as_ref()
            .map(|problem| format!("no usable reply from the model: {problem}"));
        error.or(problem).unwrap_or_else(|| "there was no result".to_owned())
    }

    /// Returns the reason why the model failed the item. It includes the problems of the reply, because the model is not called
    /// again.
    fn failure_reason(&self, problems: &[String]) -> String {
        let reason = if is_blank(&self.last_content) {
            format!("the model gave up on the step; {}", self.no_result_reason())
        } else {
            safe_stringify(&self.last_content, DEFAULT_STRINGIFY_LIMIT)
        };
        let parts: Vec<_> = std::iter::once(&reason).chain(problems).map(String::as_str).collect();
        truncate_for_prompt(&parts.join("; "))
    }

    /// Adds the reply to the messages, without its calls.
    fn push_reply(&mut self, reply_text: &str, reply: &ExecutionReply) {
        let names: Vec<_> = reply.calls.iter().map(|call| call.tool_name.as_str()).collect();
        let text = match (reply_text.trim().is_empty(), names.is_empty()) {
            (false, _) => truncate_for_prompt(reply_text),
            (true, false) => truncate_for_prompt(&format!("(called {})", names.join(", "))),
            (true, true) => "(empty reply)".to_owned(),
        };
        self.messages.push(Message::assistant(prompt::sanitize(&text)));
    }
}

/// Truncates text for a prompt.
fn truncate_for_prompt(text: &str) -> String {
    truncate(text, DEFAULT_STRINGIFY_LIMIT)
}
