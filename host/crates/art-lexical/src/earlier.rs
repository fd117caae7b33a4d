//! The result of an earlier part or question, which words such as "that" refer to.

use art_core::task::TaskStep;
use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::{Map, Value, json};

use crate::example::escape;

/// Placeholder in arguments for the earlier result.
pub(crate) const EARLIER_RESULT: &str = "\u{1}";

/// The place of an earlier result: the main value in the output of a step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EarlierPlace {
    pub(crate) step_id: String,
    /// Position in the output of its call, as a JSON pointer.
    pub(crate) path: String,
}

impl EarlierPlace {
    /// Returns the place of the main value of `step`, or `None` if the step is not completed or has no such value.
    pub(crate) fn of_step(step: &TaskStep) -> Option<Self> {
        let path = match step.result()? {
            Value::Object(fields) => main_pointer(fields, is_scalar, &[])?,
            value => is_scalar(value).then(String::new)?,
        };
        let step_id = step.id.clone();
        Some(Self { step_id, path })
    }

    /// Returns `text` with a reference in place of each [`EARLIER_RESULT`]. With `as_text`, even a lone reference becomes a text.
    pub(crate) fn insert_into(&self, text: &str, as_text: bool) -> Value {
        let reference = json!({"$from": self.step_id, "path": self.path});
        if text == EARLIER_RESULT && !as_text {
            return reference;
        }
        // Brackets around a number that may be negative keep the operator after it valid.
        let after_placeholder = text.strip_prefix(EARLIER_RESULT).filter(|rest| !rest.is_empty());
        let text = after_placeholder.map_or_else(|| text.to_owned(), |rest| format!("({EARLIER_RESULT}){rest}"));
        let parts = text.split(EARLIER_RESULT).map(Value::from);
        let parts = Itertools::intersperse(parts, reference).filter(|part| *part != json!(""));
        json!({"$concat": parts.collect_vec()})
    }
}

/// Returns the JSON pointer to the main value in the output of a planned call, or `None` if the output schema shows none.
pub(crate) fn main_output_pointer(tool: &ToolSchema, arguments: &Value) -> Option<String> {
    let declared = tool.output_schema.as_ref()?.get("properties")?.as_object()?;
    let arguments = arguments.as_object()?.values().filter_map(Value::as_str).collect_vec();
    main_pointer(declared, may_be_scalar, &arguments)
}

/// Returns the JSON pointer to the main value of an object: the scalar called `result` or `value`, else the scalar that an
/// argument of the call names, else the only field. `is_scalar` takes the value or the schema of a field.
fn main_pointer(fields: &Map<String, Value>, is_scalar: fn(&Value) -> bool, arguments: &[&str]) -> Option<String> {
    let scalars = fields.iter().filter(|(_, value)| is_scalar(value));
    let scalars = scalars.map(|(name, _)| name).collect_vec();
    let main_names = ["result", "value"].into_iter().chain(arguments.iter().copied());
    let mut main_fields = main_names.filter_map(|main| scalars.iter().find(|name| ***name == main));
    let only_field = scalars.first().filter(|_| fields.len() == 1);
    let name = main_fields.next().or(only_field)?;
    Some(format!("/{}", escape(name)))
}

fn is_scalar(value: &Value) -> bool {
    value.is_number() || value.is_string()
}

/// Returns whether a schema allows numbers or texts.
fn may_be_scalar(schema: &Value) -> bool {
    let is_scalar_type = |name: &Value| matches!(name.as_str(), Some("number" | "integer" | "string"));
    match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::Array(names)), _) => names.iter().any(is_scalar_type),
        (Some(name), _) => is_scalar_type(name),
        (None, Some(Value::Array(branches))) => branches.iter().any(may_be_scalar),
        _ => false,
    }
}
