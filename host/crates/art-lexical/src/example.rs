//! The examples of a tool, taken apart into the words of their questions and the values of their inputs.

use std::collections::BTreeMap;
use std::sync::Arc;

use art_core::text::prefix;
use art_core::tool::{ToolExample, ToolSchema};
use itertools::Itertools;
use serde_json::Value;

use crate::class::{Class, Run};
use crate::data::{Data, Form, Names, names};
use crate::reading::Reading;
use crate::token::{Kind, Token, folded, tokens};

/// Maximum length of the question of an example, in bytes.
const MAX_ASK: usize = 400;
/// Maximum number of values in one input.
const MAX_LEAVES: usize = 32;

/// An example of a tool.
#[derive(Debug)]
pub(crate) struct Example {
    /// Its question, with the tables and the JSON of its input.
    pub(crate) reading: Reading,
    pub(crate) input: Value,
    pub(crate) leaves: Vec<Leaf>,
    /// The names of the parameters that its input has.
    pub(crate) shape: String,
}

/// A scalar of an input, or a value of any type.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// Place in the input, as a JSON pointer.
    pub(crate) pointer: String,
    /// Name of the parameter, the same for all items of a list.
    pub(crate) parameter: String,
    pub(crate) value: Value,
    /// Whether the schema lists the values that it allows.
    is_choice: bool,
}

/// The classes of parameters, by their names.
pub(crate) type Classes = BTreeMap<String, Arc<Class>>;

impl Example {
    /// Takes an example of `tool` apart, if it has a question.
    pub(crate) fn new(tool: &ToolSchema, example: &ToolExample) -> Option<Self> {
        let text = prefix(example.description.as_deref()?, MAX_ASK);
        let (mut leaves, input) = (Vec::new(), example.input.clone());
        collect(&input, &tool.input_schema, "", &mut leaves);
        let data = leaves.iter().map(|leaf| Data::of_value(&leaf.value));
        let reading = Reading {
            text: text.to_owned(),
            tokens: tokens(text, &[]),
            data: data.filter(|data| data.form != Form::Prose).collect(),
            ..Reading::default()
        };
        let shape = leaves.iter().map(|leaf| &leaf.parameter).sorted().dedup().join("\n");
        let is_short = leaves.len() <= MAX_LEAVES;
        is_short.then_some(Self {
            reading,
            input,
            leaves,
            shape,
        })
    }
}

/// Adds the values within `value` to `leaves`. Those of objects whose keys the schema does not name are whole.
fn collect(value: &Value, schema: &Value, pointer: &str, leaves: &mut Vec<Leaf>) {
    let schema = present(schema);
    let fields = schema.get("properties").or_else(|| schema.get("additionalProperties"));
    match (value, fields, schema.get("items")) {
        (Value::Object(map), Some(fields), _) => {
            for (key, value) in map {
                let field = fields.get(key).unwrap_or(fields);
                collect(value, field, &format!("{pointer}/{key}"), leaves);
            }
        }
        (Value::Array(items), _, Some(schema)) => {
            for (n, value) in items.iter().enumerate() {
                collect(value, schema, &format!("{pointer}/{n}"), leaves);
            }
        }
        _ => {
            let general = |part| if str::parse::<usize>(part).is_ok() { "*" } else { part };
            leaves.push(Leaf {
                pointer: pointer.to_owned(),
                parameter: pointer.split('/').map(general).join("/"),
                value: value.clone(),
                is_choice: schema.get("enum").is_some(),
            });
        }
    }
}

/// The schema of a value that is there, when it may be absent.
fn present(schema: &Value) -> &Value {
    let variants = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let is_present = |variant: &&Value| variant.get("type") != Some(&Value::from("null"));
    variants.into_iter().flatten().find(is_present).unwrap_or(schema)
}

/// Returns the classes of the parameters in `examples`.
pub(crate) fn classes(examples: &[Example]) -> Classes {
    let mut values: BTreeMap<&str, Vec<(&Example, &Leaf)>> = BTreeMap::new();
    for example in examples {
        for leaf in &example.leaves {
            values.entry(&leaf.parameter).or_default().push((example, leaf));
        }
    }
    let mut classes: BTreeMap<&str, Class> = values.iter().map(|(name, values)| (*name, class_of(values))).collect();
    // One parameter accepts the words of another: both units of a conversion, both time zones.
    let mut open = classes.values_mut().filter_map(Class::open).collect_vec();
    let all: Names = open.iter().flat_map(|run| run.shown.clone()).collect();
    open.iter_mut().for_each(|run| run.shown.clone_from(&all));
    let shared = |(name, class): (&str, _)| (name.to_owned(), Arc::new(class));
    classes.into_iter().map(shared).collect()
}

/// The class of a parameter, from all values that the examples give it.
fn class_of<'a>(values: &[(&'a Example, &'a Leaf)]) -> Class {
    let text = |(example, leaf): &(&'a Example, &'a Leaf)| Some((*example, leaf.value.as_str()?));
    let texts = values.iter().filter_map(text).collect_vec();
    let are_in = |of: fn(&Data) -> &Names| {
        let given = texts.iter().filter(|(example, _)| !example.reading.data.is_empty());
        let given = given
            .map(|(example, text)| (&example.reading.data, folded(text)))
            .collect_vec();
        let is_in = |(data, text): &(&Vec<Data>, String)| data.iter().any(|data| of(data).contains_key(text));
        !given.is_empty() && given.iter().all(is_in)
    };
    let forms = || values.iter().map(|(_, leaf)| Data::of_value(&leaf.value).form);
    // Dates and arithmetic in words are no whole texts.
    let has_operand = |text: &str| tokens(text, &[]).iter().any(Token::is_operand);
    let is_line = |value: &Value| !value.to_string().contains("\\n") && Data::of_value(value).form == Form::Prose;
    let is_run = |value: &Value| is_line(value) && value.as_str().is_some_and(has_operand);
    let all = values.iter().map(|(_, leaf)| &leaf.value);
    let whole = all.filter(|value| is_whole(value) && !is_run(value));
    match () {
        () if values.iter().any(|(_, leaf)| leaf.is_choice) => {
            Class::Choice(names(texts.iter().map(|(_, text)| *text)))
        }
        () if whole.count() * 2 >= values.len() => Class::Text(forms().collect()),
        () if texts.is_empty() => Class::Number,
        () if are_in(|data| &data.keys) => Class::Key,
        () if are_in(|data| &data.cells) => Class::Cell,
        () => {
            let is_quoted = |token: &Token, text: &str| token.kind == Kind::Quoted && token.text == text;
            let quotes = |example: &Example, text| example.reading.tokens.iter().any(|token| is_quoted(token, text));
            let are_quoted = texts.iter().any(|(example, text)| quotes(example, text));
            Class::Run(Run::learn(texts.iter().map(|(_, text)| *text), are_quoted))
        }
    }
}

/// Returns whether a value is a whole text and not a word or code, which has few words that are only letters.
pub(crate) fn is_whole(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return value.is_object() || value.is_array();
    };
    let words = text
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', '!', '?', ':']));
    let letters = words.filter(|word| word.chars().all(char::is_alphabetic)).collect_vec();
    let is_prose = text.split_whitespace().nth(2).is_some() && letters.len() > 1 && letters.concat().len() > 2;
    is_prose || text.trim_end().contains('\n') || Data::of_value(value).form != Form::Prose
}
