//! Aligns a question with a pattern word by word: the cheapest way to turn the one into the other.

use std::ops::Range;

use itertools::Itertools;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::class::{Class, Filler, Reading};
use crate::pattern::{Item, Pattern};
use crate::token::{Kind, Token};
use crate::words::is_functional;

/// Cost of a word or a slot that is left over: more than any alignment that is accepted.
const LEFT_OVER: f64 = 100.0;
/// Cost of a word that the pattern lacks and another one of the same meaning has.
const OTHER_WORD: f64 = 0.2;
/// Cost of a word without content that one side lacks.
const FUNCTIONAL: f64 = 0.1;
/// Maximum cost of an alignment that is accepted.
const MAX_COST: f64 = 2.0;

/// How a question and a pattern go together.
#[derive(Debug)]
pub(crate) struct Alignment {
    pub(crate) cost: f64,
    /// The steps, each with the tokens of the question that it consumes.
    steps: Vec<(Effect, Range<usize>)>,
}

impl Alignment {
    /// Returns the first tokens of all steps with `effect`.
    pub(crate) fn tokens(&self, effect: Effect) -> impl Iterator<Item = usize> {
        let steps = self.steps.iter().filter(move |step| step.0 == effect);
        steps.map(|step| step.1.start)
    }

    /// Returns the slots that are among the words, with their values and tokens, and for open words whether no example shows
    /// any of them.
    pub(crate) fn fills(&self) -> impl Iterator<Item = (usize, &Value, &Range<usize>, Option<bool>)> {
        self.steps.iter().filter_map(|(effect, tokens)| match effect {
            Effect::Fill(slot, value, unknown) => Some((*slot, value, tokens, *unknown)),
            _ => None,
        })
    }

    /// Returns whether it accounts for everything. If no example shows any of its open words, the other words have to show
    /// which tool is asked for.
    pub(crate) fn is_sound(&self, catalog: &Catalog, pattern: &Pattern, reading: &Reading) -> bool {
        let mut fills = self.fills();
        let is_confused = fills.any(|(slot, _, tokens, _)| is_led_elsewhere(pattern, reading, slot, tokens.start));
        let open = |(_, _, tokens, unknown): (_, _, _, Option<bool>)| Some((tokens, unknown?));
        let open = self.fills().filter_map(open).collect_vec();
        // Nobody knows where the unknown words of one slot end and those of the next begin.
        let mut pairs = open.iter().tuple_windows();
        let is_blurred = pairs.any(|((first, a), (next, b))| first.end == next.start && (*a || *b));
        let is_known = open.is_empty() || open.iter().any(|(_, unknown)| !unknown);
        let matched = self.tokens(Effect::Match).filter_map(|at| reading.tokens.get(at));
        let matched = matched.map(Token::word).collect_vec();
        let is_clear = !is_confused && !is_blurred && self.cost <= MAX_COST;
        is_clear && (is_known || catalog.is_distinctive(&matched, pattern.tool))
    }
}

/// A step of an alignment: its effect, how many items of the pattern and tokens of the question it consumes, and its cost.
#[derive(Clone, Debug)]
struct Move(Effect, usize, usize, f64);

/// What a step of an alignment means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The pattern and the question have the same word.
    Match,
    /// One of them has a word that the other lacks.
    Differ,
    /// The question has a whole text.
    Text,
    /// The question refers to an earlier result.
    Refer,
    /// The question has a token that nothing accounts for.
    LeaveOver,
    /// A slot has a value, and for open words whether no example shows any of them.
    Fill(usize, Value, Option<bool>),
}

/// The cost of the cheapest way on from a place, and its first step.
type Cell = (f64, Option<Move>);

/// Returns the cheapest alignment of a question with a pattern.
pub(crate) fn align(pattern: &Pattern, reading: &Reading) -> Alignment {
    let aligner = Aligner { pattern, reading };
    let (cells, mut item, mut token, mut steps) = (aligner.cells(), 0, 0, Vec::new());
    while let Some((_, Some(step))) = cells.get(aligner.place(item, token)) {
        steps.push((step.0.clone(), token..token + step.2));
        (item, token) = (item + step.1, token + step.2);
    }
    let cost = cells.last().map_or(f64::INFINITY, |first| first.0);
    Alignment { cost, steps }
}

/// A question and a pattern.
struct Aligner<'a> {
    pattern: &'a Pattern,
    reading: &'a Reading,
}

impl Aligner<'_> {
    /// The cheapest alignments of each rest of the pattern with each rest of the question, those of the shortest first.
    fn cells(&self) -> Vec<Cell> {
        let (items, tokens) = (&self.pattern.items, self.reading.tokens.len());
        let skips: Vec<Move> = (0..tokens).map(|token| self.skip(token)).collect();
        let mut cells: Vec<Cell> = Vec::new();
        for at in (0..=items.len()).rev() {
            let drop = items.get(at).map(drop);
            for token in (0..=tokens).rev() {
                let fits = items.get(at).map_or_else(Vec::new, |item| self.fit(item, token));
                let moves = skips.get(token).into_iter().chain(&drop).chain(&fits);
                let rest = |step: &Move| cells.get(self.place(at + step.1, token + step.2));
                let costs = moves.filter_map(|step| Some((step.3 + rest(step)?.0, step)));
                let best = costs.min_by(|(a, _), (b, _)| a.total_cmp(b));
                cells.push(best.map_or((0.0, None), |(cost, step)| (cost, Some(step.clone()))));
            }
        }
        cells
    }

    /// The position of the cell for the rests that begin with `item` and `token`.
    fn place(&self, item: usize, token: usize) -> usize {
        let (items, tokens) = (self.pattern.items.len(), self.reading.tokens.len());
        (items - item) * (tokens + 1) + (tokens - token)
    }

    /// The question has a token that the pattern lacks.
    fn skip(&self, at: usize) -> Move {
        let takes_texts = !self.pattern.texts().is_empty();
        let Reading { tokens, .. } = self.reading;
        let reference = tokens.get(at..).and_then(|rest| self.reading.reference(rest));
        let token = tokens.get(at);
        let word = token.map_or("", Token::word);
        match (token, reference) {
            (Some(token), _) if token.kind == Kind::Mark => Move(Effect::Differ, 0, 1, 0.0),
            (Some(token), _) if takes_texts && token.is_data() => Move(Effect::Text, 0, 1, 0.05),
            _ if is_functional(word) => Move(Effect::Differ, 0, 1, FUNCTIONAL),
            _ if self.pattern.vocabulary.contains(word) => Move(Effect::Differ, 0, 1, OTHER_WORD),
            (_, Some(length)) if takes_texts => Move(Effect::Refer, 0, length, OTHER_WORD),
            _ => Move(Effect::LeaveOver, 0, 1, LEFT_OVER),
        }
    }

    /// The ways in which the tokens from `at` on are `item`. Words of the pattern do not fill an open slot.
    fn fit(&self, item: &Item, at: usize) -> Vec<Move> {
        let Some(rest @ [first, ..]) = self.reading.tokens.get(at..) else {
            return Vec::new();
        };
        let slot = match item {
            Item::Word(word) if first.stem == *word => return vec![Move(Effect::Match, 1, 1, 0.0)],
            Item::Word(_) => return Vec::new(),
            Item::Slot(slot) => *slot,
        };
        let class = self.pattern.slots.get(slot).map(|slot| &slot.class);
        let is_ours = |token: &Token| match class {
            Some(Class::Words(shown)) => {
                self.pattern.vocabulary.contains(&token.stem) && !shown.contains_key(&token.stem)
            }
            _ => false,
        };
        let mut fillers = class.map_or_else(Vec::new, |class| class.fillers(rest, self.reading));
        fillers.retain(|filler| filler.cost == 0.0 || !rest.iter().take(filler.length).any(is_ours));
        let fill = |one: Filler| Move(Effect::Fill(slot, one.value, one.unknown), 1, one.length, one.cost);
        fillers.into_iter().map(fill).collect()
    }
}

/// Returns whether the word before a value belongs before another slot: `from` before the unit that is converted to.
fn is_led_elsewhere(pattern: &Pattern, reading: &Reading, slot: usize, token: usize) -> bool {
    let before = token.checked_sub(1).and_then(|before| reading.tokens.get(before));
    let word = before.map_or("", Token::word);
    let led = pattern.items.iter().tuple_windows().filter_map(|pair| match pair {
        (Item::Word(lead), Item::Slot(led)) if lead == word => Some(*led),
        _ => None,
    });
    let led = led.collect_vec();
    !led.is_empty() && !led.contains(&slot)
}

/// The question lacks an item of the pattern.
fn drop(item: &Item) -> Move {
    let is_free = matches!(item, Item::Word(word) if is_functional(word));
    Move(Effect::Differ, 1, 0, if is_free { FUNCTIONAL } else { LEFT_OVER })
}
