//! Patterns: the question of an example, with slots in place of the values of its input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::class::Class;
use crate::data::{Forms, Names};
use crate::example::{Classes, Example, Leaf, read};
use crate::token::{Kind, Token, folded};

/// Begins the text that stands for a slot in a template. What follows is the number of the slot.
const SLOT: char = '\u{2}';

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
    pub(crate) template: Template,
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Item {
    /// A word, by its stem.
    Word(String),
    /// The slot of that number.
    Slot(usize),
}

impl Item {
    /// Returns the stem, if it is a word.
    pub(crate) const fn word(&self) -> Option<&String> {
        match self {
            Self::Word(word) => Some(word),
            Self::Slot(_) => None,
        }
    }
}

/// A place in the input that a question fills.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) class: Arc<Class>,
    /// Name of the parameter, the same for all items of a list.
    pub(crate) parameter: String,
    /// Number of the token that fills it in the example; texts that are not in the question are last.
    token: usize,
}

/// An input, or a part of one, with slots in place of some values.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Template(pub(crate) Value);

impl Template {
    /// Returns the text that stands for the slot of that number.
    fn slot(number: usize) -> Value {
        Value::from(format!("{SLOT}{number}"))
    }

    /// Returns whether it has the slot of that number.
    pub(crate) fn has_slot(&self, number: usize) -> bool {
        self.fill(&BTreeMap::from([(number, Value::Null)])) != self.0
    }

    /// Returns the input with `values` in its slots.
    pub(crate) fn fill(&self, values: &BTreeMap<usize, Value>) -> Value {
        self.put(|slot| values.get(&slot).cloned())
    }

    /// Returns the template with the name of its parameter in place of each slot. Questions that ask for the same have the
    /// same one.
    pub(crate) fn shape(&self, slots: &[Slot]) -> Value {
        self.put(|slot| Some(format!("{SLOT}{}", slots.get(slot)?.parameter).into()))
    }

    /// Returns the template with another value in place of each slot that `value` knows.
    fn put(&self, value: impl Fn(usize) -> Option<Value>) -> Value {
        let slot = |text: &str| value(text.strip_prefix(SLOT)?.parse().ok()?);
        put_texts(&self.0, &|text| slot(text).unwrap_or_else(|| text.into()))
    }
}

/// Returns `template` with what `value` makes of its texts.
pub(crate) fn put_texts(template: &Value, value: &impl Fn(&str) -> Value) -> Value {
    match template {
        Value::String(text) => value(text),
        Value::Array(items) => items.iter().map(|item| put_texts(item, value)).collect(),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, item)| (key.clone(), put_texts(item, value)));
            Value::Object(entries.collect())
        }
        other => other.clone(),
    }
}

impl Pattern {
    /// Returns the slots for whole texts in the order of the question, and the forms that they accept.
    pub(crate) fn texts(&self) -> Vec<(usize, &Forms)> {
        let slots = self.slots.iter().enumerate().sorted_by_key(|(_, slot)| slot.token);
        let texts = slots.filter_map(|(n, slot)| match slot.class.as_ref() {
            Class::Text(forms) => Some((n, forms)),
            _ => None,
        });
        texts.collect()
    }

    /// Returns whether its question has a whole text.
    pub(crate) fn quotes(&self) -> bool {
        let is_quoted = |slot: &Slot| matches!(*slot.class, Class::Text(_)) && slot.token != usize::MAX;
        self.slots.iter().any(is_quoted)
    }

    /// Returns the stems of its words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.items.iter().filter_map(Item::word)
    }
}

/// Returns the patterns that the examples of a tool teach; `tool` is its position among the tools.
pub(crate) fn patterns(tool: usize, schema: &ToolSchema) -> Vec<Pattern> {
    let (examples, classes) = read(schema);
    let shown = shown(&examples);
    let patterns = examples
        .iter()
        .filter_map(|example| learn(tool, example, &classes, &shown));
    patterns.collect()
}

/// For each choice of a parameter, the parameters of each input that has it.
type Shown = BTreeMap<(String, String), BTreeSet<BTreeSet<String>>>;

fn shown(examples: &[Example]) -> Shown {
    let mut shown = Shown::new();
    for (example, leaf) in examples
        .iter()
        .flat_map(|example| example.leaves.iter().map(move |leaf| (example, leaf)))
    {
        if let Some(text) = leaf.value.as_str() {
            let choice = (leaf.parameter.clone(), text.to_owned());
            shown.entry(choice).or_default().insert(parameters(example));
        }
    }
    shown
}

/// Returns the names of the parameters that an input has.
fn parameters(example: &Example) -> BTreeSet<String> {
    example.leaves.iter().map(|leaf| leaf.parameter.clone()).collect()
}

/// Returns `class` without the choices that examples show only with parameters that this example lacks.
fn restrict(class: &Arc<Class>, leaf: &Leaf, example: &Example, shown: &Shown) -> Arc<Class> {
    let Class::Named(choices) = class.as_ref() else {
        return Arc::clone(class);
    };
    let goes = |text: &String| {
        let with = shown.get(&(leaf.parameter.clone(), text.clone()));
        with.is_none_or(|with| with.iter().any(|names| names.is_subset(&parameters(example))))
    };
    let choices = choices.iter().filter(|(_, text)| goes(text));
    Arc::new(Class::Named(
        choices.map(|(stems, text)| (stems.clone(), text.clone())).collect(),
    ))
}

/// Returns the pattern of an example, or `None` if its input names a column or a cell of its data that its question does not.
fn learn(tool: usize, example: &Example, classes: &Classes, shown: &Shown) -> Option<Pattern> {
    let word = |token: &Token| (token.kind != Kind::Mark).then(|| Item::Word(token.stem.clone()));
    let mut items: Vec<Option<Item>> = example.reading.tokens.iter().map(word).collect();
    let (mut slots, mut template): (Vec<Slot>, _) = (Vec::new(), example.input.clone());
    let mut places: BTreeMap<&String, usize> = BTreeMap::new();
    for leaf in &example.leaves {
        let class = classes.get(&leaf.parameter).filter(|_| !leaf.value.is_null());
        let mut is_text = matches!(class.map(Arc::as_ref), Some(Class::Text(_)));
        let number = Arc::new(Class::Number);
        let class = class.map(|class| {
            if **class == Class::Cell && leaf.value.is_number() {
                &number
            } else {
                class
            }
        });
        let mut said = class.and_then(|class| find(leaf, class, example, &items));
        // A short text may stand among the words: "the letters in the word strawberry".
        let words = Arc::new(Class::Words {
            shown: Names::new(),
            are_quoted: false,
        });
        let plain = find(leaf, &words, example, &items).filter(|_| is_text && said.is_none());
        let class = if plain.is_some() { Some(&words) } else { class };
        is_text &= plain.is_none();
        said = said.or(plain);
        let (token, length) = said.unwrap_or((usize::MAX, 0));
        for (n, item) in items.iter_mut().skip(token).take(length).enumerate() {
            *item = (n == 0 && !is_text).then_some(Item::Slot(slots.len()));
        }
        let place = template.pointer_mut(&leaf.pointer);
        let Some(class) = class.filter(|_| is_text || said.is_some()) else {
            if let Some(Class::Key | Class::Cell) = class.map(Arc::as_ref) {
                let same = example.leaves.iter().filter(|other| other.value == leaf.value);
                let same = same.filter_map(|other| places.get(&other.pointer)).next()?;
                *place? = Template::slot(*same);
            }
            continue;
        };
        *place? = Template::slot(slots.len());
        places.insert(&leaf.pointer, slots.len());
        let (class, parameter) = (restrict(class, leaf, example, shown), leaf.parameter.clone());
        slots.push(Slot {
            class,
            parameter,
            token,
        });
    }
    Some(Pattern {
        tool,
        ask: example.reading.text.clone(),
        items: items.into_iter().flatten().collect(),
        slots,
        template: Template(template),
    })
}

/// The first token of the words that say the value, and how many words they are. Words in other slots are left out.
fn find(leaf: &Leaf, class: &Class, example: &Example, items: &[Option<Item>]) -> Option<(usize, usize)> {
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
