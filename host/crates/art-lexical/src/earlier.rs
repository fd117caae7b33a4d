//! The result of an earlier part, which words such as "that" refer to.

use art_core::task::TaskStep;
use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::{Value, json};

/// Placeholder in arguments for the result of an earlier part.
pub(crate) const EARLIER: &str = "\u{1}";

/// Where the main value of an earlier output is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Origin {
    /// Identifier of the step.
    pub(crate) step: String,
    /// Position in the output of its call, as a JSON pointer.
    pub(crate) path: String,
}

impl Origin {
    /// Returns the place of the main value of a step of an earlier question, or `None` if the step is not completed or has no such value.
    pub(crate) fn of_step(step: &TaskStep) -> Option<Self> {
        let path = match step.result()? {
            Value::Object(fields) => main_value(fields.iter().map(|(name, value)| (name, is_scalar(value))), &[])?,
            value => is_scalar(value).then(String::new)?,
        };
        let step = step.id.clone();
        Some(Self { step, path })
    }

    /// Returns `text` with a reference in place of each [`EARLIER`]. With `is_text`, a reference that stands alone is converted to text.
    pub(crate) fn put_into(&self, text: &str, is_text: bool) -> Value {
        let from = json!({"$from": self.step, "path": self.path});
        if text == EARLIER && !is_text {
            return from;
        }
        // Brackets around a number that may be negative keep the operator after it valid.
        let begins = text.strip_prefix(EARLIER).filter(|rest| !rest.is_empty());
        let text = begins.map_or_else(|| text.to_owned(), |rest| format!("({EARLIER}){rest}"));
        let parts = text.split(EARLIER).map(Value::from);
        let parts = Itertools::intersperse(parts, from).filter(|part| *part != json!(""));
        json!({"$concat": parts.collect_vec()})
    }
}

/// Returns the JSON pointer to the main value in the output of a planned call, or `None` if the output schema shows none.
pub(crate) fn main_output(tool: &ToolSchema, arguments: &Value) -> Option<String> {
    let declared = tool.output_schema.as_ref()?.get("properties")?.as_object()?;
    let arguments = arguments.as_object()?.values().filter_map(Value::as_str).collect_vec();
    let fields = declared.iter().map(|(name, schema)| (name, may_be_scalar(schema)));
    main_value(fields, &arguments)
}

/// Returns the JSON pointer to the main value of an object: the scalar that is called `result` or `value`, else the scalar that an
/// argument of its call names, else the only field. `fields` tells which fields are scalars.
fn main_value<'a>(fields: impl Iterator<Item = (&'a String, bool)>, arguments: &[&str]) -> Option<String> {
    let fields = fields.collect_vec();
    let scalars = fields.iter().filter(|(_, is_scalar)| *is_scalar);
    let scalars = scalars.map(|(name, _)| *name).collect_vec();
    let known = ["result", "value"].into_iter().chain(arguments.iter().copied());
    let mut known = known.filter_map(|known| scalars.iter().find(|name| ***name == known));
    let only = scalars.first().filter(|_| fields.len() == 1);
    let name = known.next().or(only)?;
    Some(format!("/{}", name.replace('~', "~0").replace('/', "~1")))
}

fn is_scalar(value: &Value) -> bool {
    value.is_number() || value.is_string()
}

/// Returns whether a schema allows numbers or texts.
fn may_be_scalar(schema: &Value) -> bool {
    let is_scalar = |name: &Value| matches!(name.as_str(), Some("number" | "integer" | "string"));
    match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::Array(names)), _) => names.iter().any(is_scalar),
        (Some(name), _) => is_scalar(name),
        (None, Some(Value::Array(branches))) => branches.iter().any(may_be_scalar),
        _ => false,
    }
}
