//! Describes how a value violates a schema, in messages for the model.

use std::fmt;

use art_core::text::{safe_stringify, truncate};
use jsonschema::ValidationError;
use jsonschema::error::{TypeKind, ValidationErrorKind as Kind};
use serde_json::Value;

/// Maximum number of violations that are listed; the others are only counted.
pub const MAX_VIOLATIONS: usize = 20;
/// Size of all listed violations together, in bytes, at which further violations are only counted.
const MAX_LISTED_BYTES: usize = 16 << 10;
/// Maximum length of a path, a name or a value in a message, in characters. All of them come
/// from a model or a tool, so they can be long.
const MAX_SHOWN_CHARS: usize = 200;
/// Maximum number of names or values that one message lists; the others are only counted.
const MAX_LIST_ITEMS: usize = 20;

/// The violations of a schema by a value, each in the form `<path> <message>`. The path is the JSON pointer of the invalid part,
/// such as `/items/0`. If the value as a whole is invalid, its name, such as `input`, is in place of the path. If several values
/// were checked, their names are also before the paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Violations {
    /// The first violations.
    pub listed: Vec<String>,
    /// Number of violations that are not listed.
    pub unlisted: usize,
}

impl Violations {
    /// Creates a list of one violation, which is about the value as a whole. `root` is the name of the value in the message.
    pub(crate) fn of_root(root: &str, message: &str) -> Self {
        Self {
            listed: vec![format!("{root} {message}")],
            unlisted: 0,
        }
    }

    /// Returns whether there are no violations.
    pub(crate) fn is_empty(&self) -> bool {
        self.listed.is_empty() && self.unlisted == 0
    }

    /// Adds the violations that were found in a value. `root` is the name of that value in messages.
    pub(crate) fn append(&mut self, found: Self, root: &str) {
        let found = found.with_root(root);
        found.listed.into_iter().for_each(|violation| self.add(|| violation));
        self.unlisted += found.unlisted;
    }

    /// Returns the violations with `root`, the name of the value, before each path, for messages about several values.
    pub(crate) fn with_root(mut self, root: &str) -> Self {
        for violation in &mut self.listed {
            if violation.starts_with('/') {
                violation.insert_str(0, root);
            }
        }
        self
    }

    /// Lists one more violation, or only counts it if enough are listed.
    pub(crate) fn add(&mut self, describe: impl FnOnce() -> String) {
        let bytes: usize = self.listed.iter().map(String::len).sum();
        if self.listed.len() < MAX_VIOLATIONS && bytes < MAX_LISTED_BYTES {
            self.listed.push(describe());
        } else {
            self.unlisted += 1;
        }
    }
}

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.listed.join(", "))?;
        match self.unlisted {
            0 => Ok(()),
            more => write!(f, ", and {more} more"),
        }
    }
}

/// Returns the message of one violation. It does not contain the invalid value, which may be secret or large. `root` is the name
/// of the value as a whole.
pub(crate) fn describe(error: &ValidationError<'_>, schema: &Value, root: &str) -> String {
    let path = match error.instance_path().as_str() {
        "" => root,
        path => path,
    };
    format!("{} {}", truncate(path, MAX_SHOWN_CHARS), message(error, schema))
}

fn message(error: &ValidationError<'_>, schema: &Value) -> String {
    match error.kind() {
        Kind::Required { property } => format!("must have the property {}", show_value(property)),
        Kind::Type { kind } => format!("must be {}", type_names(kind)),
        Kind::AdditionalProperties { unexpected } | Kind::UnevaluatedProperties { unexpected } => {
            format!(
                "must not have {}, allowed: {}",
                join_first(unexpected.iter().map(|name| quote(name))),
                allowed_properties(error, schema)
            )
        }
        Kind::Enum { options } => match options.as_array() {
            Some(options) => format!("must be one of {}", join_first(options.iter().map(show_value))),
            None => "must be one of the allowed values".to_owned(),
        },
        Kind::Constant { expected_value } => format!("must be {}", show_value(expected_value)),
        Kind::Pattern { pattern } => format!("must match the pattern {}", truncate(pattern, MAX_SHOWN_CHARS)),
        Kind::AnyOf { .. } => "must match a schema in anyOf".to_owned(),
        Kind::OneOfNotValid { .. } => "must match a schema in oneOf".to_owned(),
        Kind::OneOfMultipleValid { .. } => "must match only one schema in oneOf".to_owned(),
        Kind::Not { .. } => "must not match the schema in not".to_owned(),
        Kind::FalseSchema => "must be absent".to_owned(),
        Kind::PropertyNames { error } => format!("must have other names of properties: {}", message(error, schema)),
        kind => bound_message(kind).unwrap_or_else(|| truncate(&error.masked().to_string(), MAX_SHOWN_CHARS)),
    }
}

/// Returns the message about a violated minimum or maximum, or about `uniqueItems` or `multipleOf`. Returns `None` for all other
/// keywords.
fn bound_message(kind: &Kind) -> Option<String> {
    Some(match kind {
        Kind::Minimum { limit } => format!("must be >= {}", show_value(limit)),
        Kind::Maximum { limit } => format!("must be <= {}", show_value(limit)),
        Kind::ExclusiveMinimum { limit } => format!("must be > {}", show_value(limit)),
        Kind::ExclusiveMaximum { limit } => format!("must be < {}", show_value(limit)),
        Kind::MinLength { limit } => format!("must have at least {limit} characters"),
        Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
        Kind::MinItems { limit } => format!("must have at least {limit} items"),
        Kind::MaxItems { limit } => format!("must have at most {limit} items"),
        Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
        Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
        // `uniqueItems` and `multipleOf`, which the host implements with messages of its own.
        Kind::Custom { message, .. } => message.clone(),
        _ => return None,
    })
}

fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(ty) => ty.to_string(),
        TypeKind::Multiple(types) => types.iter().map(|ty| ty.to_string()).collect::<Vec<_>>().join(" or "),
    }
}

/// Returns which properties an object may have: those under `properties` in the schema that has the violated keyword.
fn allowed_properties(error: &ValidationError<'_>, schema: &Value) -> String {
    let keyword_path = error.schema_path().as_str();
    let parent_path = keyword_path.rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema.pointer(parent_path).and_then(|parent| parent.get("properties"));
    match properties.and_then(Value::as_object) {
        Some(properties) if !properties.is_empty() => join_first(properties.keys().map(|name| quote(name))),
        _ => "none".to_owned(),
    }
}

/// Returns the first items in one text, with the number of further items.
fn join_first(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(MAX_LIST_ITEMS);
    let text = items.take(MAX_LIST_ITEMS).collect::<Vec<_>>().join(", ");
    match more {
        0 => text,
        _ => format!("{text} and {more} more"),
    }
}

/// Returns a value of the schema as text, cut if it is long.
fn show_value(value: &Value) -> String {
    match value {
        Value::String(text) => quote(text),
        other => safe_stringify(other, MAX_SHOWN_CHARS),
    }
}

fn quote(text: &str) -> String {
    format!("\"{}\"", truncate(text, MAX_SHOWN_CHARS))
}
