//! Cuts text into tokens: words, numbers, quoted text, dates, addresses, JSON literals.

use serde_json::Value;

use super::scan;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    /// Letters, with inner apostrophes, hyphens and digits.
    Word,
    /// A number as people write it.
    Number(Number),
    /// Text between quotes; `text` is what stands inside.
    Quoted,
    /// A date; `text` is `YYYY-MM-DD`, or `YYYY-MM-DDTHH:MM` with a time; as written where day and month could be swapped.
    Date,
    /// A time of day; `text` is as written.
    Time,
    /// An `http`, `https` or `www` address.
    Url,
    /// A mail address.
    Email,
    /// A path or the name of a file.
    Path,
    /// A JSON array or object.
    Json(Value),
    /// One other character.
    Punct,
}

/// A number and the signs around it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Number {
    /// Its value, without regard to a percent sign.
    pub(super) value: f64,
    /// A percent sign follows.
    pub(super) percent: bool,
    /// A currency sign stands before or after it.
    pub(super) currency: Option<char>,
}

impl Number {
    /// Whether it may be the number of a year.
    pub(super) fn looks_like_a_year(&self) -> bool {
        self.value.fract() == 0.0 && (1000.0..2200.0).contains(&self.value) && self.currency.is_none() && !self.percent
    }
}

/// One token and where it stands, in bytes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Token {
    /// The text in lower case.
    pub(super) fn lower(&self) -> String {
        self.text.to_lowercase()
    }

    /// Whether it is the word or sign `text`, in any case.
    pub(super) fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Punct) && self.text.eq_ignore_ascii_case(text)
    }

    /// Whether it is one of `texts`.
    pub(super) fn is_any(&self, texts: &[&str]) -> bool {
        texts.iter().any(|text| self.is(text))
    }

    /// Whether it is a word.
    pub(super) const fn is_word(&self) -> bool {
        matches!(self.kind, Kind::Word)
    }

    /// Whether it is a word in capitals, such as `US`, which says more than `us`.
    pub(super) fn is_acronym(&self) -> bool {
        self.is_word() && self.text.len() > 1 && self.text.chars().all(|c| c.is_uppercase() || c == '.' || c == '&')
    }

    /// Whether it is a word without content.
    pub(super) fn is_function_word(&self) -> bool {
        self.is_word() && !self.is_acronym() && super::words::is_empty(&self.lower())
    }

    /// Whether it is a code: letters and digits mixed.
    pub(super) fn is_code(&self) -> bool {
        let digit = self.text.chars().any(|c| c.is_ascii_digit());
        self.is_word() && (self.text.starts_with('#') || (digit && self.text.chars().any(char::is_alphabetic)))
    }

    /// Whether it is a word with a capital first letter.
    pub(super) fn is_capitalised(&self) -> bool {
        self.is_word() && self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// The tokens of `text`, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens: Vec<Token> = Vec::new();
    let mut at = 0;
    while let Some(c) = scan::char_at(text, at) {
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        let (kind, inner, end) = next(text, at, tokens.last());
        let end = end.max(at + c.len_utf8());
        tokens.push(Token {
            kind,
            text: inner,
            start: at,
            end,
        });
        at = end;
    }
    tokens
}

type Scanned = (Kind, String, usize);

fn next(text: &str, at: usize, previous: Option<&Token>) -> Scanned {
    let slice = |end: usize| text.get(at..end).unwrap_or_default().to_owned();
    let glued = previous.is_some_and(|token| token.end == at);
    if let Some((inner, end)) = scan::quoted(text, at, glued) {
        return (Kind::Quoted, inner, end);
    }
    if let Some((value, end)) = scan::json(text, at) {
        return (Kind::Json(value), slice(end), end);
    }
    if let Some((kind, end)) = scan::address(text, at) {
        return (kind, slice(end), end);
    }
    if let Some(end) = scan::code(text, at, glued) {
        return (Kind::Word, slice(end), end);
    }
    if let Some((iso, end)) = scan::date(text, at) {
        return (Kind::Date, iso, end);
    }
    if let Some(end) = scan::time(text, at) {
        return (Kind::Time, slice(end), end);
    }
    let operand_before = glued && previous.is_some_and(|token| !matches!(token.kind, Kind::Punct) || token.is(")"));
    if let Some((number, end)) = scan::number(text, at, operand_before) {
        return (Kind::Number(number), slice(end), end);
    }
    match scan::word(text, at) {
        Some(end) => (Kind::Word, slice(end), end),
        None => {
            let end = at + scan::char_at(text, at).map_or(1, char::len_utf8);
            (Kind::Punct, slice(end), end)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<String> {
        let show = |token: Token| match token.kind {
            Kind::Number(number) => format!("{}", number.value),
            Kind::Word | Kind::Punct => token.text,
            Kind::Json(value) => value.to_string(),
            kind => format!("{kind:?}:{}", token.text),
        };
        tokens(text).into_iter().map(show).collect()
    }

    #[test]
    fn numbers_keep_signs_separators_and_decimals() {
        assert_eq!(kinds("1,284.50 -3 +2 1e3 5k"), ["1284.5", "-3", "2", "1000", "5000"]);
    }

    #[test]
    fn a_sign_between_numbers_is_an_operator() {
        assert_eq!(kinds("8-3"), ["8", "-", "3"]);
    }

    #[test]
    fn a_percent_or_currency_sign_belongs_to_its_number() {
        let Some(Kind::Number(number)) = tokens("17.5%").pop().map(|token| token.kind) else {
            panic!()
        };
        assert!(number.percent);
        let Some(Kind::Number(number)) = tokens("$300,000").pop().map(|token| token.kind) else {
            panic!()
        };
        assert_eq!((number.value, number.currency), (300_000.0, Some('$')));
    }

    #[test]
    fn quotes_hold_text_and_apostrophes_do_not() {
        assert_eq!(kinds("don't say 'hello there'"), ["don't", "say", "Quoted:hello there"]);
        assert_eq!(kinds("the dogs' \"big bowl\""), ["the", "dogs", "'", "Quoted:big bowl"]);
    }

    #[test]
    fn dates_have_one_form() {
        assert_eq!(kinds("27 February 2024"), ["Date:2024-02-27"]);
        assert_eq!(kinds("Feb 27, 2024"), ["Date:2024-02-27"]);
        assert_eq!(kinds("2024-02-27"), ["Date:2024-02-27"]);
        assert_eq!(kinds("March 3rd"), ["March", "3"]);
    }

    #[test]
    fn addresses_paths_and_literals_are_whole() {
        assert_eq!(kinds("https://a.org/x?y=1."), ["Url:https://a.org/x?y=1", "."]);
        assert_eq!(
            kinds("mail bob@example.com, data.csv"),
            ["mail", "Email:bob@example.com", ",", "Path:data.csv"]
        );
        assert_eq!(kinds("sort [3, 1]"), ["sort", "[3,1]"]);
        assert_eq!(kinds("at 10:30 am"), ["at", "Time:10:30 am"]);
    }
}
