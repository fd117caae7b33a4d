//! Parses plans (P33a, P33b).

use std::collections::BTreeSet;

use art_core::JsonObject;
use art_core::pes::{PlannedCall, StepType, TodoItemStatus, ToolValidationMode};
use art_core::text::{DEFAULT_STRINGIFY_LIMIT, truncate};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::execution::parse_call;
use super::json::{find_object, syntax_error};
use super::{MAX_PROBLEMS, MAX_TODO_ITEMS};
use crate::plan;

/// A plan as the model proposes it. Parts that the model omitted are absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlanDraft {
    pub(crate) title: Option<String>,
    pub(crate) intent: Option<String>,
    pub(crate) plan: Option<String>,
    pub(crate) items: Option<Vec<DraftItem>>,
    /// Whether the items stand for a list of calls, so that their identifiers are not those of the model.
    pub(crate) is_call_list: bool,
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

/// Maximum length of an item's identifier, in characters. It becomes part of observations and prompts.
const MAX_ID_CHARS: usize = 128;

/// Maximum number of tools or dependencies of one item.
const MAX_NAMES: usize = 64;

/// Heading of tool calls in the form that older prompts requested. A plan does not have it.
pub(super) const TOOL_CALLS: &str = "tool calls";

/// Maximum number of planned calls of one item.
const MAX_PLANNED_CALLS: usize = 16;

/// Maximum number of words of a title (C36).
const MAX_TITLE_WORDS: usize = 10;

/// Parses the plan in `text`. Fails with all of its problems.
pub(crate) fn planning(text: &str) -> Result<PlanDraft, Vec<String>> {
    match find_object(text, is_plan) {
        Some(map) => draft(&map),
        // Lines of broken JSON may look like headings, so the JSON is reported instead.
        None if text.contains("todoList") => Err(vec![no_plan_problem(text)]),
        None => parse_headings(text).ok_or_else(|| vec![no_plan_problem(text)]),
    }
}

/// Reads a plan from a JSON object. Fails with all of its problems.
pub(crate) fn draft(map: &JsonObject) -> Result<PlanDraft, Vec<String>> {
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
        items: items(map)?,
        is_call_list: is_call_list(map),
    })
}

/// Returns whether a plan has calls in place of items (S003, P33a).
fn is_call_list(map: &JsonObject) -> bool {
    let is_empty = |list: &Value| list.is_null() || list.as_array().is_some_and(Vec::is_empty);
    let has = |key: &str| map.get(key).is_some_and(|list| !is_empty(list));
    has("toolCalls") && !has("todoList")
}

/// Returns the items of a plan: one for each call if it has calls in place of items.
fn items(map: &JsonObject) -> Result<Option<Vec<DraftItem>>, Vec<String>> {
    if is_call_list(map) {
        let calls = map.get("toolCalls").and_then(Value::as_array);
        let calls = calls.ok_or_else(|| vec!["`toolCalls` has to be an array".to_owned()])?;
        return draft_items(&calls.iter().enumerate().map(item_of_call).collect()).map(Some);
    }
    let list = map.get("todoList").filter(|list| !list.is_null());
    list.map(draft_items).transpose()
}

/// Returns the item that a call stands for.
fn item_of_call((n, call): (usize, &Value)) -> Value {
    let name = parse_call(call).map(|call| call.tool_name).unwrap_or_default();
    json!({"id": format!("step_{}", n + 1), "description": format!("Call `{name}`."), "toolCalls": [call]})
}

fn is_plan(map: &JsonObject) -> bool {
    ["title", "intent", "plan", "todoList", "toolCalls"]
        .iter()
        .any(|key| map.contains_key(*key))
}

fn no_plan_problem(text: &str) -> String {
    match syntax_error(text) {
        Some(fault) => format!("the plan is not valid JSON: {fault}"),
        None => "there is no JSON with a plan in the reply".to_owned(),
    }
}

fn text_field(map: &JsonObject, key: &str) -> Option<String> {
    let text = map.get(key)?.as_str()?.trim();
    (!text.is_empty()).then(|| truncate(text, DEFAULT_STRINGIFY_LIMIT))
}

fn plan_text(plan: &Value) -> Option<String> {
    let line = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let text = match plan {
        Value::Null => return None,
        Value::Array(lines) => lines.iter().map(line).collect::<Vec<_>>().join("\n"),
        other => line(other),
    };
    Some(truncate(&text, DEFAULT_STRINGIFY_LIMIT))
}

/// Parses the items. Fails with all of their problems.
fn draft_items(list: &Value) -> Result<Vec<DraftItem>, Vec<String>> {
    let list = list
        .as_array()
        .ok_or_else(|| vec!["`todoList` has to be an array".to_owned()])?;
    if list.len() > MAX_TODO_ITEMS {
        let count = list.len();
        return Err(vec![format!(
            "`todoList` has {count} items, more than {MAX_TODO_ITEMS}; use fewer, larger steps"
        )]);
    }
    let mut problems = Vec::new();
    let items = list
        .iter()
        .enumerate()
        .filter_map(|(n, value)| ItemFields::new(n, value, &mut problems)?.into_item())
        .collect();
    problems.truncate(MAX_PROBLEMS);
    if problems.is_empty() { Ok(items) } else { Err(problems) }
}

/// The fields of one item, and the problems that were found in them.
struct ItemFields<'a> {
    /// Position of the item in the reply, such as `todoList[0]`.
    path: String,
    map: &'a JsonObject,
    problems: &'a mut Vec<String>,
}

impl<'a> ItemFields<'a> {
    fn new(n: usize, value: &'a Value, problems: &'a mut Vec<String>) -> Option<Self> {
        let path = format!("todoList[{n}]");
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
        Some(with_calls(DraftItem {
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
        if calls.len() > MAX_PLANNED_CALLS {
            let count = calls.len();
            self.add_problem(
                "toolCalls",
                &format!("has {count} calls, more than {MAX_PLANNED_CALLS}"),
            );
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
                "needs `toolName`, the name of a tool, and `arguments`, an object",
            );
            return None;
        };
        if let Value::String(text) = &call.arguments {
            let fault = serde_json::from_str::<Value>(text).err();
            let fault = fault.map_or_else(|| "it is a text".to_owned(), |error| error.to_string());
            self.add_problem(
                &format!("toolCalls[{n}].arguments"),
                &format!("is not a valid JSON object: {fault}"),
            );
        }
        Some(PlannedCall {
            tool_name: call.tool_name,
            arguments: call.arguments,
        })
    }

    fn id(&mut self) -> Option<String> {
        // Small models number their items; accept a number as the identifier.
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

    /// Returns the names in the list, without duplicates.
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

    /// Returns the value of a field whose valid values are `names`.
    fn enum_field<T: DeserializeOwned>(&mut self, key: &str, names: &str) -> Option<T> {
        let value = self.map.get(key).filter(|value| !value.is_null())?;
        let lower = value.as_str().map(|name| Value::from(name.trim().to_ascii_lowercase()));
        let parsed = lower.and_then(|name| serde_json::from_value(name).ok());
        if parsed.is_none() {
            self.add_problem(key, &format!("has to be {names}"));
        }
        parsed
    }

    fn add_problem(&mut self, key: &str, text: &str) {
        self.problems.push(format!("`{}.{key}` {text}", self.path));
    }
}

/// Adds what follows from the planned calls of an item: it depends on the steps whose outputs they take, requires their tools and
/// is a tool step.
fn with_calls(mut item: DraftItem) -> DraftItem {
    for call in &item.tool_calls {
        let steps = plan::sources(call).into_iter().filter(|step| *step != item.id);
        let steps: Vec<String> = steps.filter(|step| !item.dependencies.contains(step)).collect();
        item.dependencies.extend(steps);
        if !item.required_tools.contains(&call.tool_name) {
            item.required_tools.push(call.tool_name.clone());
        }
        item.step_type = Some(StepType::Tool);
    }
    item
}

/// Returns a name, which may be a number.
fn name_text(value: &Value) -> Option<String> {
    let number = || value.as_u64().map(|number| number.to_string());
    value.as_str().map(|name| name.trim().to_owned()).or_else(number)
}

/// Parses the sections `Title:`, `Intent:` and `Plan:`, ignoring case and spacing. Older prompts requested this form (A27).
fn parse_headings(text: &str) -> Option<PlanDraft> {
    let mut plan = PlanDraft::default();
    let mut current = None;
    for line in text.lines() {
        let rest = match heading(line) {
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

/// Returns the name and the rest of a line that begins a section.
pub(super) fn heading(line: &str) -> Option<(String, &str)> {
    let (name, rest) = line.split_once(':')?;
    let words = name.split(|c: char| c.is_whitespace() || c == '#' || c == '*');
    let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
    let name = words.join(" ").to_ascii_lowercase();
    let known = matches!(name.as_str(), "title" | "intent" | "plan" | TOOL_CALLS);
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
