//! References: values in the arguments of a planned call that are known only when the plan runs.
//!
//! An object is a reference only if its keys are exactly those of a reference. [`Template`] reads arguments, and [`resolve`] puts
//! values in place of their references.

use std::collections::BTreeSet;
use std::fmt;

use art_core::JsonObject;
use art_core::limits::Limits;
use art_core::pes::TodoItem;
use art_core::tool::ToolStatus;
use serde_json::{Value, json};

use crate::attachment::PREFIX as ATTACHMENT;
use crate::truncate::is_cut;

/// Maximum depth of arguments that are resolved. The same as that of the JSON parser.
const MAX_DEPTH: usize = 128;

/// A value in the arguments of a planned call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Template<'a> {
    /// `{"$from": "step_1", "path": "/total", "call": 0}`: an output of an earlier step.
    From(Origin<'a>),
    /// `{"$attachment": "sales.csv"}`, or the text `attachment:sales.csv` for it: the content of a file.
    Attachment(&'a str),
    /// `{"$concat": [..]}`: several scalars, joined to one text.
    Concat(&'a [Value]),
    /// `{"$param": "name"}`: a parameter of a kept plan.
    Param(&'a str),
    /// A scalar.
    Data(&'a Value),
    /// `{"$literal": ..}`: any data.
    Literal(&'a Value),
    /// An array, whose items may be references.
    Array(&'a [Value]),
    /// An object, whose values may be references.
    Object(&'a JsonObject),
}

/// Where the value of a `$from` comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Origin<'a> {
    /// Identifier of the step.
    pub(crate) step: &'a str,
    /// Position in the output of its call, as a JSON pointer.
    pub(crate) path: &'a str,
    /// Number of the call in the step, from 0; `None` for the last one.
    pub(crate) call: Option<usize>,
}

impl<'a> Template<'a> {
    /// Reads a value.
    ///
    /// # Errors
    /// Fails with the reason if an object has the keys of a reference, but values that no reference has.
    pub(crate) fn read(value: &'a Value) -> Result<Self, String> {
        let map = match value {
            Value::Array(items) => return Ok(Self::Array(items)),
            Value::Object(map) => map,
            Value::String(text) => {
                let file = text.strip_prefix(ATTACHMENT);
                return Ok(file.map_or(Self::Data(value), Self::Attachment));
            }
            scalar => return Ok(Self::Data(scalar)),
        };
        let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
        keys.sort_unstable();
        match keys.as_slice() {
            ["$attachment"] => Ok(Self::Attachment(text_field(map, "$attachment", "the name of a file")?)),
            ["$concat"] => match map.get("$concat") {
                Some(Value::Array(parts)) => Ok(Self::Concat(parts)),
                _ => Err("`$concat` has to be an array".to_owned()),
            },
            ["$from"] | ["$from", "call" | "path"] | ["$from", "call", "path"] => Ok(Self::From(Origin::read(map)?)),
            ["$literal"] => Ok(Self::Literal(map.get("$literal").unwrap_or(&Value::Null))),
            ["$param"] => Ok(Self::Param(text_field(map, "$param", "the name of a parameter")?)),
            _ => Ok(Self::Object(map)),
        }
    }
}

impl<'a> Origin<'a> {
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

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path {
            "" => write!(f, "the output of `{}`", self.step),
            path => write!(f, "`{path}` of `{}`", self.step),
        }
    }
}

impl Origin<'_> {
    /// Returns the value in `output` that the reference points to.
    ///
    /// # Errors
    /// Fails with the reason if there is none.
    pub(crate) fn value_in<'v>(&self, output: &'v Value) -> Result<&'v Value, String> {
        let nothing = || format!("the output of `{}` has nothing at `{}`", self.step, self.path);
        output.pointer(self.path).ok_or_else(nothing)
    }
}

/// Returns the output that `origin` points into: that of the call which the reference names, or else that of the last call of
/// `item`. If the last call gave no output, it is the result of the item.
///
/// # Errors
/// Fails with the reason if there is no such output, or if it was too large to be stored whole.
pub(crate) fn find_output<'a>(item: &'a TodoItem, origin: Origin<'_>) -> Result<&'a Value, String> {
    let output = match origin.call {
        Some(number) => nth_call(item, number).and_then(|id| output_of_call(item, id)),
        // If the last call gave no output, the result of the step is what the model wrote.
        None => last_call(item)
            .and_then(|id| output_of_call(item, id))
            .or(item.result.as_ref()),
    };
    match output {
        Some(output) if is_cut(output) => Err(format!(
            "the output of `{}` was too large to be stored whole; make its call again",
            origin.step
        )),
        Some(output) => Ok(output),
        None => Err(format!("step `{}` has no output to take a value from", origin.step)),
    }
}

/// Returns the identifier of a call of a step. `number` is its position among the planned calls, or among the calls that a model
/// chose if none were planned.
fn nth_call(item: &TodoItem, number: usize) -> Option<&str> {
    if item.tool_calls.is_empty() {
        let call = item.actual_tool_calls.get(number)?;
        return Some(&call.call_id);
    }
    item.planned_call_ids.get(number).map(String::as_str)
}

/// Returns the identifier of the last call of a step: the last call of a model that took over, or else the last planned call.
fn last_call(item: &TodoItem) -> Option<&str> {
    let planned = &item.planned_call_ids;
    let made = item.actual_tool_calls.last().map(|call| call.call_id.as_str());
    let by_model = made.filter(|made| planned.iter().all(|planned| planned != made));
    by_model.or(planned.last().map(String::as_str))
}

/// Returns the output of a call that other calls may take.
fn output_of_call<'a>(item: &'a TodoItem, id: &str) -> Option<&'a Value> {
    let result = item.tool_results.iter().find(|result| result.call_id == id)?;
    // An output that is drawn for the person must not reach a prompt (C9), not even as an argument.
    let is_usable = result.status == ToolStatus::Success && !result.metadata.for_display;
    result.output.as_ref().filter(|_| is_usable)
}

fn text_field<'a>(map: &'a JsonObject, key: &str, what: &str) -> Result<&'a str, String> {
    let text = map.get(key).and_then(Value::as_str);
    text.ok_or_else(|| format!("`{key}` has to be a text: {what}"))
}

/// Calls `visit` with every `$from` in `value`. Ill-formed references are left out.
pub(crate) fn visit_origins<'a>(value: &'a Value, visit: &mut impl FnMut(Origin<'a>)) {
    visit_references(value, &mut |reference| {
        if let Ok(Template::From(origin)) = Template::read(reference) {
            visit(origin);
        }
    });
}

/// Calls `visit` with every `$from`, `$attachment` and `$param` in `value`. Ill-formed references are left out.
pub(crate) fn visit_references<'a>(value: &'a Value, visit: &mut impl FnMut(&'a Value)) {
    match Template::read(value) {
        Ok(Template::From(_) | Template::Attachment(_) | Template::Param(_)) => visit(value),
        Ok(Template::Array(items)) => items.iter().for_each(|item| visit_references(item, visit)),
        Ok(Template::Concat(parts)) => {
            let parts = parts.iter().filter(|part| !part.is_string());
            parts.for_each(|part| visit_references(part, visit));
        }
        Ok(Template::Object(map)) => map.values().for_each(|item| visit_references(item, visit)),
        Ok(Template::Data(_) | Template::Literal(_)) | Err(_) => {}
    }
}

/// Returns the arguments with which a call is made, or `None` if it takes values from steps, files or parameters, or is not valid.
#[must_use]
pub fn constant_arguments(arguments: &Value) -> Option<Value> {
    let mut is_constant = true;
    visit_references(arguments, &mut |_| is_constant = false);
    let none = |_: Origin<'_>| Err("there is no output".to_owned());
    let resolved = resolve(arguments, &none).ok().filter(|_| is_constant);
    resolved.map(|resolved| resolved.arguments)
}

/// Returns the arguments of a model's own tool call in the form of a planned call. They may take earlier outputs and files. All
/// else is data, even if it looks like another reference.
pub(crate) fn planned_arguments(arguments: &Value) -> Value {
    match Template::read(arguments) {
        Ok(Template::Array(items)) => items.iter().map(planned_arguments).collect(),
        Ok(Template::Object(map)) => map
            .iter()
            .map(|(key, value)| (key.clone(), planned_arguments(value)))
            .collect(),
        Ok(Template::From(_) | Template::Attachment(_) | Template::Data(_)) => arguments.clone(),
        Ok(Template::Concat(_) | Template::Param(_) | Template::Literal(_)) | Err(_) => json!({"$literal": arguments}),
    }
}

/// Returns `value` with other values in place of those for which `replace` returns one. Parts of a replaced value are not visited.
pub(crate) fn rewrite<'a>(value: &'a Value, replace: &impl Fn(&Template<'a>) -> Option<Value>) -> Value {
    let Ok(template) = Template::read(value) else {
        return value.clone();
    };
    if let Some(replacement) = replace(&template) {
        return replacement;
    }
    let rewrite_all = |items: &'a [Value]| items.iter().map(|item| rewrite(item, replace)).collect::<Value>();
    match template {
        Template::Concat(parts) => json!({"$concat": rewrite_all(parts)}),
        Template::Array(items) => rewrite_all(items),
        Template::Object(map) => {
            let entries = map.iter().map(|(key, item)| (key.clone(), rewrite(item, replace)));
            Value::Object(entries.collect())
        }
        Template::From(_) | Template::Attachment(_) | Template::Param(_) | Template::Data(_) | Template::Literal(_) => {
            value.clone()
        }
    }
}

/// Arguments with values in place of their references.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Resolved {
    pub(crate) arguments: Value,
    /// JSON pointers of the texts `attachment:NAME` that stand for the content of a file. Such a text within the value of a
    /// reference is data.
    pub(crate) files: BTreeSet<String>,
}

/// Returns `arguments` with values in place of their references. `output` returns the output that a `$from` points into. References
/// to files become `attachment:NAME`, which is replaced by the content later, as in every call.
///
/// # Errors
/// Fails with the place and the reason if a reference gives nothing, or if the values are larger than the input of any tool.
pub(crate) fn resolve<'a>(
    arguments: &'a Value,
    output: &impl Fn(Origin<'a>) -> Result<&'a Value, String>,
) -> Result<Resolved, String> {
    let mut resolver = Resolver {
        output,
        files: BTreeSet::new(),
        remaining_bytes: Limits::MAX.input_bytes,
    };
    let arguments = resolver.resolve_value(arguments, &mut String::new(), MAX_DEPTH)?;
    let files = resolver.files;
    Ok(Resolved { arguments, files })
}

struct Resolver<F> {
    output: F,
    files: BTreeSet<String>,
    /// Number of bytes that values may still have.
    remaining_bytes: u64,
}

impl<'a, F: Fn(Origin<'a>) -> Result<&'a Value, String>> Resolver<F> {
    fn resolve_value(&mut self, value: &'a Value, place: &mut String, depth: usize) -> Result<Value, String> {
        let error_at = |place: &str, reason: String| format!("`arguments{place}`: {reason}");
        let Some(depth) = depth.checked_sub(1) else {
            return Err(error_at(place, "it is nested too deep".to_owned()));
        };
        match Template::read(value).map_err(|reason| error_at(place, reason))? {
            Template::From(origin) => self.copy_value(origin).map_err(|reason| error_at(place, reason)),
            Template::Attachment(name) => {
                self.files.insert(place.clone());
                Ok(Value::from(format!("{ATTACHMENT}{name}")))
            }
            Template::Param(name) => Err(error_at(place, format!("the parameter `{name}` has no value"))),
            Template::Data(data) | Template::Literal(data) => Ok(data.clone()),
            Template::Concat(parts) => {
                let texts = parts
                    .iter()
                    .enumerate()
                    .map(|(n, part)| self.resolve_part(part, place, n, depth));
                let texts: Result<String, String> = texts.collect();
                texts.map(Value::from)
            }
            Template::Array(items) => (0..)
                .zip(items)
                .map(|(n, item): (usize, _)| self.resolve_child(item, place, &n.to_string(), depth))
                .collect(),
            Template::Object(map) => {
                let entry = |(key, value): (&String, &'a Value)| {
                    Ok((key.clone(), self.resolve_child(value, place, key, depth)?))
                };
                let entries: Result<JsonObject, String> = map.iter().map(entry).collect();
                entries.map(Value::Object)
            }
        }
    }

    fn resolve_child(
        &mut self,
        value: &'a Value,
        place: &mut String,
        key: &str,
        depth: usize,
    ) -> Result<Value, String> {
        let length = place.len();
        place.push('/');
        place.push_str(&escape(key));
        let value = self.resolve_value(value, place, depth);
        place.truncate(length);
        value
    }

    /// Returns the text of part `n` of a `$concat`.
    fn resolve_part(&mut self, part: &'a Value, place: &mut String, n: usize, depth: usize) -> Result<String, String> {
        if let Value::String(text) = part {
            return Ok(text.clone());
        }
        let value = self.resolve_child(part, place, &n.to_string(), depth)?;
        scalar_text(&value).map_err(|reason| format!("`arguments{place}`: {reason}"))
    }

    /// Returns a copy of the value that `origin` points to.
    fn copy_value(&mut self, origin: Origin<'a>) -> Result<Value, String> {
        let output = (self.output)(origin)?;
        let value = origin.value_in(output)?;
        let bytes = value.to_string().len() as u64;
        self.remaining_bytes = self.remaining_bytes.checked_sub(bytes).ok_or_else(|| {
            let max = Limits::MAX.input_bytes;
            format!("the values of all references have more than {max} bytes, and no tool takes more")
        })?;
        Ok(value.clone())
    }
}

/// Returns a scalar as `$concat` writes it: texts as they are, numbers and booleans as in JSON.
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
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns a part of a JSON pointer as a key.
pub(crate) fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Resolves with one step, `a`, whose output is `output`.
    fn resolve_with_output(arguments: &Value, output: &Value) -> Result<Value, String> {
        let resolved = resolve(arguments, &|origin| match origin.step {
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
    fn a_text_that_mentions_a_reference_is_data() {
        let arguments = json!({"text": "$from a /n {\"$from\": \"a\"}"});
        assert_eq!(resolve_with_output(&arguments, &json!(1)), Ok(arguments.clone()));
    }

    #[test]
    fn an_object_with_any_other_key_is_data() {
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
    fn concat_writes_numbers_as_json_does() {
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
    fn a_file_becomes_the_text_that_is_later_replaced_by_its_content() {
        let arguments = json!({"csv": {"$attachment": "sales.csv"}});
        assert_eq!(
            resolve_with_output(&arguments, &json!(1)),
            Ok(json!({"csv": "attachment:sales.csv"}))
        );
    }

    #[test]
    fn only_the_file_references_of_the_plan_name_files() {
        let arguments = json!({
            "a": {"$attachment": "s.csv"},
            "b": ["attachment:s.csv"],
            "c": {"$literal": "attachment:s.csv"},
            "d": {"$from": "a"},
            "e": {"$concat": ["attachment:", "s.csv"]},
            "f": {"$concat": ["attachment:s.csv"]},
        });
        let resolved = resolve(&arguments, &|_| Ok(const { &Value::Null })).unwrap();
        assert_eq!(resolved.files, BTreeSet::from(["/a".to_owned(), "/b/0".to_owned()]));
        assert_eq!(resolved.arguments["f"], "attachment:s.csv");
    }

    #[test]
    fn the_error_of_a_pointer_to_nothing_names_its_place() {
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
        .map(|value| Template::read(value).unwrap_err())
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
    fn literals_and_concatenations_in_a_call_of_a_model_are_data() {
        let call =
            json!({"stages": [{"total": {"$literal": 1}, "name": {"$concat": ["a", "-"]}}], "x": {"$from": "q1.a"}});
        let planned = planned_arguments(&call);
        let resolved = resolve(&planned, &|_| Ok(const { &Value::Bool(true) })).unwrap();
        let stages = json!([{"total": {"$literal": 1}, "name": {"$concat": ["a", "-"]}}]);
        assert_eq!(resolved.arguments, json!({"stages": stages, "x": true}));
    }

    #[test]
    fn values_larger_than_any_input_are_refused() {
        let output = json!("x".repeat(1 << 20));
        let repeated = |n: usize| json!(vec![json!({"$from": "a"}); n]);
        assert!(resolve_with_output(&repeated(3), &output).is_ok());
        let reason = resolve_with_output(&repeated(5), &output).unwrap_err();
        assert!(reason.contains("more than 4194304 bytes"), "{reason}");
    }

    #[test]
    fn only_arguments_without_references_are_constant() {
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
            prop_assert_eq!(value.pointer(&format!("/{}", escape(&key))), Some(&json!(1)));
            prop_assert_eq!(unescape(&escape(&key)), key);
        }
    }
}
