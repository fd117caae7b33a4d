//! Aligns a question word by word with a pattern (an example's question with slots): the cheapest way to turn one into the other.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::class::Filler;
use crate::data::WholeText;
use crate::pattern::{Pattern, PatternItem};
use crate::reading::Reading;
use crate::token::{Token, TokenKind};
use crate::words::{is_article, is_content_stem, is_question_word};

/// Cost of a word or a slot that is left over. It exceeds the cost of any alignment that is accepted.
const LEFT_OVER_COST: f64 = 100.0;
/// Maximum cost of an alignment that is considered for a refusal. It lets a refusal name up to three words that are left over.
pub(crate) const MAX_CONSIDERED_COST: f64 = 3.5 * LEFT_OVER_COST;
/// Cost of a content word that the question lacks. Also of one that only the question has, if the data or an example with the
/// same template has it too. Also of a value unlike those of the examples, and of an earlier result in place of a whole text.
const CONTENT_WORD_COST: f64 = 0.2;
/// Cost of a word without content that the question lacks, of a phrase such as `please` in the question, or of a whole text.
const MINOR_WORD_COST: f64 = 0.1;
/// Maximum cost of an alignment that is accepted.
pub(crate) const MAX_ACCEPTED_COST: f64 = 3.0;

/// What a step of an alignment means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The question has a word of the pattern, or of another pattern that asks for the same (has the same template).
    Match,
    /// The question lacks a word with content that the pattern has.
    LackWord,
    /// The question has a word that does not matter, or lacks such a word or the value of a slot. This only adds a cost.
    Differ,
    /// The question has a whole text (quoted or attached), or refers to an earlier result that can stand for one.
    WholeText,
    /// The question has a token that nothing accounts for.
    LeaveOver,
    /// The slot with this name gets the value of the filler.
    Fill { slot: String, filler: Filler },
}

/// A step of an alignment.
#[derive(Debug)]
struct Step {
    effect: Effect,
    /// Number of items of the pattern that it consumes: one, or none if the pattern lacks the tokens.
    item_count: usize,
    /// Positions of the tokens of the question that it consumes; an empty range if the question lacks the item.
    tokens: Range<usize>,
    cost: f64,
}

impl Step {
    const fn new(effect: Effect, item_count: usize, tokens: Range<usize>, cost: f64) -> Self {
        Self {
            effect,
            item_count,
            tokens,
            cost,
        }
    }
}

/// A word-by-word alignment of a question with a pattern.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    pub(crate) cost: f64,
    steps: Vec<Step>,
}

impl Alignment {
    /// Returns the first token of each step with this effect.
    pub(crate) fn first_tokens<'a>(&'a self, effect: Effect, reading: &'a Reading) -> impl Iterator<Item = &'a Token> {
        let steps = self.steps.iter().filter(move |step| step.effect == effect);
        steps.filter_map(|step| reading.tokens.get(step.tokens.start))
    }

    /// Returns the names and fillers of all slots except those for whole texts.
    pub(crate) fn fillers(&self) -> impl Iterator<Item = (&String, &Filler)> {
        self.steps.iter().filter_map(|step| match &step.effect {
            Effect::Fill { slot, filler } => Some((slot, filler)),
            _ => None,
        })
    }

    /// Returns whether no token is left over and the question has all words of an example with the same template. One value may
    /// be unknown if the question has all words of the pattern, and also a known text or a word that is not a question word.
    pub(crate) fn is_acceptable(&self, pattern: &Pattern, reading: &Reading) -> bool {
        let matched_words = self.first_tokens(Effect::Match, reading).map(|token| &token.stem);
        let matched_words: BTreeSet<&String> = matched_words.filter(|word| is_content_stem(word)).collect();
        let fillers: Vec<&Filler> = self.fillers().map(|(_, filler)| filler).collect();
        let unknown_count = fillers.iter().filter(|filler| filler.is_unknown).count();
        let is_known_text = |filler: &&Filler| filler.value.is_string() && !filler.is_unknown;
        let has_all_words = self.steps.iter().all(|step| step.effect != Effect::LackWord);
        let mut questions = pattern.example_words.of_each_question.iter();
        let has_words_of_example = questions.any(|words| words.iter().all(|word| matched_words.contains(word)));
        let has_word = matched_words.iter().any(|word| !is_question_word(word));
        let has_word_or_value = has_word || !fillers.is_empty();
        let has_word_or_known_text = has_word || fillers.iter().any(is_known_text);
        let is_clear = unknown_count == 0 || (unknown_count == 1 && has_all_words && has_word_or_known_text);
        // A text without a word with content, such as a path alone, asks for something only if it lacks nothing of the pattern.
        let asks_for_something = !matched_words.is_empty() || self.steps.iter().all(|step| !step.tokens.is_empty());
        self.cost <= MAX_ACCEPTED_COST && has_word_or_value && has_words_of_example && is_clear && asks_for_something
    }
}

/// Returns the steps in which `item` matches the tokens from `at` on. The name of a column or a key in the data matches no word
/// of the pattern: "how many employees" does not ask for the number of rows if there is a column `employees`. A value unlike
/// those of the examples contains no word of their questions. A slot is not filled after a word that precedes only other slots.
fn match_item(pattern: &Pattern, item: &PatternItem, reading: &Reading, at: usize) -> Vec<Step> {
    let rest = reading.tokens_from(at);
    let Some(class) = &item.class else {
        let is_same_word = rest.first().is_some_and(|token| token.stem == item.stem_or_slot);
        let is_match = is_same_word && !reading.names_data(at);
        return Vec::from_iter(is_match.then(|| Step::new(Effect::Match, 1, at..at + 1, 0.0)));
    };
    let before = at.checked_sub(1).and_then(|before| reading.tokens.get(before));
    let word_before = before.map_or("", Token::word_stem);
    let example_words = &pattern.example_words;
    if example_words.precedes_other_slots(word_before, &item.stem_or_slot) {
        return Vec::new();
    }
    let is_example_word = |token: &Token| example_words.all.contains(&token.stem);
    let has_example_word = |length| rest.iter().take(length).any(is_example_word);
    let fillers = class.fillers(reading, at).into_iter();
    let accepted = fillers.filter(|filler| !filler.is_unknown || !has_example_word(filler.length));
    let fill = |filler: Filler| {
        let cost = if filler.is_unknown { CONTENT_WORD_COST } else { 0.0 };
        let (slot, tokens) = (item.stem_or_slot.clone(), at..at + filler.length);
        Step::new(Effect::Fill { slot, filler }, 1, tokens, cost)
    };
    accepted.map(fill).collect()
}

/// Returns the step for a token of the question that the pattern lacks, or `None` at the end of the question.
fn skip_token(pattern: &Pattern, reading: &Reading, at: usize) -> Option<Step> {
    let has_text_slots = !pattern.text_slots.is_empty();
    let token = reading.tokens.get(at)?;
    let is_named = |whole_text: &WholeText| whole_text.naming_stems.contains(token.word_stem());
    // If there is no earlier result, "it" means the attachment.
    let is_attachment = || reading.has_attachment() && token.stem == "it";
    let names_whole_text = || reading.whole_texts.iter().any(is_named) || is_attachment();
    let names_data = reading.names_data(at);
    let (effect, length, cost) = match reading.earlier_reference_length(at) {
        _ if token.kind == TokenKind::Mark || is_article(token.word_stem()) => (Effect::Differ, 1, 0.0),
        _ if has_text_slots && token.may_be_whole_text() => (Effect::WholeText, 1, MINOR_WORD_COST),
        Some(length) if has_text_slots => (Effect::WholeText, length, CONTENT_WORD_COST),
        _ if has_text_slots && names_whole_text() => (Effect::Differ, 1, CONTENT_WORD_COST),
        _ if pattern.example_words.all.contains(&token.stem) && !names_data => (Effect::Match, 1, CONTENT_WORD_COST),
        _ => (Effect::LeaveOver, 1, LEFT_OVER_COST),
    };
    Some(Step::new(effect, 0, at..at + length, cost))
}

/// Returns the step for an item of the pattern that the question lacks at `at`.
fn drop_item(item: &PatternItem, at: usize) -> Step {
    let (effect, cost) = match (&item.class, item.content_word()) {
        (Some(_), _) => (Effect::Differ, LEFT_OVER_COST),
        (None, Some(_)) => (Effect::LackWord, CONTENT_WORD_COST),
        (None, None) => (Effect::Differ, MINOR_WORD_COST),
    };
    Step::new(effect, 1, at..at, cost)
}

/// A position that a path of steps reaches: the cost of the path, and its last step with the position before it.
struct Reached {
    cost: f64,
    last: Option<(Step, (usize, usize))>,
}

/// Returns the cheapest alignment: the shortest path from both beginnings to both ends that costs at most `max_cost`.
pub(crate) fn align(pattern: &Pattern, reading: &Reading, max_cost: f64) -> Option<Alignment> {
    let end = (pattern.items.len(), reading.tokens.len());
    let start = Reached { cost: 0.0, last: None };
    // The positions that were reached, and those of them whose steps were taken. No step leads back, so the cost of the first
    // position that remains is final.
    let (mut remaining, mut done) = (BTreeMap::from([((0, 0), start)]), BTreeMap::new());
    while let Some((position, reached)) = remaining.pop_first() {
        if position == end {
            return Some(alignment(reached, done));
        }
        let (item, token) = position;
        for step in possible_steps(pattern, item, reading, token) {
            let (after, cost) = ((item + step.item_count, step.tokens.end), reached.cost + step.cost);
            if cost <= max_cost && remaining.get(&after).is_none_or(|known: &Reached| cost < known.cost) {
                let last = Some((step, position));
                remaining.insert(after, Reached { cost, last });
            }
        }
        done.insert(position, reached);
    }
    None
}

/// Returns the path that led to `reached` over positions in `done`.
fn alignment(reached: Reached, mut done: BTreeMap<(usize, usize), Reached>) -> Alignment {
    let (cost, mut last, mut steps) = (reached.cost, reached.last, Vec::new());
    while let Some((step, before)) = last {
        steps.push(step);
        last = done.remove(&before).and_then(|reached| reached.last);
    }
    steps.reverse();
    Alignment { cost, steps }
}

/// Returns the steps that lead on from the item at `item` of the pattern and the token at `token` of the question.
fn possible_steps(pattern: &Pattern, item: usize, reading: &Reading, token: usize) -> Vec<Step> {
    let next = pattern.items.get(item);
    let phrase_length = reading.phrase_lengths.get(token).into_iter().flatten();
    let phrase = phrase_length.map(|length| Step::new(Effect::Differ, 0, token..token + length, MINOR_WORD_COST));
    let mut possible = next.map_or_else(Vec::new, |item| match_item(pattern, item, reading, token));
    possible.extend(next.map(|item| drop_item(item, token)));
    possible.extend(skip_token(pattern, reading, token));
    possible.extend(phrase);
    possible
}
