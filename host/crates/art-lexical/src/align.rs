//! Aligns a question with a pattern word by word: the cheapest way to turn the one into the other.

use std::ops::Range;

use itertools::Itertools;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::class::{Class, Filler, Reading};
use crate::grammar::{Found, Grammar};
use crate::pattern::{Item, Pattern};
use crate::token::{Kind, Token};
use crate::words::{is_content, is_functional, is_plain, is_pointing, phrase_length, reference_length};

/// Cost of a word or a slot that is left over: more than any alignment that is accepted.
const LEFT_OVER: f64 = 100.0;
/// Cost of a word that only one of both has, where the examples or the data show that it does not matter.
const OTHER_WORD: f64 = 0.2;
/// Cost of words that mean the same.
const SYNONYM: f64 = 0.1;
/// Cost of an addition: an example that has all of it in its question is nearer.
const ADDITION: f64 = 1.0;
/// Maximum number of words that are compared at once.
const MAX_WORDS: usize = 4;
/// Cost of a word without content that one side lacks.
const FUNCTIONAL: f64 = 0.1;
/// Maximum cost of an alignment that is accepted.
const MAX_COST: f64 = 4.0;

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

    /// Returns the additions of the question, by their numbers.
    pub(crate) fn additions(&self) -> impl Iterator<Item = (usize, &Found)> {
        self.steps.iter().filter_map(|(effect, _)| match effect {
            Effect::Add(number, found) => Some((*number, found)),
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
        let matched = matched.filter(|token| is_plain(token)).map(Token::word).collect_vec();
        // "How many?" asks for nothing, even if some question lacks each of the other words of the pattern.
        let is_optional = |word: &&str| catalog.may_lack(pattern.tool, word);
        let is_empty =
            matched.iter().all(is_optional) && self.fills().next().is_none() && self.additions().next().is_none();
        let is_vacuous = is_empty && pattern.words().any(|word| is_content(word));
        // An unknown word is clear only where the question has all words of the pattern.
        let is_vague = open.iter().any(|(_, unknown)| *unknown) && self.steps.iter().any(|step| step.0 == Effect::Lack);
        let is_clear = !is_confused && !is_blurred && !is_vague && !is_vacuous && self.cost <= MAX_COST;
        is_clear && (is_known || catalog.is_distinctive(&matched, pattern.tool))
    }
}

/// A step of an alignment: its effect, how many items of the pattern and tokens of the question it consumes, and its cost.
#[derive(Clone, Debug)]
struct Move(Effect, usize, usize, f64);

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
    /// A slot has a value, and for open words whether no example shows any of them.
    Fill(usize, Value, Option<bool>),
    /// The question has the addition of that number.
    Add(usize, Found),
}

/// A question as a tool reads it: with the additions that its examples show.
#[derive(Debug)]
pub(crate) struct Sentence<'a> {
    pub(crate) reading: &'a Reading,
    grammar: &'a Grammar,
    /// For each token, the additions and the optional phrases that begin with it.
    extra: Vec<Vec<Move>>,
}

impl<'a> Sentence<'a> {
    /// Finds the additions and the optional phrases of `grammar` in a question.
    pub(crate) fn new(reading: &'a Reading, grammar: &'a Grammar) -> Self {
        let additions = |tokens: &[Token]| {
            let additions = grammar.additions.iter().enumerate();
            let found = additions.flat_map(|(number, addition)| {
                let found = addition.find(tokens, reading, grammar).into_iter();
                found.map(move |found| {
                    Move(
                        Effect::Add(number, found.clone()),
                        0,
                        found.length,
                        ADDITION + found.cost,
                    )
                })
            });
            found.collect_vec()
        };
        let has_file = reading.data.iter().any(|data| data.is_file);
        let needless = |tokens: &[Token]| {
            let words = tokens.iter().take(MAX_WORDS).map(|token| token.word().to_owned());
            let optional = grammar
                .optional(&words.collect_vec())
                .map(|length| (length, OTHER_WORD));
            let phrase = phrase_length(tokens, has_file).map(|length| (length, FUNCTIONAL));
            let both = optional.into_iter().chain(phrase);
            let is_free = |(length, _): &(usize, f64)| !reading.has_key(tokens.iter().take(*length));
            let free = both.filter(is_free);
            free.map(|(length, cost)| Move(Effect::Differ, 0, length, cost))
                .collect_vec()
        };
        let rests = (0..reading.tokens.len()).filter_map(|at| reading.tokens.get(at..));
        let extra = rests.map(|rest| additions(rest).into_iter().chain(needless(rest)).collect());
        Self {
            reading,
            grammar,
            extra: extra.collect(),
        }
    }
}

impl Sentence<'_> {
    /// Returns whether a sign divides words and is no operator: a dash before a word, or a bracket around words.
    fn is_punctuation(&self, at: usize) -> bool {
        let Reading { tokens, text, .. } = self.reading;
        let is_word = |token: Option<&Token>| token.is_some_and(|token| token.kind == Kind::Word);
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let is_apart = |token: &Token| text.get(..token.start).is_some_and(|text| text.ends_with(' '));
        match tokens.get(at).filter(|token| token.kind == Kind::Symbol) {
            Some(sign) if matches!(sign.text.as_str(), "-" | "–" | "—" | "(") => {
                is_apart(sign) && is_word(tokens.get(at + 1)) && before.is_some()
            }
            Some(sign) => sign.text == ")" && is_word(before),
            None => false,
        }
    }

    /// Returns whether a word points to a file by a noun that no example has: `this recipe`, `these two recipes`.
    fn is_pointed_at(&self, at: usize) -> bool {
        let Reading { tokens, data, .. } = self.reading;
        let mut before = tokens
            .iter()
            .take(at)
            .rev()
            .skip_while(|token| token.kind == Kind::Number);
        let is_after = before.next().is_some_and(|token| is_pointing(token.word()));
        let is_new = |token: &Token| is_plain(token) && !self.grammar.knows(&token.stem);
        is_after && data.iter().any(|data| data.is_file) && tokens.get(at).is_some_and(is_new)
    }
}

/// The cost of the cheapest way on from a place, and its first step.
type Cell = (f64, Option<Move>);

/// Returns the cheapest alignment of a question with a pattern.
pub(crate) fn align(pattern: &Pattern, sentence: &Sentence<'_>) -> Alignment {
    let aligner = Aligner { pattern, sentence };
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
    sentence: &'a Sentence<'a>,
}

impl Aligner<'_> {
    /// The cheapest alignments of each rest of the pattern with each rest of the question, those of the shortest first.
    fn cells(&self) -> Vec<Cell> {
        let (items, tokens) = (&self.pattern.items, self.tokens().len());
        let skips: Vec<Option<Move>> = (0..tokens).map(|token| self.skip(token)).collect();
        let mut cells: Vec<Cell> = Vec::new();
        for at in (0..=items.len()).rev() {
            let words = words(items.get(at..).unwrap_or_default());
            let drops = self.drops(items.get(at), &words);
            for token in (0..=tokens).rev() {
                let fits = items
                    .get(at)
                    .map_or_else(Vec::new, |item| self.fit(item, &words, token));
                let extra = self.sentence.extra.get(token).into_iter().flatten();
                let moves = skips
                    .get(token)
                    .into_iter()
                    .flatten()
                    .chain(extra)
                    .chain(&drops)
                    .chain(&fits);
                let rest = |step: &Move| cells.get(self.place(at + step.1, token + step.2));
                let costs = moves.filter_map(|step| Some((step.3 + rest(step)?.0, step)));
                let best = costs.min_by(|(a, _), (b, _)| a.total_cmp(b));
                cells.push(best.map_or((0.0, None), |(cost, step)| (cost, Some(step.clone()))));
            }
        }
        cells
    }

    fn tokens(&self) -> &[Token] {
        &self.sentence.reading.tokens
    }

    /// The position of the cell for the rests that begin with `item` and `token`.
    fn place(&self, item: usize, token: usize) -> usize {
        (self.pattern.items.len() - item) * (self.tokens().len() + 1) + (self.tokens().len() - token)
    }

    /// The question has a token that the pattern lacks.
    fn skip(&self, at: usize) -> Option<Move> {
        let rest = self.tokens().get(at..)?;
        let token = rest.first()?;
        let takes_texts = !self.pattern.texts().is_empty();
        let reading = self.sentence.reading;
        let skip = |cost| Move(Effect::Differ, 0, 1, cost);
        let has_file = takes_texts && reading.data.iter().any(|data| data.is_file);
        // "it" is the attachment where there is no earlier result.
        let refers_to_file = |rest| has_file && reference_length(rest) == Some(1);
        let is_data_word = takes_texts && (reading.context.contains(token.word()) || self.sentence.is_pointed_at(at));
        let one = match (token, reading.reference(rest)) {
            _ if token.kind == Kind::Mark || self.sentence.is_punctuation(at) => skip(0.0),
            _ if takes_texts && token.is_data() => Move(Effect::Text, 0, 1, 0.05),
            _ if is_functional(token.word()) => skip(FUNCTIONAL),
            _ if takes_texts && is_pointing(token.word()) && !reading.data.is_empty() => skip(FUNCTIONAL),
            (_, Some(length)) if takes_texts => Move(Effect::Refer, 0, length, OTHER_WORD),
            _ if is_data_word || refers_to_file(rest) => skip(OTHER_WORD),
            _ => Move(Effect::LeaveOver, 0, 1, LEFT_OVER),
        };
        Some(one)
    }

    /// The question lacks the item, or words that examples lack as well.
    fn drops(&self, item: Option<&Item>, words: &[String]) -> Vec<Move> {
        let is_free = matches!(item, Some(Item::Word(word)) if is_functional(word) || is_pointing(word));
        let cost = if is_free { FUNCTIONAL } else { LEFT_OVER };
        let one = item.map(|_| Move(Effect::Differ, 1, 0, cost));
        let optional = self.sentence.grammar.optional(words);
        let optional = optional.map(|length| Move(Effect::Lack, length, 0, OTHER_WORD));
        one.into_iter().chain(optional).collect()
    }

    /// The ways in which the tokens from `at` on are `item` or the `words` that begin with it. Words of the pattern do not
    /// fill an open slot.
    fn fit(&self, item: &Item, words: &[String], at: usize) -> Vec<Move> {
        let Some(rest @ [first, ..]) = self.tokens().get(at..) else {
            return Vec::new();
        };
        let reading = self.sentence.reading;
        let slot = match item {
            // The name of a column or a key is nothing else: "how many employees" does not ask for the number of rows.
            Item::Word(_) if reading.is_key(first) => return Vec::new(),
            Item::Word(word) if first.stem == *word => return vec![Move(Effect::Match, 1, 1, 0.0)],
            Item::Word(_) => {
                let same = self.sentence.grammar.synonyms(words, rest).into_iter();
                return same
                    .filter(|(_, length)| !reading.has_key(rest.iter().take(*length)))
                    .map(|(items, length)| Move(Effect::Match, items, length, SYNONYM))
                    .collect();
            }
            Item::Slot(slot) => *slot,
        };
        let class = self.pattern.slots.get(slot).map(|slot| slot.class.as_ref());
        let is_ours = |token: &Token| match class {
            Some(Class::Words { shown, .. }) => {
                self.pattern.words().contains(&token.stem) && !shown.contains_key(&token.stem)
            }
            _ => false,
        };
        let mut fillers = class.map_or_else(Vec::new, |class| class.fillers(rest, reading));
        fillers.retain(|filler| filler.cost == 0.0 || !rest.iter().take(filler.length).any(is_ours));
        let fill = |one: Filler| Move(Effect::Fill(slot, one.value, one.unknown), 1, one.length, one.cost);
        fillers.into_iter().map(fill).collect()
    }
}

/// The words at the beginning of `items`.
fn words(items: &[Item]) -> Vec<String> {
    let words = items.iter().map_while(Item::word).cloned();
    words.take(MAX_WORDS).collect()
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
