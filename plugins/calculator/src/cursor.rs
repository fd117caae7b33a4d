//! A cursor over the tokens of an expression.

use crate::{
    lexer::{Kind, Token},
    words,
};

/// Tokens and the index of the next one. After the last token, every token is `End`.
pub(crate) struct Cursor {
    tokens: Vec<Token>,
    next: usize,
}

impl Cursor {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, next: 0 }
    }

    pub(crate) fn peek(&self) -> &Kind {
        self.tokens.get(self.next).map_or(&Kind::End, |token| &token.kind)
    }

    /// Returns the 0-based character at which the next token starts.
    pub(crate) fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .or(self.tokens.last())
            .map_or(0, |token| token.at)
    }

    pub(crate) fn take(&mut self) -> (usize, Kind) {
        let taken = (self.at(), self.peek().clone());
        self.next = self.next.saturating_add(1).min(self.tokens.len());
        taken
    }

    pub(crate) fn take_sign(&mut self, sign: char) -> bool {
        let found = *self.peek() == Kind::Sign(sign);
        if found {
            self.take();
        }
        found
    }

    pub(crate) fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), Kind::Name(next) if next.eq_ignore_ascii_case(name));
        if found {
            self.take();
        }
        found
    }

    /// Returns whether the token after the next one starts a value.
    pub(crate) fn value_follows(&self) -> bool {
        match self.tokens.get(self.next.saturating_add(1)).map(|token| &token.kind) {
            Some(Kind::Name(name)) => !words::ends_value(name),
            Some(Kind::Number(_) | Kind::Sign('(')) => true,
            _ => false,
        }
    }

    /// Returns whether a number of decimals, such as `2 decimals`, follows the next token.
    pub(crate) fn decimals_follow(&self) -> bool {
        let kind = |ahead| {
            self.tokens
                .get(self.next.saturating_add(ahead))
                .map(|token| &token.kind)
        };
        let is_decimals = matches!(kind(2), Some(Kind::Name(name)) if name == "decimals");
        is_decimals && matches!(kind(1), Some(Kind::Number(_)))
    }
}

/// Returns the token in words, for error messages.
pub(crate) fn describe(kind: &Kind) -> String {
    match kind {
        Kind::Number(value) => format!("the number `{value}`"),
        Kind::Name(name) => format!("the name `{name}`"),
        Kind::Sign(sign) => format!("`{sign}`"),
        Kind::End => "the end of the expression".to_owned(),
    }
}
