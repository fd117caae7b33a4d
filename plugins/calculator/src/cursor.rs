//! A cursor over the tokens of an expression.

use crate::{
    lexer::{Token, TokenKind},
    words,
};

/// The tokens of an expression, and the index of the next one. After the last token, the next one is always `End`.
pub(crate) struct Cursor {
    tokens: Vec<Token>,
    next: usize,
}

impl Cursor {
    pub(crate) fn new(tokens: Vec<Token>) -> Self {
        Self { tokens, next: 0 }
    }

    /// Returns the next token without moving past it.
    pub(crate) fn peek(&self) -> &TokenKind {
        self.tokens.get(self.next).map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Returns the position of the first character of the next token, counted from 0. After the last token, returns the position
    /// of the last token.
    pub(crate) fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .or(self.tokens.last())
            .map_or(0, |token| token.at)
    }

    /// Moves past the next token. Returns the position of its first character, counted from 0, and the token.
    pub(crate) fn take(&mut self) -> (usize, TokenKind) {
        let taken = (self.at(), self.peek().clone());
        self.next = self.next.saturating_add(1).min(self.tokens.len());
        taken
    }

    /// Moves past the next token if it is this punctuation character. Returns whether it is.
    pub(crate) fn take_punct(&mut self, punct: char) -> bool {
        let found = *self.peek() == TokenKind::Punct(punct);
        if found {
            self.take();
        }
        found
    }

    /// Moves past the next token if it is this name, in any letter case. Returns whether it is.
    pub(crate) fn take_name(&mut self, name: &str) -> bool {
        let found = matches!(self.peek(), TokenKind::Name(next) if next.eq_ignore_ascii_case(name));
        if found {
            self.take();
        }
        found
    }

    /// Returns whether the token after the next one starts a value.
    pub(crate) fn value_follows_next_token(&self) -> bool {
        match self.tokens.get(self.next.saturating_add(1)).map(|token| &token.kind) {
            Some(TokenKind::Name(name)) => !words::ends_value(name),
            Some(TokenKind::Number(_) | TokenKind::Whole(_) | TokenKind::Punct('(')) => true,
            _ => false,
        }
    }

    /// Returns whether the two tokens after the next one say how many decimals are wanted, such as `2 decimals`.
    pub(crate) fn decimals_follow_next_token(&self) -> bool {
        let kind_after = |ahead| {
            self.tokens
                .get(self.next.saturating_add(ahead))
                .map(|token| &token.kind)
        };
        let second_is_decimals = matches!(kind_after(2), Some(TokenKind::Name(name)) if name == "decimals");
        second_is_decimals && matches!(kind_after(1), Some(TokenKind::Number(_)))
    }
}

/// Returns the token in words, for error messages.
pub(crate) fn describe(kind: &TokenKind) -> String {
    match kind {
        TokenKind::Number(value) => format!("the number `{value}`"),
        TokenKind::Whole(value) => format!("the number `{value}`"),
        TokenKind::Name(name) => format!("the name `{name}`"),
        TokenKind::Punct(punct) => format!("`{punct}`"),
        TokenKind::End => "the end of the expression".to_owned(),
    }
}
