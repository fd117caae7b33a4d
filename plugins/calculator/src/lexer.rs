//! Splits an expression into tokens. Positions count characters, not bytes.

use crate::error::{EvalError, Reason};
use crate::format;

/// Maximum length of an expression, in characters.
const MAX_CHARS: usize = 4096;

/// Words that are operators, not names of functions. So the parentheses after such a word hold no arguments of a call, and a
/// comma in them may separate thousands: `3600 divided by (1,200)`.
const OPERATOR_WORDS: [&str; 9] = ["of", "by", "times", "plus", "minus", "over", "from", "off", "than"];

/// One token and the position of its first character, counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub(crate) at: usize,
    pub(crate) kind: TokenKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    Number(f64),
    /// A whole number that an `f64` would round.
    Whole(i128),
    /// A word: the name of a function, a constant or a variable, or a word such as `of`.
    Name(String),
    /// A punctuation character, one of `+ - * / ^ % ! , ( )`.
    Punct(char),
    End,
}

/// Splits `text` into tokens. The last one is always `End`.
pub(crate) fn tokenize(text: &str) -> Result<Vec<Token>, EvalError> {
    let chars: Vec<char> = text.chars().collect();
    if chars.len() > MAX_CHARS {
        let message = format!(
            "the expression has {} characters, at most {MAX_CHARS} are allowed",
            chars.len()
        );
        return Err(Reason::TooLarge(message).without_position());
    }
    let mut lexer = Lexer {
        chars,
        at: 0,
        open_parens: Vec::new(),
        tokens: Vec::new(),
    };
    while let Some(c) = lexer.peek(0) {
        lexer.read_token(c)?;
    }
    lexer.push(lexer.at, TokenKind::End);
    Ok(lexer.tokens)
}

struct Lexer {
    chars: Vec<char>,
    /// Index of the next character.
    at: usize,
    /// For each open parenthesis, whether it encloses the arguments of a call, where a comma separates arguments.
    open_parens: Vec<bool>,
    tokens: Vec<Token>,
}

impl Lexer {
    /// Returns the next character, or the one that stands `ahead` characters after it.
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at.saturating_add(ahead)).copied()
    }

    fn peek_is(&self, ahead: usize, test: impl Fn(char) -> bool) -> bool {
        self.peek(ahead).is_some_and(test)
    }

    fn push(&mut self, at: usize, kind: TokenKind) {
        self.tokens.push(Token { at, kind });
    }

    /// Reads what starts with `c`, the next character: one token, or two for `²` and `³`, or none if `c` is skipped.
    fn read_token(&mut self, c: char) -> Result<(), EvalError> {
        // Skip white space, currency signs, and colons, such as the one before a list.
        if c.is_whitespace() || matches!(c, '$' | '€' | '£' | '¥' | '₹' | ':') {
            self.at += 1;
        } else if c.is_ascii_digit() || (c == '.' && self.peek_is(1, |c| c.is_ascii_digit())) {
            self.read_number()?;
        } else if c.is_alphabetic() || c == '_' {
            self.read_name();
        } else if let Some(kinds) = tokens_for_special_character(c) {
            let start = self.at;
            kinds.into_iter().for_each(|kind| self.push(start, kind));
            self.at += 1;
        } else {
            self.read_punct(c)?;
        }
        Ok(())
    }

    fn read_name(&mut self) {
        let start = self.at;
        let mut name = String::new();
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || *c == '_') {
            name.push(c);
            self.at += 1;
        }
        self.push(start, TokenKind::Name(name));
    }

    /// Reads a punctuation character, which may be written in another way, such as `×` or `**`.
    fn read_punct(&mut self, c: char) -> Result<(), EvalError> {
        let start = self.at;
        let punct = match c {
            '*' if self.peek(1) == Some('*') => {
                self.at += 1;
                '^'
            }
            '+' | '-' | '*' | '/' | '^' | '%' | '!' | ',' | '(' | ')' => c,
            '×' | '·' | '⋅' => '*',
            '÷' => '/',
            '−' | '–' => '-',
            _ => return Err(Reason::Syntax(format!("unexpected character `{c}`")).at(start)),
        };
        match punct {
            '(' => {
                let is_call = match self.tokens.last().map(|token| &token.kind) {
                    Some(TokenKind::Name(name)) => !OPERATOR_WORDS.iter().any(|word| name.eq_ignore_ascii_case(word)),
                    _ => false,
                };
                self.open_parens.push(is_call);
            }
            ')' => drop(self.open_parens.pop()),
            _ => {}
        }
        self.at += 1;
        self.push(start, TokenKind::Punct(punct));
        Ok(())
    }

    fn read_number(&mut self) -> Result<(), EvalError> {
        if let Some(radix) = self.radix() {
            return self.read_whole_in(radix);
        }
        let start = self.at;
        let mut digits = String::new();
        self.read_digits(&mut digits);
        self.read_thousands_groups(&mut digits);
        if self.peek(0) == Some('.') {
            digits.push('.');
            self.at += 1;
            self.read_digits(&mut digits);
        }
        self.read_exponent(&mut digits);
        if self.peek(0) == Some('.') {
            return Err(Reason::Syntax("a number has two decimal points".to_owned()).at(self.at));
        }
        let value: f64 = digits
            .parse()
            .ok()
            .filter(|value: &f64| value.is_finite())
            .ok_or_else(|| Reason::Syntax("the number is too large".to_owned()).at(start))?;
        let whole = digits.parse::<i128>().ok().filter(|_| value.abs() >= format::MAX_EXACT);
        self.push(start, whole.map_or(TokenKind::Number(value), TokenKind::Whole));
        Ok(())
    }

    /// Returns the radix that `0x`, `0o` or `0b` says, if digits of that radix follow.
    fn radix(&self) -> Option<u32> {
        let radix = match self.peek(1).filter(|_| self.peek(0) == Some('0'))? {
            'x' | 'X' => 16,
            'o' | 'O' => 8,
            'b' | 'B' => 2,
            _ => return None,
        };
        self.peek_is(2, |c| c.is_digit(radix)).then_some(radix)
    }

    /// Reads a whole number such as `0x20`, with a `_` between digits where one is.
    fn read_whole_in(&mut self, radix: u32) -> Result<(), EvalError> {
        let start = self.at;
        self.at += 2;
        let mut value: i128 = 0;
        while let Some(c) = self.peek(0).filter(|c| c.is_alphanumeric() || matches!(c, '_' | '.')) {
            if c != '_' {
                let digit = c.to_digit(radix).ok_or_else(|| {
                    Reason::Syntax(format!("`{c}` is no digit of a number to the base {radix}")).at(self.at)
                })?;
                let next = value
                    .checked_mul(i128::from(radix))
                    .and_then(|value| value.checked_add(i128::from(digit)));
                value = next.ok_or_else(|| Reason::Syntax("the number is too large".to_owned()).at(start))?;
            }
            self.at += 1;
        }
        let float = value as f64;
        let kind = if float < format::MAX_EXACT {
            TokenKind::Number(float)
        } else {
            TokenKind::Whole(value)
        };
        self.push(start, kind);
        Ok(())
    }

    /// Reads digits, and skips a `_` between two of them.
    fn read_digits(&mut self, digits: &mut String) {
        while let Some(c) = self.peek(0) {
            match c {
                '0'..='9' => digits.push(c),
                '_' if !digits.is_empty() && self.peek_is(1, |c| c.is_ascii_digit()) => {}
                _ => return,
            }
            self.at += 1;
        }
    }

    /// Reads the groups of three digits after the first group of `12,345`, except directly in the parentheses of a call, where
    /// `,` separates arguments.
    fn read_thousands_groups(&mut self, digits: &mut String) {
        let is_in_call = self.open_parens.last().copied().unwrap_or(false);
        if is_in_call || digits.is_empty() || digits.len() > 3 {
            return;
        }
        while self.is_thousands_group() {
            self.at += 1;
            digits.extend((0..3).filter_map(|ahead| self.peek(ahead)));
            self.at += 3;
        }
    }

    /// Returns whether a comma and exactly three digits come next.
    fn is_thousands_group(&self) -> bool {
        let is_digit = |c: char| c.is_ascii_digit();
        self.peek(0) == Some(',') && (1..=3).all(|ahead| self.peek_is(ahead, is_digit)) && !self.peek_is(4, is_digit)
    }

    /// Reads an exponent. An `e` without digits after it is the constant: `2e` is twice `e`.
    fn read_exponent(&mut self, digits: &mut String) {
        if !self.peek_is(0, |c| c == 'e' || c == 'E') {
            return;
        }
        let has_sign = self.peek_is(1, |c| c == '+' || c == '-');
        // The length of the `e` and the sign.
        let prefix_length = if has_sign { 2 } else { 1 };
        if !self.peek_is(prefix_length, |c| c.is_ascii_digit()) {
            return;
        }
        for _ in 0..prefix_length {
            digits.extend(self.peek(0));
            self.at += 1;
        }
        while let Some(c) = self.peek(0).filter(char::is_ascii_digit) {
            digits.push(c);
            self.at += 1;
        }
    }
}

/// Returns the tokens for a character that stands for a word or a power, or `None` for other characters.
fn tokens_for_special_character(c: char) -> Option<Vec<TokenKind>> {
    match c {
        '°' => Some(vec![TokenKind::Name("degrees".to_owned())]),
        '√' => Some(vec![TokenKind::Name("sqrt".to_owned())]),
        '²' => Some(vec![TokenKind::Punct('^'), TokenKind::Number(2.0)]),
        '³' => Some(vec![TokenKind::Punct('^'), TokenKind::Number(3.0)]),
        _ => None,
    }
}
