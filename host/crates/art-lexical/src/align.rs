//! Aligns a question with a pattern word by word: the cheapest way to turn the one into the other.

use serde_json::Value;

use crate::class::{Class, Filler, Surroundings};
use crate::known::{Group, Known, Learnt};
use crate::pattern::Item;
use crate::token::{Kind, Token};
use crate::words::{is_functional, is_reference};

/// What it costs that something is left over: more than any alignment that is taken.
const LEFT_OVER: f64 = 100.0;
/// What an alignment may cost at most.
const MAX_COST: f64 = 2.0;

/// How a question and a pattern go together.
#[derive(Debug, Default)]
pub(crate) struct Alignment {
    pub(crate) cost: f64,
    /// What fills each slot that has a place among the words.
    pub(crate) values: Vec<Option<Value>>,
    /// Tokens that stand for whole texts.
    pub(crate) texts: Vec<usize>,
    /// Words that refer to an earlier result in place of a whole text.
    pub(crate) refers: bool,
    /// Tokens that neither the pattern nor a slot accounts for.
    pub(crate) left: Vec<usize>,
    /// Words that both have.
    matched: Vec<String>,
    /// Why the alignment is not taken whatever it costs.
    broken: bool,
    /// Open slots, and how many of them hold words that nothing shows.
    open: usize,
    unknown: usize,
    /// Where the last open slot ended.
    last_open: Option<usize>,
}

/// One move of the alignment.
#[derive(Clone, Debug)]
enum Move {
    /// The pattern's next word is the question's.
    Match,
    /// The question lacks the pattern's next word.
    Drop,
    /// The question has a word more.
    Skip(usize, Skipped),
    /// A slot is filled.
    Fill(Filler),
}

/// What a token is that the pattern has not.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Skipped {
    Word,
    Text,
    Reference,
    LeftOver,
}

/// How a token is left over: as what, with how many that go with it, and what that costs.
type Skip = (Skipped, usize, f64);

/// A question and a pattern.
pub(crate) struct Aligner<'a> {
    pub(crate) known: &'a Known,
    pub(crate) learnt: &'a Learnt,
    pub(crate) group: &'a Group,
    pub(crate) tokens: &'a [Token],
    pub(crate) around: &'a Surroundings<'a>,
}

impl Aligner<'_> {
    /// The cheapest alignment.
    pub(crate) fn align(&self) -> Alignment {
        let moves = self.table();
        let mut alignment = Alignment {
            values: vec![None; self.learnt.pattern.slots.len()],
            ..Alignment::default()
        };
        let (mut item, mut token) = (0, 0);
        while let Some(step) = moves
            .get(item)
            .and_then(|row| row.get(token))
            .and_then(|cell| cell.step.as_ref())
        {
            self.follow(step, item, token, &mut alignment);
            (item, token) = advance(step, item, token);
        }
        alignment.cost = moves
            .first()
            .and_then(|row| row.first())
            .map_or(f64::INFINITY, |cell| cell.cost);
        alignment
    }

    /// Whether `alignment` accounts for everything and has what tells its meaning from others.
    pub(crate) fn is_sound(&self, alignment: &Alignment) -> bool {
        let own = |word: &String| self.group.own.contains(word);
        let all_open_unknown = alignment.open > 0 && alignment.open == alignment.unknown;
        alignment.cost <= MAX_COST
            && !alignment.broken
            && (!self.group.needs_own || alignment.matched.iter().any(own))
            && (!all_open_unknown || self.known.tells(&alignment.matched, self.learnt.tool))
    }

    /// For each rest of the pattern and each rest of the question, the next move of the cheapest alignment.
    fn table(&self) -> Vec<Vec<Cell>> {
        let items = &self.learnt.pattern.items;
        let skips: Vec<_> = (0..self.tokens.len()).map(|token| self.skip(token)).collect();
        let mut rows: Vec<Vec<Cell>> = vec![Vec::new(); items.len() + 1];
        for at in (0..=items.len()).rev() {
            let row = self.row(at, rows.get(at + 1..).unwrap_or_default(), &skips);
            if let Some(place) = rows.get_mut(at) {
                *place = row;
            }
        }
        rows
    }

    fn row(&self, at: usize, below: &[Vec<Cell>], skips: &[Option<Skip>]) -> Vec<Cell> {
        let item = self.learnt.pattern.items.get(at);
        let dropped = match item {
            Some(Item::Word(word)) => self.drop(word),
            _ => LEFT_OVER,
        };
        let count = self.tokens.len();
        let mut row = vec![Cell::default(); count + 1];
        for token in (0..=count).rev() {
            let mut best = Cell::default();
            if item.is_none() && token == count {
                best.cost = 0.0;
            }
            let after = |cells: &[Cell], place: usize| cells.get(place).map_or(f64::INFINITY, |cell| cell.cost);
            if let Some(Some((skipped, length, cost))) = skips.get(token).copied() {
                best.offer(cost + after(&row, token + length), || Move::Skip(length, skipped));
            }
            let next = below.first().map(Vec::as_slice).unwrap_or_default();
            match item {
                Some(Item::Word(word)) => {
                    best.offer(dropped + after(next, token), || Move::Drop);
                    if self.tokens.get(token).is_some_and(|token| token.stem == *word) {
                        best.offer(after(next, token + 1), || Move::Match);
                    }
                }
                Some(Item::Slot(slot)) => {
                    best.offer(dropped + after(next, token), || Move::Drop);
                    for filler in self.fillers(*slot, token) {
                        best.offer(filler.cost + after(next, token + filler.length), || {
                            Move::Fill(filler.clone())
                        });
                    }
                }
                None => {}
            }
            if let Some(cell) = row.get_mut(token) {
                *cell = best;
            }
        }
        row
    }

    /// What fills the slot at `token`. Words of the pattern fill no open slot.
    fn fillers(&self, slot: usize, token: usize) -> Vec<Filler> {
        let (Some(slot), Some(rest)) = (self.learnt.pattern.slots.get(slot), self.tokens.get(token..)) else {
            return Vec::new();
        };
        let mut fillers = slot.class.fillers(rest, self.around);
        if let Class::Words(shown) = &slot.class {
            let is_ours = |token: &Token| self.group.vocabulary.contains(&token.stem) && !shown.contains(&token.stem);
            fillers.retain(|filler| filler.cost == 0.0 || !rest.iter().take(filler.length).any(is_ours));
        }
        fillers.retain(|filler| !slot.is_part || is_plain(&filler.value));
        fillers
    }

    /// What it costs that the question lacks a word of the pattern. A word that every pattern of this meaning has may carry it.
    fn drop(&self, word: &str) -> f64 {
        if is_functional(word) {
            0.1
        } else if self.group.optional.contains(word) {
            0.1 + 0.3 * self.known.rarity(word)
        } else {
            LEFT_OVER
        }
    }

    /// What the token at `place` is when the pattern has it not, how many tokens go with it, and what that costs.
    fn skip(&self, place: usize) -> Option<Skip> {
        let token = self.tokens.get(place)?;
        let takes_texts = self.learnt.pattern.takes_texts();
        let reference = self
            .tokens
            .get(place..)
            .and_then(is_reference)
            .filter(|_| takes_texts && self.around.may_refer);
        Some(match token.kind {
            Kind::Mark => (Skipped::Word, 1, 0.0),
            Kind::Quoted | Kind::Data | Kind::File if takes_texts => (Skipped::Text, 1, 0.05),
            Kind::Word if is_functional(&token.stem) => (Skipped::Word, 1, 0.1),
            Kind::Word if self.group.vocabulary.contains(&token.stem) => {
                (Skipped::Word, 1, 0.1 + 0.3 * self.known.rarity(&token.stem))
            }
            Kind::Word if reference.is_some() => (Skipped::Reference, reference.unwrap_or(1), 0.2),
            _ => (Skipped::LeftOver, 1, LEFT_OVER),
        })
    }

    /// Notes what a move means.
    fn follow(&self, step: &Move, item: usize, token: usize, alignment: &mut Alignment) {
        match step {
            Move::Match => alignment
                .matched
                .extend(self.tokens.get(token).map(|token| token.stem.clone())),
            Move::Drop => {}
            Move::Skip(_, Skipped::Word) => {}
            Move::Skip(_, Skipped::Text) => alignment.texts.push(token),
            Move::Skip(_, Skipped::Reference) => alignment.refers = true,
            Move::Skip(_, Skipped::LeftOver) => alignment.left.push(token),
            Move::Fill(filler) => self.fill(filler, item, token, alignment),
        }
    }

    fn fill(&self, filler: &Filler, item: usize, token: usize, alignment: &mut Alignment) {
        let Some(Item::Slot(slot)) = self.learnt.pattern.items.get(item) else {
            return;
        };
        let pattern = &self.learnt.pattern;
        let led = token.checked_sub(1).and_then(|before| self.tokens.get(before));
        let expected = item.checked_sub(1).and_then(|before| pattern.items.get(before));
        let is_expected = |word: &str| expected == Some(&Item::Word(word.to_owned()));
        if let Some(led) = led.filter(|led| led.kind == Kind::Word && !is_expected(&led.stem)) {
            alignment.broken |= self.group.leads_elsewhere(&led.stem, pattern.place(*slot));
        }
        if pattern
            .slots
            .get(*slot)
            .is_some_and(|slot| matches!(slot.class, Class::Words(_)))
        {
            // Nobody knows where the one ends and the other begins.
            alignment.broken |= alignment.last_open == Some(token) && filler.cost > 0.0;
            alignment.last_open = Some(token + filler.length);
            alignment.open += 1;
            alignment.unknown += usize::from(filler.unknown);
        }
        if let Some(value) = alignment.values.get_mut(*slot) {
            *value = Some(filler.value.clone());
        }
    }
}

const fn advance(step: &Move, item: usize, token: usize) -> (usize, usize) {
    match step {
        Move::Match => (item + 1, token + 1),
        Move::Drop => (item + 1, token),
        Move::Skip(length, _) => (item, token + *length),
        Move::Fill(filler) => (item + 1, token + filler.length),
    }
}

/// Whether a value can stand inside of a longer text without changing what the rest of it means.
fn is_plain(value: &Value) -> bool {
    match value {
        Value::String(text) => text
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == crate::expression::EARLIER_SIGN),
        Value::Array(values) => values.iter().all(Value::is_number),
        value => value.is_number(),
    }
}

/// The cheapest way on from one place.
#[derive(Clone, Debug)]
struct Cell {
    cost: f64,
    step: Option<Move>,
}

impl Default for Cell {
    fn default() -> Self {
        Self {
            cost: f64::INFINITY,
            step: None,
        }
    }
}

impl Cell {
    fn offer(&mut self, cost: f64, step: impl FnOnce() -> Move) {
        if cost < self.cost {
            (self.cost, self.step) = (cost, Some(step()));
        }
    }
}
