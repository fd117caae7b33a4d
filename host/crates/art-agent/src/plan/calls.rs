//! Checks the planned calls of a plan before anything runs: whether their tools exist, whether their references are right, and
//! whether the value that each argument gets can satisfy the input schema of the tool. A reference is an argument, or a part of
//! one, that takes an output of another call, a file or a parameter; its value is not known yet, but often its schema is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use art_core::JsonObject;
use art_core::json::sorted_text;
use art_core::pes::{EarlierQuestion, PlannedCall, TodoItem, TodoItemStatus};
use art_core::text::truncate;
use art_core::tool::{ExecutionMode, ToolSchema};
use serde_json::{Value, json};

use super::describe::{describe_asked, describe_given, similar_name_hint};
use super::earlier::{earlier_steps, find_earlier_step};
use super::flow::{self, Verdict, compare_schemas};
use super::output::{OutputValue, declared_pointers};
use super::promise;
use super::reference::{OutputReference, PlannedValue, find_output, visit_output_references, visit_references};
use super::review::{CheckedReference, Fit};
use super::saved::call_place;
use crate::estimate::json_bytes;
use crate::item::MAX_IDENTICAL_CALLS;

/// Maximum number of positions in an output among which the check searches for a position to suggest: the only one whose value
/// would fit, or the one whose JSON pointer is most similar to a wrong pointer.
const MAX_POINTERS: usize = 200;

/// Maximum number of positions in an output that a hint lists.
const MAX_LISTED_POINTERS: usize = 8;

/// Maximum number of faults that are reported of one call.
const MAX_FAULTS: usize = 20;

/// Maximum number of references in one call.
const MAX_CALL_REFERENCES: usize = 200;

/// Maximum number of references in the calls of a plan.
const MAX_PLAN_REFERENCES: usize = 1_000;

/// Maximum size, in bytes, of an output of an earlier question from which values are checked before the plan runs. Values from a
/// larger output are checked only when the plan runs, because the check of each reference copies the whole output.
const MAX_CHECKED_OUTPUT_BYTES: u64 = 16 << 10;

/// Maximum length of a key in a message that names the place of an argument, in characters.
const MAX_KEY_CHARS: usize = 100;

/// The plan whose calls are checked, and what they are checked against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallCheckInput<'a> {
    /// The items of the plan, which are its steps.
    pub(crate) items: &'a [TodoItem],
    /// Earlier questions. References may take the results of their steps.
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
    /// Message: what is wrong, and for a fault of a call also where. For a value that does not fit, it also says what was asked
    /// for and what was given. If the value is taken from an output, and exactly one position in this output would fit, the
    /// message names that position.
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
    /// Places of arguments whose values can be checked only when the plan runs, such as `step_2.arguments.url`.
    pub(crate) at_run_time: Vec<String>,
    /// The references in the arguments of all calls. Each says whether the argument that is or contains the reference fits.
    pub(crate) references: Vec<CheckedReference>,
}

/// Checks the planned calls of all pending items.
pub(crate) fn check_calls(input: CallCheckInput<'_>) -> CallCheck {
    let mut found = CallCheck::default();
    let (mut call_count, mut reference_count) = (0, 0);
    for (position, item) in input.items.iter().enumerate() {
        if item.status != TodoItemStatus::Pending {
            continue;
        }
        let mut identical_calls: BTreeMap<String, u32> = BTreeMap::new();
        for (number, call) in item.tool_calls.iter().enumerate() {
            let place = call_place(&item.id, item.tool_calls.len(), number);
            let mut checker = Checker {
                input,
                items_before: input.items.get(..position).unwrap_or_default(),
                item,
                number,
                arguments_place: format!("{place}.arguments"),
                found: CallCheck::default(),
            };
            call_count += 1;
            checker.check_call_limit(call_count, &place);
            let identical_count = identical_calls
                .entry(format!("{} {}", call.tool_name, sorted_text(&call.arguments)))
                .or_default();
            *identical_count += 1;
            checker.check_repetition(*identical_count, &place);
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
    input: CallCheckInput<'a>,
    /// The items before the item of the call.
    items_before: &'a [TodoItem],
    item: &'a TodoItem,
    /// Number of the call in the item, from 0.
    number: usize,
    /// The place of the arguments in messages, such as `step_2.arguments`.
    arguments_place: String,
    /// What was found in this call.
    found: CallCheck,
}

/// A value that the plan gives to a call. Often only its schema is known before the plan runs.
struct Given<'a> {
    schema: Value,
    /// Whether there may be no value when the plan runs: a reference may find nothing, and a part of a `$concat` may turn out to
    /// be no scalar.
    may_be_absent: bool,
    /// Where the value comes from, in words, if it is a reference to an output or a parameter.
    source: Option<String>,
    /// The schema of the whole output from which the value is taken, if that is known.
    output_schema: Option<Cow<'a, Value>>,
}

impl Given<'_> {
    /// Creates a value of `schema` that is certainly there when the plan runs and whose source is not named.
    fn of(schema: Value) -> Self {
        Self {
            schema,
            may_be_absent: false,
            source: None,
            output_schema: None,
        }
    }

    /// Returns whether the value is what `asked`, a schema, asks for.
    fn fits(&self, asked: &Value) -> Verdict {
        match compare_schemas(&self.schema, asked) {
            Verdict::Yes if self.may_be_absent => Verdict::AtRunTime,
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

    /// Reports a call that the run may not make, because the calls before it use up the limit of the run.
    fn check_call_limit(&mut self, call_count: usize, place: &str) {
        let max = self.input.max_calls;
        if call_count > max {
            self.add_fault(
                place,
                &format!("this is call {call_count} of the plan, and the run may make only {max}"),
            );
        }
    }

    /// Reports a call that repeats the same call of its step more often than is allowed (contract B30).
    fn check_repetition(&mut self, identical_count: u32, place: &str) {
        if identical_count > MAX_IDENTICAL_CALLS {
            let text = format!(
                "a step may make the same call only {MAX_IDENTICAL_CALLS} times, and this is number {identical_count}"
            );
            self.add_fault(place, &text);
        }
    }

    fn check_call(&mut self, call: &'a PlannedCall, place: &str) {
        let tools = self.input.tools;
        let Some(tool) = tools.iter().find(|tool| tool.name == call.tool_name) else {
            return self.add_fault(place, &self.missing_tool_reason(&call.tool_name));
        };
        let arguments_place = self.arguments_place.clone();
        let mut reference_count = 0;
        visit_references(&call.arguments, &mut |_| reference_count += 1);
        if reference_count > MAX_CALL_REFERENCES {
            return self.add_fault(
                &arguments_place,
                &format!("it has {reference_count} references, and a call may have {MAX_CALL_REFERENCES}"),
            );
        }
        let given = match &call.arguments {
            Value::Object(_) => return self.check_value(&call.arguments, &tool.input_schema, &arguments_place),
            Value::String(text) => describe_text_arguments(text),
            other => format!("{} is given", describe_given(&flow::constant_schema(other))),
        };
        self.add_fault(&arguments_place, &format!("an object is asked for, {given}"));
    }

    /// Returns why the tool `name` cannot be called.
    fn missing_tool_reason(&self, name: &str) -> String {
        if self.input.disabled.iter().any(|disabled| disabled == name) {
            return format!("the tool `{name}` is disabled in this conversation");
        }
        let tools = self.input.tools.iter();
        let hint = similar_name_hint(name, tools.map(|tool| tool.name.as_str()));
        format!("there is no tool `{name}`{hint}")
    }

    /// Checks the argument, or the part of one, at `place`. `asked` is the schema that the tool has for this place.
    fn check_value(&mut self, value: &'a Value, asked: &Value, place: &str) {
        if self.found.faults.len() >= MAX_FAULTS {
            return;
        }
        match PlannedValue::read(value) {
            Ok(PlannedValue::Object(map)) => {
                if let Some(asked) = object_branch(asked) {
                    return self.check_object(map, asked, place);
                }
            }
            Ok(PlannedValue::Array(items)) => {
                if let Some(asked) = array_branch(asked) {
                    return self.check_array(items, asked, place);
                }
            }
            Ok(_) | Err(_) => {}
        }
        // The value is not an object or array, or its schema does not have exactly one branch for it. It is compared as a whole.
        let verdict = match self.given_value(value) {
            Ok(given) => self.compare(&given, asked, place),
            Err(reason) => {
                self.add_fault(place, &reason);
                Verdict::No
            }
        };
        self.note_references(value, place, verdict);
    }

    /// Records each reference in the value at `place`. `verdict` says whether this value fits.
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

    /// Checks an object key by key, so that a fault names the key, and then what is asked of the whole object.
    fn check_object(&mut self, map: &'a JsonObject, asked: &JsonObject, place: &str) {
        let faults_before = self.found.faults.len();
        for (key, value) in map {
            let asked_property = flow::property_schema(asked, key);
            let place = format!("{place}.{}", truncate(key, MAX_KEY_CHARS));
            if *asked_property == Value::Bool(false) {
                let hint = similar_name_hint(key, flow::declared_keys(asked).map(String::as_str));
                self.add_fault(&place, &format!("the tool has no such parameter{hint}"));
                continue;
            }
            self.check_value(value, asked_property, &place);
        }
        let absent_keys = || flow::declared_keys(asked).filter(|key| !map.contains_key(*key));
        for key in absent_keys().filter(|key| flow::requires_key(asked, key)) {
            let schema = flow::property_schema(asked, key);
            // The host fills a default in before the call.
            if schema.get("default").is_none() {
                let description = describe_asked(schema);
                self.add_fault(place, &format!("`{key}` is missing, {description} is asked for"));
            }
        }
        let rest = remaining_keywords(asked, &["properties", "additionalProperties", "required"]);
        if let Some(rest) = rest.filter(|_| self.found.faults.len() == faults_before) {
            let entry = |(key, value): (&'a String, &'a Value)| Some((key, self.given_value(value).ok()?));
            let defaults = absent_keys().filter_map(|key| {
                let default = flow::property_schema(asked, key).get("default")?;
                Some((key, Given::of(flow::constant_schema(default))))
            });
            let entries: Vec<(&String, Given<'_>)> = map.iter().filter_map(entry).chain(defaults).collect();
            // Only the schema is compared: values that may be absent were already reported at their own places.
            let object = Given::of(given_object(&entries).schema);
            self.compare(&object, &rest, place);
        }
    }

    /// Checks an array item by item, and then what is asked of the whole array.
    fn check_array(&mut self, items: &'a [Value], asked: &JsonObject, place: &str) {
        let faults_before = self.found.faults.len();
        for (n, value) in items.iter().enumerate() {
            let asked_item = flow::item_schema(asked, n);
            self.check_value(value, asked_item, &format!("{place}[{n}]"));
        }
        let rest = remaining_keywords(asked, &["items", "prefixItems"]);
        if let Some(rest) = rest.filter(|_| self.found.faults.len() == faults_before) {
            let values: Vec<Given<'a>> = items.iter().filter_map(|value| self.given_value(value).ok()).collect();
            let array = Given::of(given_array(&values).schema);
            self.compare(&array, &rest, place);
        }
    }

    /// Compares the schema of a value with what is asked for. Reports a value that cannot fit, or that can be checked only when
    /// the plan runs.
    fn compare(&mut self, given: &Given<'_>, asked: &Value, place: &str) -> Verdict {
        let verdict = given.fits(asked);
        match verdict {
            Verdict::Yes => {}
            Verdict::AtRunTime => self.found.at_run_time.push(place.to_owned()),
            Verdict::No => {
                let (asked_text, given_text) = (describe_asked(asked), describe_given(&given.schema));
                let output_schema = given.output_schema.as_ref();
                let hint = output_schema.and_then(|schema| fitting_pointer(schema, asked));
                let hint = hint.map_or_else(String::new, |path| format!("; `{path}` would fit"));
                let text = match &given.source {
                    None => format!("{asked_text} is asked for, {given_text} is given"),
                    Some(source) => format!("{asked_text} is asked for, {source} is {given_text}{hint}"),
                };
                self.add_fault(place, &text);
            }
        }
        verdict
    }

    /// Returns what is known, before the plan runs, about `value` with its references replaced by what they refer to. Fails with
    /// the reason if a reference in it is wrong.
    fn given_value(&self, value: &'a Value) -> Result<Given<'a>, String> {
        let schema = match PlannedValue::read(value)? {
            PlannedValue::From(reference) => return self.given_output(reference),
            PlannedValue::Attachment(name) => {
                return Ok(Given {
                    may_be_absent: !self.file_exists(name)?,
                    ..Given::of(json!({"type": "string"}))
                });
            }
            PlannedValue::Param(name) => return self.given_parameter(name),
            PlannedValue::Scalar(data) | PlannedValue::Literal(data) => flow::constant_schema(data),
            PlannedValue::Concat(parts) => {
                let mut text = Given::of(json!({"type": "string"}));
                for part in parts.iter().filter(|part| !part.is_string()) {
                    text.may_be_absent |= !self.is_certainly_scalar(part)?;
                }
                return Ok(text);
            }
            PlannedValue::Array(items) => {
                let items: Result<Vec<Given<'a>>, String> = items.iter().map(|item| self.given_value(item)).collect();
                return Ok(given_array(&items?));
            }
            PlannedValue::Object(map) => {
                let entry = |(key, value): (&'a String, &'a Value)| Ok((key, self.given_value(value)?));
                let entries: Result<Vec<(&String, Given<'_>)>, String> = map.iter().map(entry).collect();
                return Ok(given_object(&entries?));
            }
        };
        Ok(Given::of(schema))
    }

    /// Returns what is known of the value of a parameter: its schema.
    fn given_parameter(&self, name: &str) -> Result<Given<'a>, String> {
        let params = self.input.params;
        let Some(schema) = params.get(name) else {
            let hint = similar_name_hint(name, params.keys().map(String::as_str));
            return Err(format!("the plan declares no parameter `{name}`{hint}"));
        };
        Ok(Given {
            source: Some(format!("the parameter `{name}`")),
            ..Given::of(schema.clone())
        })
    }

    /// Returns whether a part of a `$concat` is certainly a scalar, as every part has to be. Fails with the reason if it cannot
    /// be one.
    fn is_certainly_scalar(&self, part: &'a Value) -> Result<bool, String> {
        let scalars = json!({"type": ["string", "number", "boolean"]});
        if let PlannedValue::Attachment(name) = PlannedValue::read(part)? {
            return Err(format!(
                "`$concat` cannot contain the file `{name}`; an argument can be a whole file"
            ));
        }
        let part = self.given_value(part)?;
        let verdict = part.fits(&scalars);
        if verdict != Verdict::No {
            return Ok(verdict == Verdict::Yes);
        }
        let source = part.source.unwrap_or_else(|| "one part".to_owned());
        Err(format!(
            "`$concat` takes texts, numbers and booleans, {source} is {}",
            describe_given(&part.schema)
        ))
    }

    /// Returns whether a file exists now. Fails with the reason if the file does not exist and will not exist when the step runs:
    /// only a step on which this one depends could produce it, and there is none.
    fn file_exists(&self, name: &str) -> Result<bool, String> {
        let files = self.input.files;
        let exists = files.contains(name);
        if exists || !self.item.dependencies.is_empty() {
            return Ok(exists);
        }
        Err(format!(
            "there is no file `{name}`{}",
            similar_name_hint(name, files.iter().copied())
        ))
    }

    /// Returns what is known of the value that a reference takes from an output: of a step before this one in the plan, or of a
    /// step of an earlier question.
    fn given_output(&self, reference: OutputReference<'a>) -> Result<Given<'a>, String> {
        let step = match find_earlier_step(self.input.earlier, reference.step) {
            Some(step) => return given_earlier_output(step, reference),
            None => self.find_step(reference.step)?,
        };
        let source = reference.to_string();
        let unknown_output = |source| Given {
            may_be_absent: true,
            source: Some(source),
            ..Given::of(Value::Bool(true))
        };
        // The output of a completed step is not read here. A step without planned calls is carried out by a model, and the schema
        // of what the model will write is not known.
        if step.status == TodoItemStatus::Completed || step.tool_calls.is_empty() {
            return Ok(unknown_output(source));
        }
        let count = step.tool_calls.len();
        let number = reference.call.unwrap_or(count - 1);
        let Some(call) = step.tool_calls.get(number) else {
            return Err(format!(
                "`{}` has {count} planned calls, so `call` is at most {}",
                reference.step,
                count - 1
            ));
        };
        // An unknown tool is reported at the call of this tool.
        let Some(tool) = self.input.tools.iter().find(|tool| tool.name == call.tool_name) else {
            return Ok(unknown_output(source));
        };
        if tool.execution_mode == ExecutionMode::Display {
            return Err(format!(
                "the output of `{}` is drawn for the person and cannot be used by other calls",
                reference.step
            ));
        }
        let Some(schema) = &tool.output_schema else {
            return Ok(unknown_output(source));
        };
        // For certain arguments, a tool may promise more about its output than the output schema says of every output.
        let schema = promise::promised_schema(schema, &tool.input_schema, &call.arguments);
        let value = OutputValue::at(&schema, reference.path).map_err(|missing| {
            let known = declared_pointers(&schema, MAX_POINTERS);
            let paths = || {
                known
                    .iter()
                    .map(|(path, _)| path.as_str())
                    .filter(|path| !path.is_empty())
            };
            let hint = Some(similar_name_hint(reference.path, paths())).filter(|hint| !hint.is_empty());
            let hint = hint.unwrap_or_else(|| pointer_hint(paths()));
            format!(
                "the output of `{}` (`{}`) has nothing at `{missing}`{hint}",
                reference.step, tool.name
            )
        })?;
        Ok(Given {
            may_be_absent: value.may_be_absent,
            source: Some(source),
            schema: value.schema(),
            output_schema: Some(schema),
        })
    }

    fn find_step(&self, id: &str) -> Result<&'a TodoItem, String> {
        if id == self.item.id {
            return Err(format!("`$from` names `{id}`, which is this step itself"));
        }
        if let Some(step) = self.items_before.iter().find(|step| step.id == id) {
            return Ok(step);
        }
        if self.input.items.iter().any(|step| step.id == id) {
            return Err(format!("`$from` names `{id}`, which comes after this step"));
        }
        let earlier = earlier_steps(self.input.earlier).map(|step| step.name());
        let known: Vec<String> = self
            .items_before
            .iter()
            .map(|step| step.id.clone())
            .chain(earlier)
            .collect();
        let hint = similar_name_hint(id, known.iter().map(String::as_str));
        Err(format!("`$from` names `{id}`, which is not in the plan{hint}"))
    }
}

/// Returns a hint that lists the first few of `paths`, which are positions in an output, or nothing if there are none.
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

/// Returns the second half of the message about arguments that are a text and not an object. A text that is not valid JSON is
/// probably an object that the model wrote with a mistake, so the message says where the mistake is.
fn describe_text_arguments(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(_) => "a text is given".to_owned(),
        Err(error) => format!("the text is not valid JSON: {error}"),
    }
}

/// Returns what is known of the value that a reference takes from a step of an earlier question: the value itself, unless it is
/// large.
fn given_earlier_output<'a>(step: &'a TodoItem, reference: OutputReference<'a>) -> Result<Given<'a>, String> {
    let output = find_output(step, reference)?;
    let value = reference.value_in(output)?;
    let source = Some(reference.to_string());
    // For each reference, the whole output would be copied into a schema, so values of large outputs are not checked here.
    if json_bytes(output) > MAX_CHECKED_OUTPUT_BYTES {
        return Ok(Given {
            source,
            ..Given::of(Value::Bool(true))
        });
    }
    Ok(Given {
        source,
        output_schema: Some(Cow::Owned(flow::constant_schema(output))),
        ..Given::of(flow::constant_schema(value))
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

/// Returns the identifiers of the steps from whose outputs a call takes values.
pub(crate) fn source_steps(call: &PlannedCall) -> BTreeSet<String> {
    let mut steps = BTreeSet::new();
    visit_output_references(&call.arguments, &mut |reference| {
        steps.insert(reference.step.to_owned());
    });
    steps
}

/// Returns the position in an output whose value certainly is what is asked for, if there is exactly one such position.
fn fitting_pointer(output_schema: &Value, asked: &Value) -> Option<String> {
    let mut fitting = declared_pointers(output_schema, MAX_POINTERS)
        .into_iter()
        .filter(|(_, schema)| compare_schemas(schema, asked) == Verdict::Yes);
    let first = fitting.next()?;
    fitting.next().is_none().then_some(first.0)
}

/// Returns the part of a schema that is not checked yet: without annotations, and without `checked_keywords`. Returns `None` if
/// this part asks for no more than a type.
fn remaining_keywords(schema: &JsonObject, checked_keywords: &[&str]) -> Option<Value> {
    let is_unchecked = |keyword: &str| !checked_keywords.contains(&keyword) && !flow::is_annotation(keyword);
    let rest = || schema.iter().filter(|(keyword, _)| is_unchecked(keyword));
    let asks_more = rest().any(|(keyword, _)| keyword != "type");
    asks_more.then(|| {
        rest()
            .map(|(keyword, asked)| (keyword.clone(), asked.clone()))
            .collect()
    })
}

/// Returns the only branch of a schema that allows objects, so that an object can be checked key by key.
fn object_branch(schema: &Value) -> Option<&JsonObject> {
    only_branch(schema, "object")
}

/// Returns the only branch of a schema that allows arrays, so that an array can be checked item by item.
fn array_branch(schema: &Value) -> Option<&JsonObject> {
    only_branch(schema, "array")
}

/// Returns the only branch of `schema` that allows values of the type `type_name`. The branches are those of its `anyOf` or
/// `oneOf`; a schema without these, or with other keywords beside them, counts as a single branch. Returns `None` if no branch or
/// several branches allow such values.
fn only_branch<'s>(schema: &'s Value, type_name: &str) -> Option<&'s JsonObject> {
    let map = schema.as_object()?;
    let mut keywords = map.iter().filter(|(keyword, _)| !flow::is_annotation(keyword));
    match (keywords.next(), keywords.next()) {
        (Some((keyword, Value::Array(branches))), None) if ["anyOf", "oneOf"].contains(&keyword.as_str()) => {
            let mut fitting = branches.iter().filter(|branch| allows_type(branch, type_name));
            let branch = fitting.next()?.as_object()?;
            fitting.next().is_none().then_some(branch)
        }
        _ => Some(map).filter(|_| allows_type(schema, type_name)),
    }
}

/// Returns whether values of the type `type_name` may satisfy a schema.
fn allows_type(schema: &Value, type_name: &str) -> bool {
    match schema.get("type") {
        Some(Value::Array(names)) => names.iter().any(|allowed| allowed == type_name),
        Some(allowed) => allowed == type_name,
        None => *schema != Value::Bool(false),
    }
}

#[cfg(test)]
mod tests;
