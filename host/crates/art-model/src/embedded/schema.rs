//! What the model knows of a tool: its words and its parameters, read leniently from any JSON Schema without references.

use art_core::JsonObject;
use art_core::tool::ToolSchema;
use serde_json::Value;

use super::class::{self, Class};
use super::words;

/// Deepest level of nested schemas that is read.
const DEPTH: usize = 4;
/// Parameters of one object that are read.
const PARAMETERS: usize = 64;

/// A tool as the model sees it.
#[derive(Clone, Debug)]
pub(super) struct Tool {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) params: Vec<Param>,
    /// Texts of worked calls.
    pub(super) examples: Vec<String>,
    /// What the worked calls say that they answer.
    pub(super) questions: Vec<String>,
    /// All that it says of itself, in lower case.
    pub(super) shown: String,
}

/// Type of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Text,
    Number,
    Integer,
    Boolean,
    List(Box<Param>),
    Object(Vec<Param>),
    Any,
}

/// One of the values that a parameter may have, with the words that hint at it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    pub(super) value: Value,
    pub(super) hint: String,
}

/// A parameter of a tool or a field of an object.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Param {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) kind: Type,
    pub(super) choices: Vec<Choice>,
    /// Kind of text that it takes.
    pub(super) class: Class,
    pub(super) has_default: bool,
    pub(super) required: bool,
    /// Stems of the name.
    pub(super) name_stems: Vec<String>,
    /// Stems of the description.
    pub(super) description_stems: Vec<String>,
}

impl Tool {
    /// Reads the form in which a tool is handed over natively.
    pub(super) fn from_schema(tool: &ToolSchema) -> Self {
        serde_json::to_value(tool).map_or_else(|_| Self::read(&Value::Null), |value| Self::read(&value))
    }

    /// Reads the form in which a prompt lists a tool; what is missing or malformed counts as absent.
    pub(super) fn read(value: &Value) -> Self {
        let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let schema = value.get("inputSchema").unwrap_or(&Value::Null);
        let examples = value
            .get("examples")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .take(8);
        let mut tool = Self {
            name: text("name"),
            description: text("description"),
            params: fields(schema, DEPTH),
            examples: examples.clone().map(example_text).collect(),
            questions: examples.filter_map(question).collect(),
            shown: String::new(),
        };
        tool.shown = tool.all_text().to_lowercase();
        tool
    }

    fn all_text(&self) -> String {
        let params = self.params.iter().map(|param| param.description.as_str());
        let examples = self.examples.iter().map(String::as_str);
        let texts = std::iter::once(self.description.as_str()).chain(params).chain(examples);
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The parameters that a call must have.
    pub(super) fn required(&self) -> impl Iterator<Item = &Param> {
        self.params.iter().filter(|param| param.required)
    }
}

fn question(example: &Value) -> Option<String> {
    let description = example.get("description").and_then(Value::as_str)?;
    (!description.is_empty()).then(|| art_core::text::truncate(description, 200).to_string())
}

fn example_text(example: &Value) -> String {
    let description = example.get("description").and_then(Value::as_str).unwrap_or_default();
    let inputs = example.get("input").and_then(Value::as_object).into_iter().flatten();
    let texts = inputs
        .filter_map(|(_, value)| value.as_str())
        .map(|text| art_core::text::prefix(text, 200));
    std::iter::once(description).chain(texts).collect::<Vec<_>>().join(" ")
}

fn fields(schema: &Value, depth: usize) -> Vec<Param> {
    let empty = JsonObject::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let param = |(name, schema): (&String, &Value)| param(name, schema, required.contains(&name.as_str()), depth);
    properties.iter().take(PARAMETERS).map(param).collect()
}

fn param(name: &str, schema: &Value, required: bool, depth: usize) -> Param {
    let own = schema.get("description").and_then(Value::as_str);
    let has_default = schema.get("default").is_some();
    let resolved = resolve(schema, DEPTH);
    let inherited = resolved.get("description").and_then(Value::as_str);
    let description = own.or(inherited).unwrap_or_default().to_owned();
    Param {
        name: name.to_owned(),
        kind: kind(resolved, depth),
        choices: choices(resolved, &description),
        class: class::of(
            name,
            &description,
            resolved.get("format").and_then(Value::as_str).unwrap_or_default(),
        ),
        has_default: has_default || resolved.get("default").is_some(),
        required,
        name_stems: name_stems(name),
        description_stems: words::stems(art_core::text::prefix(&description, 600)),
        description,
    }
}

/// `side1` is named by "side" as well.
fn name_stems(name: &str) -> Vec<String> {
    let bare = |word: &String| words::stem(word.trim_end_matches(|c: char| c.is_ascii_digit()));
    words::split(name)
        .iter()
        .map(bare)
        .filter(|stem| !stem.is_empty())
        .collect()
}

/// Picks the branch of a union that is not null.
fn resolve(schema: &Value, depth: usize) -> &Value {
    if depth == 0 {
        return schema;
    }
    if schema.get("type").is_some() || schema.get("enum").is_some() {
        return schema;
    }
    let branches = ["anyOf", "oneOf", "allOf"]
        .iter()
        .find_map(|key| schema.get(key))
        .and_then(Value::as_array);
    let is_null = |branch: &&Value| branch.get("type").and_then(Value::as_str) == Some("null");
    match branches {
        Some(branches) if branches.iter().all(|branch| branch.get("const").is_none()) => {
            let branch = branches.iter().find(|branch| !is_null(branch));
            branch.map_or(schema, |branch| resolve(branch, depth - 1))
        }
        _ => schema,
    }
}

fn kind(schema: &Value, depth: usize) -> Type {
    let name = match schema.get("type") {
        Some(Value::String(name)) => name.as_str(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .find(|name| *name != "null")
            .unwrap_or_default(),
        _ if schema.get("properties").is_some() => "object",
        _ => "",
    };
    match name {
        "string" => Type::Text,
        "number" => Type::Number,
        "integer" => Type::Integer,
        "boolean" => Type::Boolean,
        "array" if depth > 0 => {
            let items = schema.get("items").unwrap_or(&Value::Null);
            Type::List(Box::new(param("", items, true, depth - 1)))
        }
        "object" if depth > 0 => Type::Object(fields(schema, depth - 1)),
        _ => Type::Any,
    }
}

/// The values of `enum`, or the constants of a union, each with its own description or what `description` says of it.
fn choices(schema: &Value, description: &str) -> Vec<Choice> {
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    let listed = listed.map(|value| Choice {
        value: value.clone(),
        hint: String::new(),
    });
    let branches = schema
        .get("oneOf")
        .or_else(|| schema.get("anyOf"))
        .and_then(Value::as_array);
    let constants = branches.into_iter().flatten().flat_map(|branch| {
        let branch = resolve(branch, DEPTH);
        let hint = branch
            .get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned();
        let inner = branch
            .get("enum")
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default();
        let values = branch.get("const").cloned().into_iter().chain(inner);
        values
            .map(move |value| Choice {
                value,
                hint: hint.clone(),
            })
            .collect::<Vec<_>>()
    });
    let mut choices: Vec<Choice> = listed.chain(constants).take(200).collect();
    let values: Vec<String> = choices.iter().map(|choice| text_of(&choice.value)).collect();
    for choice in &mut choices {
        let said = hint_in(description, &text_of(&choice.value), &values);
        choice.hint = format!("{} {said}", choice.hint);
    }
    choices
}

/// The text of a scalar.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
}

/// What `description` says of `value`: the words between it and the next value of the set.
fn hint_in(description: &str, value: &str, values: &[String]) -> String {
    let lower = description.to_lowercase();
    let Some(at) = find_word(&lower, &value.to_lowercase()) else {
        return String::new();
    };
    let from = at + value.len();
    let rest = lower.get(from..).unwrap_or_default();
    let others = values.iter().filter(|other| other.as_str() != value);
    let next = others
        .filter_map(|other| find_word(rest, &other.to_lowercase()))
        .min()
        .unwrap_or(rest.len());
    let said = rest.get(..next).unwrap_or_default();
    said.split(['.', ';']).next().unwrap_or_default().to_owned()
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let edge = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        let before = text.get(..*at).and_then(|head| head.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|tail| tail.chars().next());
        !word.is_empty() && edge(before) && edge(after)
    })
}
