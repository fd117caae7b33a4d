//! Arithmetic in signs and in the words that the examples use for them.

use std::collections::BTreeMap;

use crate::token::{Kind, Token, tokens};
use crate::words::{is_functional, is_reference};

/// Words of one operator.
const MAX_PHRASE: usize = 5;

/// Stands for the result of an earlier part until it is known.
pub(crate) const EARLIER: &str = "\u{1}";

/// The only character of [`EARLIER`].
pub(crate) const EARLIER_SIGN: char = '\u{1}';

/// What the words between two numbers are in an expression, as the examples say it: `divided by` is `/`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Operators {
    phrases: BTreeMap<Vec<String>, String>,
    /// Names that expressions may have: functions and constants.
    names: Vec<String>,
}

impl Operators {
    /// Learns from examples, each of which is a question and the expression that it asks for. Words that mean two things
    /// are not learnt.
    pub(crate) fn learn<'a>(examples: impl Iterator<Item = (&'a [Token], &'a str)>) -> Self {
        let mut counted: BTreeMap<Vec<String>, BTreeMap<String, usize>> = BTreeMap::new();
        let mut names = Vec::new();
        for (question, expression) in examples {
            let written = tokens(expression, &[]);
            names.extend(
                written
                    .iter()
                    .filter(|token| token.kind == Kind::Word)
                    .map(|token| token.text.clone()),
            );
            for (phrase, sign) in between(question, &written).into_iter().flatten() {
                *counted.entry(phrase).or_default().entry(sign).or_default() += 1;
            }
        }
        let most = |signs: BTreeMap<String, usize>| {
            let best = signs.values().copied().max()?;
            let mut often = signs.into_iter().filter(|(_, count)| *count == best);
            let (sign, _) = often.next()?;
            often.next().is_none().then_some(sign)
        };
        let phrases = counted
            .into_iter()
            .filter_map(|(phrase, signs)| Some((phrase, most(signs)?)));
        Self {
            phrases: phrases.collect(),
            names,
        }
    }

    /// Every expression that begins with the first of `tokens`: how many tokens it takes, and how it is written.
    pub(crate) fn spans(&self, tokens: &[Token], may_refer: bool) -> Vec<(usize, String)> {
        let mut reader = Reader {
            operators: self,
            may_refer,
            written: String::new(),
            depth: 0,
            operators_read: 0,
            ends: Vec::new(),
        };
        reader.read(tokens);
        reader.ends
    }

    /// The longest operator that `tokens` begin with.
    fn phrase(&self, tokens: &[Token]) -> Option<(usize, &str)> {
        (1..=tokens.len().min(MAX_PHRASE)).rev().find_map(|length| {
            let stems: Vec<_> = tokens.get(..length)?.iter().map(|token| token.stem.clone()).collect();
            Some((length, self.phrases.get(&stems)?.as_str()))
        })
    }
}

/// For each two numbers that follow each other in both, the words between them and the signs between them; none when the
/// numbers are not the same, or the expression has more than numbers with signs between them.
fn between(question: &[Token], expression: &[Token]) -> Option<Vec<(Vec<String>, String)>> {
    let is_number = Token::is_number;
    let starts_and_ends = expression.first().is_some_and(is_number) && expression.last().is_some_and(is_number);
    let first = question.iter().position(is_number)?;
    let last = question.iter().rposition(is_number)?;
    let asked: Vec<&[Token]> = question.get(first..=last)?.split(is_number).collect();
    let written: Vec<&[Token]> = expression.split(is_number).collect();
    let numbers = |tokens: &[Token]| -> Vec<Kind> {
        tokens
            .iter()
            .filter(|token| is_number(token))
            .map(|token| token.kind)
            .collect()
    };
    if !starts_and_ends || numbers(question) != numbers(expression) || asked.len() != written.len() {
        return None;
    }
    let pairs = asked.iter().zip(&written).filter(|(_, written)| !written.is_empty());
    Some(pairs.filter_map(|(asked, written)| learnt(asked, written)).collect())
}

/// One operator in words and in signs. Words that carry nothing of their own say nothing without the rest of the question.
fn learnt(asked: &[Token], written: &[Token]) -> Option<(Vec<String>, String)> {
    let phrase: Vec<String> = asked
        .iter()
        .filter(|token| token.kind != Kind::Mark)
        .map(|token| token.stem.clone())
        .collect();
    let says_much = phrase.iter().any(|stem| !is_functional(stem)) && phrase.len() <= MAX_PHRASE;
    let sign: Vec<&str> = written.iter().map(|token| token.text.as_str()).collect();
    let no_list = !sign.contains(&",") && !sign.contains(&"(");
    (says_much && no_list).then(|| (phrase, format!(" {} ", sign.join(" "))))
}

/// Reads an expression from left to right and remembers where it could end.
struct Reader<'a> {
    operators: &'a Operators,
    may_refer: bool,
    written: String,
    depth: usize,
    operators_read: usize,
    ends: Vec<(usize, String)>,
}

impl Reader<'_> {
    fn read(&mut self, tokens: &[Token]) {
        let mut at = 0;
        let mut operand_next = true;
        while let Some(rest) = tokens.get(at..).filter(|rest| !rest.is_empty()) {
            let taken = if operand_next {
                self.operand(rest)
            } else {
                self.operator(rest)
            };
            let Some((length, then_operand)) = taken else { return };
            at += length;
            operand_next = then_operand;
            if !operand_next && self.depth == 0 && self.operators_read > 0 {
                self.ends.push((at, self.written.trim().to_owned()));
            }
        }
    }

    /// A number, a name, what refers to a result, a sign or a bracket before them.
    fn operand(&mut self, tokens: &[Token]) -> Option<(usize, bool)> {
        let first = tokens.first()?;
        match first.kind {
            Kind::Number(_) => self.write(&first.text, 1, false),
            Kind::Symbol if matches!(first.text.as_str(), "-" | "−" | "√") => {
                self.write(if first.text == "−" { "-" } else { &first.text }, 1, true)
            }
            Kind::Symbol if first.text == "(" => {
                self.depth += 1;
                self.write("(", 1, true)
            }
            Kind::Word => self.name(first, tokens),
            _ => None,
        }
    }

    fn name(&mut self, first: &Token, tokens: &[Token]) -> Option<(usize, bool)> {
        let called = tokens
            .get(1)
            .is_some_and(|token| token.text == "(" && token.start == first.end);
        if called {
            self.depth += 1;
            self.operators_read += 1;
            return self.write(&format!("{}(", first.text), 2, true);
        }
        if self.may_refer
            && let Some(length) = is_reference(tokens)
        {
            return self.write(EARLIER, length, false);
        }
        let known = self.operators.names.contains(&first.text);
        if known { self.write(&first.text, 1, false) } else { None }
    }

    /// What stands behind an operand, and whether another one has to follow.
    fn operator(&mut self, tokens: &[Token]) -> Option<(usize, bool)> {
        if let Some((length, sign)) = self.operators.phrase(tokens) {
            self.operators_read += 1;
            let sign = sign.to_owned();
            return self.write(&sign, length, true);
        }
        let first = tokens.first()?;
        let double = first.text == "*"
            && tokens
                .get(1)
                .is_some_and(|next| next.text == "*" && next.start == first.end);
        match first.text.as_str() {
            ")" if self.depth > 0 => {
                self.depth -= 1;
                self.write(")", 1, false)
            }
            "," if self.depth > 0 => self.write(", ", 1, true),
            "*" if double => self.sign(" ^ ", 2),
            "+" | "*" | "/" | "^" => self.sign(&format!(" {} ", first.text), 1),
            "-" | "−" | "–" => self.sign(" - ", 1),
            "×" | "·" => self.sign(" * ", 1),
            "÷" => self.sign(" / ", 1),
            "%" | "!" | "²" | "³" => {
                let operand_next = first.text == "%"
                    && tokens
                        .get(1)
                        .is_some_and(|next| matches!(next.kind, Kind::Number(_)) || next.text == "(");
                self.operators_read += 1;
                self.write(&first.text, 1, operand_next)
            }
            _ => None,
        }
    }

    fn sign(&mut self, sign: &str, length: usize) -> Option<(usize, bool)> {
        self.operators_read += 1;
        self.write(sign, length, true)
    }

    fn write(&mut self, text: &str, length: usize, operand_next: bool) -> Option<(usize, bool)> {
        self.written.push_str(text);
        Some((length, operand_next))
    }
}

/// Whether `text` is arithmetic: numbers and names with operators between them.
pub(crate) fn is_expression(text: &str) -> bool {
    let tokens = tokens(text, &[]);
    let arithmetic = |token: &Token| match token.kind {
        Kind::Number(_) => true,
        Kind::Word => token
            .text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        Kind::Symbol => "+-*/^%()!".contains(&token.text),
        Kind::Mark => token.text == ",",
        _ => false,
    };
    let signs = tokens.iter().filter(|token| token.kind == Kind::Symbol).count();
    let numbers = tokens
        .iter()
        .filter(|token| matches!(token.kind, Kind::Number(_)))
        .count();
    tokens.iter().all(arithmetic) && signs > 0 && numbers > 0
}
