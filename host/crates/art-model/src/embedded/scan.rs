//! Scanners for the tokens that are more than a word: each looks at one place in a text and says where its token ends.

mod date;
mod number;

use serde_json::Value;

use super::token::Kind;

pub(super) use date::{date, month, time};
pub(super) use number::number;

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

/// Letters, or a number with letters, as in `L/100km`.
fn goes_on_behind_slash(text: &str, at: usize) -> bool {
    let letters = run(text, at, |c| c.is_ascii_digit());
    char_at(text, letters).is_some_and(char::is_alphabetic)
}

/// A word: letters and digits, with inner slashes, hyphens, apostrophes, underscores and abbreviating dots.
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
        let joined = joins && char_at(text, next).is_some_and(char::is_alphabetic);
        let slashed = c == '/' && goes_on_behind_slash(text, next);
        if !(joined || slashed) {
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
