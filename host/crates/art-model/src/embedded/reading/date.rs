//! Days that only a calendar can tell: `tomorrow`, `next Friday`, `May 5th`.

use super::super::scan;
use super::super::token::{Kind, Token};
use super::{Candidate, Reading, Shape};

impl Reading {
    pub(super) fn relative_dates(&self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut index = 0;
        while let Some(token) = self.token(index) {
            let word = token.lower();
            let next = self.token(index + 1).map(Token::lower).unwrap_or_default();
            let length = match word.as_str() {
                "next" | "this" | "last" | "coming" if is_day_word(&next) => 2,
                "tomorrow" | "today" | "yesterday" | "tonight" => 1,
                "now" if index > 0 => 1,
                _ if DAYS.contains(&word.as_str()) => 1,
                _ if scan::month(&word).is_some() && word.len() > 3 && token.is_capitalised() => {
                    self.month_length(index)
                }
                _ => 0,
            };
            if length > 0 {
                found.push(self.candidate(Shape::RelativeDate, index, index + length));
            }
            index += length.max(1);
        }
        found
    }

    /// `May`, `May 5`, `May 5th`, `May 2024`.
    fn month_length(&self, index: usize) -> usize {
        let number = |at: usize| matches!(self.token(at).map(|token| &token.kind), Some(Kind::Number(_)));
        let ending = |at: usize| {
            self.token(at)
                .is_some_and(|token| token.is_any(&["st", "nd", "rd", "th"]))
        };
        match (number(index + 1), ending(index + 2)) {
            (true, true) => 3,
            (true, false) => 2,
            _ => 1,
        }
    }
}

pub(super) const DAYS: &[&str] = &[
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

fn is_day_word(word: &str) -> bool {
    DAYS.contains(&word)
        || [
            "week",
            "month",
            "year",
            "weekend",
            "evening",
            "morning",
            "afternoon",
            "night",
            "quarter",
        ]
        .contains(&word)
}
