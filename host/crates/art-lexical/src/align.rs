//! Aligns a question with a pattern word by word: the cheapest way to turn the one into the other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value;

use crate::class::Filler;
use crate::pattern::{Item, Pattern};
use crate::reading::Reading;
use crate::token::{Kind, Token};
use crate::words::{is_article, is_content, is_question_word};

/// Cost of a word or a slot that is left over. It exceeds the cost of any alignment that is accepted.
const LEFT_OVER: f64 = 100.0;
/// Maximum cost of an alignment that is considered. It lets a refusal name up to three words that are left over.
const MAX_CONSIDERED_COST: f64 = 3.5 * LEFT_OVER;
/// Cost of a word with content that only the question or only the pattern has, if the examples or the data show that it does not
/// matter. Also the cost of a value that is unlike those of the examples.
const OTHER_WORD: f64 = 0.2;
/// Cost of a word without content that only the question or only the pattern has. Also the cost of a phrase of conversation and of a
/// whole text.
const MINOR_WORD: f64 = 0.1;
/// Maximum cost of an alignment that is accepted.
const MAX_ACCEPTED_COST: f64 = 3.0;

/// What a step of an alignment means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The question has a word of the pattern, or of another pattern with the same template.
    Match,
    /// The question lacks a word with content that the pattern has.
    Lack,
    /// The question has a word that does not matter, or lacks such a word or a value of the pattern.
    Differ,
    /// The question has a whole text, or refers to an earlier result.
    Text,
    /// The question has a token that nothing accounts for.
    LeaveOver,
    /// The slot of this name gets this value. The flag tells whether the value is unlike those of the examples.
    Fill(String, Value, bool),
}

/// A possible step of an alignment: its effect, how many items of the pattern and tokens of the question it consumes, and its cost.
#[derive(Clone, Debug)]
struct Move(Effect, usize, usize, f64);

/// A word-by-word alignment of a question with a pattern.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    pub(crate) cost: f64,
    /// The steps, each with the tokens of the question that it consumes.
    steps: Vec<Rc<(Effect, Range<usize>)>>,
}

impl Alignment {
    /// Returns the first tokens of all steps with `effect`.
    pub(crate) fn tokens<'a>(&'a self, effect: Effect, reading: &'a Reading) -> impl Iterator<Item = &'a Token> {
        let steps = self.steps.iter().filter(move |step| step.0 == effect);
        steps.filter_map(|step| reading.tokens.get(step.1.start))
    }

    /// Returns the names and values of all slots except those for whole texts.
    pub(crate) fn values(&self) -> impl Iterator<Item = (String, Value)> {
        self.steps.iter().filter_map(|step| match &step.0 {
            Effect::Fill(slot, value, _) => Some((slot.clone(), value.clone())),
            _ => None,
        })
    }

    /// Returns whether the alignment accounts for everything: no token is left over, and the question has all words of an example with the
    /// same template. One value that is unlike those of the examples is accepted if the question has all words of the pattern,
    /// and more than question words and numbers.
    pub(crate) fn is_sound(&self, pattern: &Pattern, reading: &Reading) -> bool {
        let matched_words = self.tokens(Effect::Match, reading).map(|token| &token.stem);
        let matched_words: BTreeSet<&String> = matched_words.filter(|word| is_content(word)).collect();
        let count = |is: fn(&Effect) -> bool| self.steps.iter().filter(|step| is(&step.0)).count();
        let unknown = count(|effect| matches!(effect, Effect::Fill(_, _, true)));
        let has_all_words = count(|effect| *effect == Effect::Lack) == 0;
        let mut word_sets = pattern.asks.word_sets.iter();
        let has_words_of_example = word_sets.any(|words| words.iter().all(|word| matched_words.contains(word)));
        let has_word = matched_words.iter().any(|word| !is_question_word(word));
        let has_value = has_word || count(|effect| matches!(effect, Effect::Fill(..))) > 0;
        let has_name = has_word || count(|effect| matches!(effect, Effect::Fill(_, Value::String(_), false))) > 0;
        let is_clear = unknown == 0 || (unknown == 1 && has_all_words && has_name);
        // A path without a word is no question.
        let has_question = !matched_words.is_empty() || self.steps.iter().all(|step| !step.1.is_empty());
        self.cost <= MAX_ACCEPTED_COST && has_value && has_words_of_example && is_clear && has_question
    }
}

/// Returns the steps in which `item` matches the tokens from `at` on. A name in the data matches no word of the pattern: "how many
/// employees" does not ask for the number of rows if there is a column `employees`. A value that is unlike those of the examples
/// must not contain a word of their questions.
fn match_item(pattern: &Pattern, item: &Item, reading: &Reading, at: usize) -> Vec<Move> {
    let rest = reading.rest(at);
    let Some(class) = &item.class else {
        let is_free = rest.first().is_some_and(|token| token.stem == item.key) && !reading.has_name(at..at + 1);
        return Vec::from_iter(is_free.then_some(Move(Effect::Match, 1, 1, 0.0)));
    };
    let before = at.checked_sub(1).and_then(|before| reading.tokens.get(before));
    if pattern.asks.leads_elsewhere(before.map_or("", Token::word), &item.key) {
        return Vec::new();
    }
    let words = &pattern.asks.words;
    let has_known_word = |length| rest.iter().take(length).any(|token| words.contains(&token.stem));
    let fillers = class.fillers(rest, reading).into_iter();
    let accepted = fillers.filter(|filler| !filler.is_unknown || !has_known_word(filler.length));
    let fill = |one: Filler| {
        let cost = if one.is_unknown { OTHER_WORD } else { 0.0 };
        let effect = Effect::Fill(item.key.clone(), one.value, one.is_unknown);
        Move(effect, 1, one.length, cost)
    };
    accepted.map(fill).collect()
}

/// Returns the step for a token of the question that the pattern lacks, or `None` at the end of the question.
fn skip_token(pattern: &Pattern, reading: &Reading, at: usize) -> Option<Move> {
    let (rest, takes_texts) = (reading.rest(at), !pattern.texts.is_empty());
    let token = rest.first()?;
    let is_context = || reading.data.iter().any(|data| data.context.contains(token.word()));
    // "it" is the attachment where there is no earlier result.
    let is_file = || reading.has_file() && token.stem == "it";
    let is_name = reading.has_name(at..at + 1);
    let (effect, length, cost) = match reading.earlier_reference_length(rest) {
        _ if token.kind == Kind::Mark || is_article(token.word()) => (Effect::Differ, 1, 0.0),
        _ if takes_texts && token.is_data() => (Effect::Text, 1, MINOR_WORD),
        Some(length) if takes_texts => (Effect::Text, length, OTHER_WORD),
        _ if takes_texts && (is_context() || is_file()) => (Effect::Differ, 1, OTHER_WORD),
        _ if pattern.asks.words.contains(&token.stem) && !is_name => (Effect::Match, 1, OTHER_WORD),
        _ => (Effect::LeaveOver, 1, LEFT_OVER),
    };
    Some(Move(effect, 0, length, cost))
}

/// Returns the step for an item of the pattern that the question lacks.
fn drop_item(item: &Item) -> Move {
    match (&item.class, item.content()) {
        (Some(_), _) => Move(Effect::Differ, 1, 0, LEFT_OVER),
        (None, Some(_)) => Move(Effect::Lack, 1, 0, OTHER_WORD),
        (None, None) => Move(Effect::Differ, 1, 0, MINOR_WORD),
    }
}

/// Returns the cheapest alignment of a question with a pattern, which is the shortest path from their beginnings to their ends.
/// Returns `None` if they have little in common.
pub(crate) fn align(pattern: &Pattern, reading: &Reading) -> Option<Alignment> {
    let end = (pattern.items.len(), reading.tokens.len());
    let mut cheapest = BTreeMap::from([((0, 0), Alignment::default())]);
    // No step leads back, so the cost of the first remaining position is final.
    while let Some(((item, token), alignment)) = cheapest.pop_first() {
        if (item, token) == end {
            return Some(alignment);
        }
        let next = pattern.items.get(item);
        let phrase = reading.phrases.get(token).into_iter().flatten();
        let mut moves = next.map_or_else(Vec::new, |item| match_item(pattern, item, reading, token));
        moves.extend(next.map(drop_item));
        moves.extend(skip_token(pattern, reading, token));
        moves.extend(phrase.map(|length| Move(Effect::Differ, 0, *length, MINOR_WORD)));
        for Move(effect, item_count, length, cost) in moves {
            let (next, cost) = ((item + item_count, token + length), alignment.cost + cost);
            if cost < MAX_CONSIDERED_COST && cheapest.get(&next).is_none_or(|known| cost < known.cost) {
                let mut steps = alignment.steps.clone();
                steps.push(Rc::new((effect, token..token + length)));
                cheapest.insert(next, Alignment { cost, steps });
            }
        }
    }
    None
}
