//! Checks the planned calls of a plan before anything runs: their tools, their references, and whether the values that they are
//! given can be what their tools ask for.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use art_core::JsonObject;
use art_core::json::sorted_text;
use art_core::pes::{EarlierQuestion, PlannedCall, TodoItem, TodoItemStatus};
use art_core::text::truncate;
use art_core::tool::{ExecutionMode, ToolSchema};
use serde_json::{Value, json};

use super::describe::{describe_asked, describe_given, similar_name_hint};
use super::earlier::{earlier_steps, find_earlier};
use super::flow::{self, Verdict, compare_schemas};
use super::kept::call_place;
use super::output::{Output, declared_pointers};
use super::promise;
use super::reference::{Origin, Template, find_output, visit_origins, visit_references};
use super::review::{CheckedReference, Fit};
use crate::estimate::json_bytes;
use crate::item::MAX_SAME_CALLS;

/// Maximum number of pointers of an output that are compared with what is asked for.
const MAX_POINTERS: usize = 200;

/// Maximum number of pointers of an output that a hint lists.
const MAX_LISTED_POINTERS: usize = 8;

/// Maximum number of faults that are reported of one call.
const MAX_FAULTS: usize = 20;

/// Maximum number of references in one call.
const MAX_REFERENCES: usize = 200;

/// Maximum number of references in the calls of a plan.
const MAX_PLAN_REFERENCES: usize = 1_000;

/// Maximum size of an output of an earlier question that the check reads, in bytes. Values of a larger output are checked only when
/// the plan runs.
const MAX_COPIED_BYTES: u64 = 16 << 10;

/// Maximum length of a key in the name of a place, in characters.
const MAX_KEY_CHARS: usize = 100;

/// What the planned calls are checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) items: &'a [TodoItem],
    /// Earlier questions, to whose results calls may refer.
    pub(crate) earlier: &'a [EarlierQuestion],
    pub(crate) tools: &'a [ToolSchema],
    /// Names of tools that exist and that the conversation may not use.
    pub(crate) disabled: &'a [String],
    /// Names of the files that calls can take now. Tools may produce more.
    pub(crate) files: &'a BTreeSet<&'a str>,
    /// Number of calls that the run may still make.
    pub(crate) max_calls: usize,
    /// Schemas of the parameters that the plan declares, by name.
    pub(crate) params: &'a BTreeMap<String, Value>,
}

/// What is wrong with a step or a planned call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// Identifier of the step.
    pub(crate) step: String,
    /// Message: what is wrong, and in a call also where. For a value that does not fit, it also says what was expected and given,
    /// and which part of the output would fit if that is known.
    pub(crate) text: String,
}

impl Fault {
    pub(crate) fn new(item: &TodoItem, text: &str) -> Self {
        Self {
            step: item.id.clone(),
            text: text.to_owned(),
        }
    }
}

/// What the check of the planned calls found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallCheck {
    pub(crate) faults: Vec<Fault>,
    /// Places whose values can be checked only when the plan runs.
    pub(crate) at_run_time: Vec<String>,
    /// The references in the arguments of the calls, each with whether its value fits.
    pub(crate) references: Vec<CheckedReference>,
}

/// Checks the planned calls of all pending items.
pub(crate) fn check_calls(surroundings: Surroundings<'_>) -> CallCheck {
    let mut found = CallCheck::default();
    let (mut planned, mut reference_count) = (0, 0);
    for (position, item) in surroundings.items.iter().enumerate() {
        if item.status != TodoItemStatus::Pending {
            continue;
        }
        let mut same: BTreeMap<String, u32> = BTreeMap::new();
        for (number, call) in item.tool_calls.iter().enumerate() {
            let place = call_place(&item.id, item.tool_calls.len(), number);
            let mut checker = Checker {
                surroundings,
                before: surroundings.items.get(..position).unwrap_or_default(),
                item,
                number,
                arguments_place: format!("{place}.arguments"),
                found: CallCheck::default(),
            };
            planned += 1;
            checker.check_budget(planned, &place);
            let count = same
                .entry(format!("{} {}", call.tool_name, sorted_text(&call.arguments)))
                .or_default();
            *count += 1;
            checker.check_repetition(*count, &place);
            visit_references(&call.arguments, &mut |_| reference_count += 1);
            if reference_count > MAX_PLAN_REFERENCES {
                checker.add_fault(
                    &place,
                    &format!("the plan has more than {MAX_PLAN_REFERENCES} references"),
                );
            } else {
                checker.check_call(call, &place);
            }
            found.faults.extend(checker.found.faults);
            found.at_run_time.extend(checker.found.at_run_time);
            found.references.extend(checker.found.references);
        }
    }
    found
}

/// The check of one call.
struct Checker<'a> {
    surroundings: Surroundings<'a>,
    /// The items before the item of the call.
    before: &'a [TodoItem],
    item: &'a TodoItem,
    /// Number of the call in the item, from 0.
    number: usize,
    /// The place of the arguments, such as `step_2.arguments`.
    arguments_place: String,
    /// What was found in this call.
    found: CallCheck,
}

/// A value that a call is given.
struct Given<'a> {
    schema: Value,
    /// Whether there may be no value when the plan runs, because a reference finds nothing or a text has a part that is no scalar.
    may_be_absent: bool,
    /// In words, where the value of a reference comes from; `None` for other values.
    origin: Option<String>,
    /// The schema of the whole output that the value is a part of.
    output: Option<Cow<'a, Value>>,
}

impl Given<'_> {
    fn of(schema: Value) -> Self {
        Self {
            schema,
            may_be_absent: false,
            origin: None,
            output: None,
        }
    }

    fn fits(&self, consumer: &Value) -> Verdict {
        match compare_schemas(&self.schema, consumer) {
            Verdict::Yes if self.may_be_absent => Verdict::RunTime,
            verdict => verdict,
        }
    }
}

impl<'a> Checker<'a> {
    fn add_fault(&mut self, place: &str, text: &str) {
        if self.found.faults.len() >= MAX_FAULTS {
            return;
        }
        let (step, text) = (self.item.id.clone(), format!("`{place}`: {text}"));
        self.found.faults.push(Fault { step, text });
    }

    /// Reports a call that the run will not make, because the calls before it use up its budget.
    fn check_budget(&mut self, planned: usize, place: &str) {
        let max = self.surroundings.max_calls;
        if planned > max {
            self.add_fault(
                place,
                &format!("this is call {planned} of the plan, and the run may make only {max}"),
            );
        }
    }

    /// Reports a call that the step will not make, because it has made the same call as often as it may (B30).
    fn check_repetition(&mut self, count: u32, place: &str) {
        if count > MAX_SAME_CALLS {
            let text = format!("a step makes one call at most {MAX_SAME_CALLS} times, and this is number {count}");
            self.add_fault(place, &text);
        }
    }

    fn check_call(&mut self, call: &'a PlannedCall, place: &str) {
        let tools = self.surroundings.tools;
        let Some(tool) = tools.iter().find(|tool| tool.name == call.tool_name) else {
            return self.add_fault(place, &self.missing_tool_reason(&call.tool_name));
        };
        let place = self.arguments_place.clone();
        let mut count = 0;
        visit_references(&call.arguments, &mut |_| count += 1);
        if count > MAX_REFERENCES {
            return self.add_fault(
                &place,
                &format!("it has {count} references, and a call may have {MAX_REFERENCES}"),
            );
        }
        let what = match &call.arguments {
            Value::Object(_) => return self.check_value(&call.arguments, &tool.input_schema, &place),
            Value::String(text) => not_an_object(text),
            other => format!("{} is given", describe_given(&flow::constant(other))),
        };
        self.add_fault(&place, &format!("an object is asked for, {what}"));
    }

    /// Returns why no tool called `name` can be used.
    fn missing_tool_reason(&self, name: &str) -> String {
        if self.surroundings.disabled.iter().any(|disabled| disabled == name) {
            return format!("the tool `{name}` is disabled in this conversation");
        }
        let tools = self.surroundings.tools.iter();
        let hint = similar_name_hint(name, tools.map(|tool| tool.name.as_str()));
        format!("there is no tool `{name}`{hint}")
    }

    /// Compares one value with what is asked for at its place.
    fn check_value(&mut self, value: &'a Value, consumer: &Value, place: &str) {
        if self.found.faults.len() >= MAX_FAULTS {
            return;
        }
        match Template::read(value) {
            Ok(Template::Object(map)) => {
                if let Some(schema) = object_branch(consumer) {
                    return self.check_object(map, schema, place);
                }
            }
            Ok(Template::Array(items)) => {
                if let Some(schema) = array_branch(consumer) {
                    return self.check_array(items, schema, place);
                }
            }
            Ok(_) | Err(_) => {}
        }
        let verdict = match self.given_value(value) {
            Ok(given) => self.compare(&given, consumer, place),
            Err(reason) => {
                self.add_fault(place, &reason);
                Verdict::No
            }
        };
        self.note_references(value, place, verdict);
    }

    /// Records each reference in the value at `place`, with whether the value fits.
    fn note_references(&mut self, value: &'a Value, place: &str, verdict: Verdict) {
        let argument = place.strip_prefix(&self.arguments_place).unwrap_or(place);
        visit_references(value, &mut |reference| {
            self.found.references.push(CheckedReference {
                step: self.item.id.clone(),
                call: self.number,
                argument: argument.trim_start_matches('.').to_owned(),
                reference: reference.clone(),
                fit: Fit::from(verdict),
            });
        });
    }

    /// Compares key by key, so that a fault names the key.
    fn check_object(&mut self, map: &'a JsonObject, consumer: &JsonObject, place: &str) {
        let faults_before = self.found.faults.len();
        for (key, value) in map {
            let asked = flow::property(consumer, key);
            let place = format!("{place}.{}", truncate(key, MAX_KEY_CHARS));
            if *asked == Value::Bool(false) {
                let hint = similar_name_hint(key, flow::declared_keys(consumer).map(String::as_str));
                self.add_fault(&place, &format!("the tool has no such parameter{hint}"));
                continue;
            }
            self.check_value(value, asked, &place);
        }
        let absent = || flow::declared_keys(consumer).filter(|key| !map.contains_key(*key));
        for key in absent().filter(|key| flow::requires(consumer, key)) {
            let schema = flow::property(consumer, key);
            // The host fills a default in before the call.
            if schema.get("default").is_none() {
                let asked = describe_asked(schema);
                self.add_fault(place, &format!("`{key}` is missing, {asked} is asked for"));
            }
        }
        let rest = remaining_keywords(consumer, &["properties", "additionalProperties", "required"]);
        if let Some(rest) = rest.filter(|_| self.found.faults.len() == faults_before) {
            let entry = |(key, value): (&'a String, &'a Value)| Some((key, self.given_value(value).ok()?));
            let defaults = absent().filter_map(|key| {
                let default = flow::property(consumer, key).get("default")?;
                Some((key, Given::of(flow::constant(default))))
            });
            let entries: Vec<(&String, Given<'_>)> = map.iter().filter_map(entry).chain(defaults).collect();
            // Only the schema is compared: values that may be absent were already reported at their own places.
            let object = Given::of(given_object(&entries).schema);
            self.compare(&object, &rest, place);
        }
    }

    /// Compares item by item, and then what is asked of the whole list.
    fn check_array(&mut self, items: &'a [Value], consumer: &JsonObject, place: &str) {
        let faults_before = self.found.faults.len();
        for (n, value) in items.iter().enumerate() {
            let asked = flow::item(consumer, n);
            self.check_value(value, asked, &format!("{place}[{n}]"));
        }
        let rest = remaining_keywords(consumer, &["items", "prefixItems"]);
        if let Some(rest) = rest.filter(|_| self.found.faults.len() == faults_before) {
            let values: Vec<Given<'a>> = items.iter().filter_map(|value| self.given_value(value).ok()).collect();
            let array = Given::of(given_array(&values).schema);
            self.compare(&array, &rest, place);
        }
    }

    /// Reports a value that cannot fit, or that can be checked only when the plan runs.
    fn compare(&mut self, value: &Given<'_>, consumer: &Value, place: &str) -> Verdict {
        let verdict = value.fits(consumer);
        match verdict {
            Verdict::Yes => {}
            Verdict::RunTime => self.found.at_run_time.push(place.to_owned()),
            Verdict::No => {
                let (asked, given) = (describe_asked(consumer), describe_given(&value.schema));
                let output = value.output.as_ref();
                let hint = output.and_then(|output| fitting_pointer(output, consumer));
                let hint = hint.map_or_else(String::new, |path| format!("; `{path}` would fit"));
                let text = match &value.origin {
                    None => format!("{asked} is asked for, {given} is given"),
                    Some(what) => format!("{asked} is asked for, {what} is {given}{hint}"),
                };
                self.add_fault(place, &text);
            }
        }
        verdict
    }

    /// Returns the schema of what `value` will be. Fails with the reason if a reference in it is wrong.
    fn given_value(&self, value: &'a Value) -> Result<Given<'a>, String> {
        let schema = match Template::read(value)? {
            Template::From(origin) => return self.given_output(origin),
            Template::Attachment(name) => {
                return Ok(Given {
                    may_be_absent: !self.file_exists(name)?,
                    ..Given::of(json!({"type": "string"}))
                });
            }
            Template::Param(name) => return self.given_parameter(name),
            Template::Data(data) | Template::Literal(data) => flow::constant(data),
            Template::Concat(parts) => {
                let mut text = Given::of(json!({"type": "string"}));
                for part in parts.iter().filter(|part| !part.is_string()) {
                    text.may_be_absent |= !self.is_scalar(part)?;
                }
                return Ok(text);
            }
            Template::Array(items) => {
                let items: Result<Vec<Given<'a>>, String> = items.iter().map(|item| self.given_value(item)).collect();
                return Ok(given_array(&items?));
            }
            Template::Object(map) => {
                let entry = |(key, value): (&'a String, &'a Value)| Ok((key, self.given_value(value)?));
                let entries: Result<Vec<(&String, Given<'_>)>, String> = map.iter().map(entry).collect();
                return Ok(given_object(&entries?));
            }
        };
        Ok(Given::of(schema))
    }

    /// Returns the value of a parameter, of which only the schema is known.
    fn given_parameter(&self, name: &str) -> Result<Given<'a>, String> {
        let params = self.surroundings.params;
        let Some(schema) = params.get(name) else {
            let hint = similar_name_hint(name, params.keys().map(String::as_str));
            return Err(format!("the plan declares no parameter `{name}`{hint}"));
        };
        Ok(Given {
            origin: Some(format!("the parameter `{name}`")),
            ..Given::of(schema.clone())
        })
    }

    /// Returns whether a part of a `$concat` is known to be a scalar. Fails if it cannot be one.
    fn is_scalar(&self, part: &'a Value) -> Result<bool, String> {
        let scalars = json!({"type": ["string", "number", "boolean"]});
        if let Template::Attachment(name) = Template::read(part)? {
            return Err(format!(
                "`$concat` cannot contain the file `{name}`; an argument can be a whole file"
            ));
        }
        let part = self.given_value(part)?;
        let verdict = part.fits(&scalars);
        if verdict != Verdict::No {
            return Ok(verdict == Verdict::Yes);
        }
        let what = part.origin.unwrap_or_else(|| "it".to_owned());
        Err(format!(
            "`$concat` takes texts, numbers and booleans, {what} is {}",
            describe_given(&part.schema)
        ))
    }

    /// Returns whether a file exists now. Fails if it does not and no earlier step can produce it.
    fn file_exists(&self, name: &str) -> Result<bool, String> {
        let files = self.surroundings.files;
        let exists = files.contains(name);
        if exists || !self.item.dependencies.is_empty() {
            return Ok(exists);
        }
        Err(format!(
            "there is no file `{name}`{}",
            similar_name_hint(name, files.iter().copied())
        ))
    }

    /// Returns what is known of the value that a reference takes from an output of an earlier step or question.
    fn given_output(&self, origin: Origin<'a>) -> Result<Given<'a>, String> {
        let step = match find_earlier(self.surroundings.earlier, origin.step) {
            Some(step) => return given_earlier_output(step, origin),
            None => self.find_step(origin.step)?,
        };
        let what = origin.to_string();
        let unknown_output = |what| Given {
            may_be_absent: true,
            origin: Some(what),
            ..Given::of(Value::Bool(true))
        };
        if step.status == TodoItemStatus::Completed || step.tool_calls.is_empty() {
            return Ok(unknown_output(what));
        }
        let count = step.tool_calls.len();
        let call = origin.call.unwrap_or(count - 1);
        let Some(call) = step.tool_calls.get(call) else {
            return Err(format!(
                "`{}` has {count} planned calls, so `call` is at most {}",
                origin.step,
                count - 1
            ));
        };
        // The fault of an unknown tool is reported at its own call.
        let Some(tool) = self.surroundings.tools.iter().find(|tool| tool.name == call.tool_name) else {
            return Ok(unknown_output(what));
        };
        if tool.execution_mode == ExecutionMode::Display {
            return Err(format!(
                "the output of `{}` is drawn for the person and cannot be used by other calls",
                origin.step
            ));
        }
        let Some(schema) = &tool.output_schema else {
            return Ok(unknown_output(what));
        };
        let schema = promise::promised_schema(schema, &tool.input_schema, &call.arguments);
        let output = Output::at(&schema, origin.path).map_err(|missing| {
            let known = declared_pointers(&schema, MAX_POINTERS);
            let paths = || {
                known
                    .iter()
                    .map(|(path, _)| path.as_str())
                    .filter(|path| !path.is_empty())
            };
            let hint = Some(similar_name_hint(origin.path, paths())).filter(|hint| !hint.is_empty());
            let hint = hint.unwrap_or_else(|| pointer_hint(paths()));
            format!(
                "the output of `{}` (`{}`) has nothing at `{missing}`{hint}",
                origin.step, tool.name
            )
        })?;
        Ok(Given {
            may_be_absent: output.may_be_absent,
            origin: Some(what),
            schema: output.schema(),
            output: Some(schema),
        })
    }

    fn find_step(&self, id: &str) -> Result<&'a TodoItem, String> {
        if id == self.item.id {
            return Err(format!("`$from` names `{id}`, which is this step itself"));
        }
        if let Some(step) = self.before.iter().find(|step| step.id == id) {
            return Ok(step);
        }
        if self.surroundings.items.iter().any(|step| step.id == id) {
            return Err(format!("`$from` names `{id}`, which comes after this step"));
        }
        let earlier = earlier_steps(self.surroundings.earlier).map(|step| step.name());
        let known: Vec<String> = self.before.iter().map(|step| step.id.clone()).chain(earlier).collect();
        let hint = similar_name_hint(id, known.iter().map(String::as_str));
        Err(format!("`$from` names `{id}`, which is not in the plan{hint}"))
    }
}

/// Returns a hint with the first of these pointers, or nothing.
fn pointer_hint<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let paths: Vec<_> = paths
        .take(MAX_LISTED_POINTERS)
        .map(|path| format!("`{path}`"))
        .collect();
    if paths.is_empty() {
        return String::new();
    }
    format!("; it has {}", paths.join(", "))
}

/// Returns why arguments that are given as a text are not an object.
fn not_an_object(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => "a text is given".to_owned(),
        Err(error) => format!("the text is not valid JSON: {error}"),
    }
}

/// Returns the value that a reference takes from a step of an earlier question.
fn given_earlier_output<'a>(step: &'a TodoItem, origin: Origin<'a>) -> Result<Given<'a>, String> {
    let output = find_output(step, origin)?;
    let value = origin.value_in(output)?;
    let origin = Some(origin.to_string());
    // Each reference to an output copies it into a schema, so values of large outputs are not checked here.
    if json_bytes(output) > MAX_COPIED_BYTES {
        return Ok(Given {
            origin,
            ..Given::of(Value::Bool(true))
        });
    }
    Ok(Given {
        origin,
        output: Some(Cow::Owned(flow::constant(output))),
        ..Given::of(flow::constant(value))
    })
}

fn given_array(items: &[Given<'_>]) -> Given<'static> {
    let (length, schemas): (_, Vec<&Value>) = (items.len(), items.iter().map(|given| &given.schema).collect());
    let schema = json!({"type": "array", "prefixItems": schemas, "minItems": length, "maxItems": length});
    Given {
        may_be_absent: items.iter().any(|given| given.may_be_absent),
        ..Given::of(schema)
    }
}

fn given_object(entries: &[(&String, Given<'_>)]) -> Given<'static> {
    let properties = entries
        .iter()
        .map(|(key, given)| ((*key).clone(), given.schema.clone()));
    let (properties, keys): (JsonObject, Vec<&String>) =
        (properties.collect(), entries.iter().map(|(key, _)| *key).collect());
    let schema = json!({"type": "object", "properties": properties, "required": keys, "additionalProperties": false});
    Given {
        may_be_absent: entries.iter().any(|(_, given)| given.may_be_absent),
        ..Given::of(schema)
    }
}

/// Returns the identifiers of the steps whose outputs a call takes.
pub(crate) fn source_steps(call: &PlannedCall) -> BTreeSet<String> {
    let mut steps = BTreeSet::new();
    visit_origins(&call.arguments, &mut |origin| {
        steps.insert(origin.step.to_owned());
    });
    steps
}

/// Returns the position in the output whose value fits what is asked for, if there is exactly one.
fn fitting_pointer(output: &Value, consumer: &Value) -> Option<String> {
    let mut fitting = declared_pointers(output, MAX_POINTERS)
        .into_iter()
        .filter(|(_, schema)| compare_schemas(schema, consumer) == Verdict::Yes);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first.0)
}

/// Returns the keywords of a schema other than `keywords` and annotations, if they ask for more than a type.
fn remaining_keywords(schema: &JsonObject, keywords: &[&str]) -> Option<Value> {
    let is_kept = |keyword: &str| !keywords.contains(&keyword) && !flow::is_annotation(keyword);
    let rest = || schema.iter().filter(|(keyword, _)| is_kept(keyword));
    let asks_more = rest().any(|(keyword, _)| keyword != "type");
    asks_more.then(|| {
        rest()
            .map(|(keyword, asked)| (keyword.clone(), asked.clone()))
            .collect()
    })
}

/// Returns the only branch of a schema that allows objects, to compare it key by key.
fn object_branch(schema: &Value) -> Option<&JsonObject> {
    only_branch(schema, "object")
}

fn array_branch(schema: &Value) -> Option<&JsonObject> {
    only_branch(schema, "array")
}

/// Returns the only branch of `schema` that allows values of the type `name`, or `schema` itself if it is not just
/// an `anyOf` or a `oneOf`. Returns `None` if no such value is allowed, or if several branches allow them.
fn only_branch<'s>(schema: &'s Value, name: &str) -> Option<&'s JsonObject> {
    let map = schema.as_object()?;
    let mut asked = map.iter().filter(|(keyword, _)| !flow::is_annotation(keyword));
    match (asked.next(), asked.next()) {
        (Some((keyword, Value::Array(branches))), None) if ["anyOf", "oneOf"].contains(&keyword.as_str()) => {
            let mut fitting = branches.iter().filter(|branch| allows_type(branch, name));
            let branch = fitting.next()?.as_object()?;
            fitting.next().is_none().then_some(branch)
        }
        _ => Some(map).filter(|_| allows_type(schema, name)),
    }
}

/// Returns whether values of a type may satisfy a schema.
fn allows_type(schema: &Value, name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|allowed| allowed == name),
        Some(allowed) => allowed == name,
        None => *schema != Value::Bool(false),
    }
}

#[cfg(test)]
mod tests;
