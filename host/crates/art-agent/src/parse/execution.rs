//! Parses the replies of a model that carries out a step (the execution phase). A reply has tool calls, or content that may be
//! the result of the step, or both, and sometimes a decision on the step or a change of the plan. All of these are read from JSON
//! in several spellings, and parts that cannot be used are reported as problems (contract P33c).
//!
//! Native calls are those that the provider returns as calls in its own format, beside the text of the reply.

use art_core::JsonObject;
use art_core::json;
use art_core::stream::{ModelReply, ProviderState};
use art_core::text::prefix;
use art_core::tool::ToolCallRequest;
use serde_json::Value;

use super::json::{find_array, find_object, first_value, syntax_error};
use super::planning::{PlanDraft, TOOL_CALLS_HEADING, parse_draft, parse_heading};
use super::{CUT_OFF_PROBLEM, MAX_CALLS_MADE, MAX_CALLS_WITH_RESULT, MAX_PROBLEMS, is_cut_off, split_reply};
use crate::call::RawCall;

/// Maximum size of a [`ProviderState`] as JSON, in bytes. A larger state is dropped, since a part of it would be useless.
const MAX_STATE_BYTES: usize = 256 << 10;

/// Maximum length of the name of a tool, in characters. A problem quotes at most that many characters of an invalid name.
const MAX_NAME_CHARS: usize = 64;

/// Maximum number of characters that are kept of the arguments of a native call if they are not valid JSON.
const MAX_INVALID_ARGUMENTS_CHARS: usize = 1_000;

/// The decision of a model on whether its step goes on (contract C59).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepDecision {
    /// The step continues.
    Continue,
    /// The step is completed.
    CompleteItem,
    /// The step failed.
    FailItem,
}

/// The changed plan in a reply, or what is wrong with it.
pub(crate) type PlanUpdate = Result<PlanDraft, Vec<String>>;

/// A reply in the execution phase.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ExecutionReply {
    pub(crate) thoughts: String,
    /// The content as JSON, usually a text; null if there is none.
    pub(crate) content: Value,
    pub(crate) calls: Vec<RawCall>,
    pub(crate) decision: Option<StepDecision>,
    pub(crate) updated_plan: Option<PlanUpdate>,
    /// Problems to report to the model.
    pub(crate) problems: Vec<String>,
    /// Whether the reply was cut off before its end, so that none of its calls is made.
    pub(crate) cut_off: bool,
    /// State that must be sent back to the provider together with the native calls of this reply.
    pub(crate) provider_state: Option<ProviderState>,
}

impl ExecutionReply {
    /// Returns whether the reply has content that is not blank.
    pub(crate) fn has_content(&self) -> bool {
        !is_blank(&self.content)
    }

    /// Returns whether the reply has no content, no calls, no decision, no changed plan and no problems. It may have thoughts.
    fn has_nothing_for_the_step(&self) -> bool {
        !self.has_content()
            && self.calls.is_empty()
            && self.decision.is_none()
            && self.updated_plan.is_none()
            && self.problems.is_empty()
    }
}

/// Returns whether `content` is null or a text of white space only.
pub(crate) fn is_blank(content: &Value) -> bool {
    content.is_null() || content.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Parses `reply`. If it has native calls, calls in the text are ignored. If it has separate thoughts and nothing for the step in
/// its text, calls and a decision are read from the thoughts.
pub(crate) fn parse_execution(reply: &ModelReply) -> ExecutionReply {
    let texts = split_reply(reply);
    let mut parsed = parse_text(&texts.content);
    if parsed.has_nothing_for_the_step() && reply.tool_calls.is_empty() && !reply.thinking.is_empty() {
        let from_thoughts = parse_text(&format!("{}{}", texts.thoughts, texts.content));
        if !from_thoughts.calls.is_empty() || from_thoughts.decision.is_some() {
            parsed = from_thoughts;
        }
    }
    if !reply.tool_calls.is_empty() {
        let native = read_native_calls(reply);
        parsed.calls = native.calls;
        parsed.problems = native.problems;
        parsed.provider_state = native.provider_state;
    }
    limit_calls(&mut parsed);
    if is_cut_off(reply) {
        discard_incomplete(&mut parsed);
    }
    let thoughts = [texts.thoughts, std::mem::take(&mut parsed.thoughts)];
    parsed.thoughts = thoughts
        .into_iter()
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n\n");
    parsed
}

fn is_small_enough(state: &ProviderState) -> bool {
    serde_json::to_string(&state.content).is_ok_and(|text| text.len() <= MAX_STATE_BYTES)
}

/// Gives each call after the first [`MAX_CALLS_MADE`] a problem, so that it is not made, and removes its arguments. Drops
/// the calls after the first [`MAX_CALLS_WITH_RESULT`], and reports how many calls the reply made (contract M08).
fn limit_calls(parsed: &mut ExecutionReply) {
    let count = parsed.calls.len();
    for call in parsed.calls.iter_mut().skip(MAX_CALLS_MADE) {
        call.arguments = Value::Object(JsonObject::new());
        call.problem = Some(format!(
            "not called: only the first {MAX_CALLS_MADE} of the {count} calls of the reply were read"
        ));
    }
    if count > MAX_CALLS_WITH_RESULT {
        parsed.calls.truncate(MAX_CALLS_WITH_RESULT);
        parsed.problems.push(format!(
            "the reply made {count} tool calls; make at most {MAX_CALLS_MADE} at a time"
        ));
    }
}

/// Removes from a reply that was cut off what may be incomplete: the decision and the changed plan. If the reply has problems but
/// no calls, also removes the content, which may then be incomplete JSON. Gives each call the problem [`CUT_OFF_PROBLEM`], so
/// that none is made. A reply without calls gets this problem in place of its own problems.
fn discard_incomplete(parsed: &mut ExecutionReply) {
    parsed.cut_off = true;
    parsed.decision = None;
    parsed.updated_plan = None;
    for call in &mut parsed.calls {
        call.problem = Some(CUT_OFF_PROBLEM.to_owned());
    }
    if parsed.calls.is_empty() {
        if !parsed.problems.is_empty() {
            parsed.content = Value::Null;
        }
        parsed.problems = vec![CUT_OFF_PROBLEM.to_owned()];
    }
}

/// The native calls of a reply: those that the provider returned as calls in its own format.
#[derive(Debug)]
pub(super) struct NativeCalls {
    pub(super) calls: Vec<RawCall>,
    /// Why calls were dropped: one text for each dropped call, at most [`MAX_PROBLEMS`] texts.
    pub(super) problems: Vec<String>,
    /// State that must be sent back to the provider together with the calls.
    pub(super) provider_state: Option<ProviderState>,
}

/// Reads the native calls of a reply. Drops calls whose name no tool can have. If a call is dropped, drops the state of the
/// provider as well, because it belongs to the complete reply.
pub(super) fn read_native_calls(reply: &ModelReply) -> NativeCalls {
    let (calls, misnamed): (Vec<_>, Vec<_>) = reply
        .tool_calls
        .iter()
        .partition(|call| is_valid_tool_name(&call.function.name));
    let problems = misnamed.iter().take(MAX_PROBLEMS).map(|call| {
        let name = prefix(&call.function.name, MAX_NAME_CHARS);
        format!(
            "the call of `{name}` was not carried out: no tool has such a name; call the tools by the names they have"
        )
    });
    NativeCalls {
        calls: calls.into_iter().map(read_native_call).collect(),
        problems: problems.collect(),
        provider_state: reply
            .state
            .clone()
            .filter(|state| misnamed.is_empty() && is_small_enough(state)),
    }
}

fn read_native_call(request: &ToolCallRequest) -> RawCall {
    let id = Some(request.id.clone());
    let name = request.function.name.clone();
    let text = request.function.arguments.trim();
    if text.is_empty() {
        return RawCall::new(id, name, Value::Object(JsonObject::new()));
    }
    match json::parse(text) {
        Ok(arguments) => RawCall::new(id, name, arguments),
        Err(error) => RawCall {
            problem: Some(format!("`arguments` is not valid JSON: {error}")),
            ..RawCall::new(id, name, Value::from(prefix(text, MAX_INVALID_ARGUMENTS_CHARS)))
        },
    }
}

/// Parses the text of a reply: an array of calls, an object with the fields of a reply, calls under a heading, or prose.
fn parse_text(text: &str) -> ExecutionReply {
    if let Some(array) = find_array(text).filter(|array| array.iter().any(is_call)) {
        return parse_calls(&array);
    }
    let object = find_object(text, has_reply_field).map(|map| parse_object(&map));
    object
        .or_else(|| parse_heading_form(text))
        .unwrap_or_else(|| ExecutionReply {
            content: Value::from(text),
            problems: broken_json_problem(text).into_iter().collect(),
            ..ExecutionReply::default()
        })
}

/// Parses calls that are an array under the heading `Tool Calls:`, a form that older prompts requested (contracts A27, P33b).
fn parse_heading_form(text: &str) -> Option<ExecutionReply> {
    let list = text_after_heading(text)?.trim_start_matches(|c: char| c.is_whitespace() || c == '*');
    match first_value(list) {
        Some(Value::Array(calls)) if calls.iter().any(is_call) => Some(parse_calls(&calls)),
        None if list.starts_with('[') => Some(ExecutionReply {
            problems: json_problem(list).into_iter().collect(),
            ..ExecutionReply::default()
        }),
        _ => None,
    }
}

/// Returns the text after the heading `Tool Calls:`: the rest of the line and all lines below.
fn text_after_heading(text: &str) -> Option<&str> {
    let mut rest = text;
    while !rest.is_empty() {
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        if parse_heading(line).is_some_and(|(name, _)| name == TOOL_CALLS_HEADING) {
            return rest.split_once(':').map(|(_, after)| after);
        }
        rest = below;
    }
    None
}

/// Returns the syntax error of `text` as a problem for the model if the text has a key of a reply, and so was meant as JSON.
/// Without the problem, such a text would be taken for prose.
fn broken_json_problem(text: &str) -> Option<String> {
    const KEYS: [&str; 4] = [
        "\"toolCalls\"",
        "\"tool_calls\"",
        "\"nextStepDecision\"",
        "\"updatedPlan\"",
    ];
    let has_key = KEYS.iter().any(|key| text.contains(key));
    has_key.then(|| json_problem(text)).flatten()
}

/// Returns the syntax error of the JSON in `text` as a problem for the model, or `None` if there is none.
fn json_problem(text: &str) -> Option<String> {
    syntax_error(text).map(|fault| format!("the JSON of the reply is not valid: {fault}"))
}

fn has_reply_field(map: &JsonObject) -> bool {
    const KEYS: [&str; 5] = ["toolCalls", "tool_calls", "content", "nextStepDecision", "updatedPlan"];
    KEYS.iter().any(|key| map.contains_key(*key))
}

fn is_call(value: &Value) -> bool {
    value.as_object().is_some_and(|map| call_name(map).is_some())
}

/// Reads the fields of a reply.
fn parse_object(map: &JsonObject) -> ExecutionReply {
    let calls = map
        .get("toolCalls")
        .or_else(|| map.get("tool_calls"))
        .filter(|calls| !calls.is_null());
    let mut reply = match calls {
        None => ExecutionReply::default(),
        Some(Value::Array(calls)) => parse_calls(calls),
        Some(_) => ExecutionReply {
            problems: vec!["`toolCalls` has to be an array".to_owned()],
            ..ExecutionReply::default()
        },
    };
    reply.content = map.get("content").cloned().unwrap_or_default();
    reply.thoughts = map
        .get("thoughts")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .trim()
        .to_owned();
    add_decision(map, &mut reply);
    reply.updated_plan = map
        .get("updatedPlan")
        .filter(|plan| !plan.is_null())
        .map(parse_plan_update);
    reply
}

/// Adds the decision in `nextStepDecision` to `reply`, or a problem if no decision has this name.
fn add_decision(map: &JsonObject, reply: &mut ExecutionReply) {
    let Some(name) = map.get("nextStepDecision").and_then(Value::as_str) else {
        return;
    };
    // Variants of the names are accepted, but `wait` is not: nothing would change while the step waits.
    reply.decision = match name.trim().to_ascii_lowercase().as_str() {
        "continue" | "update_plan" => Some(StepDecision::Continue),
        "complete_item" | "complete" | "completed" | "done" | "finish" => Some(StepDecision::CompleteItem),
        "fail_item" | "fail" | "failed" => Some(StepDecision::FailItem),
        _ => {
            let name = prefix(name, MAX_NAME_CHARS);
            reply.problems.push(format!(
                "`nextStepDecision` is `{name}`; it has to be `complete_item` or `fail_item`"
            ));
            None
        }
    };
}

fn parse_plan_update(plan: &Value) -> PlanUpdate {
    match plan {
        Value::Object(map) => parse_draft(map),
        Value::Array(_) => parse_draft(&JsonObject::from_iter([("todoList".to_owned(), plan.clone())])),
        _ => Err(vec!["`updatedPlan` has to be an object".to_owned()]),
    }
}

fn parse_calls(calls: &[Value]) -> ExecutionReply {
    let mut reply = ExecutionReply::default();
    for (n, call) in calls.iter().enumerate() {
        match parse_call(call) {
            Some(call) => reply.calls.push(call),
            None => reply.problems.push(format!(
                "`toolCalls[{n}]` was not carried out: it needs `toolName`, the name of a tool, and `arguments`, an object"
            )),
        }
    }
    reply.problems.truncate(MAX_PROBLEMS);
    reply
}

/// Parses a call that the model wrote as JSON in its text. The formats of providers are accepted too, because models know them
/// from their training.
pub(super) fn parse_call(call: &Value) -> Option<RawCall> {
    let outer = call.as_object()?;
    let inner = outer.get("function").and_then(Value::as_object).unwrap_or(outer);
    let name = call_name(outer).filter(|name| is_valid_tool_name(name))?;
    let id = ["callId", "id"].iter().find_map(|key| outer.get(*key)?.as_str());
    let arguments = ["arguments", "parameters", "args"]
        .iter()
        .find_map(|key| inner.get(*key));
    let arguments = match arguments {
        None | Some(Value::Null) => Value::Object(JsonObject::new()),
        Some(Value::String(text)) => json::parse(text).unwrap_or_else(|_| Value::from(text.as_str())),
        Some(other) => other.clone(),
    };
    Some(RawCall::new(id.map(str::to_owned), name.to_owned(), arguments))
}

/// Returns whether a tool can have this name. A provider would refuse a conversation with a call of any other name.
fn is_valid_tool_name(name: &str) -> bool {
    (1..=MAX_NAME_CHARS).contains(&name.len())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Returns the name of the tool in a call, which may be in an inner object `function`.
fn call_name(map: &JsonObject) -> Option<&str> {
    let map = map.get("function").and_then(Value::as_object).unwrap_or(map);
    let name = ["toolName", "tool_name", "name"]
        .iter()
        .find_map(|key| map.get(*key)?.as_str())?;
    (!name.trim().is_empty()).then(|| name.trim())
}

#[cfg(test)]
mod tests;
