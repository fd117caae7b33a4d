//! Splits a compound unit into words, numbers and punctuation.

/// A word, a number or a punctuation character.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    Word(String),
    Number(i16),
    /// One of `* / ^ ( )`.
    Punctuation(char),
}

/// Splits `text` into tokens. Returns `None` if a number does not fit into an `i16`, or if no digit follows a minus sign U+2212.
/// A hyphen that no digit follows is skipped instead.
pub(crate) fn tokenize(text: &str) -> Option<Vec<Token>> {
    let mut tokens = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '²' => tokens.extend([Token::Punctuation('^'), Token::Number(2)]),
            '³' => tokens.extend([Token::Punctuation('^'), Token::Number(3)]),
            '*' if chars.next_if_eq(&'*').is_some() => tokens.push(Token::Punctuation('^')),
            '*' | '·' | '⋅' | '×' => tokens.push(Token::Punctuation('*')),
            '/' | '^' | '(' | ')' => tokens.push(Token::Punctuation(c)),
            // Skip the hyphen in `watt-hour`.
            '-' if !chars.peek().is_some_and(char::is_ascii_digit) => {}
            '0'..='9' | '-' | '−' => {
                let mut digits = String::from(if c == '−' { '-' } else { c });
                while let Some(digit) = chars.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                // A number after a word, also after white space, is a power: `m2`, `s-1`, `m 2`.
                let after_word = matches!(tokens.last(), Some(Token::Word(_)));
                tokens.extend(after_word.then_some(Token::Punctuation('^')));
                tokens.push(Token::Number(digits.parse().ok()?));
            }
            c if c.is_whitespace() => {}
            c => {
                let mut word = String::from(c);
                while let Some(more) = chars.next_if(|c| is_word_char(*c)) {
                    word.push(more);
                }
                tokens.push(if word.eq_ignore_ascii_case("per") {
                    Token::Punctuation('/')
                } else {
                    Token::Word(word)
                });
            }
        }
    }
    Some(tokens)
}

fn is_word_char(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '°' | '"' | '\'' | '′' | '″' | '_' | '.')
}
