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

/// Begins the name of each slot, so that no value of an input is taken for one.
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
    /// For each item, the phrases that mean the same as the words from it on, each with how many words these are.
    pub(crate) ways: Vec<Vec<(usize, String)>>,
    /// The names of the slots for whole texts in the order of the question, and the forms that they accept.
    pub(crate) texts: Vec<(String, Forms)>,
    /// Whether its question has a whole text.
    pub(crate) quotes: bool,
    /// The input, with the names of slots in place of the values that questions give. Questions that ask for the same have
    /// the same one.
    pub(crate) template: Value,
}

/// A word of a pattern, or a slot for a value.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The stem of the word, or the name of the slot: its place in the input as a JSON pointer. It stands for the value in the
    /// template.
    pub(crate) key: String,
    /// Which words can fill the slot.
    pub(crate) class: Option<Arc<Class>>,
}

impl Item {
    /// Returns the stem, if it is a word.
    pub(crate) fn word(&self) -> Option<&String> {
        self.class.is_none().then_some(&self.key)
    }
}

impl Pattern {
    /// Returns the stems of its words.
    pub(crate) fn words(&self) -> impl Iterator<Item = &String> {
        self.items.iter().filter_map(Item::word)
    }

    /// Returns whether `word` leads to other slots than that one: `from` before the unit that is converted to.
    pub(crate) fn leads_elsewhere(&self, word: &str, slot: &Item) -> bool {
        let pairs = self.items.iter().tuple_windows().filter(|(lead, _)| lead.key == word);
        let led = pairs
            .filter(|(_, led)| slot.class.is_some() && led.class.is_some())
            .collect_vec();
        !led.is_empty() && !led.iter().any(|(_, led)| led.key == slot.key)
    }
}

/// Values by the names of their slots.
pub(crate) type Values = BTreeMap<String, Value>;

/// Returns `template` with `values` in place of the names of their slots.
pub(crate) fn fill(template: &Value, values: &Values) -> Value {
    put_texts(template, &|text| {
        values.get(text).cloned().unwrap_or_else(|| text.into())
    })
}

/// Returns the names of the slots in `template`.
pub(crate) fn slots_of(template: &Value) -> BTreeSet<String> {
    match template {
        Value::String(text) => text.starts_with(SLOT).then(|| text.clone()).into_iter().collect(),
        Value::Array(items) => items.iter().flat_map(slots_of).collect(),
        Value::Object(map) => map.values().flat_map(slots_of).collect(),
        _ => BTreeSet::new(),
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

/// Returns the patterns that the examples of a tool teach; `tool` is its position among the tools.
pub(crate) fn patterns(tool: usize, schema: &ToolSchema) -> Vec<Pattern> {
    let (examples, classes) = read(schema);
    let mut shown = Shown::new();
    for example in &examples {
        for leaf in &example.leaves {
            let choice = (leaf.parameter.as_str(), leaf.value.as_str().unwrap_or_default());
            shown.entry(choice).or_default().insert(example.parameters());
        }
    }
    let learn = |example| Learner::new(example, &shown).learn(tool, &classes);
    examples.iter().filter_map(learn).collect()
}

/// For each text of a parameter, the parameters of each input that has it.
type Shown<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<BTreeSet<&'a str>>>;

/// An example of which some values have become slots.
struct Learner<'a> {
    example: &'a Example,
    shown: &'a Shown<'a>,
    /// For each token, the item that begins with it.
    items: Vec<Option<Item>>,
    /// The slots for whole texts, with the numbers of their tokens; texts that are not in the question are last.
    texts: Vec<(usize, (String, Forms))>,
    template: Value,
}

impl<'a> Learner<'a> {
    fn new(example: &'a Example, shown: &'a Shown<'a>) -> Self {
        let word = |token: &Token| {
            (token.kind != Kind::Mark).then(|| Item {
                key: token.stem.clone(),
                class: None,
            })
        };
        Self {
            example,
            shown,
            items: example.reading.tokens.iter().map(word).collect(),
            texts: Vec::new(),
            template: example.input.clone(),
        }
    }

    /// Returns the pattern, or `None` if its input names a column or a cell of its data that its question does not.
    fn learn(mut self, tool: usize, classes: &Classes) -> Option<Pattern> {
        for leaf in &self.example.leaves {
            let class = classes.get(&leaf.parameter).filter(|_| !leaf.value.is_null());
            if let Some(class) = class {
                self.learn_value(leaf, class)?;
            }
        }
        let texts = self.texts.into_iter().sorted_by_key(|(token, _)| *token).collect_vec();
        Some(Pattern {
            tool,
            ask: self.example.reading.text.clone(),
            items: self.items.into_iter().flatten().collect(),
            quotes: texts.iter().any(|(token, _)| *token != usize::MAX),
            ways: Vec::new(),
            texts: texts.into_iter().map(|(_, text)| text).collect(),
            template: self.template,
        })
    }

    /// Puts a slot in place of a value that the question says. Other values stay as they are.
    fn learn_value(&mut self, leaf: &Leaf, class: &Arc<Class>) -> Option<()> {
        let classes = match class.as_ref() {
            // A short text may stand among the words: "the letters in the word strawberry".
            Class::Text(_) => vec![Arc::clone(class), Arc::new(Class::ANY_WORD)],
            Class::Named(choices) => vec![Arc::new(Class::Named(self.choices(leaf, choices)))],
            Class::Cell if leaf.value.is_number() => vec![Arc::new(Class::Number)],
            _ => vec![Arc::clone(class)],
        };
        let said = classes.iter().find_map(|class| Some((class, self.find(leaf, class)?)));
        match (said, class.as_ref()) {
            (Some((class, place)), _) => self.put(leaf, class, place),
            (None, Class::Text(_)) => self.put(leaf, class, (usize::MAX, 0)),
            (None, Class::Key | Class::Cell) => self.repeat(leaf),
            (None, _) => Some(()),
        }
    }

    /// The choices but for those that examples show only with parameters that this example lacks.
    fn choices(&self, leaf: &Leaf, choices: &Names) -> Names {
        let parameters = self.example.parameters();
        let goes = |text: &str| {
            let inputs = self.shown.get(&(leaf.parameter.as_str(), text));
            inputs.is_none_or(|inputs| inputs.iter().any(|input| input.is_subset(&parameters)))
        };
        let choices = choices.clone().into_iter();
        choices.filter(|(_, text)| goes(text)).collect()
    }

    fn put(&mut self, leaf: &Leaf, class: &Arc<Class>, (token, length): (usize, usize)) -> Option<()> {
        let (name, class) = (format!("{SLOT}{}", leaf.pointer), Arc::clone(class));
        *self.template.pointer_mut(&leaf.pointer)? = name.as_str().into();
        let said = self.items.iter_mut().skip(token).take(length);
        said.for_each(|item| *item = None);
        match (class.as_ref(), self.items.get_mut(token)) {
            (Class::Text(forms), _) => self.texts.push((token, (name, forms.clone()))),
            (_, item) => {
                *item? = Some(Item {
                    key: name,
                    class: Some(class),
                })
            }
        }
        Some(())
    }

    /// Puts the slot of an equal value in place of a value that the question does not say again.
    fn repeat(&mut self, leaf: &Leaf) -> Option<()> {
        let equal = self.example.leaves.iter().filter(|other| other.value == leaf.value);
        let mut values = equal.filter_map(|other| self.template.pointer(&other.pointer)?.as_str());
        let name = values.find(|text| text.starts_with(SLOT))?.to_owned();
        *self.template.pointer_mut(&leaf.pointer)? = name.into();
        Some(())
    }

    /// Returns the first token of the words that say the value, and how many words they are. Words in other slots are left out.
    fn find(&self, leaf: &Leaf, class: &Class) -> Option<(usize, usize)> {
        let reading = &self.example.reading;
        let is_free = |item: &Option<Item>| item.as_ref().is_none_or(|item| item.class.is_none());
        (0..reading.tokens.len()).find_map(|at| {
            let fillers = class.fillers(reading.tokens.get(at..)?, reading).into_iter();
            let mut said = fillers.filter(|filler| says_the_same(&filler.value, &leaf.value));
            let filler = said.find(|filler| self.items.iter().skip(at).take(filler.length).all(is_free))?;
            Some((at, filler.length))
        })
    }
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
