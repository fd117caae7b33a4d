//! The loop of one item, which is a step of the plan: call the model, call the tools that its reply requests, and repeat until
//! the item ends. The number of model calls is limited (contract P47).
//!
//! If the plan has calls for the item, these are made first, and the model is called only if they do not complete the item. The
//! calls of one reply, or the planned calls, are a batch. The host refuses some calls of a batch; such a call is not made, and
//! its result is an error. A call is rejected if a person decides against it.

mod admit;

use std::collections::{BTreeMap, BTreeSet};

use art_core::agent::ExecutionConfig;
use art_core::error::ToolErrorCode;
use art_core::pes::{TodoItem, ToolValidationMode, ValidationStatus};
use art_core::prompt::Message;
use art_core::shared::Shared;
use art_core::stream::ProviderState;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, safe_stringify, truncate};
use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};
use art_core::usage::ModelUsage;
use serde_json::Value;

use crate::attachment::{self, FileNamePointers};
use crate::call::{RawCall, as_request, fingerprint};
use crate::file::RunFile;
use crate::parse::{ExecutionReply, StepDecision, is_blank};
use crate::report::last_output;
use crate::truncate::is_cut;
use crate::{prompt, required_tools};

pub(crate) use admit::{AdmissionContext, MAX_IDENTICAL_CALLS, Rejections};

/// The state of an item in progress.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemRun {
    /// The conversation with the model so far.
    pub(crate) messages: Vec<Message>,
    /// Whether requests contain the schemas of tools in the format of the provider, instead of in the text of the prompt.
    pub(crate) native_tools: bool,
    /// Why the planned calls could not be made; `None` if they were made or there are none. The model, which carries out the item
    /// instead, is told the reason.
    pub(crate) planned_calls_problem: Option<String>,
    /// Whether the calls in progress are planned ones. No model waits for their results.
    open_calls_are_planned: bool,
    /// Number of the current or last model call, from 1.
    pub(crate) iteration: u32,
    /// Number and tokens of the model calls of the item.
    pub(crate) model_usage: ModelUsage,
    /// All results so far, without those of refused calls.
    pub(crate) results: Vec<ToolResult>,
    /// Planned calls that succeeded in an earlier attempt at the item, in this run or an earlier one, with their results. If the
    /// plan still has such a call, it is not made again.
    earlier_successes: Vec<(ParsedToolCall, ToolResult)>,
    /// The identifiers of all planned calls, including refused ones.
    pub(crate) planned_call_ids: Vec<String>,
    /// Whether the item used all of its model calls.
    pub(crate) out_of_iterations: bool,
    /// Whether a call was refused because the run had used all of its tool calls.
    pub(crate) out_of_calls: bool,
    /// How often the model was reminded to call the required tools.
    reminder_count: u32,
    /// Names of the tools that ran.
    called_tools: BTreeSet<String>,
    /// How often each call was made, by its [`fingerprint`], which is equal for calls of one tool with the same arguments.
    call_counts: BTreeMap<String, u32>,
    /// Fingerprints of the calls that may not be made again, each with the reason.
    not_repeatable: BTreeMap<String, NoRepeatReason>,
    /// The tools of the calls in `not_repeatable` that were denied, by the fingerprints of the calls.
    denied_calls: BTreeMap<String, String>,
    /// The content of the last reply that had content.
    last_content: Value,
    /// What was wrong with the last unusable reply.
    last_problem: Option<String>,
    /// The calls in progress.
    batch: Batch,
}

/// The calls of one reply or of the plan, until all have results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Batch {
    /// All calls, including refused ones and those that are not made again.
    calls: Vec<ParsedToolCall>,
    /// For each call, by its identifier: which texts in its arguments may name files.
    file_name_pointers: BTreeMap<String, FileNamePointers>,
    /// Results of planned calls that succeeded in an earlier attempt at the item, and are not made again.
    reused: Vec<ToolResult>,
    /// Results of refused calls.
    refused: Vec<ToolResult>,
    /// What the model wrote beside the calls.
    text: String,
    /// State that the provider sent with the reply, and that has to be sent back to it.
    provider_state: Option<ProviderState>,
    /// Problems of the reply, which are reported to the model after the results.
    problems: Vec<String>,
}

impl Batch {
    /// Creates the batch for a reply, still without calls.
    fn of(reply: &ExecutionReply) -> Self {
        let text = reply.content.as_str();
        Self {
            text: text.map_or_else(String::new, |text| prompt::sanitize(&truncate_for_prompt(text))),
            provider_state: reply.provider_state.clone(),
            problems: reply.problems.clone(),
            ..Self::default()
        }
    }
}

/// Why a call may not be made again with the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NoRepeatReason {
    /// The tool was denied a right.
    Denied,
    /// It was a planned call and succeeded. The model continues from its result.
    PlanSucceeded,
    /// The tool asked a person, and the person answered (contract A39).
    PersonAnswered,
}

/// What happens next with an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NextMove {
    /// Call the model again.
    CallModel,
    /// Let the model carry out the item, because the planned calls did not complete it. The text says why they did not.
    HandOverToModel(String),
    /// Make these calls. Refused calls are not among them.
    CallTools(Vec<ParsedToolCall>),
    /// Complete the item with this result.
    Complete(Shared<Value>),
    /// Fail the item with this reason.
    Fail(String),
}

impl ItemRun {
    pub(crate) fn new(messages: Vec<Message>, native_tools: bool) -> Self {
        Self {
            messages,
            native_tools,
            planned_calls_problem: None,
            open_calls_are_planned: false,
            iteration: 1,
            model_usage: ModelUsage::default(),
            results: Vec::new(),
            earlier_successes: Vec::new(),
            planned_call_ids: Vec::new(),
            out_of_iterations: false,
            out_of_calls: false,
            reminder_count: 0,
            called_tools: BTreeSet::new(),
            call_counts: BTreeMap::new(),
            not_repeatable: BTreeMap::new(),
            denied_calls: BTreeMap::new(),
            last_content: Value::Null,
            last_problem: None,
            batch: Batch::default(),
        }
    }

    /// Creates the state of an item that begins, or begins again. Keeps the results of planned calls that succeeded in an earlier
    /// attempt at the item, except results that were cut for storage and those of calls that took a file.
    pub(crate) fn of(item: &TodoItem, native_tools: bool) -> Self {
        let mut item_run = Self::new(Vec::new(), native_tools);
        if !item.tool_calls.is_empty() {
            let is_complete = |result: &&ToolResult| !result.output.as_deref().is_some_and(is_cut);
            let is_reusable = |result: &&ToolResult| result.status == ToolStatus::Success && is_complete(result);
            let results = item.tool_results.iter().filter(is_reusable);
            let calls = results.filter_map(|result| {
                let mut calls = item.actual_tool_calls.iter();
                let call = calls.find(|call| call.call_id == result.call_id)?;
                // The file that the arguments name may have another content now.
                let takes_a_file = attachment::may_name_a_file(&call.arguments);
                (!takes_a_file).then(|| (call.clone(), result.clone()))
            });
            item_run.earlier_successes = calls.collect();
        }
        item_run
    }

    /// Returns which texts in the arguments of a call in progress may name files.
    pub(crate) fn file_name_pointers(&self, call_id: &str) -> FileNamePointers {
        self.batch
            .file_name_pointers
            .get(call_id)
            .cloned()
            .unwrap_or(FileNamePointers::NONE)
    }

    /// Takes a reply of the model, and returns what happens next. `reply_text` is the raw text of the reply.
    pub(crate) fn handle_reply(
        &mut self,
        item: &TodoItem,
        reply: &ExecutionReply,
        reply_text: &str,
        admission: &mut AdmissionContext<'_>,
    ) -> NextMove {
        if reply.has_content() {
            self.last_content.clone_from(&reply.content);
        }
        if reply.decision == Some(StepDecision::FailItem) && reply.calls.is_empty() {
            return NextMove::Fail(self.failure_reason(&reply.problems));
        }
        if !reply.cut_off && self.remind_of_required_tools(item, reply, reply_text, admission.config) {
            return self.ask_again_or_end(admission.config);
        }
        if !reply.calls.is_empty() {
            self.batch = Batch::of(reply);
            return self.start_batch(item, reply.calls.clone(), admission);
        }
        match self.correction_message(reply) {
            Some(message) => {
                self.push_reply(reply_text, reply);
                self.messages.push(message);
                self.ask_again_or_end(admission.config)
            }
            None => self.complete(&reply.content),
        }
    }

    /// Records the results of the calls in progress, and returns what happens next. `files` are files that the calls produced.
    /// If the calls are planned and complete the item, the model does not see them. In all other cases, adds all of the calls
    /// with their results and files to the messages for the model (contract P63).
    pub(crate) fn handle_results(
        &mut self,
        item: &TodoItem,
        results: &[ToolResult],
        files: &[RunFile],
        config: ExecutionConfig,
    ) -> NextMove {
        let batch = std::mem::take(&mut self.batch);
        let ran = results.iter().filter(|result| !result.metadata.not_run);
        self.called_tools.extend(ran.map(|result| result.tool_name.clone()));
        // The results are added in the order of the calls, not in the order in which the calls ended.
        let find_result = |call: &ParsedToolCall| {
            let mut candidates = results.iter().chain(&batch.reused);
            candidates.find(|result| result.call_id == call.call_id).cloned()
        };
        self.results.extend(batch.calls.iter().filter_map(find_result));
        if !std::mem::take(&mut self.open_calls_are_planned) {
            self.push_batch(batch, results, files, config);
            return self.ask_again_or_end(config);
        }
        match self.planned_output(item, &batch) {
            Ok(output) => NextMove::Complete(output),
            Err(reason) => {
                let succeeded: Vec<_> = self.successful_calls(&batch).map(fingerprint).collect();
                for call in succeeded {
                    self.not_repeatable.entry(call).or_insert(NoRepeatReason::PlanSucceeded);
                }
                self.push_batch(batch, results, files, config);
                NextMove::HandOverToModel(reason)
            }
        }
    }

    /// Adds the calls of a batch and their results to the messages.
    fn push_batch(&mut self, batch: Batch, results: &[ToolResult], files: &[RunFile], config: ExecutionConfig) {
        let requests = batch.calls.iter().map(as_request).collect();
        self.messages.push(Message {
            provider_state: batch.provider_state,
            ..Message::assistant_calls(&batch.text, requests)
        });
        let max_result_length = config.tool_result_max_length / results.len().max(1);
        for call in &batch.calls {
            let mut candidates = results.iter().chain(&batch.refused).chain(&batch.reused);
            let Some(result) = candidates.find(|result| result.call_id == call.call_id) else {
                continue;
            };
            self.messages
                .push(prompt::tool_message(result, files, max_result_length));
            if result.code == Some(ToolErrorCode::PermissionDenied) {
                self.not_repeatable.insert(fingerprint(call), NoRepeatReason::Denied);
                self.denied_calls.insert(fingerprint(call), call.tool_name.clone());
            }
        }
        let rejected = results.iter().filter(|result| result.metadata.rejected);
        self.messages.extend(rejected.map(prompt::rejection_message));
        if !batch.problems.is_empty() {
            self.messages.push(prompt::problem_message(&batch.problems));
        }
    }

    /// Returns the names of the tools of denied calls that may not be made again.
    pub(crate) fn denied_tools(&self) -> impl Iterator<Item = &str> {
        self.denied_calls.values().map(String::as_str)
    }

    /// Lets the denied calls of these tools be made again, and counts them anew, because the grants of the tools have changed.
    pub(crate) fn allow_denied(&mut self, tools: &[String]) {
        let is_allowed = |_fingerprint: &String, tool: &mut String| tools.contains(tool);
        for (fingerprint, _) in self.denied_calls.extract_if(.., is_allowed) {
            self.not_repeatable.remove(&fingerprint);
            self.call_counts.remove(&fingerprint);
        }
    }

    /// Changes the arguments of a call in progress. No text in the new arguments counts as the name of a file.
    pub(crate) fn change_arguments(&mut self, call_id: &str, arguments: &Value) {
        for call in self.batch.calls.iter_mut().filter(|call| call.call_id == call_id) {
            call.arguments = arguments.clone();
            self.batch
                .file_name_pointers
                .insert(call_id.to_owned(), FileNamePointers::NONE);
        }
    }

    /// Notes that a person answered the question of a call in progress, so that the model may not make the same call again.
    pub(crate) fn note_person_answered(&mut self, call_id: &str) {
        let call = self.batch.calls.iter().find(|call| call.call_id == call_id);
        self.not_repeatable
            .extend(call.map(|call| (fingerprint(call), NoRepeatReason::PersonAnswered)));
    }

    /// Begins the planned calls. In their arguments, the references to outputs of earlier calls are already replaced by these
    /// outputs.
    pub(crate) fn start_planned(
        &mut self,
        item: &TodoItem,
        calls: Vec<RawCall>,
        admission: &mut AdmissionContext<'_>,
    ) -> NextMove {
        self.open_calls_are_planned = true;
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

    /// Returns the output of the planned calls, which becomes the result of the item. Fails with the reason if a planned call did
    /// not succeed or if the calls do not complete the item.
    fn planned_output(&self, item: &TodoItem, batch: &Batch) -> Result<Shared<Value>, String> {
        let mut results = batch.refused.iter().chain(&self.results);
        let is_failed = |result: &&ToolResult| result.status != ToolStatus::Success || result.metadata.rejected;
        if let Some(failed) = results.find(is_failed) {
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
        last_output(&self.results).ok_or_else(|| "its planned calls gave no output".to_owned())
    }

    /// Returns whether the next reply has to call a tool: the item is strict and requires tools, no call was made yet, and the
    /// run may still make calls. Once a call was made, even one that failed, the model may end the item.
    pub(crate) fn must_call(&self, item: &TodoItem) -> bool {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        strict && !item.required_tools.is_empty() && item.actual_tool_calls.is_empty() && !self.out_of_calls
    }

    /// Returns whether the required tools were called, whatever their results (contract X19).
    pub(crate) fn validation(&self, item: &TodoItem) -> ValidationStatus {
        let may_remind = false;
        required_tools::validate(item, &self.called_tools, may_remind).status
    }

    /// Returns the reason why an item with a result counts as incomplete, if there is one: every call of a required tool failed
    /// (contract X19), or the item is strict and a required tool was never called.
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

    /// If a required tool is called neither by the reply nor by an earlier one, adds a message that reminds the model of it.
    /// Returns whether it added one. Only strict items have reminders. The setting `taef_max_retries` limits the number of
    /// reminders (TAEF, for tool-aware execution framework, is the name of the contract for the check of required tools).
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
        let may_remind = self.reminder_count < config.taef_max_retries && self.iteration < config.max_iterations;
        let validation = required_tools::validate(item, &called, may_remind);
        if validation.must_remind {
            self.reminder_count += 1;
            self.push_reply(reply_text, reply);
            self.messages
                .push(prompt::missing_tools_message(&validation.missing, &reply.problems));
        }
        validation.must_remind
    }

    /// Returns the message that asks the model to correct a reply without calls, or `None` if the reply ends the item
    /// (contract P50).
    fn correction_message(&mut self, reply: &ExecutionReply) -> Option<Message> {
        if !reply.problems.is_empty() {
            self.last_problem = reply.problems.first().cloned();
            return Some(prompt::problem_message(&reply.problems));
        }
        let wants_to_continue = reply.decision == Some(StepDecision::Continue) && !reply.has_content();
        let has_no_result = !reply.has_content() && self.results.is_empty();
        if wants_to_continue || has_no_result {
            self.last_problem = Some("the reply was empty".to_owned());
            return Some(prompt::continue_message());
        }
        None
    }

    /// Calls the model again. If the item has used all of its model calls, ends it instead: with the latest content, else with
    /// the last output of a tool, else without a result, so that it fails (contract P47).
    fn ask_again_or_end(&mut self, config: ExecutionConfig) -> NextMove {
        if self.iteration < config.max_iterations {
            self.iteration += 1;
            return NextMove::CallModel;
        }
        self.out_of_iterations = true;
        if !is_blank(&self.last_content) {
            return NextMove::Complete(self.last_content.clone().into());
        }
        match last_output(&self.results) {
            Some(output) => NextMove::Complete(output),
            None => NextMove::Fail(self.no_result_reason()),
        }
    }

    /// Completes the item with the content of the reply, or else with the last output of a tool (contract P37), or else with the
    /// content of an earlier reply. If there is none of these, the item fails.
    fn complete(&self, content: &Value) -> NextMove {
        let non_blank = |content: &Value| (!is_blank(content)).then(|| content.clone().into());
        let result = non_blank(content).or_else(|| last_output(&self.results));
        match result.or_else(|| non_blank(&self.last_content)) {
            Some(result) => NextMove::Complete(result),
            None => NextMove::Fail(self.no_result_reason()),
        }
    }

    /// Returns the reason why the item has no result: the last error of a tool, or else what was wrong with the last unusable
    /// reply.
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

    /// Returns the reason that the model gave when it decided that the item failed. The problems of that reply are added, because
    /// the model is not told about them any more.
    fn failure_reason(&self, problems: &[String]) -> String {
        let reason = if is_blank(&self.last_content) {
            format!("the model gave up on the step; {}", self.no_result_reason())
        } else {
            safe_stringify(&self.last_content, DEFAULT_STRINGIFY_LIMIT)
        };
        let parts: Vec<_> = std::iter::once(&reason).chain(problems).map(String::as_str).collect();
        truncate_for_prompt(&parts.join("; "))
    }

    /// Adds a reply to the messages, without its calls. If the reply has no text, the message names the called tools instead.
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

/// Returns `text`, cut to the maximum length of one text in a prompt.
fn truncate_for_prompt(text: &str) -> String {
    truncate(text, DEFAULT_STRINGIFY_LIMIT)
}
