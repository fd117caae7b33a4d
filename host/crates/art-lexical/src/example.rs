//! The examples of a tool, taken apart into the words of their questions and the values of their inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use art_core::text::prefix;
use art_core::tool::{ToolExample, ToolSchema};
use itertools::Itertools;
use serde_json::Value;

use crate::arithmetic::{Phrases, is_arithmetic};
use crate::class::{Class, Reading, is_code, is_moment};
use crate::data::{Data, Form, Names, Values, names};
use crate::token::{Kind, Token, folded, tokens};

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
    schema: Value,
}

/// The classes of parameters, by their names.
pub(crate) type Classes = BTreeMap<String, Arc<Class>>;

/// Returns the examples of `tool` that have a question, and the classes of the parameters that they use.
pub(crate) fn read(tool: &ToolSchema) -> (Vec<Example>, Classes) {
    let examples = tool.examples.iter().take(MAX_EXAMPLES);
    let examples: Vec<Example> = examples.filter_map(|example| Example::new(tool, example)).collect();
    let mut values: BTreeMap<&str, Vec<Given<'_>>> = BTreeMap::new();
    for example in &examples {
        for leaf in &example.leaves {
            values.entry(&leaf.parameter).or_default().push((example, leaf));
        }
    }
    let classes = values
        .iter()
        .map(|(name, values)| ((*name).to_owned(), class_of(values)));
    let mut classes: BTreeMap<String, Class> = classes.collect();
    // One parameter accepts the words of another: both units of a conversion, both time zones.
    let words = classes.values_mut().filter_map(|class| match class {
        Class::Words { shown, .. } => Some(shown),
        _ => None,
    });
    let mut words: Vec<&mut Names> = words.collect();
    let all: Names = words.iter().flat_map(|own| (*own).clone()).collect();
    words.iter_mut().for_each(|own| own.clone_from(&all));
    let shared = classes.into_iter().map(|(name, class)| (name, Arc::new(class)));
    (examples, shared.collect())
}

impl Example {
    fn new(tool: &ToolSchema, example: &ToolExample) -> Option<Self> {
        let text = prefix(example.description.as_deref()?, MAX_ASK).to_owned();
        let (mut leaves, input) = (Vec::new(), example.input.clone());
        collect(&input, &tool.input_schema, "", &mut leaves);
        let data = leaves.iter().map(|leaf: &Leaf| Data::of_value(&leaf.value));
        let data = data.filter(|data| data.form != Form::Prose).collect();
        let (tokens, may_refer, context) = (tokens(&text, &[]), false, BTreeSet::new());
        let reading = Reading {
            text,
            tokens,
            data,
            context,
            may_refer,
        };
        (leaves.len() <= MAX_LEAVES).then_some(Self { reading, input, leaves })
    }
}

fn collect(value: &Value, schema: &Value, pointer: &str, leaves: &mut Vec<Leaf>) {
    let schema = present(schema);
    let fields = schema.get("properties").or_else(|| schema.get("additionalProperties"));
    match (value, fields, schema.get("items")) {
        (Value::Object(map), Some(fields), _) => {
            for (key, value) in map {
                collect(
                    value,
                    fields.get(key).unwrap_or(fields),
                    &format!("{pointer}/{key}"),
                    leaves,
                );
            }
        }
        (Value::Array(items), _, Some(schema)) => {
            for (n, value) in items.iter().enumerate() {
                collect(value, schema, &format!("{pointer}/{n}"), leaves);
            }
        }
        _ => {
            let general = |part| if str::parse::<usize>(part).is_ok() { "*" } else { part };
            let parameter = pointer.split('/').map(general).join("/");
            let pointer = pointer.to_owned();
            let (value, schema) = (value.clone(), schema.clone());
            leaves.push(Leaf {
                pointer,
                parameter,
                value,
                schema,
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
    let choices = values.first().and_then(|(_, leaf)| leaf.schema.get("enum")?.as_array());
    if let Some(choices) = choices {
        return Class::Named(names(choices.iter().filter_map(Value::as_str)));
    }
    let all = || values.iter().map(|(_, leaf)| &leaf.value);
    if all().filter(|value| is_text(value)).count() * 2 >= values.len() {
        return Class::Text(all().map(|value| Data::of_value(value).form).collect());
    }
    let text = |(example, leaf): &Given<'a>| Some((*example, leaf.value.as_str()?));
    let texts: Vec<(&Example, &str)> = values.iter().filter_map(text).collect();
    let any = |is: fn(&str) -> bool| texts.iter().any(|(_, text)| is(text));
    let is_in = |names: &Names, text: &str| names.contains_key(&folded(text));
    let in_data = |of: fn(&Data) -> &Values| {
        let mut texts = texts.iter();
        texts.all(|(example, text)| example.reading.data.iter().any(|data| is_in(&of(data).names, text)))
    };
    let said = texts.iter().map(|(_, text)| *text);
    if texts.is_empty() {
        Class::Number
    } else if any(is_date) {
        Class::Moment(names(said.filter(|text| !is_date(text))))
    } else if in_data(|data| &data.keys) {
        Class::Key
    } else if in_data(|data| &data.cells) {
        Class::Cell
    } else if any(is_arithmetic) {
        Class::Arithmetic(Phrases::learn(said))
    } else if any(is_code) {
        Class::Code
    } else {
        let is_quote = |token: &Token, text: &str| token.kind == Kind::Quoted && token.text == text;
        let quotes = |example: &Example, text: &str| example.reading.tokens.iter().any(|token| is_quote(token, text));
        Class::Words {
            are_quoted: texts.iter().any(|(example, text)| quotes(example, text)),
            shown: names(said),
        }
    }
}

/// Whether a value is a whole text and not a word, a date or an expression. Code has few words that are only letters.
fn is_text(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return value.is_object() || value.is_array();
    };
    let end = ['.', ',', '!', '?', ':'];
    let is_letters = |word: &&str| word.trim_end_matches(end).chars().all(char::is_alphabetic);
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_prose = words.iter().filter(|word| is_letters(word)).count() > 1 && words.len() > 2;
    let is_prose = is_prose && !is_arithmetic(text) && !is_date(text);
    is_prose || text.trim_end().contains('\n') || Data::of_value(value).form != Form::Prose
}

fn is_date(text: &str) -> bool {
    is_moment(&tokens(text, &[]))
}
