//! References: parts of the arguments of a planned call that stand for a value which is known only when the plan runs, such as
//! `{"$from": "step_1"}` for the output of a step.
//!
//! An object is a reference only if it has exactly the keys of one of the forms that [`PlannedValue`] lists; any other object
//! stays an object. [`PlannedValue::read`] finds out what a part of the arguments is, and [`resolve`] puts values in place of the
//! references.

use std::collections::BTreeSet;
use std::fmt;

use art_core::JsonObject;
use art_core::limits::Limits;
use art_core::pes::TodoItem;
use art_core::tool::ToolStatus;
use serde_json::{Value, json};

use crate::attachment::ATTACHMENT_PREFIX;
use crate::truncate::is_cut;

/// Maximum depth of arguments in which references are replaced. The JSON parser has the same maximum.
const MAX_DEPTH: usize = 128;

/// What a part of the arguments of a planned call is: a reference, or data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PlannedValue<'a> {
    /// `{"$from": "step_1", "path": "/total", "call": 0}`: an output of an earlier step, or a value in it.
    From(OutputReference<'a>),
    /// `{"$attachment": "sales.csv"}`, or the text `attachment:sales.csv` for the same: the content of a file.
    Attachment(&'a str),
    /// `{"$concat": [..]}`: a text that is made of several scalars, some of which may be references.
    Concat(&'a [Value]),
    /// `{"$param": "name"}`: a parameter of a saved plan.
    Param(&'a str),
    /// A number, a boolean, null, or a text that does not begin with `attachment:`.
    Scalar(&'a Value),
    /// `{"$literal": ..}`: data, even if it looks like a reference.
    Literal(&'a Value),
    /// An array, whose items may be references.
    Array(&'a [Value]),
    /// An object, whose values may be references.
    Object(&'a JsonObject),
}

/// A `$from`: a reference to an output of a step, or to a value in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OutputReference<'a> {
    /// Identifier of the step, which is an item of the plan.
    pub(crate) step: &'a str,
    /// Position of the value in the output, as a JSON pointer; empty for the whole output.
    pub(crate) path: &'a str,
    /// Which call of the step gave the output: its number, from 0, or `None` for the last call.
    pub(crate) call: Option<usize>,
}

impl<'a> PlannedValue<'a> {
    /// Reads a value.
    ///
    /// # Errors
    /// Fails with the reason if an object has the keys of a reference but not the right values, such as a number as the name of a
    /// step.
    pub(crate) fn read(value: &'a Value) -> Result<Self, String> {
        let map = match value {
            Value::Array(items) => return Ok(Self::Array(items)),
            Value::Object(map) => map,
            Value::String(text) => {
                let file = text.strip_prefix(ATTACHMENT_PREFIX);
                return Ok(file.map_or(Self::Scalar(value), Self::Attachment));
            }
            scalar => return Ok(Self::Scalar(scalar)),
        };
        let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
        keys.sort_unstable();
        match keys.as_slice() {
            ["$attachment"] => Ok(Self::Attachment(text_field(map, "$attachment", "the name of a file")?)),
            ["$concat"] => match map.get("$concat") {
                Some(Value::Array(parts)) => Ok(Self::Concat(parts)),
                _ => Err("`$concat` has to be an array".to_owned()),
            },
            ["$from"] | ["$from", "call" | "path"] | ["$from", "call", "path"] => {
                Ok(Self::From(OutputReference::read(map)?))
            }
            ["$literal"] => Ok(Self::Literal(map.get("$literal").unwrap_or(&Value::Null))),
            ["$param"] => Ok(Self::Param(text_field(map, "$param", "the name of a parameter")?)),
            _ => Ok(Self::Object(map)),
        }
    }
}

impl<'a> OutputReference<'a> {
    fn read(map: &'a JsonObject) -> Result<Self, String> {
        let path = match map.get("path") {
            None | Some(Value::Null) => "",
            Some(_) => text_field(map, "path", "a JSON pointer")?,
        };
        if !path.is_empty() && !path.starts_with('/') {
            return Err(format!(
                "`path` has to be empty or begin with `/`, such as `/{path}`; it is `{path}`"
            ));
        }
        let number = |call: &Value| call.as_u64().and_then(|call| usize::try_from(call).ok());
        let call = match map.get("call") {
            None | Some(Value::Null) => None,
            Some(call) => Some(number(call).ok_or("`call` has to be the number of a call, from 0")?),
        };
        let step = text_field(map, "$from", "the id of a step")?;
        Ok(Self { step, path, call })
    }
}

impl fmt::Display for OutputReference<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            "" => write!(f, "the output of `{}`", self.step),
            path => write!(f, "`{path}` of `{}`", self.step),
        }
    }
}

impl OutputReference<'_> {
    /// Returns the value in `output` that the reference points to.
    ///
    /// # Errors
    /// Fails with the reason if `output` has no value there.
    pub(crate) fn value_in<'v>(&self, output: &'v Value) -> Result<&'v Value, String> {
        let no_value = || format!("the output of `{}` has nothing at `{}`", self.step, self.path);
        output.pointer(self.path).ok_or_else(no_value)
    }
}

/// Returns the output that `reference` points into. If the reference names a call, this is the output of that call. Otherwise it
/// is the output of the last call of `item`, or the result of `item` if that call gave no output.
///
/// # Errors
/// Fails with the reason if there is no such output, or if it was cut because it was too large to be stored.
pub(crate) fn find_output<'a>(item: &'a TodoItem, reference: OutputReference<'_>) -> Result<&'a Value, String> {
    let output = match reference.call {
        Some(number) => call_id_at(item, number).and_then(|id| usable_output(item, id)),
        // A step whose last call gave no output may still have a result, such as a text of the model.
        None => last_call_id(item)
            .and_then(|id| usable_output(item, id))
            .or(item.result.as_deref()),
    };
    match output {
        Some(output) if is_cut(output) => Err(format!(
            "the output of `{}` was too large to be stored whole; make its call again",
            reference.step
        )),
        Some(output) => Ok(output),
        None => Err(format!("step `{}` has no output to take a value from", reference.step)),
    }
}

/// Returns the identifier of a call of a step. `number` is the position of the call among the planned calls, or among the calls
/// that a model made if none were planned.
fn call_id_at(item: &TodoItem, number: usize) -> Option<&str> {
    if item.tool_calls.is_empty() {
        let call = item.actual_tool_calls.get(number)?;
        return Some(&call.call_id);
    }
    item.planned_call_ids.get(number).map(String::as_str)
}

/// Returns the identifier of the last call of a step: the last call that a model made, or the last planned call if a model made
/// none.
fn last_call_id(item: &TodoItem) -> Option<&str> {
    let planned_ids = &item.planned_call_ids;
    let last_made = item.actual_tool_calls.last().map(|call| call.call_id.as_str());
    let made_by_model = last_made.filter(|made| planned_ids.iter().all(|planned| planned != made));
    made_by_model.or(planned_ids.last().map(String::as_str))
}

/// Returns the output of a call, if other calls may take it.
fn usable_output<'a>(item: &'a TodoItem, call_id: &str) -> Option<&'a Value> {
    let result = item.tool_results.iter().find(|result| result.call_id == call_id)?;
    // The output of a display tool is only for the person. It must not reach a prompt (contract C9), not even as an argument.
    let is_usable = result.status == ToolStatus::Success && !result.metadata.for_display;
    result.output.as_deref().filter(|_| is_usable)
}

/// Returns the text under `key`. Fails if there is no text. The message then contains `meaning`, such as `the name of a file`.
fn text_field<'a>(map: &'a JsonObject, key: &str, meaning: &str) -> Result<&'a str, String> {
    let text = map.get(key).and_then(Value::as_str);
    text.ok_or_else(|| format!("`{key}` has to be a text: {meaning}"))
}

/// Calls `visit` with every well-formed `$from` in `value`.
pub(crate) fn visit_output_references<'a>(value: &'a Value, visit: &mut impl FnMut(OutputReference<'a>)) {
    visit_references(value, &mut |reference| {
        if let Ok(PlannedValue::From(reference)) = PlannedValue::read(reference) {
            visit(reference);
        }
    });
}

/// Calls `visit` with every well-formed reference in `value` that takes a value from elsewhere: every `$from`, `$attachment` and
/// `$param`.
pub(crate) fn visit_references<'a>(value: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    match PlannedValue::read(value) {
        Ok(PlannedValue::From(_) | PlannedValue::Attachment(_) | PlannedValue::Param(_)) => visit(value),
        Ok(PlannedValue::Array(items)) => items.iter().for_each(|item| visit_references(item, visit)),
        Ok(PlannedValue::Concat(parts)) => {
            // A text in a `$concat` is data, even if it begins with `attachment:`.
            let parts = parts.iter().filter(|part| !part.is_string());
            parts.for_each(|part| visit_references(part, visit));
        }
        Ok(PlannedValue::Object(map)) => map.values().for_each(|item| visit_references(item, visit)),
        Ok(PlannedValue::Scalar(_) | PlannedValue::Literal(_)) | Err(_) => {}
    }
}

/// Returns the arguments with which a planned call will be made, if they are known before the plan runs. Returns `None` if they
/// take values from steps, files or parameters, or are not valid.
#[must_use]
pub fn constant_arguments(arguments: &Value) -> Option<Value> {
    let mut is_constant = true;
    visit_references(arguments, &mut |_| is_constant = false);
    let no_output = |_: OutputReference<'_>| Err("there is no output".to_owned());
    let resolved = resolve(arguments, &no_output).ok().filter(|_| is_constant);
    resolved.map(|resolved| resolved.arguments)
}

/// Returns the arguments of the planned call that stands for a direct tool call. `arguments` are those of the direct call, which
/// the planning model made itself instead of writing it into a plan. In them, only `$from` and attachments are references. What
/// looks like a reference of any other kind is data, so it becomes a `$literal`.
pub(crate) fn planned_arguments(arguments: &Value) -> Value {
    match PlannedValue::read(arguments) {
        Ok(PlannedValue::Array(items)) => items.iter().map(planned_arguments).collect(),
        Ok(PlannedValue::Object(map)) => map
            .iter()
            .map(|(key, value)| (key.clone(), planned_arguments(value)))
            .collect(),
        Ok(PlannedValue::From(_) | PlannedValue::Attachment(_) | PlannedValue::Scalar(_)) => arguments.clone(),
        Ok(PlannedValue::Concat(_) | PlannedValue::Param(_) | PlannedValue::Literal(_)) | Err(_) => {
            json!({"$literal": arguments})
        }
    }
}

/// Returns `value` with a replacement for each part for which `replace` returns one. The parts of a replaced part are not
/// visited.
pub(crate) fn rewrite<'a>(value: &'a Value, replace: &impl Fn(&PlannedValue<'a>) -> Option<Value>) -> Value {
    let Ok(planned) = PlannedValue::read(value) else {
        return value.clone();
    };
    if let Some(replacement) = replace(&planned) {
        return replacement;
    }
    match planned {
        PlannedValue::Concat(parts) => {
            let parts = parts.iter().map(|part| rewrite_part(part, replace));
            json!({"$concat": parts.collect::<Value>()})
        }
        PlannedValue::Array(items) => items.iter().map(|item| rewrite(item, replace)).collect(),
        PlannedValue::Object(map) => {
            let entries = map.iter().map(|(key, item)| (key.clone(), rewrite(item, replace)));
            Value::Object(entries.collect())
        }
        PlannedValue::From(_)
        | PlannedValue::Attachment(_)
        | PlannedValue::Param(_)
        | PlannedValue::Scalar(_)
        | PlannedValue::Literal(_) => value.clone(),
    }
}

/// Rewrites one part of a `$concat`, in which a text is data, even if it begins with `attachment:`.
fn rewrite_part<'a>(part: &'a Value, replace: &impl Fn(&PlannedValue<'a>) -> Option<Value>) -> Value {
    if part.is_string() {
        return replace(&PlannedValue::Scalar(part)).unwrap_or_else(|| part.clone());
    }
    rewrite(part, replace)
}

/// Arguments with values in place of their references.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedArguments {
    pub(crate) arguments: Value,
    /// JSON pointers of the texts `attachment:NAME` that stand for the content of a file. Other texts of this form are data,
    /// because they come from an output, a `$literal` or a `$concat`.
    pub(crate) file_pointers: BTreeSet<String>,
}

/// Returns `arguments` with values in place of their references. `output_of` returns the output that a `$from` points into. A
/// reference to a file becomes the text `attachment:NAME`, which is replaced by the content later, as in every call.
///
/// # Errors
/// Fails with the place and the reason if a reference has no value, or if the values together are larger than the input of any
/// tool may be.
pub(crate) fn resolve<'a>(
    arguments: &'a Value,
    output_of: &impl Fn(OutputReference<'a>) -> Result<&'a Value, String>,
) -> Result<ResolvedArguments, String> {
    let mut resolver = Resolver {
        output_of,
        file_pointers: BTreeSet::new(),
        remaining_bytes: Limits::MAX.input_bytes,
    };
    let arguments = resolver.resolve_value(arguments, &mut String::new(), MAX_DEPTH)?;
    Ok(ResolvedArguments {
        arguments,
        file_pointers: resolver.file_pointers,
    })
}

/// The replacement of references in the arguments of one call.
struct Resolver<F> {
    /// Returns the output that a `$from` points into.
    output_of: F,
    /// See [`ResolvedArguments::file_pointers`].
    file_pointers: BTreeSet<String>,
    /// Number of bytes that the values of the references not yet replaced may have together.
    remaining_bytes: u64,
}

impl<'a, F: Fn(OutputReference<'a>) -> Result<&'a Value, String>> Resolver<F> {
    /// Returns `value`, which is at `pointer` in the arguments, with values in place of its references. `value` may have at
    /// most `remaining_depth` levels.
    fn resolve_value(
        &mut self,
        value: &'a Value,
        pointer: &mut String,
        remaining_depth: usize,
    ) -> Result<Value, String> {
        let error_at = |pointer: &str, reason: String| format!("`arguments{pointer}`: {reason}");
        let Some(child_depth) = remaining_depth.checked_sub(1) else {
            return Err(error_at(pointer, "it is nested too deep".to_owned()));
        };
        match PlannedValue::read(value).map_err(|reason| error_at(pointer, reason))? {
            PlannedValue::From(reference) => self.copy_value(reference).map_err(|reason| error_at(pointer, reason)),
            PlannedValue::Attachment(name) => {
                self.file_pointers.insert(pointer.clone());
                Ok(Value::from(format!("{ATTACHMENT_PREFIX}{name}")))
            }
            PlannedValue::Param(name) => Err(error_at(pointer, format!("the parameter `{name}` has no value"))),
            PlannedValue::Scalar(data) | PlannedValue::Literal(data) => Ok(data.clone()),
            PlannedValue::Concat(parts) => {
                let texts = parts
                    .iter()
                    .enumerate()
                    .map(|(n, part)| self.resolve_part(part, pointer, n, child_depth));
                let texts: Result<String, String> = texts.collect();
                texts.map(Value::from)
            }
            PlannedValue::Array(items) => (0..)
                .zip(items)
                .map(|(n, item): (usize, _)| self.resolve_child(item, pointer, &n.to_string(), child_depth))
                .collect(),
            PlannedValue::Object(map) => {
                let entry = |(key, value): (&String, &'a Value)| {
                    Ok((key.clone(), self.resolve_child(value, pointer, key, child_depth)?))
                };
                let entries: Result<JsonObject, String> = map.iter().map(entry).collect();
                entries.map(Value::Object)
            }
        }
    }

    /// Returns `value`, which is under `key` in the value at `pointer`, with values in place of its references.
    fn resolve_child(
        &mut self,
        value: &'a Value,
        pointer: &mut String,
        key: &str,
        remaining_depth: usize,
    ) -> Result<Value, String> {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escape_pointer_key(key));
        let value = self.resolve_value(value, pointer, remaining_depth);
        pointer.truncate(length);
        value
    }

    /// Returns the text that `part`, the part `n` of a `$concat`, adds to the whole text.
    fn resolve_part(
        &mut self,
        part: &'a Value,
        pointer: &mut String,
        n: usize,
        remaining_depth: usize,
    ) -> Result<String, String> {
        if let Value::String(text) = part {
            return Ok(text.clone());
        }
        let value = self.resolve_child(part, pointer, &n.to_string(), remaining_depth)?;
        scalar_text(&value).map_err(|reason| format!("`arguments{pointer}`: {reason}"))
    }

    /// Returns a copy of the value of `reference`.
    fn copy_value(&mut self, reference: OutputReference<'a>) -> Result<Value, String> {
        let output = (self.output_of)(reference)?;
        let value = reference.value_in(output)?;
        let bytes = value.to_string().len() as u64;
        self.remaining_bytes = self.remaining_bytes.checked_sub(bytes).ok_or_else(|| {
            let max = Limits::MAX.input_bytes;
            format!("the values of all references have more than {max} bytes, and no tool takes more")
        })?;
        Ok(value.clone())
    }
}

/// Returns a scalar as `$concat` writes it: texts as they are, numbers and booleans as in JSON. Fails with the reason if the
/// value is null or no scalar.
fn scalar_text(value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(_) | Value::Bool(_) => Ok(value.to_string()),
        Value::Null => Err("`$concat` takes texts, numbers and booleans, not null".to_owned()),
        Value::Array(_) => Err("`$concat` takes texts, numbers and booleans, not an array".to_owned()),
        Value::Object(_) => Err("`$concat` takes texts, numbers and booleans, not an object".to_owned()),
    }
}

/// Returns a key as a part of a JSON pointer.
pub(crate) fn escape_pointer_key(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns a part of a JSON pointer as a key.
pub(crate) fn unescape_pointer_key(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Puts values in place of the references in `arguments`. The only step is `a`, and its output is `output`.
    fn resolve_with_output(arguments: &Value, output: &Value) -> Result<Value, String> {
        let resolved = resolve(arguments, &|reference| match reference.step {
            "a" => Ok(output),
            other => Err(format!("there is no step `{other}`")),
        });
        resolved.map(|resolved| resolved.arguments)
    }

    #[test]
    fn a_reference_is_replaced_by_the_value_that_it_points_to() {
        let arguments = json!({"n": {"$from": "a", "path": "/rows/0/n"}, "all": [{"$from": "a"}]});
        let output = json!({"rows": [{"n": 7}]});
        assert_eq!(
            resolve_with_output(&arguments, &output),
            Ok(json!({"n": 7, "all": [{"rows": [{"n": 7}]}]}))
        );
    }

    #[test]
    fn a_text_that_looks_like_a_reference_is_data() {
        let arguments = json!({"text": "$from a /n {\"$from\": \"a\"}"});
        assert_eq!(resolve_with_output(&arguments, &json!(1)), Ok(arguments.clone()));
    }

    #[test]
    fn an_object_with_another_key_beside_those_of_a_reference_is_data() {
        let arguments = json!({"x": {"$from": "a", "pth": "/n"}, "y": {"$concat": [], "path": ""}});
        assert_eq!(resolve_with_output(&arguments, &json!(1)), Ok(arguments.clone()));
    }

    #[test]
    fn a_literal_is_data_even_if_it_looks_like_a_reference() {
        let arguments = json!({"x": {"$literal": {"$from": "a"}}});
        assert_eq!(
            resolve_with_output(&arguments, &json!(1)),
            Ok(json!({"x": {"$from": "a"}}))
        );
    }

    #[test]
    fn concat_writes_numbers_and_booleans_as_json_does() {
        let arguments = json!({"x": {"$concat": ["ceil(", {"$from": "a", "path": "/v"}, ")", true]}});
        assert_eq!(
            resolve_with_output(&arguments, &json!({"v": 1.50})),
            Ok(json!({"x": "ceil(1.5)true"}))
        );
    }

    #[test]
    fn concat_refuses_null_arrays_and_objects() {
        for (value, name) in [
            (json!(null), "null"),
            (json!([1]), "an array"),
            (json!({"k": 1}), "an object"),
        ] {
            let arguments = json!({"x": {"$concat": [{"$from": "a", "path": "/v"}]}});
            assert_eq!(
                resolve_with_output(&arguments, &json!({"v": value})),
                Err(format!(
                    "`arguments/x`: `$concat` takes texts, numbers and booleans, not {name}"
                ))
            );
        }
    }

    #[test]
    fn a_reference_to_a_file_becomes_the_text_that_is_later_replaced_by_the_content() {
        let arguments = json!({"csv": {"$attachment": "sales.csv"}});
        assert_eq!(
            resolve_with_output(&arguments, &json!(1)),
            Ok(json!({"csv": "attachment:sales.csv"}))
        );
    }

    #[test]
    fn an_attachment_text_from_an_output_a_literal_or_a_concat_does_not_stand_for_a_file() {
        let arguments = json!({
            "a": {"$attachment": "s.csv"},
            "b": ["attachment:s.csv"],
            "c": {"$literal": "attachment:s.csv"},
            "d": {"$from": "a"},
            "e": {"$concat": ["attachment:", "s.csv"]},
            "f": {"$concat": ["attachment:s.csv"]},
        });
        let resolved = resolve(&arguments, &|_| Ok(const { &Value::Null })).unwrap();
        assert_eq!(
            resolved.file_pointers,
            BTreeSet::from(["/a".to_owned(), "/b/0".to_owned()])
        );
        assert_eq!(resolved.arguments["f"], "attachment:s.csv");
    }

    #[test]
    fn the_error_of_a_reference_without_a_value_names_its_place() {
        let arguments = json!({"a/b": [{"$from": "a", "path": "/gone"}]});
        assert_eq!(
            resolve_with_output(&arguments, &json!({})),
            Err("`arguments/a~1b/0`: the output of `a` has nothing at `/gone`".to_owned())
        );
    }

    #[test]
    fn an_ill_formed_reference_is_refused() {
        let reasons: Vec<String> = [
            json!({"$from": 1}),
            json!({"$from": "a", "path": "n"}),
            json!({"$from": "a", "call": -1}),
            json!({"$concat": "x"}),
            json!({"$attachment": null}),
        ]
        .iter()
        .map(|value| PlannedValue::read(value).unwrap_err())
        .collect();
        insta::assert_snapshot!(reasons.join("\n"), @r"
        `$from` has to be a text: the id of a step
        `path` has to be empty or begin with `/`, such as `/n`; it is `n`
        `call` has to be the number of a call, from 0
        `$concat` has to be an array
        `$attachment` has to be a text: the name of a file
        ");
    }

    #[test]
    fn literals_and_concatenations_in_a_direct_call_of_the_planning_model_are_data() {
        let call =
            json!({"stages": [{"total": {"$literal": 1}, "name": {"$concat": ["a", "-"]}}], "x": {"$from": "q1.a"}});
        let planned = planned_arguments(&call);
        let resolved = resolve(&planned, &|_| Ok(const { &Value::Bool(true) })).unwrap();
        let stages = json!([{"total": {"$literal": 1}, "name": {"$concat": ["a", "-"]}}]);
        assert_eq!(resolved.arguments, json!({"stages": stages, "x": true}));
    }

    #[test]
    fn references_are_refused_if_their_values_together_exceed_the_maximum_input_size() {
        let mebibyte = json!("x".repeat(1 << 20));
        let references = |count: usize| json!(vec![json!({"$from": "a"}); count]);
        assert!(resolve_with_output(&references(3), &mebibyte).is_ok());
        let reason = resolve_with_output(&references(5), &mebibyte).unwrap_err();
        assert!(reason.contains("more than 4194304 bytes"), "{reason}");
    }

    #[test]
    fn only_arguments_without_references_are_known_before_the_plan_runs() {
        let arguments = json!({"a": {"$literal": [1]}, "b": {"$concat": ["x", 1]}});
        assert_eq!(constant_arguments(&arguments), Some(json!({"a": [1], "b": "x1"})));
        for reference in [
            json!({"$from": "a"}),
            json!({"$attachment": "f"}),
            json!({"$param": "p"}),
            json!({"$from": 1}),
        ] {
            assert_eq!(constant_arguments(&json!({"a": [reference]})), None);
        }
    }

    proptest! {
        #[test]
        fn an_escaped_key_is_found_by_its_pointer(key in "[~/a-c01]{0,6}") {
            let value = json!({&key: 1});
            prop_assert_eq!(value.pointer(&format!("/{}", escape_pointer_key(&key))), Some(&json!(1)));
            prop_assert_eq!(unescape_pointer_key(&escape_pointer_key(&key)), key);
        }
    }
}
