//! Parses numbers as people type them into tables.

use art_sdk::decimal::Decimal;

/// How numbers are written: with `.` or with `,` before the decimals. All numbers of a column have the same style.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Style {
    /// `1,234.56`
    Point,
    /// `1.234,56`
    Comma,
}

/// Currencies and the percent sign, which are ignored before and after a number.
const CURRENCIES_AND_PERCENT: [&str; 18] = [
    "$", "€", "£", "¥", "₹", "₽", "₩", "₺", "CHF", "EUR", "USD", "GBP", "JPY", "CNY", "INR", "CAD", "AUD", "%",
];

/// Returns whether a cell is empty or marks a missing value.
pub(crate) fn is_missing(cell: &str) -> bool {
    const MARKS: [&str; 7] = ["na", "n/a", "nan", "null", "none", "-", "—"];
    cell.is_empty() || MARKS.iter().any(|mark| mark.eq_ignore_ascii_case(cell))
}

/// Parses numbers such as `$1,234.50`, `(12)`, `-3 %` and `1e6`. Returns `None` for `007`, since numbers with leading zeros are
/// mostly codes, and for `1,23` in the style [`Style::Point`].
pub(crate) fn parse(cell: &str, style: Style) -> Option<Decimal> {
    let cell = cell.trim();
    let text_in_brackets = cell.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    // A minus is before or after a currency, as in `-$5` or `$-5`, but not both. In accounting, brackets mean a minus.
    let (has_outer_minus, rest) = split_sign(text_in_brackets.unwrap_or(cell));
    let (has_inner_minus, digits) = split_sign(strip_currency_or_percent(rest));
    let value = parse_magnitude(digits, style)?;
    let has_two_minuses = has_outer_minus && has_inner_minus;
    let is_negative = text_in_brackets.is_some() || has_outer_minus || has_inner_minus;
    (!has_two_minuses).then_some(if is_negative { -value } else { value })
}

/// Returns whether the text starts with a minus, and the rest of the text without its sign.
fn split_sign(text: &str) -> (bool, &str) {
    let text = text.trim();
    match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, text.strip_prefix('+').unwrap_or(text).trim_start()),
    }
}

/// Removes one of the [`CURRENCIES_AND_PERCENT`] from each end of the text.
fn strip_currency_or_percent(text: &str) -> &str {
    let strip_start = |text| {
        CURRENCIES_AND_PERCENT
            .iter()
            .find_map(|affix| str::strip_prefix(text, affix))
            .unwrap_or(text)
    };
    let strip_end = |text| {
        CURRENCIES_AND_PERCENT
            .iter()
            .find_map(|affix| str::strip_suffix(text, affix))
            .unwrap_or(text)
    };
    strip_end(strip_start(text.trim()).trim()).trim()
}

/// Parses a number without a sign.
fn parse_magnitude(text: &str, style: Style) -> Option<Decimal> {
    let (decimal_separator, group_separator) = if style == Style::Point { ('.', ',') } else { (',', '.') };
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (text.get(..at)?, text.get(at..)?),
        None => (text, ""),
    };
    let (whole, decimals) = match mantissa.split_once(decimal_separator) {
        Some((whole, decimals)) => (whole, decimals),
        None => (mantissa, ""),
    };
    let whole = remove_group_separators(whole, group_separator)?;
    let has_leading_zero = whole.len() > 1 && whole.starts_with('0');
    let has_no_digits = whole.is_empty() && decimals.is_empty();
    if has_leading_zero || has_no_digits || !decimals.chars().all(|c| c.is_ascii_digit()) {
        return None;
    }
    // The zeros stand for the whole part that is left out in `.5`, and for the decimals that are left out in `5`.
    Decimal::parse(&format!("0{whole}.{decimals}0{exponent}"))
}

/// Removes the separators between groups of digits, as in `1,234,567`: `separator`, a space or an apostrophe. If there are
/// several groups, the first must have one to three digits, and all later ones three. Returns `None` for other texts.
fn remove_group_separators(whole: &str, separator: char) -> Option<String> {
    let mut parts = whole.split([separator, ' ', '\u{a0}', '\u{202f}', '\'', '’']);
    let first = parts.next().unwrap_or_default();
    let mut digits = first.to_owned();
    for part in parts {
        if part.len() != 3 || first.is_empty() || first.len() > 3 {
            return None;
        }
        digits.push_str(part);
    }
    digits.chars().all(|c| c.is_ascii_digit()).then_some(digits)
}
