//! Numbers, as people write them.

use super::super::token::Number;
use super::{char_at, digits, expect, run, skip_blank, skip_ordinal};

const CURRENCY: &str = "$€£¥₹";

/// A number with its sign, separators, multiplier and percent or currency sign.
pub(in super::super) fn number(text: &str, at: usize, operand_before: bool) -> Option<(Number, usize)> {
    let mut from = at;
    let mut sign = 1.0;
    if !operand_before && let Some(next) = expect(text, from, "+-−") {
        sign = if char_at(text, from) == Some('+') { 1.0 } else { -1.0 };
        from = next;
    }
    let currency = char_at(text, from).filter(|c| CURRENCY.contains(*c));
    from += currency.map_or(0, char::len_utf8);
    let (magnitude, end) = decimal(text, from)?;
    let (factor, end) = multiplier(text, end, currency.is_some());
    let end = skip_ordinal(text, end);
    let percent = char_at(text, end) == Some('%') || text.get(end..)?.starts_with(" %");
    let after = char_at(text, end).filter(|c| currency.is_none() && CURRENCY.contains(*c));
    let end = if percent {
        end + run(text, end, |c| c == ' ') - end + 1
    } else {
        end + after.map_or(0, char::len_utf8)
    };
    let value = sign * magnitude * factor;
    Some((
        Number {
            value,
            percent,
            currency: currency.or(after),
        },
        end,
    ))
}

fn decimal(text: &str, at: usize) -> Option<(f64, usize)> {
    let mut end = run(text, at, |c| c.is_ascii_digit());
    while text.get(end..)?.starts_with(',')
        && digits(text, end + 1, 3..=3).is_some()
        && (1..=3).contains(&(end - at).min(3))
    {
        end += 4;
    }
    if char_at(text, end) == Some('.') && char_at(text, end + 1).is_some_and(|c| c.is_ascii_digit()) {
        end = run(text, end + 1, |c| c.is_ascii_digit());
    }
    let exponent = run(text, end + 1, |c| c.is_ascii_digit() || c == '-' || c == '+');
    let digits_only = text.get(at..end)?.replace(',', "");
    if matches!(char_at(text, end), Some('e' | 'E')) && !char_at(text, exponent).is_some_and(char::is_alphanumeric) {
        let scientific = format!("{digits_only}{}", text.get(end..exponent)?);
        if let Ok(value) = scientific.parse::<f64>()
            && value.is_finite()
        {
            return Some((value, exponent));
        }
    }
    let value: f64 = digits_only.parse().ok()?;
    value.is_finite().then_some((value, end))
}

/// `5k`, `$2.5M`, `3 million`.
fn multiplier(text: &str, at: usize, money: bool) -> (f64, usize) {
    let glued = run(text, at, char::is_alphabetic);
    match text.get(at..glued) {
        Some("k") => return (1e3, glued),
        // `K` is kelvin, `M` is metres or molar, unless it counts money.
        Some("K") if money => return (1e3, glued),
        Some("M" | "m" | "mn") if money => return (1e6, glued),
        Some("B" | "bn") if money => return (1e9, glued),
        _ => {}
    }
    let start = skip_blank(text, at);
    let end = run(text, start, char::is_alphabetic);
    match text.get(start..end).map(str::to_lowercase).as_deref() {
        Some("hundred") => (1e2, end),
        Some("thousand") => (1e3, end),
        Some("million") => (1e6, end),
        Some("billion") => (1e9, end),
        _ => (1.0, at),
    }
}
