//! Compares two texts.

use similar::{ChangeTag, TextDiff};
use thiserror::Error;

use crate::io::{DiffTextInput, DiffTextOutput, Mode};

/// Texts that cannot be compared.
#[derive(Debug, Error)]
pub(crate) enum CompareError {
    #[error("`{field}` has more than {limit} {unit}: {advice}")]
    TooLong {
        /// `before` or `after`.
        field: &'static str,
        /// Maximum number of parts.
        limit: usize,
        /// `lines`, `words` or `characters`.
        unit: &'static str,
        /// The alternative to suggest.
        advice: &'static str,
    },
    #[error("`context` is {0}: give a number from 0 to 100")]
    Context(u32),
}

/// Maximum number of parts of each text. The time grows faster than their number.
const MAX_PARTS: usize = 10_000;

/// Compares the texts of `input`.
pub(crate) fn compare(input: &DiffTextInput) -> Result<DiffTextOutput, CompareError> {
    if input.context > 100 {
        return Err(CompareError::Context(input.context));
    }
    check_length("before", &input.before, input.mode)?;
    check_length("after", &input.after, input.mode)?;
    let (before, after) = (input.before.as_str(), input.after.as_str());
    let diff = match input.mode {
        Mode::Lines => TextDiff::from_lines(before, after),
        Mode::Words => TextDiff::from_unicode_words(before, after),
        Mode::Chars => TextDiff::from_graphemes(before, after),
    };
    let text = match input.mode {
        _ if before == after => String::new(),
        Mode::Lines => unified(&diff, input.context),
        Mode::Words | Mode::Chars => marked(&diff),
    };
    Ok(output(&diff, text, before == after))
}

fn check_length(field: &'static str, text: &str, mode: Mode) -> Result<(), CompareError> {
    let limit = MAX_PARTS;
    let (count, unit, advice) = match mode {
        Mode::Lines => (text.lines().take(limit + 1).count(), "lines", "compare parts of it"),
        Mode::Words => (words(text, limit), "words", "compare `lines`, or parts of it"),
        Mode::Chars => (
            text.chars().take(limit + 1).count(),
            "characters",
            "compare `words` or `lines`",
        ),
    };
    if count > limit {
        Err(CompareError::TooLong {
            field,
            limit,
            unit,
            advice,
        })
    } else {
        Ok(())
    }
}

/// Counts words as the comparison does: each punctuation mark or symbol is a word too.
fn words(text: &str, limit: usize) -> usize {
    let signs = text.chars().filter(|c| !c.is_alphanumeric() && !c.is_whitespace());
    text.split_whitespace()
        .count()
        .saturating_add(signs.count())
        .min(limit + 1)
}

fn unified(diff: &TextDiff<'_, '_, str>, context: u32) -> String {
    let radius = usize::try_from(context).unwrap_or_default();
    diff.unified_diff()
        .context_radius(radius)
        .header("before", "after")
        .to_string()
}

/// Returns the whole text with the removed and the added parts in brackets.
fn marked(diff: &TextDiff<'_, '_, str>) -> String {
    let mut text = String::new();
    let mut open = ChangeTag::Equal;
    for change in diff.iter_all_changes() {
        if change.tag() != open {
            text.push_str(closing(open));
            open = change.tag();
            text.push_str(opening(open));
        }
        text.push_str(change.value());
    }
    text.push_str(closing(open));
    text
}

fn opening(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "[-",
        ChangeTag::Insert => "{+",
    }
}

fn closing(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "-]",
        ChangeTag::Insert => "+}",
    }
}

fn output(diff: &TextDiff<'_, '_, str>, text: String, identical: bool) -> DiffTextOutput {
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let ratio = (f64::from(diff.ratio()) * 10_000.0).round() / 10_000.0;
    DiffTextOutput {
        diff: text,
        identical,
        inserted: count(ChangeTag::Insert),
        deleted: count(ChangeTag::Delete),
        equal: count(ChangeTag::Equal),
        ratio,
    }
}
