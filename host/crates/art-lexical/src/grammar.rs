//! What the examples of a tool teach when they are compared: phrases that a question may lack, phrases that mean the same, and
//! phrases that add to an input.
//!
//! Two questions for the same input differ in words that do not matter. Where one of them has more words, these are optional;
//! where each has other words, these are synonyms. A question whose input has everything that another one has, and more, shows
//! what its additional words mean: "in Bonn" adds a filter to any question about a table.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use itertools::Itertools;
use serde_json::{Map, Value};

use crate::class::{Class, Reading};
use crate::pattern::{Item, Pattern, Slot, Template};
use crate::token::Token;
use crate::words::{is_article, is_content, is_functional, is_pointing};

/// Maximum number of pairs of questions that are compared for a tool.
const MAX_PAIRS: usize = 200_000;
/// Maximum number of words in a phrase.
const MAX_PHRASE: usize = 4;
/// Maximum number of words and slots in an addition.
const MAX_ADDITION: usize = 8;
/// Maximum number of additions of a tool.
const MAX_ADDITIONS: usize = 256;
/// Cost of a synonym and of an article within an addition.
const VARIANT: f64 = 0.05;

/// Stems of words that stand together.
type Phrase = Vec<String>;

/// What the examples of a tool teach when they are compared.
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    optional: BTreeSet<Phrase>,
    synonyms: BTreeMap<Phrase, BTreeSet<Phrase>>,
    pub(crate) additions: Vec<Addition>,
    /// The stems of all words of the tool's examples.
    words: BTreeSet<String>,
    /// Pairs of words that make the difference between two inputs.
    contrasts: BTreeSet<(String, String)>,
}

/// A phrase with slots, and the part of an input that it adds.
#[derive(Debug)]
pub(crate) struct Addition {
    items: Vec<Item>,
    slots: Vec<Slot>,
    extra: Template,
}

/// A way in which tokens are an addition.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    /// Number of tokens that it consists of.
    pub(crate) length: usize,
    pub(crate) cost: f64,
    values: BTreeMap<usize, Value>,
}

impl Grammar {
    /// Compares `patterns`, which are those of one tool.
    pub(crate) fn learn(patterns: &[Pattern]) -> Self {
        let mut grammar = Self {
            words: patterns.iter().flat_map(Pattern::words).cloned().collect(),
            ..Self::default()
        };
        let known: Vec<Known<'_>> = patterns.iter().map(Known::new).collect();
        known.iter().for_each(|one| grammar.learn_nouns(one));
        for (one, other) in known.iter().tuple_combinations().take(MAX_PAIRS) {
            grammar.compare(one, other);
        }
        grammar.forget_what_tells_inputs_apart();
        grammar
    }

    /// Returns the pairs of words with content that mean the same, in any tool. Words that a question may lack, such as the
    /// nouns for a text, are not among them: to another tool a letter is a character.
    pub(crate) fn same_words(&self) -> impl Iterator<Item = (String, String)> {
        let word = |phrase: &Phrase| match phrase.as_slice() {
            [word] if is_content(word) && !self.optional.contains(phrase) => Some(word.clone()),
            _ => None,
        };
        let pairs = self
            .synonyms
            .iter()
            .flat_map(|(one, others)| others.iter().map(move |other| (one, other)));
        pairs.filter_map(move |(one, other)| Some((word(one)?, word(other)?)))
    }

    /// Adopts synonyms that other tools teach for the words of this tool, unless an example of this tool has the other word.
    pub(crate) fn adopt(&mut self, pairs: &BTreeSet<(String, String)>) {
        let is_new = |(own, other): &&(String, String)| self.words.contains(own) && !self.words.contains(other);
        for (own, other) in pairs.iter().filter(is_new) {
            let others = self.synonyms.entry(vec![own.clone()]).or_default();
            others.insert(vec![other.clone()]);
        }
    }

    /// Returns whether an example has a word with that stem.
    pub(crate) fn knows(&self, stem: &str) -> bool {
        self.words.contains(stem)
    }

    /// Returns how many of `words` at their beginning a question may lack.
    pub(crate) fn optional(&self, words: &[String]) -> Option<usize> {
        let lengths = (1..=words.len().min(MAX_PHRASE)).rev();
        lengths
            .into_iter()
            .find(|length| words.get(..*length).is_some_and(|words| self.optional.contains(words)))
    }

    /// Returns the ways in which the first of `tokens` mean the same as the first of `words`: how many there are of each.
    pub(crate) fn synonyms(&self, words: &[String], tokens: &[Token]) -> Vec<(usize, usize)> {
        let begins = |phrase: &Phrase| {
            phrase.len() <= tokens.len() && phrase.iter().zip(tokens).all(|(word, token)| *word == token.stem)
        };
        let lengths = 1..=words.len().min(MAX_PHRASE);
        let known = lengths.filter_map(|length| Some((length, self.synonyms.get(words.get(..length)?)?)));
        let ways = known.flat_map(|(length, phrases)| phrases.iter().map(move |phrase| (length, phrase)));
        ways.filter(|(_, phrase)| begins(phrase))
            .map(|(length, phrase)| (length, phrase.len()))
            .collect()
    }
}

impl Addition {
    fn new(items: &[Item], longer: &Pattern, extra: Template) -> Option<Self> {
        let slots = items.iter().filter_map(|item| match item {
            Item::Slot(slot) => longer.slots.get(*slot),
            Item::Word(_) => None,
        });
        let marked = (0..longer.slots.len()).filter(|slot| extra.has_slot(*slot)).count();
        let is_whole = items.len() <= MAX_ADDITION && slots.clone().count() == marked;
        // After grammar alone, only a name of the data or of the schema is clear: "in Bonn", but not "in 7".
        let is_name = |slot: &Slot| matches!(*slot.class, Class::Key | Class::Cell | Class::Named(_));
        let words = || items.iter().filter_map(Item::word);
        let is_clear = words().any(|word| !is_functional(word)) || (words().count() > 0 && slots.clone().all(is_name));
        // "in this text" points to the data and adds nothing.
        let points = words().any(|word| is_pointing(word));
        (is_whole && is_clear && !points).then(|| Self {
            items: items.to_vec(),
            slots: longer.slots.clone(),
            extra,
        })
    }

    /// What it means: the same for additions that were learnt twice.
    fn signature(&self) -> (Vec<String>, Value) {
        let keys = self.items.iter().map(|item| key(item, &self.slots));
        (keys.collect(), self.extra.shape(&self.slots))
    }

    /// Returns every way in which the first of `tokens` are this addition.
    pub(crate) fn find(&self, tokens: &[Token], reading: &Reading, grammar: &Grammar) -> Vec<Found> {
        self.find_items(&self.items, tokens, reading, grammar)
    }

    fn find_items(&self, items: &[Item], tokens: &[Token], reading: &Reading, grammar: &Grammar) -> Vec<Found> {
        let Some((item, others)) = items.split_first() else {
            return vec![Found::default()];
        };
        let go_on = |items: &[Item], way: &Found| {
            let rest = tokens.get(way.length..).unwrap_or_default();
            let rests = self.find_items(items, rest, reading, grammar).into_iter();
            rests.map(|rest| rest.after(way)).collect_vec()
        };
        let ways = match item {
            Item::Word(word) => words(word, tokens, grammar),
            Item::Slot(slot) => self.fillers(*slot, tokens, reading),
        };
        let mut found = ways.iter().flat_map(|way| go_on(others, way)).collect_vec();
        let is_inside = items.len() < self.items.len();
        if is_inside && tokens.first().is_some_and(|token| is_article(&token.stem)) {
            found.extend(go_on(items, &Found::words(1, VARIANT)));
        }
        found
    }

    fn fillers(&self, slot: usize, tokens: &[Token], reading: &Reading) -> Vec<Found> {
        let class = self.slots.get(slot).map(|slot| slot.class.as_ref());
        let fillers = class.map_or_else(Vec::new, |class| class.fillers(tokens, reading));
        // A few words of an addition do not tell which unknown words are its value.
        let known = fillers.into_iter().filter(|filler| filler.unknown != Some(true));
        let found = known.map(|filler| Found {
            values: BTreeMap::from([(slot, filler.value)]),
            ..Found::words(filler.length, filler.cost)
        });
        found.collect()
    }

    /// Returns `input` with what the addition adds, if the input has nothing else at that place.
    pub(crate) fn add_to(&self, input: Value, found: &Found) -> Option<Value> {
        merge(input, self.extra.fill(&found.values))
    }
}

impl Found {
    fn words(length: usize, cost: f64) -> Self {
        let values = BTreeMap::new();
        Self { length, cost, values }
    }

    fn after(mut self, way: &Self) -> Self {
        self.length += way.length;
        self.cost += way.cost;
        self.values.extend(way.values.clone());
        self
    }
}

/// The ways in which the first of `tokens` are a word of an addition, which may lack an article.
fn words(word: &String, tokens: &[Token], grammar: &Grammar) -> Vec<Found> {
    let is_next = tokens.first().is_some_and(|token| token.stem == *word);
    let synonyms = grammar.synonyms(std::slice::from_ref(word), tokens).into_iter();
    let same = synonyms.map(|(_, length)| Found::words(length, VARIANT));
    let lacks = is_article(word) && !is_next;
    let exact = is_next.then(|| Found::words(1, 0.0)).into_iter();
    exact
        .chain(same)
        .chain(lacks.then(|| Found::words(0, VARIANT)))
        .collect()
}

/// A pattern with what is compared of it.
struct Known<'a> {
    pattern: &'a Pattern,
    /// Its words, with the names of their parameters for slots.
    keys: Vec<String>,
    shape: Value,
}

impl<'a> Known<'a> {
    fn new(pattern: &'a Pattern) -> Self {
        let keys = pattern.items.iter().map(|item| key(item, &pattern.slots));
        Self {
            pattern,
            keys: keys.collect(),
            shape: pattern.template.shape(&pattern.slots),
        }
    }

    /// Returns the words in `range` that have content.
    fn content(&self, range: Range<usize>) -> Phrase {
        let words = self.pattern.items.get(range).unwrap_or_default().iter();
        let words = words.filter_map(Item::word).filter(|word| !is_functional(word));
        words.cloned().collect()
    }

    /// Returns the items in `range` as a phrase, if they are a few words.
    fn phrase(&self, range: Range<usize>) -> Option<Phrase> {
        let items = self.pattern.items.get(range)?.iter();
        let words: Phrase = items.map(|item| item.word().cloned()).collect::<Option<_>>()?;
        (!words.is_empty() && words.len() <= MAX_PHRASE).then_some(words)
    }
}

impl Grammar {
    /// Learns that a question may lack or change the noun for a text that comes with it: `this letter`, `these two files`.
    fn learn_nouns(&mut self, known: &Known<'_>) {
        if known.pattern.texts().is_empty() {
            return;
        }
        let is_pointing = |word: &&String| is_pointing(word);
        for (at, _) in known.keys.iter().enumerate().filter(|(_, word)| is_pointing(word)) {
            let rest = known
                .keys
                .iter()
                .skip(at + 1)
                .skip_while(|word| word.parse::<f64>().is_ok());
            self.optional.extend(rest.take(1).map(|noun| vec![noun.clone()]));
        }
    }

    /// Compares two questions that differ at one place.
    fn compare(&mut self, one: &Known<'_>, other: &Known<'_>) {
        let (left, right) = change(&one.keys, &other.keys);
        if left.len().max(right.len()) > MAX_ADDITION || left.len().min(right.len()) > MAX_PHRASE {
            return;
        }
        let (old, new) = (one.content(left.clone()), other.content(right.clone()));
        let has_moved =
            old.iter().any(|word| other.keys.contains(word)) || new.iter().any(|word| one.keys.contains(word));
        if one.shape == other.shape {
            let (old, new) = (one.phrase(left), other.phrase(right));
            match (old, new) {
                _ if has_moved => {}
                (Some(old), Some(new)) => {
                    self.synonyms.entry(old.clone()).or_default().insert(new.clone());
                    self.synonyms.entry(new).or_default().insert(old);
                }
                (Some(phrase), None) if one.keys.len() > other.keys.len() => self.learn_optional(&phrase),
                (None, Some(phrase)) if other.keys.len() > one.keys.len() => self.learn_optional(&phrase),
                _ => {}
            }
            return;
        }
        let are_words = one.phrase(left.clone()).is_some() && other.phrase(right.clone()).is_some();
        if let (true, [old], [new]) = (are_words, old.as_slice(), new.as_slice()) {
            self.contrasts.insert((old.clone(), new.clone()));
            self.contrasts.insert((new.clone(), old.clone()));
        }
        if left.is_empty() {
            self.learn_addition(one, other, right);
        } else if right.is_empty() {
            self.learn_addition(other, one, left);
        }
    }

    fn learn_optional(&mut self, phrase: &[String]) {
        let content = phrase.iter().filter(|word| !is_functional(word) && !is_pointing(word));
        let content: Phrase = content.cloned().collect();
        if !content.is_empty() {
            self.optional.extend([content, phrase.to_vec()]);
        }
    }

    /// Learns from a question and a longer one with more in its input.
    fn learn_addition(&mut self, base: &Known<'_>, longer: &Known<'_>, range: Range<usize>) {
        let items = longer.pattern.items.get(range).unwrap_or_default();
        let extra = difference(&base.shape, &longer.shape, &longer.pattern.template.0);
        let addition = extra.and_then(|extra| Addition::new(items, longer.pattern, Template(extra)));
        let is_new = |addition: &Addition| {
            !self
                .additions
                .iter()
                .any(|known| known.signature() == addition.signature())
        };
        if self.additions.len() < MAX_ADDITIONS {
            self.additions.extend(addition.filter(is_new));
        }
    }

    /// Forgets what is wrong where a word makes the difference: as an optional word, as a synonym of the other word, or as an
    /// addition of one thing here and of another there.
    fn forget_what_tells_inputs_apart(&mut self) {
        let contrasted = self.contrasts.iter().map(|(one, _)| one);
        let items = self.additions.iter().flat_map(|addition| &addition.items);
        let decisive = contrasted.chain(items.filter_map(Item::word));
        let decisive: BTreeSet<&String> = decisive.filter(|word| !is_functional(word)).collect();
        self.optional
            .retain(|phrase| !phrase.iter().any(|word| decisive.contains(word)));
        for (one, others) in &mut self.synonyms {
            let is_contrast = |other: &Phrase| {
                let mut pairs = one.iter().cloned().cartesian_product(other.iter().cloned());
                pairs.any(|pair| self.contrasts.contains(&pair))
            };
            others.retain(|other| !is_contrast(other));
        }
        let meanings = self.additions.iter().map(|addition| addition.signature().0).counts();
        self.additions
            .retain(|addition| meanings.get(&addition.signature().0) == Some(&1));
    }
}

/// Returns where two questions differ: what is left of each without the beginning and the end that they share.
fn change(one: &[String], other: &[String]) -> (Range<usize>, Range<usize>) {
    let same = |pairs: &mut dyn Iterator<Item = (&String, &String)>| pairs.take_while(|(a, b)| a == b).count();
    let start = same(&mut one.iter().zip(other));
    let shorter = one.len().min(other.len());
    let end = same(&mut one.iter().rev().zip(other.iter().rev())).min(shorter - start);
    (start..one.len() - end, start..other.len() - end)
}

fn key(item: &Item, slots: &[Slot]) -> String {
    match item {
        Item::Word(word) => word.clone(),
        Item::Slot(slot) => slots
            .get(*slot)
            .map_or_else(String::new, |slot| format!("\u{2}{}", slot.parameter)),
    }
}

/// Returns the part of `template`, whose shape is `longer`, that `base` lacks.
fn difference(base: &Value, longer: &Value, template: &Value) -> Option<Value> {
    match (base, longer, template) {
        (Value::Object(base), Value::Object(longer), Value::Object(template)) => {
            let mut extra = Map::new();
            for (key, value) in longer {
                match base.get(key) {
                    Some(same) if same == value => {}
                    Some(other) => {
                        extra.insert(key.clone(), difference(other, value, template.get(key)?)?);
                    }
                    None => {
                        extra.insert(key.clone(), template.get(key)?.clone());
                    }
                }
            }
            let has_all = base.keys().all(|key| longer.contains_key(key));
            (has_all && !extra.is_empty()).then_some(Value::Object(extra))
        }
        (Value::Array(base), Value::Array(longer), Value::Array(template)) => {
            let is_longer = longer.len() > base.len() && longer.starts_with(base);
            is_longer.then(|| template.get(base.len()..).unwrap_or_default().into())
        }
        _ => None,
    }
}

/// Returns `input` with `extra`: objects get its keys, lists its items. None where both have different values, or a list would
/// have an item twice.
fn merge(input: Value, extra: Value) -> Option<Value> {
    match (input, extra) {
        (Value::Object(mut input), Value::Object(extra)) => {
            for (key, value) in extra {
                let merged = match input.remove(&key) {
                    Some(old) => merge(old, value)?,
                    None => value,
                };
                input.insert(key, merged);
            }
            Some(Value::Object(input))
        }
        (Value::Array(mut input), Value::Array(extra)) => {
            let is_new = !extra.iter().any(|item| input.contains(item));
            input.extend(extra);
            is_new.then_some(Value::Array(input))
        }
        (input, extra) => (input == extra).then_some(input),
    }
}
