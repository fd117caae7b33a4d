//! What the examples of a tool teach when they are compared: phrases that mean the same, and phrases that add to an input.
//!
//! Two questions for the same input differ in words that do not matter. Where each of them has other words, these mean the
//! same; where one of them has more words, these mean nothing. A question whose input has everything that another one has, and
//! more, shows what its additional words mean: "in Bonn" adds a filter to any question about a table.

use std::collections::{BTreeMap, BTreeSet};

use itertools::Itertools;
use serde_json::{Map, Value};

use crate::class::Class;
use crate::pattern::{Item, Pattern, slots_of};
use crate::token::{Kind, Token, beginnings, stems};
use crate::words::{is_content, is_functional, is_pointing};

/// Maximum number of pairs of questions that are compared for a tool.
const MAX_PAIRS: usize = 200_000;
/// Maximum number of words in a phrase.
const MAX_PHRASE: usize = 4;
/// Maximum number of words and slots in an addition.
const MAX_ADDITION: usize = 8;
/// Maximum number of additions of a tool.
const MAX_ADDITIONS: usize = 256;

/// Pairs of words or phrases, by their stems.
type Pairs = BTreeSet<(String, String)>;

/// What the examples of a tool teach when they are compared.
#[derive(Debug, Default)]
pub(crate) struct Grammar {
    /// Phrases that mean the same, each pair in both orders. Phrases that a question may lack have an empty one beside them.
    variants: Pairs,
    /// Phrases with slots by their keys, and the part of an input that each adds: one, once all examples are compared.
    pub(crate) additions: BTreeMap<Vec<String>, (Vec<Item>, Vec<Value>)>,
    /// The stems of all words of the tool's examples.
    words: BTreeSet<String>,
}

impl Grammar {
    /// Compares `patterns`, which are those of one tool.
    pub(crate) fn learn(patterns: &[Pattern]) -> Self {
        let words = patterns.iter().flat_map(Pattern::words).cloned().collect();
        let mut grammar = Self::default();
        let mut contrasts = Pairs::new();
        grammar.words = words;
        patterns.iter().for_each(|pattern| grammar.learn_noun(pattern));
        for (one, other) in patterns.iter().tuple_combinations().take(MAX_PAIRS) {
            grammar.compare(one, other, &mut contrasts);
        }
        grammar.forget_what_tells_inputs_apart(&contrasts);
        grammar
    }

    /// Returns the words with content that mean the same, in any tool. Words that a question may lack, such as the nouns for a
    /// text, are not among them: to another tool a letter is a character.
    pub(crate) fn same_words(&self) -> impl Iterator<Item = &(String, String)> {
        let is_word = |phrase: &str| is_content(phrase) && !phrase.contains(' ') && !self.may_lack(phrase);
        let pairs = self.variants.iter();
        pairs.filter(move |(one, other)| is_word(one) && is_word(other))
    }

    /// Adopts words that mean the same to other tools, unless an example of this tool has the other word.
    pub(crate) fn adopt(&mut self, pairs: &Pairs) {
        let is_new = |(own, other): &&(String, String)| self.knows(own) && !self.knows(other);
        let new = pairs.iter().filter(is_new).cloned().collect_vec();
        self.variants.extend(new);
    }

    /// Returns whether an example has a word with that stem.
    pub(crate) fn knows(&self, stem: &str) -> bool {
        self.words.contains(stem)
    }

    /// Returns whether a question may lack a phrase.
    pub(crate) fn may_lack(&self, phrase: &str) -> bool {
        self.variants(phrase).next().is_some_and(str::is_empty)
    }

    /// Returns what means the same as a phrase, in alphabetic order: nothing at all if a question may lack it.
    fn variants(&self, phrase: &str) -> impl Iterator<Item = &str> {
        let pairs = self.variants.range((phrase.to_owned(), String::new())..);
        let pairs = pairs.take_while(move |(one, _)| one == phrase);
        pairs.map(|(_, other)| other.as_str())
    }

    /// Returns what means the same as the first words of `items`, with how many words it stands for.
    pub(crate) fn ways(&self, items: &[Item]) -> Vec<(usize, String)> {
        let words = items.iter().take(MAX_PHRASE).map_while(Item::word).collect_vec();
        let phrases = (1..=words.len()).map(|count| (count, words.iter().take(count).join(" ")));
        let ways = phrases.flat_map(|(count, phrase)| {
            let others = self.variants(&phrase).map(str::to_owned).collect_vec();
            others.into_iter().map(move |other| (count, other))
        });
        ways.collect()
    }

    /// Returns how many words at the beginning of `tokens` are a phrase that other questions lack.
    pub(crate) fn needless(&self, tokens: &[Token]) -> Option<usize> {
        let are_words = |tokens: &&[Token]| tokens.iter().all(|token| token.kind == Kind::Word);
        let mut phrases = beginnings(tokens, MAX_PHRASE).filter(are_words);
        Some(phrases.find(|phrase| self.may_lack(&stems(phrase)))?.len())
    }

    /// Learns that a question may lack the noun for a text that comes with it: `this letter`, `these two files`.
    fn learn_noun(&mut self, pattern: &Pattern) {
        let mut words = pattern.words().skip_while(|word| !is_pointing(word)).skip(1);
        let noun = words.find(|word| word.parse::<f64>().is_err());
        let noun = noun.filter(|_| !pattern.texts.is_empty());
        self.variants.extend(noun.map(|noun| (noun.clone(), String::new())));
    }

    /// Learns from two questions that differ at one place, and adds the words that make the difference between their inputs to
    /// `contrasts`.
    fn compare(&mut self, one: &Pattern, other: &Pattern, contrasts: &mut Pairs) {
        let (left, right) = difference(&one.items, &other.items);
        if left.len().max(right.len()) > MAX_ADDITION || left.len().min(right.len()) > MAX_PHRASE {
            return;
        }
        let (old, new) = (content(left), content(right));
        let phrases = phrase(left).zip(phrase(right));
        let is_same = one.template == other.template;
        let has = |pattern: &Pattern, words: &[&String]| pattern.words().any(|word| words.contains(&word));
        match (&phrases, old.as_slice(), new.as_slice()) {
            _ if is_same && (has(other, &old) || has(one, &new)) => {}
            (Some((left, right)), ..) if is_same => self.learn_variants(left, right),
            _ if is_same => {}
            _ if left.is_empty() => self.learn_addition(one, other, right),
            _ if right.is_empty() => self.learn_addition(other, one, left),
            (Some(_), [old], [new]) => contrasts.extend(both(old, new)),
            _ => {}
        }
    }

    /// Learns that two phrases mean the same. Where one is empty, the content of the other is needless.
    fn learn_variants(&mut self, left: &str, right: &str) {
        let words = left.split_whitespace().chain(right.split_whitespace());
        let has_content = |word: &&str| !is_functional(word) && !is_pointing(word);
        let content = words.filter(has_content).join(" ");
        match (left, right) {
            ("", phrase) | (phrase, "") if !content.is_empty() => {
                let needless = [phrase, &content].map(|phrase| (phrase.to_owned(), String::new()));
                self.variants.extend(needless);
            }
            ("", _) | (_, "") => {}
            _ => self.variants.extend(both(left, right)),
        }
    }

    /// Learns from a question and a longer one with more in its input.
    fn learn_addition(&mut self, base: &Pattern, longer: &Pattern, items: &[Item]) {
        let extra = extra(&base.template, &longer.template).filter(|extra| is_addition(items, extra));
        let Some(extra) = extra else { return };
        let keys = items.iter().map(|item| item.key.clone()).collect_vec();
        if self.additions.len() < MAX_ADDITIONS || self.additions.contains_key(&keys) {
            let addition = self.additions.entry(keys);
            let (_, extras) = addition.or_insert_with(|| (items.to_vec(), Vec::new()));
            extras.extend((!extras.contains(&extra)).then_some(extra));
        }
    }

    /// Forgets what is wrong where a word makes the difference: as a needless word, as a variant of the other word, or as an
    /// addition of one thing here and of another there.
    fn forget_what_tells_inputs_apart(&mut self, contrasts: &Pairs) {
        let items = self.additions.values().flat_map(|addition| &addition.0);
        let decisive = contrasts.iter().map(|(one, _)| one).chain(items.filter_map(Item::word));
        let decisive = decisive.map(String::as_str).filter(|word| !is_functional(word));
        let decisive: BTreeSet<&str> = decisive.collect();
        let is_contrast = |(one, other): (&str, &str)| contrasts.contains(&(one.to_owned(), other.to_owned()));
        self.variants.retain(|(one, other)| {
            let mut pairs = one.split(' ').cartesian_product(other.split(' '));
            let is_needed = other.is_empty() && one.split(' ').any(|word| decisive.contains(word));
            !is_needed && !pairs.any(is_contrast)
        });
        self.additions.retain(|_, addition| addition.1.len() == 1);
    }
}

/// Returns whether `items` are clear enough to mean `extra` in every question.
fn is_addition<'a>(items: &'a [Item], extra: &Value) -> bool {
    let words = items.iter().filter_map(Item::word).collect_vec();
    let slot = |item: &'a Item| Some((item.key.clone(), item.class.as_deref()?));
    let slots = items.iter().filter_map(slot);
    let (slots, classes): (BTreeSet<String>, Vec<&Class>) = slots.unzip();
    // After grammar alone, only a name of the data or of the schema is clear: "in Bonn", but not "in 7".
    let is_name = |class: &&Class| matches!(class, Class::Key | Class::Cell | Class::Named(_));
    let has_content = words.iter().any(|word| !is_functional(word));
    let is_clear = has_content || (!words.is_empty() && classes.iter().all(is_name));
    // "in this text" points to the data and adds nothing.
    slots == slots_of(extra) && is_clear && !words.iter().any(|word| is_pointing(word))
}

/// Returns where two questions differ: what is left of each without the beginning and the end that they share.
fn difference<'a>(one: &'a [Item], other: &'a [Item]) -> (&'a [Item], &'a [Item]) {
    let is_same = |(one, other): &(&Item, &Item)| one.key == other.key;
    let start = one.iter().zip(other).take_while(is_same).count();
    let rest = |items: &'a [Item]| items.get(start..).unwrap_or_default();
    let (one, other) = (rest(one), rest(other));
    let end = one.iter().rev().zip(other.iter().rev()).take_while(is_same).count();
    let cut = |items: &'a [Item]| items.get(..items.len() - end).unwrap_or_default();
    (cut(one), cut(other))
}

/// The words among `items` that have content.
fn content(items: &[Item]) -> Vec<&String> {
    let words = items.iter().filter_map(Item::word);
    words.filter(|word| !is_functional(word)).collect()
}

/// `items` as a phrase, if they are a few words.
fn phrase(items: &[Item]) -> Option<String> {
    let words: Option<Vec<&str>> = items.iter().map(|item| item.word().map(String::as_str)).collect();
    Some(words.filter(|words| words.len() <= MAX_PHRASE)?.join(" "))
}

/// A pair in both orders.
fn both(one: &str, other: &str) -> [(String, String); 2] {
    [(one, other), (other, one)].map(|(one, other)| (one.to_owned(), other.to_owned()))
}

/// Returns the part of `longer` that `base` lacks, if `longer` has all of `base`.
fn extra(base: &Value, longer: &Value) -> Option<Value> {
    match (base, longer) {
        (Value::Object(base), Value::Object(longer)) => {
            let mut added = Map::new();
            for (key, value) in longer.iter().filter(|(key, value)| base.get(*key) != Some(value)) {
                let old = base.get(key).map(|old| extra(old, value));
                added.insert(key.clone(), old.unwrap_or_else(|| Some(value.clone()))?);
            }
            base.keys().all(|key| longer.contains_key(key)).then_some(added.into())
        }
        (Value::Array(base), Value::Array(longer)) => {
            let is_longer = longer.len() > base.len() && longer.starts_with(base);
            is_longer.then(|| longer.get(base.len()..).unwrap_or_default().into())
        }
        _ => None,
    }
}

/// Returns `input` with `extra`: objects get its keys, lists its items. None where both have different values, or a list would
/// have an item twice.
pub(crate) fn merge(input: Value, extra: Value) -> Option<Value> {
    match (input, extra) {
        (Value::Object(mut input), Value::Object(extra)) => {
            for (key, value) in extra {
                let old = input.remove(&key).map(|old| merge(old, value.clone()));
                input.insert(key, old.unwrap_or(Some(value))?);
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
