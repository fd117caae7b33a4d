//! Arithmetic that goes on from an earlier result without naming it: "and divided by 3?".

use super::super::token::Token;
use super::{Parser, REFERENCE};

impl Parser<'_> {
    /// An operator or a verb without its left side, where nothing but joining words stands before it.
    pub(super) fn follow_up(&mut self) -> Option<String> {
        const JOINTS: &[&str] = &[
            "and", "then", "now", "also", "ok", "okay", "so", "next", ",", "please", "finally",
        ];
        let joint = |token: &Token| token.is_any(JOINTS);
        let opens = self.reading.tokens.iter().take(self.at).all(joint);
        let joins = self.reading.token(self.at).is_some_and(joint);
        if !opens || joins {
            return None;
        }
        let begin = self.at;
        self.verb().or_else(|| {
            self.at = begin;
            self.bare_operator()
        })
    }

    fn bare_operator(&mut self) -> Option<String> {
        // A line may open with a dash, and "less" and "over" open other sentences.
        const SIGNS: &[&str] = &[
            "plus",
            "minus",
            "times",
            "divided",
            "multiplied",
            "to",
            "raised",
            "*",
            "×",
            "/",
            "÷",
            "^",
            "+",
        ];
        self.reading.token(self.at)?.is_any(SIGNS).then_some(())?;
        let sign = self.operator()?;
        let right = self.operand(super::DEPTH)?;
        Some(format!("{REFERENCE} {sign} {right}"))
    }

    /// "multiply by 3", "add 5": the latter only when nothing follows, since 5 apples are no number.
    fn verb(&mut self) -> Option<String> {
        let by = [("divide", "/"), ("multiply", "*")];
        if let Some((_, sign)) = by.iter().find(|(verb, _)| self.take(&[verb, "by"])) {
            return Some(format!("{REFERENCE} {sign} {}", self.operand(super::DEPTH)?));
        }
        let plain = [("add", "+"), ("subtract", "-")];
        let (_, sign) = plain.iter().find(|(verb, _)| self.take(&[verb]))?;
        let right = self.operand(super::DEPTH)?;
        let ends = self
            .reading
            .tokens
            .iter()
            .skip(self.at)
            .all(|token| token.is_any(&["?", ".", "!"]));
        ends.then(|| format!("{REFERENCE} {sign} {right}"))
    }
}
