//! Dates and times of day, as people write them.

use super::{char_at, char_before, digits, expect, run, skip_blank, skip_ordinal};

const MONTHS: [&str; 12] = [
    "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
];
const MONTH_NAMES: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// The number of the month that `word` names, from 1.
pub(in super::super) fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_lowercase();
    let short = MONTHS
        .iter()
        .position(|month| *month == word || (*month == "sep" && word == "sept"));
    let index = short.or_else(|| MONTH_NAMES.iter().position(|month| *month == word))?;
    u32::try_from(index + 1).ok()
}

/// A date in one of the usual forms, as `YYYY-MM-DD`; with a time right after an ISO date, as `YYYY-MM-DDTHH:MM`; as written
/// where day and month could be swapped.
pub(in super::super) fn date(text: &str, at: usize) -> Option<(String, usize)> {
    if char_before(text, at).is_some_and(|c| c.is_alphanumeric()) {
        return None;
    }
    iso_date(text, at)
        .or_else(|| slashed_date(text, at))
        .or_else(|| named_date(text, at))
}

fn calendar(year: u32, month: u32, day: u32) -> Option<String> {
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn iso_date(text: &str, at: usize) -> Option<(String, usize)> {
    let (year, next) = digits(text, at, 4..=4)?;
    let sign = char_at(text, next)?;
    let next = expect(text, next, "-/")?;
    let (month, next) = digits(text, next, 1..=2)?;
    if char_at(text, next)? != sign {
        return None;
    }
    let (day, end) = digits(text, next + 1, 1..=2)?;
    let date = calendar(year, month, day)?;
    let Some(time) = expect(text, end, "T") else {
        return Some((date, end));
    };
    let stop = run(text, time, |c| {
        c.is_ascii_digit() || matches!(c, ':' | '.' | 'Z' | '+' | '-')
    });
    let clock = text.get(time..stop)?.trim_end_matches(['.', ':', '-']);
    let end = time + clock.len();
    Some((
        if clock.is_empty() {
            date
        } else {
            format!("{date}T{clock}")
        },
        end,
    ))
}

/// `12/25/2023`, as `YYYY-MM-DD` where only one of the two can be the month, else as written: whoever takes it decides.
fn slashed_date(text: &str, at: usize) -> Option<(String, usize)> {
    let (first, next) = digits(text, at, 1..=2)?;
    let next = expect(text, next, "/.-")?;
    let (second, next) = digits(text, next, 1..=2)?;
    let next = expect(text, next, "/.-")?;
    let (year, end) = digits(text, next, 4..=4)?;
    let date = match (calendar(year, first, second), calendar(year, second, first)) {
        (Some(_), Some(_)) if first != second => text.get(at..end)?.to_owned(),
        (month_first, day_first) => month_first.or(day_first)?,
    };
    Some((date, end))
}

fn named_date(text: &str, at: usize) -> Option<(String, usize)> {
    let (month, day, next) = month_first(text, at).or_else(|| day_first(text, at))?;
    let comma = skip_blank(text, expect(text, skip_blank(text, next), ",").unwrap_or(next));
    let of = if text.get(comma..)?.starts_with("of ") {
        comma + 3
    } else {
        comma
    };
    let (year, end) = digits(text, of, 4..=4)?;
    Some((calendar(year, month, day)?, end))
}

fn month_first(text: &str, at: usize) -> Option<(u32, u32, usize)> {
    let end = run(text, at, |c| c.is_ascii_alphabetic() || c == '.');
    let month = month(text.get(at..end)?)?;
    let start = skip_blank(text, end);
    let start = if text.get(start..)?.starts_with("the ") {
        start + 4
    } else {
        start
    };
    let (day, end) = digits(text, start, 1..=2)?;
    Some((month, day, skip_ordinal(text, end)))
}

fn day_first(text: &str, at: usize) -> Option<(u32, u32, usize)> {
    let (day, end) = digits(text, at, 1..=2)?;
    let start = skip_blank(text, skip_ordinal(text, end));
    let start = if text.get(start..)?.starts_with("of ") {
        start + 3
    } else {
        start
    };
    let end = run(text, start, |c| c.is_ascii_alphabetic() || c == '.');
    Some((month(text.get(start..end)?)?, day, end))
}

/// A time of day: `10:30`, `7pm`, `10:30 am`.
pub(in super::super) fn time(text: &str, at: usize) -> Option<usize> {
    if char_before(text, at).is_some_and(|c| c.is_alphanumeric() || c == '.' || c == ',') {
        return None;
    }
    let (hour, mut end) = digits(text, at, 1..=2)?;
    let mut clock = false;
    while let Some((minute, next)) = expect(text, end, ":").and_then(|next| digits(text, next, 2..=2)) {
        if minute > 59 {
            return None;
        }
        (clock, end) = (true, next);
    }
    let half = skip_blank(text, end);
    let word = run(text, half, |c| c.is_ascii_alphabetic() || c == '.');
    let is_half = matches!(
        text.get(half..word)?.to_lowercase().replace('.', "").as_str(),
        "am" | "pm"
    );
    let end = if is_half {
        half + text.get(half..word)?.trim_end_matches('.').len()
    } else {
        end
    };
    (hour <= 24 && (clock || is_half)).then_some(end)
}
