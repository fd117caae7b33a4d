//! Aligns a question with a pattern word by word: the cheapest way to turn the one into the other.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use itertools::Itertools;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::class::{Certainty, Filler};
use crate::grammar::{Grammar, merge};
use crate::pattern::{Item, Pattern, Values, fill};
use crate::reading::Reading;
use crate::token::{Kind, Token, stems};
use crate::words::{is_article, is_functional, is_plain, is_pointing, phrase_length, reference_length};

/// Cost of a word or a slot that is left over: more than any alignment that is accepted.
const LEFT_OVER: f64 = 100.0;
/// Maximum cost of an alignment that is looked at, so that a refusal can name up to three words.
const MAX_LEFT_OVER: f64 = 3.5 * LEFT_OVER;
/// Cost of words that only one of both has, where the examples or the data show that they do not matter.
const OTHER_WORD: f64 = 0.2;
/// Cost of words that mean the same, and of a word without content that only one of both has.
const SMALL: f64 = 0.1;
/// Cost of an addition: an example that has all of it in its question is nearer.
const ADDITION: f64 = 1.0;
/// Maximum cost of an alignment that is accepted.
const MAX_COST: f64 = 4.0;

/// What a step of an alignment means.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// The pattern and the question have the same word, or words that mean the same.
    Match,
    /// One of them has a word that the other lacks.
    Differ,
    /// The question lacks words with content that other examples lack as well.
    Lack,
    /// The question has a whole text.
    Text,
    /// The question refers to an earlier result.
    Refer,
    /// The question has a token that nothing accounts for.
    LeaveOver,
    /// The slot of that name has a value.
    Fill(String, Value, Certainty),
    /// The question adds that to the input.
    Add(Value),
}

impl Effect {
    const fn certainty(&self) -> Certainty {
        match self {
            Self::Fill(_, _, certainty) => *certainty,
            _ => Certainty::Sure,
        }
    }
}

/// A way on: its effect, how many items of the pattern and tokens of the question it consumes, and its cost.
#[derive(Clone, Debug)]
struct Move(Effect, usize, usize, f64);

/// How a question and a pattern go together.
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

    /// Returns the input of the call that it asks for, with the values `texts` for whole texts. None if what the question adds
    /// contradicts the rest.
    pub(crate) fn input(&self, pattern: &Pattern, texts: Values) -> Option<Value> {
        let (mut values, mut extras) = (texts, Vec::new());
        for step in &self.steps {
            match &step.0 {
                Effect::Fill(slot, value, _) => drop(values.insert(slot.clone(), value.clone())),
                Effect::Add(extra) => extras.push(extra.clone()),
                _ => {}
            }
        }
        let input = fill(&pattern.template, &values);
        extras.into_iter().try_fold(input, merge)
    }

    /// Returns whether it accounts for everything. If no example shows any of its open words, the other words have to show
    /// which tool is asked for.
    pub(crate) fn is_sound(&self, catalog: &Catalog, pattern: &Pattern, reading: &Reading) -> bool {
        let has = |is: fn(&Effect) -> bool| self.steps.iter().any(|step| is(&step.0));
        let is_unknown = has(|effect| effect.certainty() == Certainty::Unknown);
        // Nobody knows where the unknown words of one slot end and those of the next begin.
        let said = self.steps.iter().filter(|step| !step.1.is_empty());
        let mut pairs = said.map(|step| step.0.certainty()).tuple_windows();
        let is_blurred = pairs.any(|(a, b)| a.min(b) > Certainty::Sure && a.max(b) == Certainty::Unknown);
        // An unknown word is clear only where the question has all words of the pattern.
        let is_vague = is_unknown && has(|effect| *effect == Effect::Lack);
        let matched = self.tokens(Effect::Match, reading).filter(|token| is_plain(token));
        let matched = matched.map(Token::word).collect_vec();
        let is_known = !is_unknown || has(|effect| effect.certainty() == Certainty::Shown);
        let is_known = is_known || catalog.is_distinctive(&matched, pattern.tool);
        // "How many?" asks for nothing, even if some question lacks each of the other words of the pattern.
        let is_needed = |word: &&str| !catalog.may_lack(pattern.tool, word);
        let has_value = has(|effect| matches!(effect, Effect::Fill(..) | Effect::Add(_)));
        let asks = has_value || matched.iter().any(is_needed);
        self.cost <= MAX_COST && !is_blurred && !is_vague && is_known && asks
    }
}

/// A question as a tool reads it: with the additions that its examples show.
#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) reading: &'a Reading,
    grammar: &'a Grammar,
    /// For each token, the ways on without an item of a pattern: without and with whole texts among its slots.
    extra: Vec<(Vec<Move>, Vec<Move>)>,
}

/// A way in which tokens are an addition: how many they are, its cost, and the values of its slots.
type Found = (usize, f64, Values);

impl<'a> Sentence<'a> {
    /// Finds the additions and the needless phrases of `grammar` in a question.
    pub(crate) fn new(reading: &'a Reading, grammar: &'a Grammar) -> Self {
        let extra = Vec::new();
        let mut sentence = Self {
            reading,
            grammar,
            extra,
        };
        for at in 0..reading.tokens.len() {
            let found = [sentence.needless(at), sentence.additions(at)].concat();
            let with_skip = |takes_texts| found.iter().cloned().chain(sentence.skip(at, takes_texts)).collect();
            let extra = (with_skip(false), with_skip(true));
            sentence.extra.push(extra);
        }
        sentence
    }

    fn rest(&self, at: usize) -> &[Token] {
        self.reading.tokens.get(at..).unwrap_or_default()
    }

    /// The phrases from `at` on that carry nothing. The name of a column or a key is never one.
    fn needless(&self, at: usize) -> Vec<Move> {
        let rest = self.rest(at);
        let phrase = phrase_length(rest, self.reading.has_file()).map(|length| (length, SMALL));
        let needless = self.grammar.needless(rest).map(|length| (length, OTHER_WORD));
        let both = phrase.into_iter().chain(needless);
        let free = both.filter(|(length, _)| !self.reading.has_key(rest.iter().take(*length)));
        let moves = free.map(|(length, cost)| Move(Effect::Differ, 0, length, cost));
        moves.collect()
    }

    /// The additions that begin with the token `at`.
    fn additions(&self, at: usize) -> Vec<Move> {
        let mut moves = Vec::new();
        for (items, extras) in self.grammar.additions.values() {
            for ((length, cost, values), extra) in self.find(items, at, false).iter().cartesian_product(extras) {
                let effect = Effect::Add(fill(extra, values));
                moves.push(Move(effect, 0, *length, ADDITION + cost));
            }
        }
        moves
    }

    /// Every way in which the tokens from `at` on are `items`. Both may have an article that the other lacks, but for the
    /// first token.
    fn find(&self, items: &[Item], at: usize, is_inside: bool) -> Vec<Found> {
        let Some(item) = items.first() else {
            return vec![Found::default()];
        };
        let is_known = |step: &Move| !matches!(step.0, Effect::Fill(_, _, Certainty::Unknown) | Effect::Lack);
        let only = std::slice::from_ref(item);
        let fits = self.fit(only, &self.grammar.ways(only), at);
        let lacks = item.word().filter(|word| is_article(word));
        let lacks = lacks.map(|_| Move(Effect::Differ, 1, 0, SMALL));
        let has = self.rest(at).first().filter(|_| is_inside);
        let has = has.filter(|token| is_article(&token.stem));
        let has = has.map(|_| Move(Effect::Differ, 0, 1, SMALL));
        let mut found = Vec::new();
        for Move(effect, taken, length, cost) in fits.into_iter().filter(is_known).chain(lacks).chain(has) {
            let rests = self.find(items.get(taken..).unwrap_or_default(), at + length, true);
            found.extend(rests.into_iter().map(|(others, more, mut values)| {
                if let Effect::Fill(slot, value, _) = &effect {
                    values.insert(slot.clone(), value.clone());
                }
                (length + others, cost + more, values)
            }));
        }
        found
    }

    /// The ways in which the tokens from `at` on are what `items` begin with: a slot, a word, or words that mean the same. The
    /// name of a column or a key is nothing else: "how many employees" does not ask for the number of rows.
    fn fit(&self, items: &[Item], ways: &[(usize, String)], at: usize) -> Vec<Move> {
        let (rest, item) = (self.rest(at), items.first());
        if let Some((key, class)) = item.and_then(|item| Some((&item.key, item.class.as_ref()?))) {
            let fill = |one: Filler| {
                let effect = Effect::Fill(key.clone(), one.value, one.certainty);
                Move(effect, 1, one.length, one.cost)
            };
            let fillers = class.fillers(rest, self.reading);
            return fillers.into_iter().map(fill).collect();
        }
        let has_key = |length| self.reading.has_key(rest.iter().take(length));
        let is_next = |token: &Token| item.is_some_and(|item| item.key == token.stem);
        if rest.first().is_some_and(is_next) && !has_key(1) {
            return vec![Move(Effect::Match, 1, 1, 0.0)];
        }
        let moves = ways.iter().filter_map(|(count, phrase)| {
            let length = phrase.split_whitespace().count();
            let said = rest.get(..length).filter(|said| stems(said) == *phrase);
            said.filter(|_| !has_key(length)).map(|said| match said {
                [] => Move(Effect::Lack, *count, 0, OTHER_WORD),
                _ => Move(Effect::Match, *count, length, SMALL),
            })
        });
        moves.collect()
    }

    /// Every way on from the token `at` and an item of a pattern.
    fn moves(&self, pattern: &Pattern, item: usize, at: usize) -> Vec<Move> {
        let items = pattern.items.get(item..).unwrap_or_default();
        let ways = pattern.ways.get(item).map_or(&[][..], Vec::as_slice);
        let takes_texts = !pattern.texts.is_empty();
        let extra = self
            .extra
            .get(at)
            .map(|(plain, texts)| if takes_texts { texts } else { plain });
        let extra = extra.into_iter().flatten().cloned();
        let before = at.checked_sub(1).and_then(|before| self.reading.tokens.get(before));
        let word = before.map_or("", Token::word);
        let is_led = items.first().is_some_and(|item| pattern.leads_elsewhere(word, item));
        // Words of the pattern do not fill an open slot.
        let has_ours = |length| {
            self.rest(at)
                .iter()
                .take(length)
                .any(|token| pattern.words().contains(&token.stem))
        };
        let is_ours = |step: &Move| step.0.certainty() == Certainty::Unknown && has_ours(step.2);
        let fits = self
            .fit(items, ways, at)
            .into_iter()
            .filter(|fit| !is_led && !is_ours(fit));
        let drop = items.first().map(drop_item).into_iter();
        drop.chain(extra).chain(fits).collect()
    }

    /// The question has a token that the pattern lacks.
    fn skip(&self, at: usize, takes_texts: bool) -> Option<Move> {
        let (reading, rest) = (self.reading, self.rest(at));
        let token = rest.first()?;
        let word = token.word();
        // "it" is the attachment where there is no earlier result.
        let refers_to_file = || reading.has_file() && reference_length(rest) == Some(1);
        let is_context = || reading.data.iter().any(|data| data.context.contains(word));
        let skip = |cost| Move(Effect::Differ, 0, 1, cost);
        Some(match reading.reference(rest) {
            _ if token.kind == Kind::Mark => skip(0.0),
            _ if is_functional(word) => skip(SMALL),
            _ if !takes_texts => Move(Effect::LeaveOver, 0, 1, LEFT_OVER),
            _ if token.is_data() => Move(Effect::Text, 0, 1, SMALL),
            _ if is_pointing(word) && !reading.data.is_empty() => skip(SMALL),
            Some(length) => Move(Effect::Refer, 0, length, OTHER_WORD),
            None if is_context() || refers_to_file() || self.is_pointed_at(at) => skip(OTHER_WORD),
            None => Move(Effect::LeaveOver, 0, 1, LEFT_OVER),
        })
    }

    /// Returns whether a word points to a file by a noun that no example has: `this recipe`, `these two recipes`.
    fn is_pointed_at(&self, at: usize) -> bool {
        let before = self.reading.tokens.iter().take(at).rev();
        let mut before = before.skip_while(|token| token.kind == Kind::Number);
        let is_after = before.next().is_some_and(|token| is_pointing(token.word()));
        let is_new = |token: &Token| is_plain(token) && !self.grammar.knows(&token.stem);
        is_after && self.reading.has_file() && self.rest(at).first().is_some_and(is_new)
    }
}

/// Returns the cheapest alignment of a question with a pattern: the shortest way from their beginnings to their ends. None
/// if they have little in common.
pub(crate) fn align(pattern: &Pattern, sentence: &Sentence<'_>) -> Option<Alignment> {
    let end = (pattern.items.len(), sentence.reading.tokens.len());
    let mut cheapest = BTreeMap::from([((0, 0), Alignment::default())]);
    // No step leads back, so nothing changes the cost of the first place that is left.
    while let Some(((item, token), way)) = cheapest.pop_first() {
        if (item, token) == end {
            return Some(way);
        }
        for Move(effect, taken, length, cost) in sentence.moves(pattern, item, token) {
            let (next, cost) = ((item + taken, token + length), way.cost + cost);
            if cost < MAX_LEFT_OVER && cheapest.get(&next).is_none_or(|known| cost < known.cost) {
                let mut steps = way.steps.clone();
                steps.push(Rc::new((effect, token..token + length)));
                cheapest.insert(next, Alignment { cost, steps });
            }
        }
    }
    None
}

/// The question lacks an item.
fn drop_item(item: &Item) -> Move {
    let is_free = item.word().is_some_and(|word| is_functional(word) || is_pointing(word));
    Move(Effect::Differ, 1, 0, if is_free { SMALL } else { LEFT_OVER })
}
