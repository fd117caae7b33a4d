//! Patterns: the question of an example, with slots in place of the values of its input.

use std::collections::{BTreeMap, BTreeSet};

use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::class::Class;
use crate::data::Forms;
use crate::example::{Classes, Example, Leaf, read};
use crate::token::{Kind, Token, folded};

/// A question with slots, and the input that it asks for.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Position of its tool among the tools.
    pub(crate) tool: usize,
    /// The question as the example has it.
    pub(crate) ask: String,
    /// The words and slots of the question in their order. Slots for whole texts are not among them.
    pub(crate) items: Vec<Item>,
    pub(crate) slots: Vec<Slot>,
    /// The input of the example.
    input: Value,
    /// The input without the values of its slots, the same for all patterns that mean the same.
    meaning: String,
    /// The words of all patterns that mean the same. Each of these accepts the words of the others.
    pub(crate) vocabulary: BTreeSet<String>,
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    /// A word, by its stem.
    Word(String),
    /// The slot of that number.
    Slot(usize),
}

/// A place in the input that a question fills.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) class: Class,
    /// Place in the input, as a JSON pointer.
    place: String,
    /// Number of the token that fills it in the example; texts that are not in the question are last.
    token: usize,
}

impl Pattern {
    /// Returns the input with values in its slots, which are known by their numbers.
    pub(crate) fn fill(&self, values: impl Iterator<Item = (usize, Value)>) -> Value {
        let mut input = self.input.clone();
        for (slot, value) in values {
            let slot = self.slots.get(slot);
            if let Some(place) = slot.and_then(|slot| input.pointer_mut(&slot.place)) {
                *place = value;
            }
        }
        input
    }

    /// Returns the slots for whole texts in the order of the question, and the forms that they accept.
    pub(crate) fn texts(&self) -> Vec<(usize, &Forms)> {
        let slots = self.slots.iter().enumerate().sorted_by_key(|(_, slot)| slot.token);
        let texts = slots.filter_map(|(n, slot)| match &slot.class {
            Class::Text(forms) => Some((n, forms)),
            _ => None,
        });
        texts.collect()
    }

    /// Returns the stems of its words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.items.iter().filter_map(|item| match item {
            Item::Word(word) => Some(word),
            Item::Slot(_) => None,
        })
    }
}

/// Returns the patterns that the examples of a tool teach; `tool` is its position among the tools.
pub(crate) fn patterns(tool: usize, schema: &ToolSchema) -> Vec<Pattern> {
    let (examples, classes) = read(schema);
    let mut patterns: Vec<Pattern> = examples.iter().map(|example| learn(tool, example, &classes)).collect();
    let mut vocabularies: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for pattern in &patterns {
        let vocabulary = vocabularies.entry(pattern.meaning.clone()).or_default();
        vocabulary.extend(pattern.words().cloned());
    }
    for pattern in &mut patterns {
        pattern.vocabulary = vocabularies.get(&pattern.meaning).cloned().unwrap_or_default();
    }
    patterns
}

fn learn(tool: usize, example: &Example, classes: &Classes) -> Pattern {
    let word = |token: &Token| (token.kind != Kind::Mark).then(|| Item::Word(token.stem.clone()));
    let mut items: Vec<Option<Item>> = example.reading.tokens.iter().map(word).collect();
    let (mut slots, mut meaning) = (Vec::new(), BTreeMap::new());
    for leaf in &example.leaves {
        let class = classes.get(&leaf.parameter).filter(|_| !leaf.value.is_null());
        let is_text = matches!(class, Some(Class::Text(_)));
        let said = class.and_then(|class| said(leaf, class, example, &items));
        let (token, length) = said.unwrap_or((usize::MAX, 0));
        for (n, item) in items.iter_mut().skip(token).take(length).enumerate() {
            *item = (n == 0 && !is_text).then_some(Item::Slot(slots.len()));
        }
        let class = class.filter(|_| is_text || said.is_some());
        meaning.insert(&leaf.pointer, Some(&leaf.value).filter(|_| class.is_none()));
        slots.extend(class.map(|class| Slot {
            class: class.clone(),
            place: leaf.pointer.clone(),
            token,
        }));
    }
    Pattern {
        tool,
        ask: example.reading.text.clone(),
        items: items.into_iter().flatten().collect(),
        input: example.input.clone(),
        meaning: format!("{meaning:?}"),
        vocabulary: BTreeSet::new(),
        slots,
    }
}

/// The first token of the words that say the value, and how many words they are. Words in other slots are left out.
fn said(leaf: &Leaf, class: &Class, example: &Example, items: &[Option<Item>]) -> Option<(usize, usize)> {
    let (reading, tokens) = (&example.reading, &example.reading.tokens);
    let is_free = |item: &Option<Item>| !matches!(item, Some(Item::Slot(_)));
    (0..tokens.len()).find_map(|at| {
        let fillers = class.fillers(tokens.get(at..)?, reading).into_iter();
        let mut said = fillers.filter(|filler| says_the_same(&filler.value, &leaf.value));
        let filler = said.find(|filler| items.iter().skip(at).take(filler.length).all(is_free))?;
        Some((at, filler.length))
    })
}

/// Whether words of a question say the value of an example: numbers compare as numbers, texts by their stems without
/// blanks, other values as JSON.
fn says_the_same(said: &Value, value: &Value) -> bool {
    let bare = |text: &str| folded(text).replace(' ', "");
    match (said, value) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::String(a), Value::String(b)) => bare(a) == bare(b),
        (Value::String(json), value) => serde_json::from_str::<Value>(json).is_ok_and(|json| json == *value),
        _ => false,
    }
}
