//! Parses the replies of the planner, which is the model that makes the plan. A reply is a plan or the answer to a question that
//! needs no plan. The plan is the arguments of a call of the function [`SUBMIT_PLAN`], or JSON in the text; many variants of
//! the form of its items are accepted (contract P33a). The older text form with headings is read as well (contract P33b).
//!
//! Native calls are those that the provider returns as calls in its own format, beside the text. Calls that the planner makes
//! itself, other than to submit a plan, become steps of the plan.

use std::collections::BTreeSet;

use art_core::JsonObject;
use art_core::pes::{PlannedCall, StepType, TodoItemStatus, ToolValidationMode};
use art_core::stream::{ModelReply, ProviderState};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{answer_and_metadata, parse_answer};
use super::execution::{self, NativeCalls, parse_call};
use super::json::{MARKER_END, MARKER_START, find_object, syntax_error};
use super::{MAX_PROBLEMS, MAX_TODO_ITEMS, ReplyTexts, is_cut_off, split_reply};
use crate::call::RawCall;
use crate::plan;
use crate::prompt::SUBMIT_PLAN;

/// A reply of the planner.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PlanReply {
    pub(crate) thoughts: String,
    /// The text of the reply, which may hold the plan.
    pub(crate) text: String,
    /// The native calls of the reply with valid names, in their order.
    pub(crate) calls: Vec<RawCall>,
    /// State that must be sent back to the provider together with the calls.
    pub(crate) provider_state: Option<ProviderState>,
    /// The plan or the answer, or else a list of what is wrong with the reply. This list is empty if the reply was cut off and
    /// has native calls: the caller then reports only that the reply was cut off.
    pub(crate) outcome: Result<PlanDraft, Vec<String>>,
}

/// A plan as the model proposes it. Parts that the model omitted are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanDraft {
    pub(crate) title: Option<String>,
    pub(crate) intent: Option<String>,
    /// The plan in words.
    pub(crate) plan: Option<String>,
    pub(crate) items: Option<Vec<DraftItem>>,
    /// Calls outside the items. Each becomes an item of its own later.
    pub(crate) calls: Vec<CallWithoutStep>,
    /// The answer to the question, if it needs no plan.
    pub(crate) answer: Option<String>,
    /// Metadata of the answer for a user interface.
    pub(crate) ui_metadata: Option<Value>,
}

/// A call that belongs to no item of the plan: the planner made it itself, or listed it in place of items (contracts S003, P33a).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CallWithoutStep {
    /// Position of the call in [`PlanReply::calls`]; `None` for a call that the plan lists.
    pub(crate) function_call_position: Option<usize>,
    pub(crate) call: PlannedCall,
}

/// A plan item as the model proposes it. It has no results, which only the host writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct DraftItem {
    pub(crate) id: String,
    pub(crate) description: String,
    pub(crate) status: Option<TodoItemStatus>,
    pub(crate) dependencies: Vec<String>,
    pub(crate) step_type: Option<StepType>,
    pub(crate) required_tools: Vec<String>,
    pub(crate) expected_outcome: Option<String>,
    pub(crate) tool_validation_mode: Option<ToolValidationMode>,
    pub(crate) tool_calls: Vec<PlannedCall>,
}

impl DraftItem {
    /// Creates the item that makes one call.
    pub(crate) fn of_call(id: String, call: PlannedCall) -> Self {
        with_fields_implied_by_calls(Self {
            description: format!("Call `{}`.", call.tool_name),
            id,
            tool_calls: vec![call],
            ..Self::default()
        })
    }
}

/// Maximum length of an item's identifier, in characters. The identifier becomes part of observations and prompts.
const MAX_ID_CHARS: usize = 128;

/// Maximum number of names in one list: of the required tools of an item, or of the items that it depends on.
const MAX_NAMES: usize = 64;

/// Heading of tool calls in the form that older prompts requested. In a plan, the text under it is ignored.
pub(super) const TOOL_CALLS_HEADING: &str = "tool calls";

/// Maximum number of planned calls of one item.
const MAX_PLANNED_CALLS: usize = 16;

/// Maximum number of words of a title (contract C36).
const MAX_TITLE_WORDS: usize = 10;

/// Parses a reply of the planner. If it has native calls, the plan is in them. Otherwise the plan is in the text, or else in the
/// thoughts (contract P30); without a plan, the text is the answer.
pub(crate) fn parse_planning(reply: &ModelReply) -> PlanReply {
    let texts = split_reply(reply);
    let native = execution::read_native_calls(reply);
    let outcome = if is_cut_off(reply) && !native.calls.is_empty() {
        Err(Vec::new())
    } else if native.calls.is_empty() && native.problems.is_empty() {
        plan_or_answer_in_texts(&texts, reply)
    } else {
        plan_in_calls(&native)
    };
    PlanReply {
        thoughts: texts.thoughts,
        text: texts.content,
        calls: native.calls,
        provider_state: native.provider_state,
        outcome,
    }
}

/// Returns the plan that a call of [`SUBMIT_PLAN`] contains, or a plan without items if there is no such call. Adds all
/// other calls to [`PlanDraft::calls`] of this plan. Fails with all problems.
fn plan_in_calls(native: &NativeCalls) -> Result<PlanDraft, Vec<String>> {
    let mut problems = native.problems.clone();
    let mut submitted = Vec::new();
    let mut calls = Vec::new();
    for (position, raw) in native.calls.iter().enumerate() {
        let name = &raw.tool_name;
        match (&raw.problem, raw.arguments.as_object()) {
            (None, Some(plan)) if name == SUBMIT_PLAN => {
                problems.extend(missing_fields_problem(plan));
                submitted.push(plan);
            }
            (None, Some(_)) => calls.push(CallWithoutStep {
                function_call_position: Some(position),
                call: PlannedCall {
                    tool_name: name.clone(),
                    arguments: plan::planned_arguments(&raw.arguments),
                },
            }),
            (problem, _) => {
                let problem = problem.as_deref().unwrap_or("`arguments` has to be a JSON object");
                problems.push(format!("call {} of `{name}`: {problem}", position + 1));
            }
        }
    }
    let draft = match submitted.as_slice() {
        [] => PlanDraft {
            items: Some(Vec::new()),
            ..PlanDraft::default()
        },
        [plan] => parse_draft(plan).unwrap_or_else(|faults| {
            problems.extend(faults);
            PlanDraft::default()
        }),
        _ => {
            problems.push(format!("`{SUBMIT_PLAN}` was called more than once; submit one plan"));
            PlanDraft::default()
        }
    };
    let calls = draft.calls.iter().cloned().chain(calls).collect();
    if problems.is_empty() {
        Ok(PlanDraft { calls, ..draft })
    } else {
        Err(problems)
    }
}

/// Returns the problem of a submitted plan that has none of [`IDENTIFYING_FIELDS`], or `None` if it has one of them.
fn missing_fields_problem(plan: &JsonObject) -> Option<String> {
    if IDENTIFYING_FIELDS.iter().any(|key| plan.contains_key(*key)) {
        return None;
    }
    let keys: Vec<_> = plan.keys().take(MAX_NAMES).map(|key| format!("`{key}`")).collect();
    let keys = match keys.as_slice() {
        [] => "no fields".to_owned(),
        keys => truncate(&keys.join(", "), DEFAULT_STRINGIFY_LIMIT),
    };
    Some(format!(
        "the plan has neither `todoList`, a list of steps, nor `answer`; it has {keys}"
    ))
}

/// Returns the plan in the text of a reply. If the text has no plan, returns the plan in the thoughts and the text together. If
/// these have none either, and the text is prose, returns the text as the answer. Fails with what is wrong with the plan in the
/// text.
fn plan_or_answer_in_texts(texts: &ReplyTexts, reply: &ModelReply) -> Result<PlanDraft, Vec<String>> {
    let problems = match plan_in_text(&texts.content) {
        Err(problems) => problems,
        found => return found,
    };
    if !texts.thoughts.is_empty()
        && let Ok(draft) = plan_in_text(&format!("{}\n{}", texts.thoughts, texts.content))
    {
        return Ok(draft);
    }
    if is_prose(&texts.content) {
        Ok(answer_in_prose(reply))
    } else {
        Err(problems)
    }
}

/// Returns whether a text from which no plan could be read is an answer: it does not begin like JSON, and has no field and no
/// marker of a plan.
fn is_prose(text: &str) -> bool {
    let parts_of_plans = ["\"todoList\"", "\"toolCalls\"", MARKER_START, MARKER_END];
    !text.is_empty() && !begins_like_json(text) && !parts_of_plans.iter().any(|part| text.contains(part))
}

/// Returns whether `text`, the whole reply of the planner or its beginning, is meant as JSON.
pub(super) fn begins_like_json(text: &str) -> bool {
    text.starts_with(['{', '[']) || text.starts_with("```json")
}

/// Returns the draft of a reply that is only the answer.
fn answer_in_prose(reply: &ModelReply) -> PlanDraft {
    let parsed = parse_answer(reply);
    PlanDraft {
        answer: Some(parsed.answer).filter(|text| !text.is_empty()),
        ui_metadata: parsed.ui_metadata,
        ..PlanDraft::default()
    }
}

/// Parses the plan in `text`. Fails with what is wrong with it.
fn plan_in_text(text: &str) -> Result<PlanDraft, Vec<String>> {
    match find_object(text, is_plan) {
        Some(map) => parse_draft(&map),
        // Lines of broken JSON may look like headings, so a text with `todoList` is not read as the form with headings.
        None if text.contains("todoList") => Err(vec![missing_plan_problem(text)]),
        None => parse_headings(text).ok_or_else(|| vec![missing_plan_problem(text)]),
    }
}

/// Reads a plan from a JSON object. Fails with the problems of its items, or else of the calls outside the items.
pub(crate) fn parse_draft(map: &JsonObject) -> Result<PlanDraft, Vec<String>> {
    let list = map.get("todoList").filter(|list| !list.is_null());
    let (answer, ui_metadata) = map
        .get("answer")
        .and_then(Value::as_str)
        .map_or_else(Default::default, answer_and_metadata);
    Ok(PlanDraft {
        title: text_field(map, "title").map(|title| {
            title
                .split_whitespace()
                .take(MAX_TITLE_WORDS)
                .collect::<Vec<_>>()
                .join(" ")
        }),
        intent: text_field(map, "intent"),
        plan: map.get("plan").and_then(plan_text),
        items: list.map(|list| parse_draft_items(list, "todoList")).transpose()?,
        calls: calls_outside_items(map)?,
        answer: Some(answer).filter(|text| !text.is_empty()),
        ui_metadata,
    })
}

/// Returns the calls that a plan has outside its items (contracts S003, P33a). Fails with all problems.
fn calls_outside_items(map: &JsonObject) -> Result<Vec<CallWithoutStep>, Vec<String>> {
    let mut problems = Vec::new();
    let calls = ItemReader {
        path: String::new(),
        map,
        problems: &mut problems,
    }
    .planned_calls();
    if !problems.is_empty() {
        return Err(problems);
    }
    let without_step = |call| CallWithoutStep {
        function_call_position: None,
        call,
    };
    Ok(calls.into_iter().map(without_step).collect())
}

/// Fields by which an object is recognised as a plan, because other objects rarely have them.
const IDENTIFYING_FIELDS: [&str; 3] = ["todoList", "toolCalls", "answer"];

/// Returns whether an object is a plan. Any object may have a title, so an object without [`IDENTIFYING_FIELDS`] is a plan
/// only if it has the field `plan` and all of its fields are fields of a plan.
fn is_plan(map: &JsonObject) -> bool {
    let is_field = |key: &String| {
        IDENTIFYING_FIELDS.contains(&key.as_str()) || ["title", "intent", "plan"].contains(&key.as_str())
    };
    IDENTIFYING_FIELDS.iter().any(|key| map.contains_key(*key))
        || (map.contains_key("plan") && map.keys().all(is_field))
}

/// Returns the problem of a text in which no plan was found.
fn missing_plan_problem(text: &str) -> String {
    match syntax_error(text) {
        Some(fault) => format!("the plan is not valid JSON: {fault}"),
        None => "there is no JSON with a plan in the reply".to_owned(),
    }
}

/// Returns the text under `key`, trimmed and cut to a maximum length, or `None` if it is blank or is not a text.
fn text_field(map: &JsonObject, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| truncate(text, DEFAULT_STRINGIFY_LIMIT))
}

/// Returns the field `plan` as text: an array is joined line by line, and other values are written as JSON.
fn plan_text(plan: &Value) -> Option<String> {
    let line = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = match plan {
        Value::Null => return None,
        Value::Array(lines) => lines.iter().map(line).collect::<Vec<_>>().join("\n"),
        other => line(other),
    };
    Some(truncate(&text, DEFAULT_STRINGIFY_LIMIT))
}

/// Parses the list of items that is in the field `field`. Fails with the problems of all items, at most [`MAX_PROBLEMS`].
pub(super) fn parse_draft_items(list: &Value, field: &str) -> Result<Vec<DraftItem>, Vec<String>> {
    let list = list
        .as_array()
        .ok_or_else(|| vec![format!("`{field}` has to be an array")])?;
    if list.len() > MAX_TODO_ITEMS {
        let count = list.len();
        return Err(vec![format!(
            "`{field}` has {count} items, more than {MAX_TODO_ITEMS}; use fewer, larger steps"
        )]);
    }
    let mut problems = Vec::new();
    let items = list
        .iter()
        .enumerate()
        .filter_map(|(n, value)| ItemReader::new(format!("{field}[{n}]"), value, &mut problems)?.into_item())
        .collect();
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(items) } else { Err(problems) }
}

/// Reader of the fields of one item, or of the calls that a plan has outside its items. It collects what is wrong with them.
struct ItemReader<'a> {
    /// Position of the item in the reply, such as `todoList[0]`; empty for the plan itself.
    path: String,
    map: &'a JsonObject,
    problems: &'a mut Vec<String>,
}

impl<'a> ItemReader<'a> {
    fn new(path: String, value: &'a Value, problems: &'a mut Vec<String>) -> Option<Self> {
        let Some(map) = value.as_object() else {
            problems.push(format!("`{path}` has to be an object"));
            return None;
        };
        Some(Self { path, map, problems })
    }

    fn into_item(mut self) -> Option<DraftItem> {
        let (id, description) = (self.id(), self.required_text("description"));
        let item = DraftItem {
            status: self
                .map
                .get("status")
                .and_then(Value::as_str)
                .and_then(TodoItemStatus::parse),
            dependencies: self.names("dependencies"),
            step_type: self.enum_field("stepType", "`tool` or `reasoning`"),
            required_tools: self.names("requiredTools"),
            expected_outcome: text_field(self.map, "expectedOutcome"),
            tool_validation_mode: self.enum_field("toolValidationMode", "`strict` or `advisory`"),
            tool_calls: self.planned_calls(),
            ..DraftItem::default()
        };
        Some(with_fields_implied_by_calls(DraftItem {
            id: id?,
            description: description?,
            ..item
        }))
    }

    fn planned_calls(&mut self) -> Vec<PlannedCall> {
        let calls = match self.map.get("toolCalls") {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(calls)) => calls,
            Some(_) => {
                self.add_problem("toolCalls", "has to be an array");
                return Vec::new();
            }
        };
        // With an empty path, these are the calls outside the items, each of which becomes an item.
        let maximum = if self.path.is_empty() {
            MAX_TODO_ITEMS
        } else {
            MAX_PLANNED_CALLS
        };
        if calls.len() > maximum {
            let count = calls.len();
            self.add_problem("toolCalls", &format!("has {count} calls, more than {maximum}"));
            return Vec::new();
        }
        let calls = calls
            .iter()
            .enumerate()
            .filter_map(|(n, call)| self.planned_call(n, call));
        calls.collect()
    }

    fn planned_call(&mut self, n: usize, call: &Value) -> Option<PlannedCall> {
        let Some(call) = parse_call(call) else {
            self.add_problem(
                &format!("toolCalls[{n}]"),
                "needs `toolName`, the name of a tool in letters, digits, `_` and `-`, and `arguments`, an object",
            );
            return None;
        };
        Some(PlannedCall {
            tool_name: call.tool_name,
            arguments: call.arguments,
        })
    }

    fn id(&mut self) -> Option<String> {
        // Small models number their items, so a number is accepted as an identifier.
        if let Some(number) = self.map.get("id").and_then(Value::as_u64) {
            return Some(number.to_string());
        }
        let id = self.required_text("id")?;
        if id.chars().count() > MAX_ID_CHARS || id.chars().any(char::is_control) {
            self.add_problem(
                "id",
                &format!("has to be one line of at most {MAX_ID_CHARS} characters"),
            );
            return None;
        }
        Some(id)
    }

    fn required_text(&mut self, key: &str) -> Option<String> {
        let text = text_field(self.map, key);
        if text.is_none() {
            self.add_problem(key, "has to be a text that is not empty");
        }
        text
    }

    /// Returns the names in the list under `key`, each once.
    fn names(&mut self, key: &str) -> Vec<String> {
        let names = match self.map.get(key) {
            None | Some(Value::Null) => return Vec::new(),
            Some(Value::Array(names)) => names.iter().map(name_text).collect::<Option<Vec<_>>>(),
            Some(_) => None,
        };
        let Some(mut names) = names else {
            self.add_problem(key, "has to be an array of texts");
            return Vec::new();
        };
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.clone()));
        if names.len() > MAX_NAMES {
            let count = names.len();
            self.add_problem(key, &format!("has {count} names, more than {MAX_NAMES}"));
            names.clear();
        }
        names
    }

    /// Returns the value of a field, which may be in upper or lower case. `valid_values` lists the valid values, for the problem
    /// that is reported if the value is invalid.
    fn enum_field<T: DeserializeOwned>(&mut self, key: &str, valid_values: &str) -> Option<T> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        let lower = value.as_str().map(|name| Value::from(name.trim().to_ascii_lowercase()));
        let parsed = lower.and_then(|name| serde_json::from_value(name).ok());
        if parsed.is_none() {
            self.add_problem(key, &format!("has to be {valid_values}"));
        }
        parsed
    }

    fn add_problem(&mut self, key: &str, text: &str) {
        let place = if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        };
        self.problems.push(format!("`{place}` {text}"));
    }
}

/// Returns `item` with what follows from its planned calls: it depends on the items whose outputs the calls take, it requires the
/// tools of the calls, and it is a tool step.
fn with_fields_implied_by_calls(mut item: DraftItem) -> DraftItem {
    for call in &item.tool_calls {
        let sources = plan::source_steps(call).into_iter().filter(|step| *step != item.id);
        let new_sources: Vec<String> = sources.filter(|step| !item.dependencies.contains(step)).collect();
        item.dependencies.extend(new_sources);
        if !item.required_tools.contains(&call.tool_name) {
            item.required_tools.push(call.tool_name.clone());
        }
        item.step_type = Some(StepType::Tool);
    }
    item
}

/// Returns a value as a name: a text, or a number as a text. Returns `None` for other values.
fn name_text(value: &Value) -> Option<String> {
    let number = || value.as_u64().map(|number| number.to_string());
    value.as_str().map(|name| name.trim().to_owned()).or_else(number)
}

/// Parses a plan in the form that older prompts requested: sections with the headings `Title:`, `Intent:` and `Plan:`, in
/// upper or lower case and with any spacing (contract A27).
fn parse_headings(text: &str) -> Option<PlanDraft> {
    let mut plan = PlanDraft::default();
    let mut current = None;
    for line in text.lines() {
        let rest = match parse_heading(line) {
            Some((name, rest)) => {
                current = Some(name);
                rest
            }
            None => line.trim(),
        };
        let section = match current.as_deref() {
            Some("title") => &mut plan.title,
            Some("intent") => &mut plan.intent,
            Some("plan") => &mut plan.plan,
            _ => continue,
        };
        add_line(section, rest);
    }
    (plan != PlanDraft::default()).then_some(plan)
}

/// Returns the lower-case name of the heading with which a line begins, and the rest of the line. Returns `None` if the line
/// begins with no known heading.
pub(super) fn parse_heading(line: &str) -> Option<(String, &str)> {
    let (name, rest) = line.split_once(':')?;
    let words = name.split(|c: char| c.is_whitespace() || c == '#' || c == '*');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join(" ").to_ascii_lowercase();
    let known = matches!(name.as_str(), "title" | "intent" | "plan" | TOOL_CALLS_HEADING);
    known.then(|| (name, rest.trim_matches(|c: char| c.is_whitespace() || c == '*')))
}

fn add_line(section: &mut Option<String>, line: &str) {
    if line.is_empty() {
        return;
    }
    let text = section.get_or_insert_default();
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests;
