//! Arithmetic in words and signs, written as one expression: "1284 divided by 6 plus 19" is `1284 / 6 + 19`.

mod aggregate;
mod follow;
mod fraction;
mod written;

#[cfg(test)]
mod tests;

pub(super) use written::written;

use serde_json::Value;

use super::reading::{Candidate, Reading, Shape};
use super::token::{Kind, Token};

/// Stands for the value of an earlier part until that is known.
pub(super) const REFERENCE: &str = "\u{1}";
/// Deepest nesting that is read.
const DEPTH: usize = 12;

/// Every expression in `reading`: one that has at least one operator.
pub(super) fn all(reading: &Reading) -> Vec<Candidate> {
    let mut found = Vec::new();
    let mut index = 0;
    while index < reading.tokens.len() {
        let mut parser = Parser {
            reading,
            at: index,
            operators: 0,
        };
        match parser.start() {
            Some(text) if parser.operators > 0 => {
                found.push(Candidate {
                    shape: Shape::Expression,
                    value: Value::from(written::unwrapped(&text)),
                    from: index,
                    to: parser.at,
                });
                index = parser.at.max(index + 1);
            }
            _ => index = formula(reading, index, &mut found).max(index + 1),
        }
    }
    found
}

/// A formula with letters, as written: `3x^2 + 2x - 5`.
fn formula(reading: &Reading, from: usize, found: &mut Vec<Candidate>) -> usize {
    let part = |token: &Token| match &token.kind {
        Kind::Number(_) => true,
        Kind::Word => {
            let letter = |piece: &str| piece.chars().count() == 1;
            token.text.split('/').all(letter) && !token.is_any(&["a", "i"]) || FUNCTIONS.contains(&token.text.as_str())
        }
        Kind::Punct => "+-*/^()=".contains(&token.text),
        _ => false,
    };
    let length = reading.tokens.iter().skip(from).take_while(|token| part(token)).count();
    let tokens = reading.tokens.iter().skip(from).take(length);
    let letters = tokens.clone().any(Token::is_word);
    let signs = tokens.filter(|token| "+-*/^".contains(&token.text)).count();
    if length >= 2 && letters && (signs > 0) {
        found.push(Candidate {
            shape: Shape::Expression,
            value: Value::from(right_side(reading.slice(from, from + length))),
            from,
            to: from + length,
        });
    }
    from + length
}

/// What a formula is equal to: the rest of `f(x) = 3x^2` and `y = 3x + 2`.
fn right_side(formula: &str) -> &str {
    match formula.split_once('=') {
        Some((left, right)) if ["", "y", "f", "f(x)", "g(x)", "y(x)"].contains(&left.trim()) => right.trim(),
        _ => formula,
    }
}

const FUNCTIONS: &[&str] = &[
    "sqrt", "sin", "cos", "tan", "log", "ln", "exp", "abs", "round", "floor", "ceil", "log10", "log2",
];

struct Parser<'a> {
    reading: &'a Reading,
    at: usize,
    operators: usize,
}

impl Parser<'_> {
    fn is(&self, offset: usize, text: &str) -> bool {
        self.reading.token(self.at + offset).is_some_and(|token| token.is(text))
    }

    /// Takes `words` when they come next.
    fn take(&mut self, words: &[&str]) -> bool {
        let all = words.iter().enumerate().all(|(offset, word)| self.is(offset, word));
        if all {
            self.at += words.len();
        }
        all
    }

    fn take_any(&mut self, choices: &[&[&str]]) -> bool {
        choices.iter().any(|words| self.take(words))
    }

    /// A request such as "divide 8 by 2", or an expression.
    fn start(&mut self) -> Option<String> {
        let begin = self.at;
        for opening in [Self::request, Self::listed_request, Self::follow_up] {
            if let Some(text) = opening(self) {
                self.operators += 1;
                return Some(self.tail(text, DEPTH));
            }
            (self.at, self.operators) = (begin, 0);
        }
        self.chain(DEPTH)
    }

    fn request(&mut self) -> Option<String> {
        if self.take(&["divide"]) {
            return self.pair(&["by"], "/", false);
        }
        if self.take(&["multiply"]) {
            return self.pair(&["by", "and", "with"], "*", false);
        }
        if self.take(&["subtract"]) {
            return self.pair(&["from"], "-", true);
        }
        if self.take(&["add"]) {
            return self.pair(&["to", "and"], "+", false);
        }
        None
    }

    fn pair(&mut self, between: &[&str], sign: &str, swap: bool) -> Option<String> {
        let first = self.operand(DEPTH)?;
        between.iter().any(|word| self.take(&[word])).then_some(())?;
        let second = self.operand(DEPTH)?;
        Some(if swap {
            format!("{second} {sign} {first}")
        } else {
            format!("{first} {sign} {second}")
        })
    }

    fn chain(&mut self, depth: usize) -> Option<String> {
        let first = self.operand(depth)?;
        Some(self.tail(first, depth))
    }

    fn tail(&mut self, mut text: String, depth: usize) -> String {
        loop {
            let before = self.at;
            self.take(&[","]);
            // "12 plus 3, and divided by 3" divides all that stands before.
            let all = self.take_any(&[&["and", "then"], &["and"], &["then"]]);
            let next = self.operator().and_then(|sign| Some((sign, self.operand(depth)?)));
            let Some((sign, next)) = next else {
                self.at = before;
                return text;
            };
            self.operators += 1;
            text = if all && text.contains(' ') {
                format!("({text}) {sign} {next}")
            } else {
                format!("{text} {sign} {next}")
            };
        }
    }

    fn operator(&mut self) -> Option<&'static str> {
        const WORDS: &[(&str, &[&[&str]])] = &[
            ("+", &[&["+"], &["plus"], &["added", "to"]]),
            ("-", &[&["-"], &["−"], &["–"], &["minus"], &["less"]]),
            (
                "*",
                &[&["*"], &["×"], &["·"], &["times"], &["multiplied", "by"], &["x"]],
            ),
            ("/", &[&["/"], &["÷"], &["divided", "by"], &["over"]]),
            (
                "^",
                &[
                    &["*", "*"],
                    &["^"],
                    &["to", "the", "power", "of"],
                    &["raised", "to", "the", "power", "of"],
                    &["to", "the", "power"],
                ],
            ),
            ("mod", &[&["mod"], &["modulo"]]),
        ];
        if self.take(&["*", "*"]) {
            return Some("^");
        }
        if self.after_percent() && self.take(&["of"]) {
            return Some("of");
        }
        if self.after_quotient() && self.take(&["of"]) {
            return Some("*");
        }
        WORDS
            .iter()
            .find(|(_, choices)| self.take_any(choices))
            .map(|(sign, _)| *sign)
    }

    fn after_percent(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|at| self.reading.token(at));
        before.is_some_and(|token| match &token.kind {
            Kind::Number(number) => number.percent,
            _ => token.is_any(&["percent", "percentage"]),
        })
    }

    fn operand(&mut self, depth: usize) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        if self.take_any(&[&["the", "square", "root", "of"], &["square", "root", "of"], &["√"]]) {
            return self.function("sqrt", depth);
        }
        if self.take_any(&[&["the", "cube", "root", "of"], &["cube", "root", "of"]]) {
            return self.function("cbrt", depth);
        }
        if let Some(text) = self.aggregate(depth).or_else(|| self.fraction(depth)) {
            return Some(text);
        }
        let base = self.simple(depth)?;
        Some(self.postfix(base))
    }

    fn function(&mut self, name: &str, depth: usize) -> Option<String> {
        let inner = self.operand(depth)?;
        self.operators += 1;
        Some(format!("{name}({})", written::unwrapped(&inner)))
    }

    fn simple(&mut self, depth: usize) -> Option<String> {
        let token = self.reading.token(self.at)?;
        if let Kind::Number(number) = &token.kind {
            self.at += 1;
            return Some(self.number(number.value, number.percent));
        }
        if let Some((value, end)) = self.reading.spelled_number(self.at) {
            self.at = end;
            return Some(self.number(value, false));
        }
        if token.is_word() && FUNCTIONS.contains(&token.lower().as_str()) && self.is(1, "(") {
            let name = token.lower();
            self.at += 1;
            self.operators += 1;
            return self.bracket(depth).map(|inner| format!("{name}{inner}"));
        }
        if token.is("(") {
            return self.bracket(depth);
        }
        if token.is_any(&["-", "−"]) && self.begins_bracket(token.end) {
            self.at += 1;
            self.operators += 1;
            return self.simple(depth.checked_sub(1)?).map(|inner| format!("-{inner}"));
        }
        let length = self.reading.reference_at(self.at)?;
        self.at += length;
        Some(REFERENCE.to_owned())
    }

    /// Whether a bracket, or a function with its bracket, begins right behind the sign that ends at `end`.
    fn begins_bracket(&self, end: usize) -> bool {
        let Some(next) = self.reading.token(self.at + 1) else {
            return false;
        };
        let function = FUNCTIONS.contains(&next.lower().as_str()) && self.is(2, "(");
        next.start == end && (next.is("(") || function)
    }

    fn number(&mut self, value: f64, percent: bool) -> String {
        let percent = percent || self.take(&["percent"]) || self.take(&["per", "cent"]);
        let plain = super::reading::number_value(value);
        format!("{plain}{}", if percent { "%" } else { "" })
    }

    fn bracket(&mut self, depth: usize) -> Option<String> {
        self.take(&["("]).then_some(())?;
        let mut inner = self.chain(depth)?;
        while self.take(&[","]) {
            inner = format!("{inner}, {}", self.chain(depth)?);
        }
        self.take(&[")"]).then(|| format!("({inner})"))
    }

    fn postfix(&mut self, base: String) -> String {
        let ending = if self.take(&["squared"]) {
            "^2"
        } else if self.take(&["cubed"]) {
            "^3"
        } else if self.take(&["factorial"]) || (self.is(0, "!") && self.is_glued()) && self.take(&["!"]) {
            "!"
        } else {
            return base;
        };
        self.operators += 1;
        format!("{base}{ending}")
    }

    fn is_glued(&self) -> bool {
        let end = self
            .at
            .checked_sub(1)
            .and_then(|at| self.reading.token(at))
            .map(|token| token.end);
        self.reading.token(self.at).map(|token| token.start) == end
    }
}
