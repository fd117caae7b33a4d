//! Patterns: the question of an example, with slots in place of the values of its input.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::class::{Class, Run};
use crate::data::{Forms, names};
use crate::example::{Classes, Example, Leaf, is_whole_text, learn_classes};
use crate::token::{Kind, fold_text};
use crate::words::{is_article, is_content, is_question_word};

/// First character of the name of each slot, so that no value of an input is mistaken for a slot.
const SLOT: char = '\u{e000}';

/// A question with slots, and the input that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Position of its tool among the tools.
    pub(crate) tool: usize,
    /// The question as the example has it.
    pub(crate) ask: String,
    /// The words and slots of the question in their order, without articles. Slots for whole texts are not among them.
    pub(crate) items: Vec<Item>,
    /// The names of the slots for whole texts in the order of the question, and the forms that they accept.
    pub(crate) texts: Vec<(String, Forms)>,
    /// The input, with the names of slots in place of the values that questions give. Questions that ask for the same thing have
    /// the same template.
    pub(crate) template: Value,
    /// The words of all questions with the same template.
    pub(crate) asks: Arc<Asks>,
}

/// The words of all questions with one template.
#[derive(Clone, Debug, Default)]
pub(crate) struct Asks {
    /// The stems of all words with content.
    pub(crate) words: BTreeSet<String>,
    /// The words with content of each question. A question is left out if it has no slot and no word but those such as `how many`.
    pub(crate) word_sets: BTreeSet<BTreeSet<String>>,
    /// Words, each with the name of a slot that directly follows it.
    leads: BTreeSet<(String, String)>,
}

/// A word of a pattern, or a slot for a value.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The stem of the word, or the name of the slot, which stands for the value in the template: [`SLOT`] and the JSON pointer to
    /// the value in the input.
    pub(crate) key: String,
    /// Which words can fill the slot; `None` for a word.
    pub(crate) class: Option<Arc<Class>>,
}

impl Item {
    fn new(key: &str, class: Option<Arc<Class>>) -> Self {
        let key = key.to_owned();
        Self { key, class }
    }

    /// Returns the stem of a word with content, or `None` for any other item.
    pub(crate) fn content(&self) -> Option<&String> {
        Some(&self.key).filter(|word| self.class.is_none() && is_content(word))
    }
}

impl Asks {
    /// Returns whether `word` stands only before other slots than `slot`. For example, `from` never stands before the unit that is
    /// converted to.
    pub(crate) fn leads_elsewhere(&self, word: &str, slot: &str) -> bool {
        let mut slots = self.leads.iter().filter(|(lead, _)| lead == word).peekable();
        slots.peek().is_some() && !slots.any(|(_, following)| following == slot)
    }
}

/// Values by the names of their slots.
pub(crate) type Values = BTreeMap<String, Value>;

/// Returns `template` with `values` in place of the names of their slots.
pub(crate) fn fill_template(template: &Value, values: &Values) -> Value {
    replace_texts(template, &|text| {
        values.get(text).cloned().unwrap_or_else(|| text.into())
    })
}

/// Returns `template` with each text replaced by what `value` returns for it.
pub(crate) fn replace_texts(template: &Value, value: &impl Fn(&str) -> Value) -> Value {
    match template {
        Value::String(text) => value(text),
        Value::Array(items) => items.iter().map(|item| replace_texts(item, value)).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, item)| (key.clone(), replace_texts(item, value)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

/// Maximum number of examples that are read of one tool.
const MAX_EXAMPLES: usize = 1_024;

/// Returns the patterns that the examples of a tool teach; `tool` is its position among the tools.
pub(crate) fn patterns(tool: usize, schema: &ToolSchema) -> Vec<Pattern> {
    let examples = schema.examples.iter().take(MAX_EXAMPLES);
    let examples = examples
        .filter_map(|example| Example::new(schema, example))
        .collect_vec();
    let classes = learn_classes(&examples);
    let pattern = |example| learn(tool, example, &examples, &classes);
    let mut patterns = examples.iter().filter_map(pattern).collect_vec();
    share_words(&mut patterns);
    patterns
}

/// Gives each pattern the words of all questions with its template.
fn share_words(patterns: &mut [Pattern]) {
    let mut all: BTreeMap<String, Arc<Asks>> = BTreeMap::new();
    for pattern in &*patterns {
        let words: BTreeSet<String> = pattern.items.iter().filter_map(Item::content).cloned().collect();
        let asks = Arc::make_mut(all.entry(pattern.template.to_string()).or_default());
        asks.words.extend(words.clone());
        let pairs = pattern.items.iter().tuple_windows();
        let leads = pairs.filter(|(word, next)| word.class.is_none() && next.class.is_some());
        asks.leads
            .extend(leads.map(|(word, next)| (word.key.clone(), next.key.clone())));
        if words.iter().any(|word| !is_question_word(word)) || pattern.items.iter().any(|item| item.class.is_some()) {
            asks.word_sets.insert(words);
        }
    }
    for pattern in patterns {
        pattern.asks = all.get(&pattern.template.to_string()).cloned().unwrap_or_default();
    }
}

/// Returns the pattern of one of `examples`. Values that its question says become slots, and other values stay as they are. Returns
/// `None` if the input has a column, a cell or a whole text that can become no slot because the question does not say it.
fn learn(tool: usize, example: &Example, examples: &[Example], classes: &Classes) -> Option<Pattern> {
    let mut template = example.input.clone();
    let (mut slots, mut texts) = (Vec::new(), Vec::new());
    for leaf in example.leaves.iter().filter(|leaf| !leaf.value.is_null()) {
        let (class, key) = (classes.get(&leaf.parameter)?, format!("{SLOT}{}", leaf.pointer));
        let mut candidates = candidate_classes(class, example, leaf, examples).into_iter();
        let found = candidates.find_map(|class| Some((find_value(example, leaf, &class, &slots)?, class)));
        let key = match (found, class.as_ref()) {
            (Some((place, class)), _) => {
                slots.push((place, Item::new(&key, Some(class))));
                key
            }
            (None, Class::Text(forms)) => {
                texts.push((usize::MAX, (key.clone(), forms.clone())));
                key
            }
            // If the question says a value only once, it also stands for an equal value.
            (None, Class::Key | Class::Cell) => find_equal_slot(example, leaf, &template)?,
            // A whole text of an example is never passed along for other questions.
            (None, _) if is_whole_text(&leaf.value) => return None,
            (None, _) => continue,
        };
        *template.pointer_mut(&leaf.pointer)? = key.into();
    }
    let mut items = Vec::new();
    for (at, token) in example.reading.tokens.iter().enumerate() {
        match slots.iter().find(|(place, _)| place.contains(&at)) {
            Some((place, slot)) if place.start == at => match slot.class.as_deref() {
                Some(Class::Text(forms)) => texts.push((at, (slot.key.clone(), forms.clone()))),
                _ => items.push(slot.clone()),
            },
            None if token.kind != Kind::Mark && !is_article(&token.stem) => items.push(Item::new(&token.stem, None)),
            _ => {}
        }
    }
    texts.sort_by_key(|(token, _)| *token);
    Some(Pattern {
        tool,
        ask: example.ask.clone(),
        items,
        texts: texts.into_iter().map(|(_, text)| text).collect(),
        template,
        asks: Arc::default(),
    })
}

/// Returns the classes by which a value may be found in a question: a short text may stand among the words, as in "the letters in the word
/// strawberry", a number may be a condition on a cell, and a choice may be that of another example with the same parameters.
fn candidate_classes(class: &Arc<Class>, example: &Example, leaf: &Leaf, examples: &[Example]) -> Vec<Arc<Class>> {
    match class.as_ref() {
        Class::Text(_) => vec![Arc::clone(class), Arc::new(Class::Run(Run::default()))],
        // The columns of a file that is only named by its path are unknown.
        Class::Key if example.reading.data.is_empty() => vec![Arc::new(Class::Run(Run::default()))],
        Class::Cell if leaf.value.is_number() => vec![Arc::new(Class::Number)],
        Class::Choice(_) => {
            let alike = examples.iter().filter(|other| other.shape == example.shape);
            let leaves = alike
                .flat_map(|other| &other.leaves)
                .filter(|other| other.parameter == leaf.parameter);
            let shown = leaves.filter_map(|other| other.value.as_str());
            vec![Arc::new(Class::Choice(names(shown)))]
        }
        _ => vec![Arc::clone(class)],
    }
}

/// Returns the name of the slot of an equal value of the example, or `None` if there is none.
fn find_equal_slot(example: &Example, leaf: &Leaf, template: &Value) -> Option<String> {
    let equal = example.leaves.iter().filter(|other| other.value == leaf.value);
    let mut values = equal.filter_map(|other| template.pointer(&other.pointer)?.as_str());
    values.find(|text| text.starts_with(SLOT)).map(str::to_owned)
}

/// Returns the range of the tokens that say a value of the input, outside of those in `slots`. Returns `None` if there are none.
fn find_value(example: &Example, leaf: &Leaf, class: &Class, slots: &[(Range<usize>, Item)]) -> Option<Range<usize>> {
    let tokens = &example.reading.tokens;
    (0..tokens.len()).find_map(|at| {
        let fillers = class.fillers(tokens.get(at..)?, &example.reading).into_iter();
        let same = fillers.filter(|one| is_same(&one.value, &leaf.value));
        let are_apart = |a: &Range<usize>, b: &Range<usize>| a.end <= b.start || b.end <= a.start;
        let mut places = same.map(|one| at..at + one.length);
        places.find(|place| slots.iter().all(|(taken, _)| are_apart(taken, place)))
    })
}

/// Returns whether words of a question say the value of an example: numbers are compared as numbers, texts by their stems without
/// blanks, other values as JSON.
fn is_same(said: &Value, value: &Value) -> bool {
    let bare = |text: &str| fold_text(text).replace(' ', "");
    match (said, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => bare(a) == bare(b),
        (Value::String(json), value) => serde_json::from_str::<Value>(json).is_ok_and(|json| json == *value),
        _ => false,
    }
}
