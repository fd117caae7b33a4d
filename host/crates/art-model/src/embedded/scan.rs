//! Scanners for the tokens that are more than a word: each looks at one place in a text and says where its token ends.

use serde_json::Value;

use super::token::{Kind, Number};

/// Longest JSON literal looked for, in bytes, so that a text of open brackets stays cheap.
const LITERAL_LIMIT: usize = 4_000;
/// JSON literals are parsed at most from this many closing brackets.
const LITERAL_TRIES: usize = 8;

/// The character that starts at byte `at`.
pub(super) fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

fn char_before(text: &str, at: usize) -> Option<char> {
    text.get(..at)?.chars().next_back()
}

/// Where the run of characters that pass `test` ends.
fn run(text: &str, at: usize, test: impl Fn(char) -> bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + rest.find(|c| !test(c)).unwrap_or(rest.len())
}

/// Text between quotes; an apostrophe inside a word does not open one.
pub(super) fn quoted(text: &str, at: usize, glued: bool) -> Option<(String, usize)> {
    let open = char_at(text, at)?;
    let close = match open {
        '"' | '`' => open,
        '\'' | '‘' if !glued => {
            if open == '‘' {
                '’'
            } else {
                '\''
            }
        }
        '“' => '”',
        '«' => '»',
        _ => return None,
    };
    let from = at + open.len_utf8();
    let rest = text.get(from..)?;
    let ends = |end: usize| {
        let after = char_at(rest, end + close.len_utf8());
        close != '\'' || !after.is_some_and(char::is_alphanumeric)
    };
    let end = rest
        .match_indices(close)
        .map(|(end, _)| end)
        .take(20)
        .find(|end| ends(*end))?;
    let inner = rest.get(..end)?;
    (!inner.trim().is_empty()).then(|| (inner.to_owned(), from + end + close.len_utf8()))
}

/// A JSON array or object.
pub(super) fn json(text: &str, at: usize) -> Option<(Value, usize)> {
    let close = match char_at(text, at)? {
        '[' => ']',
        '{' => '}',
        _ => return None,
    };
    let rest = art_core::text::byte_prefix(text.get(at..)?, LITERAL_LIMIT);
    rest.match_indices(close).take(LITERAL_TRIES).find_map(|(end, _)| {
        let literal = rest.get(..=end)?;
        let value = serde_json::from_str(literal)
            .or_else(|_| serde_json::from_str(&literal.replace('\'', "\"")))
            .ok()?;
        Some((value, at + end + 1))
    })
}

/// A URL, a mail address or a path.
pub(super) fn address(text: &str, at: usize) -> Option<(Kind, usize)> {
    let end = run(text, at, |c| {
        !c.is_whitespace() && !matches!(c, '"' | '<' | '>' | '`' | '“' | '”')
    });
    let end = at
        + text
            .get(at..end)?
            .trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '\'', '’'])
            .len();
    let word = text.get(at..end)?;
    let is_url = ["http://", "https://", "www.", "ftp://"]
        .iter()
        .any(|scheme| word.to_lowercase().starts_with(scheme));
    if is_url && word.len() > 8 {
        return Some((Kind::Url, end));
    }
    if let Some(end) = email(text, at) {
        return Some((Kind::Email, end));
    }
    let drive = text
        .get(at + 1..at + 3)
        .is_some_and(|sign| sign == ":/" || sign == ":\\");
    let from = if drive { at + 2 } else { at };
    let end = run(text, from, |c| {
        c.is_alphanumeric() || matches!(c, '.' | '/' | '\\' | '_' | '-' | '~')
    });
    let end = at + text.get(at..end)?.trim_end_matches('.').len();
    is_path(text.get(at..end)?).then_some((Kind::Path, end))
}

fn email(text: &str, at: usize) -> Option<usize> {
    let user = run(text, at, |c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '+'));
    if user == at || char_at(text, user) != Some('@') {
        return None;
    }
    let end = run(text, user + 1, |c| c.is_alphanumeric() || matches!(c, '.' | '-'));
    let domain = text.get(user + 1..end)?.trim_end_matches(['.', '-']);
    domain.contains('.').then_some(user + 1 + domain.len())
}

/// A rooted or relative path of some depth, or a name with a short extension that holds a letter.
fn is_path(word: &str) -> bool {
    let has_letter = word.chars().any(char::is_alphabetic);
    let rooted = word.starts_with('/') || word.starts_with("~/") || word.starts_with("./") || word.starts_with("../");
    if has_letter && word.len() > 1 && (rooted || word.contains(":\\") || word.contains(":/")) {
        return true;
    }
    let Some((stem, extension)) = word.rsplit_once('.') else {
        return false;
    };
    let short = (1..=5).contains(&extension.len()) && extension.chars().all(|c| c.is_ascii_alphanumeric());
    let named = stem.chars().any(|c| c.is_ascii_alphanumeric()) && stem.len() > 1;
    let lower = extension.chars().all(|c| !c.is_ascii_uppercase()) || extension.chars().all(|c| c.is_ascii_uppercase());
    short && named && lower && extension.chars().any(char::is_alphabetic) && has_letter && !is_abbreviation(stem)
}

/// `U.S.A`, `e.g`, `3.5kg`: dots that belong to no file name.
fn is_abbreviation(stem: &str) -> bool {
    stem.split('.').all(|piece| piece.chars().count() <= 1) || stem.chars().all(|c| c.is_ascii_digit() || c == '.')
}

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
pub(super) fn month(word: &str) -> Option<u32> {
    let word = word.trim_end_matches('.').to_lowercase();
    let short = MONTHS
        .iter()
        .position(|month| *month == word || (*month == "sep" && word == "sept"));
    let index = short.or_else(|| MONTH_NAMES.iter().position(|month| *month == word))?;
    u32::try_from(index + 1).ok()
}

/// A date in one of the usual forms, as `YYYY-MM-DD`; with a time right after an ISO date, as `YYYY-MM-DDTHH:MM`.
pub(super) fn date(text: &str, at: usize) -> Option<(String, usize)> {
    if char_before(text, at).is_some_and(|c| c.is_alphanumeric()) {
        return None;
    }
    iso_date(text, at)
        .or_else(|| slashed_date(text, at))
        .or_else(|| named_date(text, at))
}

fn digits(text: &str, at: usize, lengths: std::ops::RangeInclusive<usize>) -> Option<(u32, usize)> {
    let end = run(text, at, |c| c.is_ascii_digit());
    if !lengths.contains(&(end - at)) {
        return None;
    }
    Some((text.get(at..end)?.parse().ok()?, end))
}

fn expect(text: &str, at: usize, signs: &str) -> Option<usize> {
    let c = char_at(text, at)?;
    signs.contains(c).then_some(at + c.len_utf8())
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

/// `12/25/2023`; the day comes first only where the month cannot.
fn slashed_date(text: &str, at: usize) -> Option<(String, usize)> {
    let (first, next) = digits(text, at, 1..=2)?;
    let next = expect(text, next, "/.")?;
    let (second, next) = digits(text, next, 1..=2)?;
    let next = expect(text, next, "/.")?;
    let (year, end) = digits(text, next, 4..=4)?;
    let date = calendar(year, first, second).or_else(|| calendar(year, second, first))?;
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

fn skip_blank(text: &str, at: usize) -> usize {
    run(text, at, |c| c == ' ' || c == '\t')
}

fn skip_ordinal(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    if ["st", "nd", "rd", "th"].iter().any(|ending| rest.starts_with(ending)) {
        at + 2
    } else {
        at
    }
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
pub(super) fn time(text: &str, at: usize) -> Option<usize> {
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

const CURRENCY: &str = "$€£¥₹";

/// A number with its sign, separators, multiplier and percent or currency sign.
pub(super) fn number(text: &str, at: usize, operand_before: bool) -> Option<(Number, usize)> {
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
        Some("thousand") => (1e3, end),
        Some("million") => (1e6, end),
        Some("billion") => (1e9, end),
        _ => (1.0, at),
    }
}

/// A code of letters and digits that starts with a digit, such as `1Z999`, or a colour such as `#1e90ff`.
pub(super) fn code(text: &str, at: usize, glued: bool) -> Option<usize> {
    if glued {
        return None;
    }
    if char_at(text, at) == Some('#') {
        let end = run(text, at + 1, |c| c.is_ascii_alphanumeric() || c == '-');
        return (end > at + 1).then_some(end);
    }
    let end = run(text, at, |c| c.is_alphanumeric());
    let code = text.get(at..end)?;
    let mut letters_then_digit = code
        .chars()
        .skip_while(|c| c.is_ascii_digit())
        .skip_while(|c| c.is_alphabetic());
    let starts = code.starts_with(|c: char| c.is_ascii_digit());
    let sized = code.contains(['x', 'X']) && code.chars().filter(|c| c.is_alphabetic()).count() == 1;
    (starts && !sized && code.len() > 4 && letters_then_digit.next().is_some_and(|c| c.is_ascii_digit())).then_some(end)
}

/// A word: letters and digits, with inner hyphens, apostrophes, underscores and abbreviating dots.
pub(super) fn word(text: &str, at: usize) -> Option<usize> {
    let first = char_at(text, at)?;
    if !first.is_alphabetic() && first != '_' {
        return None;
    }
    let mut end = run(text, at, |c| c.is_alphanumeric() || c == '_');
    while let Some(c) = char_at(text, end) {
        let next = end + c.len_utf8();
        let letter = text
            .get(at..end)
            .is_some_and(|word| word.rsplit('.').next().is_some_and(|piece| piece.chars().count() == 1));
        let joins = matches!(c, '-' | '\'' | '’' | '&') || (c == '.' && letter);
        if !joins || !char_at(text, next).is_some_and(char::is_alphabetic) {
            break;
        }
        end = run(text, next, |c| c.is_alphanumeric() || c == '_');
    }
    // The last dot of `D.C.` belongs to it.
    let pieces = text.get(at..end)?.split('.');
    let dotted =
        end - at > 1 && text.get(at..end)?.contains('.') && pieces.clone().all(|piece| piece.chars().count() == 1);
    Some(if dotted && char_at(text, end) == Some('.') {
        end + 1
    } else {
        end
    })
}
