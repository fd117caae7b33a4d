//! What a text says and no argument took: numbers, and words that limit what is asked for.

use serde_json::Value;

use super::super::reading::{Candidate, Reading, Shape};
use super::super::schema::{Tool, text_of};
use super::super::token::Token;
use super::super::words;
use super::{Context, Filled, column, cue};

/// Words that leave something out.
const LEAVES_OUT: &[&str] = &["excluding", "except", "without", "only"];
/// Words that change what is counted; a tool that knows them says so.
const CHANGES: &[&str] = &["distinct", "unique", "business", "working"];
const ORDINALS: &[&str] = &["second", "third", "fourth", "fifth"];
const BOUNDS: &[&str] = &["over", "under", "above", "below", "than"];
const MEANS: &[&str] = &["average", "mean", "median", "usual"];

/// A number or word of a text that became no argument, and the words around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Left {
    what: String,
    around: String,
}

impl Left {
    fn new(part: &Reading, from: usize, to: usize) -> Self {
        let is_word = |at: usize| part.token(at).is_some_and(Token::is_word);
        let start = from.checked_sub(1).filter(|at| is_word(*at)).unwrap_or(from);
        let end = if start == from && is_word(to) { to + 1 } else { to };
        Self {
            what: part.slice(from, to).to_owned(),
            around: part.slice(start, end).to_owned(),
        }
    }

    /// A sentence without its first word and dot: what went into no argument of `tool`.
    pub(in super::super) fn sentence(&self, tool: &str) -> String {
        format!("`{}` in `{}` went into no argument of `{tool}`", self.what, self.around)
    }
}

/// The first piece of the part that has to mean something and went into none of the arguments.
pub(super) fn over(tool: &Tool, context: Context<'_>, filled: &Filled) -> Option<Left> {
    let rest = Rest { tool, context, filled };
    let part = context.part;
    let numbers = part.candidates.iter().filter(|candidate| rest.is_number(candidate));
    let words = (0..part.tokens.len()).filter(|index| rest.is_limit(*index));
    let names = part.candidates.iter().filter(|candidate| rest.is_name(candidate));
    let places = numbers
        .chain(names)
        .map(|candidate| (candidate.from, candidate.to))
        .chain(words.map(|index| (index, index + 1)));
    places.min().map(|(from, to)| Left::new(part, from, to))
}

struct Rest<'a> {
    tool: &'a Tool,
    context: Context<'a>,
    filled: &'a Filled,
}

impl Rest<'_> {
    fn is_used(&self, index: usize) -> bool {
        self.filled.used.get(index).copied().unwrap_or_default()
    }

    /// Whether `candidate` is a name that a question about a table limits it to, such as the North of "sales in North".
    fn is_name(&self, candidate: &Candidate) -> bool {
        let part = self.context.part;
        let mut tokens = part.tokens.iter().enumerate().take(candidate.to).skip(candidate.from);
        candidate.shape == Shape::Name
            && tokens.all(|(index, token)| !self.is_used(index) && !token.is_acronym())
            && candidate.from > 0
            && self.asks_a_table()
            && !column::is_column(self.context, part.slice(candidate.from, candidate.to))
    }

    fn asks_a_table(&self) -> bool {
        !column::columns(self.context).is_empty() && self.tool.params.iter().any(column::takes_column)
    }

    /// Whether `candidate` is a number that was left over.
    fn is_number(&self, candidate: &Candidate) -> bool {
        let part = self.context.part;
        matches!(candidate.shape, Shape::Number(_))
            && !(candidate.from..candidate.to).any(|index| self.is_used(index))
            && !part.is_single(candidate.from)
            && !cue::counts_params(self.tool, candidate, part)
            && !self.is_named(candidate)
    }

    /// Whether the number belongs to the name of a file or of a column that became an argument.
    fn is_named(&self, candidate: &Candidate) -> bool {
        let part = self.context.part;
        let text = part.slice(candidate.from, candidate.to);
        let in_file = self
            .context
            .attachments
            .iter()
            .any(|file| file.name.contains(text) && part.text.contains(&file.name));
        let columns = column::columns(self.context);
        let is_column = |value: &Value| {
            columns
                .iter()
                .any(|column| *column == text_of(value) && column.contains(text))
        };
        in_file || self.filled.arguments.values().any(is_column)
    }

    /// Whether the token at `index` limits what is asked for in a way that became no argument.
    fn is_limit(&self, index: usize) -> bool {
        let Some(token) = self.context.part.token(index).filter(|token| token.is_word()) else {
            return false;
        };
        if self.is_used(index) {
            return false;
        }
        let next = |words: &[&str]| self.next(index).is_some_and(|token| token.is_any(words));
        let noun = self
            .next(index)
            .is_some_and(|token| token.is_word() && !token.is_function_word());
        token.is_any(LEAVES_OUT) && !self.is_used(index + 1) && !self.has_flag()
            || token.is_any(CHANGES) && !self.knows(token)
            || token.is_any(ORDINALS) && noun && self.context.part.before(index, 1) != "per"
            || token.is_any(BOUNDS) && next(MEANS)
            || token.is("where") && self.is_condition(index)
    }

    /// The word behind `index`, without an article before it.
    fn next(&self, index: usize) -> Option<&Token> {
        let part = self.context.part;
        let first = part.token(index + 1)?;
        if first.is_any(&["the", "a", "an"]) {
            part.token(index + 2)
        } else {
            Some(first)
        }
    }

    fn has_flag(&self) -> bool {
        self.filled.arguments.values().any(Value::is_boolean)
    }

    fn knows(&self, token: &Token) -> bool {
        let stem = words::stem(&token.lower());
        let said = words::split(&self.tool.shown);
        said.iter().any(|word| words::stem(word) == stem) || words::stems(&self.tool.name).contains(&stem)
    }

    /// "Where is it" and "tell me where" ask for a place, "rows where" limits.
    fn is_condition(&self, index: usize) -> bool {
        let part = self.context.part;
        let before = index.checked_sub(1).and_then(|at| part.token(at));
        before
            .is_some_and(|before| before.is_word() && !before.is_function_word() && !words::is_generic(&before.lower()))
    }
}
