//! The examples of a tool, taken apart into the words of their questions and the values of their inputs.

use std::collections::BTreeMap;
use std::iter::repeat;
use std::sync::Arc;

use art_core::text::prefix;
use art_core::tool::{ToolExample, ToolSchema};
use itertools::Itertools;
use serde_json::Value;

use crate::class::{Class, ExampleValues, PathOrUrl};
use crate::data::{TextForm, TextsByStems, WholeText, texts_by_stems};
use crate::reading::Reading;
use crate::token::{Token, TokenKind, text_stems, tokenise};

/// Maximum length of the question of an example, in characters.
const MAX_QUESTION_CHARS: usize = 400;
/// Maximum number of values in one input.
const MAX_LEAVES: usize = 32;

/// An example of a tool.
#[derive(Debug)]
pub(crate) struct Example {
    pub(crate) question: String,
    /// Its question as the model reads it, with the tables and the JSON in its input as whole texts.
    pub(crate) reading: Reading,
    pub(crate) input: Value,
    pub(crate) leaves: Vec<Leaf>,
    /// The names of the parameters that its input has, one on each line.
    pub(crate) parameter_names: String,
}

/// A value in an input that is not taken apart any further, usually a scalar.
#[derive(Debug)]
pub(crate) struct Leaf {
    /// Place in the input, as a JSON pointer.
    pub(crate) pointer: String,
    /// Name of the parameter: the pointer with `*` in place of positions, the same for all items of a list.
    pub(crate) parameter: String,
    pub(crate) value: Value,
    /// Whether the schema lists the values that it allows.
    is_choice: bool,
}

pub(crate) type ClassesByParameter = BTreeMap<String, Arc<Class>>;

impl Example {
    /// Takes an example of `tool` apart. Returns `None` if it has no question or too many values.
    pub(crate) fn new(tool: &ToolSchema, example: &ToolExample) -> Option<Self> {
        let text = prefix(example.description.as_deref()?, MAX_QUESTION_CHARS);
        let (mut leaves, input) = (Vec::new(), example.input.clone());
        collect_leaves(&input, &tool.input_schema, "", &mut leaves);
        let whole_texts = leaves.iter().map(|leaf| WholeText::of_value(&leaf.value));
        let whole_texts = whole_texts.filter(|text| text.form != TextForm::Prose).collect();
        let reading = Reading::new(tokenise(text, &[]), whole_texts, false);
        let parameter_names = leaves.iter().map(|leaf| &leaf.parameter).sorted().dedup().join("\n");
        let has_few_leaves = leaves.len() <= MAX_LEAVES;
        has_few_leaves.then_some(Self {
            question: text.to_owned(),
            reading,
            input,
            leaves,
            parameter_names,
        })
    }
}

/// Adds the values within `value` to `leaves`. An object or a list that the schema does not describe is added as one value.
fn collect_leaves(value: &Value, schema: &Value, pointer: &str, leaves: &mut Vec<Leaf>) {
    let schema = non_null_variant(schema);
    let (properties, additional) = (schema.get("properties"), schema.get("additionalProperties"));
    match (value, properties.or(additional), schema.get("items")) {
        (Value::Object(map), Some(_), _) => {
            for (key, value) in map {
                let declared = properties.and_then(|properties| properties.get(key));
                // Any value is allowed for a key of which the schema says nothing.
                let field = declared.or(additional).unwrap_or(&Value::Null);
                collect_leaves(value, field, &format!("{pointer}/{}", escape(key)), leaves);
            }
        }
        (Value::Array(items), _, Some(schema)) => {
            for (n, value) in items.iter().enumerate() {
                collect_leaves(value, schema, &format!("{pointer}/{n}"), leaves);
            }
        }
        _ => {
            let generalise = |part| if str::parse::<usize>(part).is_ok() { "*" } else { part };
            leaves.push(Leaf {
                pointer: pointer.to_owned(),
                parameter: pointer.split('/').map(generalise).join("/"),
                value: value.clone(),
                is_choice: schema.get("enum").is_some(),
            });
        }
    }
}

/// Returns a key as a part of a JSON pointer.
pub(crate) fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the first variant of a schema that is not for null, or the schema itself if it has no variants.
fn non_null_variant(schema: &Value) -> &Value {
    let variants = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(*key)?.as_array());
    let is_not_null = |variant: &&Value| variant.get("type") != Some(&Value::from("null"));
    variants.into_iter().flatten().find(is_not_null).unwrap_or(schema)
}

/// Returns the classes of the parameters in `examples`.
pub(crate) fn learn_classes(examples: &[Example]) -> ClassesByParameter {
    let leaves = examples.iter().flat_map(|one| repeat(&one.reading).zip(&one.leaves));
    let values = leaves.into_group_map_by(|(_, leaf)| leaf.parameter.clone()).into_iter();
    let mut classes: BTreeMap<_, _> = values.map(|(name, values)| (name, class_of(&values))).collect();
    // Parameters of the class `LikeExamples` without numbers or dates accept each other's words, as two units or time zones do.
    let mut open = classes.values_mut().filter_map(Class::as_open).collect_vec();
    let all_shown: TextsByStems = open.iter().flat_map(|values| values.texts.clone()).collect();
    open.iter_mut().for_each(|values| values.show(&all_shown));
    let classes = classes.into_iter();
    classes.map(|(name, class)| (name, Arc::new(class))).collect()
}

/// Returns the class of a parameter, learnt from all values that the examples give it.
fn class_of<'a>(values: &[(&'a Reading, &'a Leaf)]) -> Class {
    let text_of = |(reading, leaf): &(_, &'a Leaf)| Some((*reading, leaf.value.as_str()?));
    let texts: Vec<(&Reading, &str)> = values.iter().filter_map(text_of).collect();
    let bare_texts = texts.iter().map(|(_, text)| *text);
    // Returns whether each text is among those that `short_texts_of` returns for a whole text of its example, if it has any.
    let are_all_in = |short_texts_of: fn(&WholeText) -> &TextsByStems| {
        let checkable = texts.iter().filter(|(reading, _)| !reading.whole_texts.is_empty());
        let is_in = |text: &str, one: &WholeText| short_texts_of(one).contains_key(&text_stems(text));
        let mut results = checkable.map(|(reading, text)| reading.whole_texts.iter().any(|one| is_in(text, one)));
        results.next() == Some(true) && results.all(|is_in| is_in)
    };
    // Dates and arithmetic in words do not count as whole texts.
    let has_number_or_date = |text: &str| tokenise(text, &[]).iter().any(Token::is_number_or_date);
    let is_prose = |value: &Value| WholeText::of_value(value).form == TextForm::Prose;
    let is_line = |value: &Value| is_prose(value) && !value.to_string().contains("\\n");
    let is_date_or_arithmetic = |value: &Value| is_line(value) && value.as_str().is_some_and(has_number_or_date);
    let is_quote = |token: &Token, text: &str| token.kind == TokenKind::Quoted && token.text == text;
    let occurs_quoted = |(reading, text): &(&Reading, &str)| reading.tokens.iter().any(|one| is_quote(one, text));
    let all_values = values.iter().map(|(_, leaf)| &leaf.value);
    let counts_as_whole = |value: &&Value| is_whole_text(value) && !is_date_or_arithmetic(value);
    let whole_texts = all_values.clone().filter(counts_as_whole);
    match () {
        () if values.iter().any(|(_, leaf)| leaf.is_choice) => Class::Choice(texts_by_stems(bare_texts)),
        () if whole_texts.count() * 2 >= values.len() => {
            Class::WholeText(all_values.map(|value| WholeText::of_value(value).form).collect())
        }
        () if texts.is_empty() => Class::Number,
        () if are_all_in(|whole_text| &whole_text.keys) => Class::Key,
        () if are_all_in(|whole_text| &whole_text.cells) => Class::Cell,
        () if let Some(learnt) = PathOrUrl::learn(bare_texts.clone()) => Class::PathOrUrl(learnt),
        () => Class::LikeExamples(ExampleValues::learn(bare_texts, texts.iter().any(occurs_quoted))),
    }
}

/// Returns whether a value is an object, a list or a whole text. A name or a code has few words, or few of only letters.
pub(crate) fn is_whole_text(value: &Value) -> bool {
    let Some(text) = value.as_str() else {
        return value.is_object() || value.is_array();
    };
    let words = text.split_whitespace();
    let words = words.map(|word| word.trim_end_matches(['.', ',', '!', '?', ':']));
    let letters = words.filter(|word| word.chars().all(char::is_alphabetic)).collect_vec();
    let is_prose = text.split_whitespace().nth(2).is_some() && letters.len() > 1 && letters.concat().len() > 2;
    is_prose || text.trim_end().contains('\n') || WholeText::of_value(value).form != TextForm::Prose
}
