//! The class of a slot: which words of a question can fill it, learnt from all values that the examples give its parameter.

use jiff::fmt::strtime::BrokenDownTime;
use serde_json::Value;

use crate::arithmetic::Phrases;
use crate::data::{Forms, Names};
use crate::earlier::EARLIER;
use crate::reading::{NamesOf, Reading};
use crate::token::{Kind, Token, beginnings, stems, texts};
use crate::words::is_plain;

/// Maximum number of plain words in an open slot.
const MAX_OPEN: usize = 3;
/// Cost of each plain word in an open slot.
const OPEN_WORD: f64 = 0.15;
/// Cost of a word that is part of a name.
const PART: f64 = 0.3;
/// Cost of an open slot when no example shows any of its words.
const UNKNOWN: f64 = 0.2;
/// Cost of code that is not in quotes.
const BARE_CODE: f64 = 0.1;
/// Maximum number of tokens in a name.
const MAX_NAME: usize = 5;
/// Maximum number of tokens of a date in words: `the 3rd of March, 2026` has 7.
const MAX_MOMENT: usize = 7;
/// Minimum number of digits of a Unix time.
const MIN_UNIX_TIME: usize = 9;

/// Dates and times in words, without what an ordinal number ends with.
const MOMENTS: [&str; 9] = [
    "%d %B %Y", "%d %b %Y", "%B %d %Y", "%b %d %Y", "%d %B", "%B %d", "%b %d", "%I %p", "%I:%M %p",
];

/// Which words can fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Class {
    /// A number.
    Number,
    /// One of these values, such as the choices of a schema.
    Named(Names),
    /// A date or a time, or one of these words for one.
    Moment(Names),
    /// A column or a key of the data that is passed along.
    Key,
    /// A text in the data that is passed along.
    Cell,
    /// Numbers with these phrases between them.
    Arithmetic(Phrases),
    /// A pattern, a filter or an address: in quotes, or without a blank in it.
    Code,
    /// A few plain words: these or others. A quoted text is certain if the examples have one.
    Words { shown: Names, are_quoted: bool },
    /// A whole text in one of these forms. It has no place among the words.
    Text(Forms),
}

/// Whether the examples show that words are a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Certainty {
    /// The words can only be a value of this class.
    Sure,
    /// They are plain words, all of which examples have as values.
    Shown,
    /// They are other plain words.
    Unknown,
}

/// A way to fill a slot.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Filler {
    /// Number of tokens that it consists of.
    pub(crate) length: usize,
    pub(crate) value: Value,
    /// Distance from what the examples show; 0 for a value that is certain.
    pub(crate) cost: f64,
    pub(crate) certainty: Certainty,
}

impl Class {
    /// Any plain word.
    pub(crate) const ANY_WORD: Self = Self::Words {
        shown: Names::new(),
        are_quoted: false,
    };

    /// Returns every way to fill a slot of this class with the first of `tokens`.
    pub(crate) fn fillers(&self, tokens: &[Token], reading: &Reading) -> Vec<Filler> {
        match self {
            Self::Number => number(tokens, reading).into_iter().collect(),
            Self::Named(values) => names(tokens, &[values], 0.0),
            Self::Moment(values) => moment(tokens)
                .into_iter()
                .chain(names(tokens, &[values], 0.0))
                .collect(),
            Self::Key => keys(tokens, reading),
            Self::Cell => cells(tokens, reading),
            Self::Arithmetic(phrases) => phrases.runs(tokens, reading),
            Self::Code => code(tokens, &reading.text),
            Self::Words { shown, are_quoted } => words(tokens, shown, *are_quoted),
            Self::Text(_) => text(tokens).into_iter().collect(),
        }
    }
}

/// Creates a filler that is not of open words.
pub(crate) fn filler(length: usize, value: impl Into<Value>, cost: f64) -> Filler {
    Filler {
        length,
        value: value.into(),
        cost,
        certainty: Certainty::Sure,
    }
}

fn number(tokens: &[Token], reading: &Reading) -> Option<Filler> {
    let sign = tokens.first().filter(|token| matches!(token.text.as_str(), "-" | "−"));
    let signed = usize::from(sign.is_some());
    let token = tokens.get(signed)?;
    if token.kind != Kind::Number {
        return Some(filler(reading.reference(tokens)?, EARLIER, 0.05));
    }
    let number: f64 = token.text.parse().ok()?;
    let text = if sign.is_some() { -number } else { number }.to_string();
    Some(filler(1 + signed, serde_json::from_str::<Value>(&text).ok()?, 0.0))
}

/// The names at the beginning of `tokens`, the longest first.
fn names(tokens: &[Token], known: &[&Names], cost: f64) -> Vec<Filler> {
    let named = |words: &[Token]| {
        let stems = stems(words).to_lowercase();
        let name = known.iter().find_map(|names| names.get(&stems))?;
        Some(filler(words.len(), name.as_str(), cost))
    };
    beginnings(tokens, MAX_NAME).filter_map(named).collect()
}

/// The columns or keys at the beginning of `tokens`.
fn keys(tokens: &[Token], reading: &Reading) -> Vec<Filler> {
    in_data(tokens, reading, |data| &data.keys, |data| &data.parts_of_keys)
}

/// The names of the data at the beginning of `tokens`, or a word that is part of one name only.
fn in_data(tokens: &[Token], reading: &Reading, whole: NamesOf, parts: NamesOf) -> Vec<Filler> {
    let whole = names(tokens, &reading.names(whole), 0.0);
    let parts = names(tokens, &reading.names(parts), PART);
    if whole.is_empty() { parts } else { whole }
}

/// The cells at the beginning of `tokens`, which may have the name of their column before or after them.
fn cells(tokens: &[Token], reading: &Reading) -> Vec<Filler> {
    let rest = |filler: &Filler| tokens.get(filler.length..).unwrap_or_default();
    let both = |cell: &Filler, key: &Filler| {
        let mut data = reading.data.iter();
        let is_there = data.any(|data| data.has_at(&cell.value, &key.value));
        is_there.then(|| filler(cell.length + key.length, cell.value.clone(), cell.cost))
    };
    let bare = |tokens: &[Token]| in_data(tokens, reading, |data| &data.cells, |data| &data.parts_of_cells);
    let mut cells = bare(tokens);
    for cell in cells.clone() {
        cells.extend(keys(rest(&cell), reading).iter().filter_map(|key| both(&cell, key)));
    }
    for key in keys(tokens, reading) {
        cells.extend(bare(rest(&key)).iter().filter_map(|cell| both(cell, &key)));
    }
    cells
}

/// A whole text. It fills a slot in an example only: in a question it may have any place.
fn text(tokens: &[Token]) -> Option<Filler> {
    let text = tokens.first().filter(|token| token.is_data())?;
    Some(filler(1, text.text.as_str(), 0.0))
}

/// A date or a time, as it is written.
fn moment(tokens: &[Token]) -> Option<Filler> {
    let longest = beginnings(tokens, MAX_MOMENT).find(|words| is_moment(words))?;
    Some(filler(longest.len(), texts(longest), 0.0))
}

/// Returns whether `tokens` are a date or a time and nothing else.
pub(crate) fn is_moment(tokens: &[Token]) -> bool {
    let is_glue = |token: &&Token| matches!(token.stem.as_str(), "the" | "of" | ",");
    let is_ending = |token: &&Token| matches!(token.stem.as_str(), "st" | "nd" | "rd" | "th");
    if let [token] = tokens {
        let is_unix_time = token.kind == Kind::Number && token.text.len() >= MIN_UNIX_TIME;
        return token.kind == Kind::Moment || (is_unix_time && !token.text.contains('.'));
    }
    let parts = tokens.iter().filter(|token| !is_glue(token) && !is_ending(token));
    let parts: Vec<&str> = parts.map(|token| token.text.as_str()).collect();
    // A blank in a form matches no blank as well, so that `2028` could be a day and a year.
    let mut forms = MOMENTS.iter().filter(|form| form.split(' ').count() == parts.len());
    let is_whole = !tokens.first().iter().chain(&tokens.last()).any(is_glue);
    is_whole && forms.any(|form| BrokenDownTime::parse(form, parts.join(" ")).is_ok())
}

/// A quoted text, a piece without a blank, or everything to the end of the question.
fn code(tokens: &[Token], text: &str) -> Vec<Filler> {
    let Some(first) = tokens.first() else {
        return Vec::new();
    };
    if first.kind == Kind::Quoted {
        return vec![filler(1, first.text.as_str(), 0.0)];
    }
    let (before, rest) = text.split_at_checked(first.start).unwrap_or_default();
    if before.ends_with(|sign: char| !sign.is_whitespace()) {
        return Vec::new();
    }
    let rest = rest.trim_end_matches(['?', '!', ' ']);
    let piece = rest.split_whitespace().next().unwrap_or_default();
    let piece = piece.trim_end_matches([',', '.', '?', '!', ':']);
    let code = |code: &str, cost| {
        let taken = tokens.iter().take_while(|token| token.start < first.start + code.len());
        filler(taken.count(), code, cost)
    };
    // The rest is code as well if it ends like code: `.users[] | .name`, but not `.name on this file`.
    let end = rest.rsplit_once(' ').map_or("", |(_, end)| end);
    let all = is_code(end).then(|| code(rest, 0.0));
    let codes = std::iter::once(code(piece, BARE_CODE)).chain(all);
    codes.filter(|_| is_code(piece)).collect()
}

/// Returns whether `text` has signs that a sentence does not have.
pub(crate) fn is_code(text: &str) -> bool {
    let has_sign = text.contains(|sign| r"\[]{}|^$*+#=<>%".contains(sign));
    has_sign || text.contains("://") || text.contains("(?") || text.starts_with('.')
}

/// Plain words or a quoted text, the nearer to the examples the cheaper.
fn words(tokens: &[Token], shown: &Names, are_quoted: bool) -> Vec<Filler> {
    let mut found = names(tokens, &[shown], 0.0);
    // An example may show a quoted "the" as a value; without quotes it is grammar.
    let may_fill = |token: &Token| token.kind != Kind::Word || is_plain(token);
    found.retain(|filler| tokens.iter().take(filler.length).any(may_fill));
    found.iter_mut().for_each(|filler| filler.certainty = Certainty::Shown);
    let is_quoted = |words: &[Token]| matches!(words, [token] if token.kind == Kind::Quoted);
    // No longer than the values of the examples: units have up to three words, a word to find has one.
    let longest = shown.keys().map(|stems| stems.split(' ').count()).max().unwrap_or(1);
    let open = beginnings(tokens, longest.min(MAX_OPEN));
    let open = open.filter(|words| words.iter().all(is_plain) || is_quoted(words));
    found.extend(open.map(|words| {
        let are_shown = words.iter().all(|token| shown.contains_key(&token.stem));
        let (certainty, cost) = match are_shown || (are_quoted && is_quoted(words)) {
            true => (Certainty::Shown, 0.0),
            false => (Certainty::Unknown, UNKNOWN),
        };
        let cost = words.iter().fold(cost, |cost, _| cost + OPEN_WORD);
        let filler = filler(words.len(), texts(words), cost);
        Filler { certainty, ..filler }
    }));
    found
}
