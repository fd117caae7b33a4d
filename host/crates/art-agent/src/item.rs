//! The loop of one item: call the model, call the tools it asks for, and repeat until the item ends (P47).

mod admit;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use art_core::agent::ExecutionConfig;
use art_core::error::ToolErrorCode;
use art_core::pes::{TodoItem, ToolValidationMode, ValidationStatus};
use art_core::prompt::Message;
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, safe_stringify, truncate};
use art_core::tool::{ParsedToolCall, ToolResult, ToolStatus};
use serde_json::Value;

use crate::call::fingerprint;
use crate::file::RunFile;
use crate::parse::{Decision, ExecutionReply, is_blank};
use crate::report::last_output;
use crate::{prompt, taef};

pub(crate) use admit::Gate;

/// An item in progress.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ItemRun {
    /// The conversation with the model so far.
    pub(crate) messages: Vec<Message>,
    /// Whether the model is sent tools in its provider's format.
    pub(crate) native_tools: bool,
    /// Identifiers of the steps whose results the item reads, as planned when it began.
    pub(crate) reads: Vec<String>,
    /// Number of files in the run when it began.
    pub(crate) files: usize,
    /// Number of the current or last model call, from 1.
    pub(crate) iteration: u32,
    /// All results so far.
    pub(crate) results: Vec<ToolResult>,
    /// All calls so far.
    pub(crate) calls: Vec<ParsedToolCall>,
    /// Whether the item used all of its model calls.
    pub(crate) out_of_iterations: bool,
    /// Whether a call was refused because the run had used all of its tool calls.
    pub(crate) out_of_calls: bool,
    enforcements: u32,
    called: BTreeSet<String>,
    made: BTreeMap<String, u32>,
    /// Fingerprints of calls that were denied, which may not be repeated.
    denied: BTreeSet<String>,
    last_content: Value,
    last_problem: Option<String>,
    batch: Batch,
}

/// The calls of one reply, until all have results.
#[derive(Clone, Debug, Default, PartialEq)]
struct Batch {
    calls: Vec<ParsedToolCall>,
    /// Results of refused calls.
    refused: Vec<ToolResult>,
    /// Problems to report to the model after the results.
    problems: Vec<String>,
}

/// The next action for an item.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Next {
    /// Call the model again.
    Ask,
    /// Call these tools. Refused calls are not among them.
    Call(Vec<ParsedToolCall>),
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
            reads: Vec::new(),
            files: 0,
            iteration: 1,
            results: Vec::new(),
            calls: Vec::new(),
            out_of_iterations: false,
            out_of_calls: false,
            enforcements: 0,
            called: BTreeSet::new(),
            made: BTreeMap::new(),
            denied: BTreeSet::new(),
            last_content: Value::Null,
            last_problem: None,
            batch: Batch::default(),
        }
    }

    /// Decides what follows a reply. `echo` is its raw text.
    pub(crate) fn replied(&mut self, item: &TodoItem, reply: &ExecutionReply, echo: &str, gate: &mut Gate<'_>) -> Next {
        if reply.has_content() {
            self.last_content.clone_from(&reply.content);
        }
        if reply.decision == Some(Decision::FailItem) && reply.calls.is_empty() {
            return Next::Fail(self.reason_to_fail(&reply.problems));
        }
        if !reply.cut && self.enforce(item, reply, echo, gate.config) {
            return self.ask_again(gate.config);
        }
        if !reply.calls.is_empty() {
            return self.start_batch(reply, gate);
        }
        match self.rejection(reply, gate.config) {
            Some(message) => {
                self.echo(echo, reply);
                self.messages.push(message);
                self.ask_again(gate.config)
            }
            None => self.complete(&reply.content),
        }
    }

    /// Adds the results of the calls and the files that they produced to the messages, so that every call has a result
    /// (P63).
    pub(crate) fn returned(&mut self, results: &[ToolResult], files: &[RunFile], config: ExecutionConfig) -> Next {
        let batch = std::mem::take(&mut self.batch);
        let share = config.tool_result_max_length / results.len().max(1);
        for call in &batch.calls {
            let all = || results.iter().chain(&batch.refused);
            let Some(result) = all().find(|result| result.call_id == call.call_id) else {
                continue;
            };
            self.messages.push(prompt::tool_message(result, files, share));
            if result.code == Some(ToolErrorCode::PermissionDenied) {
                self.denied.insert(fingerprint(call));
            }
        }
        if !batch.problems.is_empty() {
            self.messages.push(prompt::complaint(&batch.problems));
        }
        let made = results.iter().filter(|result| !result.metadata.not_run);
        self.called.extend(made.map(|result| result.tool_name.clone()));
        self.results.extend_from_slice(results);
        self.ask_again(config)
    }

    /// Returns whether the required tools were called with valid arguments. Their results do not matter (X19).
    pub(crate) fn validation(&self, item: &TodoItem) -> ValidationStatus {
        taef::validate(item, &self.called, false).status
    }

    /// Returns why a completed item still counts as incomplete: a required tool failed each time (X19) or was never
    /// called. Only a strict item must call its required tools.
    pub(crate) fn incomplete_reason(&self, item: &TodoItem) -> Option<String> {
        let strict = item.tool_validation_mode.unwrap_or_default() == ToolValidationMode::Strict;
        let of_tool = |tool: &String| match self.only_error(tool) {
            Some(error) => Some(format!("its required tool `{tool}` only failed: {error}")),
            None if strict && !self.called.contains(tool) => {
                Some(format!("its required tool `{tool}` was never called"))
            }
            None => None,
        };
        let parts: Vec<_> = item.required_tools.iter().filter_map(of_tool).collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }

    fn only_error(&self, tool: &str) -> Option<&str> {
        let mut of_tool = self.results.iter().filter(|result| result.tool_name == tool);
        let all_failed = of_tool.clone().all(|result| result.status == ToolStatus::Error);
        let last = of_tool.next_back().filter(|_| all_failed)?;
        Some(last.error.as_deref().unwrap_or("no reason was given"))
    }

    /// Checks that the reply calls the required tools. If it does not, adds a message for the model and returns true.
    fn enforce(&mut self, item: &TodoItem, reply: &ExecutionReply, echo: &str, config: ExecutionConfig) -> bool {
        let valid = reply.calls.iter().filter(|call| call.problem.is_none());
        let called = valid
            .map(|call| call.tool_name.clone())
            .chain(self.called.iter().cloned())
            .collect();
        let may_enforce = self.enforcements < config.taef_max_retries && self.iteration < config.max_iterations;
        let verdict = taef::validate(item, &called, may_enforce);
        if verdict.enforce {
            self.enforcements += 1;
            self.echo(echo, reply);
            self.messages
                .push(prompt::enforcement(&verdict.missing, &reply.problems));
        }
        verdict.enforce
    }

    /// Returns the message that rejects a reply without calls, or `None` if the reply ends the item (P50).
    fn rejection(&mut self, reply: &ExecutionReply, config: ExecutionConfig) -> Option<Message> {
        let last = self.iteration >= config.max_iterations;
        if last && reply.has_content() && reply.problems.is_empty() {
            return None;
        }
        if !reply.problems.is_empty() {
            self.last_problem = reply.problems.first().cloned();
            return Some(prompt::complaint(&reply.problems));
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
    fn ask_again(&mut self, config: ExecutionConfig) -> Next {
        if self.iteration < config.max_iterations {
            self.iteration += 1;
            return Next::Ask;
        }
        self.out_of_iterations = true;
        if !is_blank(&self.last_content) {
            return Next::Complete(self.last_content.clone());
        }
        match last_output(&self.results) {
            Some(output) => Next::Complete(output.into_owned()),
            None => Next::Fail(self.no_result()),
        }
    }

    /// Completes the item with the content of the reply, or else with the last output (P37).
    fn complete(&self, content: &Value) -> Next {
        let unless_blank = |content: &Value| (!is_blank(content)).then(|| content.clone());
        let result = unless_blank(content).or_else(|| last_output(&self.results).map(Cow::into_owned));
        match result.or_else(|| unless_blank(&self.last_content)) {
            Some(result) => Next::Complete(result),
            None => Next::Fail(self.no_result()),
        }
    }

    fn no_result(&self) -> String {
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

    /// Returns why the model gave up. Problems of its reply are included, because the model is not called again.
    fn reason_to_fail(&self, problems: &[String]) -> String {
        let reason = if is_blank(&self.last_content) {
            format!("the model gave up on the step; {}", self.no_result())
        } else {
            safe_stringify(&self.last_content, DEFAULT_STRINGIFY_LIMIT)
        };
        let parts: Vec<_> = std::iter::once(&reason).chain(problems).map(String::as_str).collect();
        bounded(&parts.join("; "))
    }

    /// Adds the reply as a message without calls.
    fn echo(&mut self, echo: &str, reply: &ExecutionReply) {
        let names: Vec<_> = reply.calls.iter().map(|call| call.tool_name.as_str()).collect();
        let text = match (echo.trim().is_empty(), names.is_empty()) {
            (false, _) => bounded(echo),
            (true, false) => bounded(&format!("(called {})", names.join(", "))),
            (true, true) => "(empty reply)".to_owned(),
        };
        self.messages.push(Message::assistant(prompt::defuse(&text)));
    }
}

fn bounded(text: &str) -> String {
    truncate(text, DEFAULT_STRINGIFY_LIMIT)
}
