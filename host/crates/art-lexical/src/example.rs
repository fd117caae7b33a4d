//! The examples of a tool, taken apart into the words of their questions and the values of their inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use art_core::text::prefix;
use art_core::tool::{ToolExample, ToolSchema};
use itertools::Itertools;
use serde_json::Value;

use crate::arithmetic::{Phrases, is_arithmetic};
use crate::class::{Class, is_code, is_moment};
use crate::data::{Data, Form, Names, names};
use crate::reading::Reading;
use crate::token::{Kind, folded, tokens};

/// Maximum number of examples that are read of one tool.
const MAX_EXAMPLES: usize = 1_024;
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
}

/// A scalar of an input, or a value of any type.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// Place in the input, as a JSON pointer.
    pub(crate) pointer: String,
    /// Name of the parameter, the same for all items of a list.
    pub(crate) parameter: String,
    pub(crate) value: Value,
    /// The values that the schema allows, if it lists them.
    choices: Option<Names>,
}

/// The classes of parameters, by their names.
pub(crate) type Classes = BTreeMap<String, Arc<Class>>;

/// Returns the examples of `tool` that have a question, and the classes of the parameters that they use.
pub(crate) fn read(tool: &ToolSchema) -> (Vec<Example>, Classes) {
    let examples = tool.examples.iter().take(MAX_EXAMPLES);
    let examples = examples.filter_map(|example| Example::new(tool, example)).collect_vec();
    let values = examples
        .iter()
        .flat_map(Example::given)
        .into_group_map_by(|(_, leaf)| leaf.parameter.clone());
    let classes = values.into_iter().map(|(name, values)| (name, class_of(&values)));
    let mut classes: BTreeMap<String, Class> = classes.collect();
    // One parameter accepts the words of another: both units of a conversion, both time zones.
    let mut all = Names::new();
    for class in classes.values() {
        if let Class::Words { shown, .. } = class {
            all.extend(shown.clone());
        }
    }
    for class in classes.values_mut() {
        if let Class::Words { shown, .. } = class {
            shown.clone_from(&all);
        }
    }
    let shared = classes.into_iter().map(|(name, class)| (name, Arc::new(class)));
    (examples, shared.collect())
}

impl Example {
    fn new(tool: &ToolSchema, example: &ToolExample) -> Option<Self> {
        let text = prefix(example.description.as_deref()?, MAX_ASK);
        let (mut leaves, input) = (Vec::new(), example.input.clone());
        collect(&input, &tool.input_schema, "", &mut leaves);
        let data = leaves.iter().map(|leaf| Data::of_value(&leaf.value));
        let reading = Reading {
            text: text.to_owned(),
            tokens: tokens(text, &[]),
            data: data.filter(|data| data.form != Form::Prose).collect(),
            may_refer: false,
        };
        (leaves.len() <= MAX_LEAVES).then_some(Self { reading, input, leaves })
    }

    /// Returns the names of the parameters that its input has.
    pub(crate) fn parameters(&self) -> BTreeSet<&str> {
        self.leaves.iter().map(|leaf| leaf.parameter.as_str()).collect()
    }

    fn given(&self) -> impl Iterator<Item = Given<'_>> {
        self.leaves.iter().map(move |leaf| (self, leaf))
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
            let choices = schema.get("enum").and_then(Value::as_array);
            leaves.push(Leaf {
                pointer: pointer.to_owned(),
                parameter: pointer.split('/').map(general).join("/"),
                value: value.clone(),
                choices: choices.map(|choices| names(choices.iter().filter_map(Value::as_str))),
            });
        }
    }
}

/// The schema of a value that is there, when it may be absent.
fn present(schema: &Value) -> &Value {
    let variants = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let is_present = |variant: &&Value| variant.get("type") != Some(&Value::from("null"));
    let mut variants = variants.into_iter().flatten();
    variants.find(is_present).unwrap_or(schema)
}

/// A value of a parameter, with its example.
type Given<'a> = (&'a Example, &'a Leaf);

/// The class of a parameter, from its schema and all values that the examples give it.
fn class_of<'a>(values: &[Given<'a>]) -> Class {
    if let Some(choices) = values.first().and_then(|(_, leaf)| leaf.choices.clone()) {
        return Class::Named(choices);
    }
    let all = || values.iter().map(|(_, leaf)| &leaf.value);
    if all().filter(|value| is_text(value)).count() * 2 >= values.len() {
        return Class::Text(all().map(|value| Data::of_value(value).form).collect());
    }
    let text = |(example, leaf): &Given<'a>| Some((&example.reading, leaf.value.as_str()?));
    let texts = values.iter().filter_map(text).collect_vec();
    let any = |is: fn(&str) -> bool| texts.iter().any(|(_, text)| is(text));
    let are_all = |of: fn(&Data) -> &Names| {
        let is_in =
            |(reading, text): &(&Reading, &str)| reading.data.iter().any(|data| of(data).contains_key(&folded(text)));
        texts.iter().all(is_in)
    };
    let said = texts.iter().map(|(_, text)| *text);
    match () {
        () if texts.is_empty() => Class::Number,
        () if any(is_date) => Class::Moment(names(said.filter(|text| !is_date(text)))),
        () if are_all(|data| &data.keys) => Class::Key,
        () if are_all(|data| &data.cells) => Class::Cell,
        () if any(is_arithmetic) => Class::Arithmetic(Phrases::learn(said)),
        () if any(is_code) => Class::Code,
        () => Class::Words {
            are_quoted: texts.iter().any(|(reading, text)| is_quoted(reading, text)),
            shown: names(said),
        },
    }
}

fn is_quoted(reading: &Reading, text: &str) -> bool {
    let mut quoted = reading.tokens.iter().filter(|token| token.kind == Kind::Quoted);
    quoted.any(|token| token.text == text)
}

/// Whether a value is a whole text and not a word, a date or an expression. Code has few words that are only letters.
fn is_text(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return value.is_object() || value.is_array();
    };
    let end = ['.', ',', '!', '?', ':'];
    let is_letters = |word: &&str| word.trim_end_matches(end).chars().all(char::is_alphabetic);
    let words = text.split_whitespace().collect_vec();
    let is_prose = words.len() > 2 && words.iter().filter(|word| is_letters(word)).count() > 1;
    let is_prose = is_prose && !is_arithmetic(text) && !is_date(text);
    is_prose || text.trim_end().contains('\n') || Data::of_value(value).form != Form::Prose
}

fn is_date(text: &str) -> bool {
    is_moment(&tokens(text, &[]))
}
