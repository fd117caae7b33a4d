//! Compares two texts part by part. The parts are lines, words or characters, depending on the mode of the call.

use art_sdk::lines;
use similar::{ChangeTag, TextDiff};
use thiserror::Error;
use unicode_segmentation::UnicodeSegmentation;

use crate::io::{DiffTextInput, DiffTextOutput, Mode, Only};

/// An error of a comparison.
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
    ContextTooLarge(u32),
}

/// Maximum number of parts of each text (see [`Mode`]). The time of a comparison grows faster than the number of parts.
const MAX_PARTS: usize = 10_000;

/// Compares the texts of `input`.
pub(crate) fn compare(input: &DiffTextInput) -> Result<DiffTextOutput, CompareError> {
    if input.context > 100 {
        return Err(CompareError::ContextTooLarge(input.context));
    }
    check_length("before", &input.before, input.mode)?;
    check_length("after", &input.after, input.mode)?;
    let (before, after) = (input.before.as_str(), input.after.as_str());
    let diff = match input.mode {
        Mode::Lines => TextDiff::from_lines(before, after),
        Mode::Words => TextDiff::from_unicode_words(before, after),
        Mode::Chars => TextDiff::from_graphemes(before, after),
    };
    let comparison = Comparison {
        diff: &diff,
        mode: input.mode,
        is_same: before == after,
    };
    let formatted_diff = match input.mode {
        _ if before == after => String::new(),
        Mode::Lines => unified_diff(before, after, input.context),
        Mode::Words | Mode::Chars => marked_text(&diff),
    };
    Ok(match input.only {
        Some(only) => comparison.requested_output(only, formatted_diff),
        None => comparison.full_output(formatted_diff),
    })
}

fn check_length(field: &'static str, text: &str, mode: Mode) -> Result<(), CompareError> {
    let limit = MAX_PARTS;
    let (count, unit, advice) = match mode {
        Mode::Lines => (count_lines(text, limit), "lines", "compare parts of it"),
        Mode::Words => (count_words(text, limit), "words", "compare `lines`, or parts of it"),
        // As in the comparison, a character counts as one part together with its combining accents.
        Mode::Chars => (
            text.graphemes(true).take(limit + 1).count(),
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

/// Counts the lines as [`TextDiff::from_lines`] separates them: after `\n`, `\r\n` or `\r`. Returns at most `limit` + 1.
fn count_lines(text: &str, limit: usize) -> usize {
    let bytes = text.as_bytes();
    let ends_line = |index: &usize| match bytes.get(*index) {
        Some(b'\r') => bytes.get(index + 1) != Some(&b'\n'),
        byte => byte == Some(&b'\n') || index + 1 == bytes.len(),
    };
    (0..bytes.len()).filter(ends_line).take(limit + 1).count()
}

/// Counts the words as [`TextDiff::from_unicode_words`] separates them: each punctuation mark, each symbol and each Chinese
/// character is a word too. A part of white space, such as a line end, is counted only if it directly follows another such part:
/// there is at most one other for each word. Returns at most `limit` + 1.
fn count_words(text: &str, limit: usize) -> usize {
    let mut was_space = false;
    let counts = |part: &&str| {
        let is_space = part.trim().is_empty();
        let follows_space = std::mem::replace(&mut was_space, is_space);
        !is_space || follows_space
    };
    text.split_word_bounds().filter(counts).take(limit + 1).count()
}

/// Returns a unified diff, after notes about differences that cannot be seen.
fn unified_diff(before: &str, after: &str, context: u32) -> String {
    let shown = lines::show(before, after);
    let radius = usize::try_from(context).unwrap_or_default();
    let diff = TextDiff::from_lines(&shown.before, &shown.after)
        .unified_diff()
        .context_radius(radius)
        .header("before", "after")
        .to_string();
    let notes = shown.notes.iter().map(|note| format!("{note}\n"));
    notes.chain([diff]).collect()
}

/// Returns the whole text with the removed and the added parts in brackets.
fn marked_text(diff: &TextDiff<'_, '_, str>) -> String {
    let mut text = String::new();
    let mut current_tag = ChangeTag::Equal;
    for change in diff.iter_all_changes() {
        if change.tag() != current_tag {
            text.push_str(closing_bracket(current_tag));
            current_tag = change.tag();
            text.push_str(opening_bracket(current_tag));
        }
        text.push_str(change.value());
    }
    text.push_str(closing_bracket(current_tag));
    text
}

fn opening_bracket(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "[-",
        ChangeTag::Insert => "{+",
    }
}

fn closing_bracket(tag: ChangeTag) -> &'static str {
    match tag {
        ChangeTag::Equal => "",
        ChangeTag::Delete => "-]",
        ChangeTag::Insert => "+}",
    }
}

/// A comparison of two texts, and the kind of parts that are compared.
struct Comparison<'a> {
    diff: &'a TextDiff<'a, 'a, str>,
    mode: Mode,
    is_same: bool,
}

impl Comparison<'_> {
    /// Returns the output of a call without `only`: the whole comparison.
    fn full_output(&self, formatted_diff: String) -> DiffTextOutput {
        // In these numbers, unlike in `Self::count`, white space between words counts as parts too.
        let count_with_spaces = |tag| {
            self.diff
                .iter_all_changes()
                .filter(|change| change.tag() == tag)
                .count()
        };
        DiffTextOutput {
            diff: Some(formatted_diff),
            identical: Some(self.is_same),
            inserted: Some(count_with_spaces(ChangeTag::Insert)),
            deleted: Some(count_with_spaces(ChangeTag::Delete)),
            equal: Some(count_with_spaces(ChangeTag::Equal)),
            ratio: Some(self.ratio()),
            ..DiffTextOutput::default()
        }
    }

    /// Returns an output with the one value that the call asks for.
    fn requested_output(&self, only: Only, formatted_diff: String) -> DiffTextOutput {
        let mut output = DiffTextOutput::default();
        match only {
            Only::Added => output.added = Some(self.changed_parts(ChangeTag::Insert)),
            Only::Removed => output.removed = Some(self.changed_parts(ChangeTag::Delete)),
            Only::AddedCount => output.inserted = Some(self.count(ChangeTag::Insert)),
            Only::RemovedCount => output.deleted = Some(self.count(ChangeTag::Delete)),
            Only::ChangedCount => output.changed = Some(self.count_changed()),
            Only::IsSame => output.same = Some(if self.is_same { "yes" } else { "no" }),
            Only::Similarity => output.similarity = Some(self.similarity()),
            Only::Diff if self.is_same => output.diff = Some("the texts are the same".to_owned()),
            Only::Diff => output.diff = Some(formatted_diff),
        }
        output
    }

    /// Returns the similarity from 0 to 1, rounded to four decimals.
    fn ratio(&self) -> f64 {
        (f64::from(self.diff.ratio()) * 10_000.0).round() / 10_000.0
    }

    /// Returns the similarity as a percentage. Different texts never have 100 %, even after rounding.
    fn similarity(&self) -> String {
        match (self.ratio() * 1000.0).round() / 10.0 {
            percent if percent >= 100.0 && !self.is_same => "more than 99.9 %".to_owned(),
            percent => format!("{percent} %"),
        }
    }

    /// Returns the parts that were added (`Insert`) or removed (`Delete`), without the white space around them. Each line is an
    /// entry of its own, and neighbouring words or characters are one entry.
    fn changed_parts(&self, tag: ChangeTag) -> Vec<String> {
        let mut entries: Vec<String> = Vec::new();
        let mut is_entry_open = false;
        for change in self.diff.iter_all_changes() {
            let has_tag = change.tag() == tag;
            match entries.last_mut() {
                Some(entry) if has_tag && is_entry_open && self.mode != Mode::Lines => entry.push_str(change.value()),
                _ if has_tag => entries.push(change.value().to_owned()),
                _ => {}
            }
            // An entry ends at a part that both texts have, not at a part that only the other text has.
            is_entry_open = has_tag || (is_entry_open && change.tag() != ChangeTag::Equal);
        }
        let entries = entries.iter().map(|entry| entry.trim().to_owned());
        entries.filter(|entry| !entry.is_empty()).collect()
    }

    /// Returns the number of added or removed parts. White space between words is no part.
    fn count(&self, tag: ChangeTag) -> usize {
        let changes = self.diff.iter_all_changes().filter(|change| change.tag() == tag);
        changes.filter(|change| self.is_counted(change.value())).count()
    }

    /// Returns whether `part` counts. White space between words does not.
    fn is_counted(&self, part: &str) -> bool {
        self.mode != Mode::Words || !part.trim().is_empty()
    }

    /// Returns how many parts changed. Where parts were replaced by others, only the larger number counts: two words that are
    /// replaced by three words are three changed words.
    fn count_changed(&self) -> usize {
        let (mut total, mut deleted, mut inserted) = (0_usize, 0_usize, 0_usize);
        for change in self.diff.iter_all_changes() {
            let counted = usize::from(self.is_counted(change.value()));
            match change.tag() {
                ChangeTag::Delete => deleted += counted,
                ChangeTag::Insert => inserted += counted,
                ChangeTag::Equal => {
                    total += deleted.max(inserted);
                    (deleted, inserted) = (0, 0);
                }
            }
        }
        total + deleted.max(inserted)
    }
}
