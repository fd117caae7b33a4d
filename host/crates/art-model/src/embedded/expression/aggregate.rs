//! What becomes of several numbers: "the average of 4, 8 and 15".

use super::super::token::Kind;
use super::{Parser, written};

/// Operands of one list that are read.
const OPERANDS: usize = 100;

/// What is made of a list.
#[derive(Clone, Copy, Debug)]
enum Aggregate {
    /// The operands with a sign between them.
    Sign(&'static str),
    /// The same for exactly two.
    Pair(&'static str),
    /// A function, which a tool may not have.
    Call(&'static str),
}

const NAMES: &[(&[&str], Aggregate)] = &[
    (&["sum", "total"], Aggregate::Sign("+")),
    (&["product"], Aggregate::Sign("*")),
    (&["quotient", "ratio"], Aggregate::Pair("/")),
    (&["difference"], Aggregate::Pair("-")),
    (&["average", "mean", "avg"], Aggregate::Call("mean")),
    (&["median"], Aggregate::Call("median")),
    (
        &["maximum", "max", "largest", "biggest", "highest", "greatest"],
        Aggregate::Call("max"),
    ),
    (&["minimum", "min", "smallest", "lowest"], Aggregate::Call("min")),
];

impl Parser<'_> {
    /// "the sum of 3 and 4", "the average of the numbers 4, 8 and 15".
    pub(super) fn aggregate(&mut self, depth: usize) -> Option<String> {
        let begin = self.at;
        let text = self.named_list(depth);
        if text.is_none() {
            self.at = begin;
        }
        text
    }

    fn named_list(&mut self, depth: usize) -> Option<String> {
        self.take(&["the"]);
        let named = |name: &str| NAMES.iter().find(|(names, _)| names.contains(&name));
        let (_, aggregate) = named(&self.reading.token(self.at)?.lower())?;
        self.at += 1;
        self.take_any(&[&["number"], &["value"], &["one"]]);
        let led = self.take_any(&[&["of"], &["between"], &["among"], &["from"], &[":"]]);
        self.skip_introduction();
        // Without a word between them, a name and its numbers have to be a list.
        let operands = self.operands(depth)?;
        (led || operands.len() > 2).then_some(())?;
        self.operators += 1;
        combined(*aggregate, &operands)
    }

    /// "add 3, 5 and 7".
    pub(super) fn listed_request(&mut self) -> Option<String> {
        let sign = [("add", "+"), ("multiply", "*")]
            .iter()
            .find(|(verb, _)| self.take(&[verb]))
            .map(|(_, sign)| *sign)?;
        self.take(&["up"]);
        self.skip_introduction();
        combined(Aggregate::Sign(sign), &self.operands(super::DEPTH)?)
    }

    /// "the following numbers:" says nothing of its own.
    fn skip_introduction(&mut self) {
        const WORDS: &[&str] = &[
            "the",
            "these",
            "those",
            "following",
            "numbers",
            "values",
            "all",
            ":",
            "both",
        ];
        while self.reading.token(self.at).is_some_and(|token| token.is_any(WORDS)) {
            self.at += 1;
        }
    }

    /// Two operands or more, written one after the other or as a JSON array.
    fn operands(&mut self, depth: usize) -> Option<Vec<String>> {
        if let Some(Kind::Json(value)) = self.reading.token(self.at).map(|token| &token.kind) {
            self.at += 1;
            let numbers = value.as_array()?.iter().take(OPERANDS);
            return numbers
                .map(|number| number.is_number().then(|| number.to_string()))
                .collect::<Option<Vec<_>>>()
                .filter(|numbers| numbers.len() > 1);
        }
        let mut operands = vec![self.operand(depth)?];
        while operands.len() < OPERANDS {
            let before = self.at;
            let comma = self.take_any(&[&[","], &[";"]]);
            let joined = self.take_any(&[&["and"], &["&"], &["or"]]) || comma;
            let Some(next) = joined.then(|| self.operand(depth)).flatten() else {
                self.at = before;
                break;
            };
            operands.push(next);
        }
        (operands.len() > 1).then_some(operands)
    }
}

fn combined(aggregate: Aggregate, operands: &[String]) -> Option<String> {
    let text = match aggregate {
        Aggregate::Sign(sign) => format!("({})", operands.join(&format!(" {sign} "))),
        Aggregate::Pair(sign) => match operands {
            [first, second] => format!("({first} {sign} {second})"),
            _ => return None,
        },
        Aggregate::Call(name) => {
            let plain: Vec<&str> = operands.iter().map(|text| written::unwrapped(text)).collect();
            format!("{name}({})", plain.join(", "))
        }
    };
    Some(text)
}
