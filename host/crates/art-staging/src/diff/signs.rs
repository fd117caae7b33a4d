//! Shows the signs of a text that cannot be seen: line endings and the byte order mark.

/// The sign at the beginning of some files that tells their encoding.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// Two texts as a person sees them beside each other, in lines that end with `\n`.
pub(super) struct Shown {
    /// What is different between the texts although it cannot be seen.
    pub(super) notes: Vec<String>,
    pub(super) old: String,
    pub(super) new: String,
}

/// Returns two texts such that a comparison by lines shows all that is different. If both have the same single line ending, or both
/// have a byte order mark, it is left out. Otherwise `\r\n` is shown as `␍␊`, `\r` as `␍`, and the mark as `\u{feff}`.
// `show` in `lines.rs` of the SDK does the same for the previews of tools.
pub(super) fn show(old: &str, new: &str) -> Shown {
    let (old_kinds, new_kinds) = (kinds(old), kinds(new));
    let (old_mark, new_mark) = (old.starts_with(BYTE_ORDER_MARK), new.starts_with(BYTE_ORDER_MARK));
    let mut notes = Vec::new();
    match (old_mark, new_mark) {
        (false, true) => notes.push("a byte order mark is added at the beginning".to_owned()),
        (true, false) => notes.push("the byte order mark at the beginning is removed".to_owned()),
        _ => {}
    }
    // A text of one line without an ending has none that could differ.
    if old_kinds != new_kinds && [old, new].iter().all(|text| text.contains(['\n', '\r'])) {
        let (was, is) = (describe(old_kinds), describe(new_kinds));
        notes.push(format!("the lines end with {is} instead of {was}"));
    }
    let is_mixed = old_kinds.iter().zip(new_kinds).filter(|(was, is)| **was || *is).count() > 1;
    let (pair, single) = if is_mixed { ("␍␊\n", "␍\n") } else { ("\n", "\n") };
    let shown = |text: &str| {
        let (mark, text) = match text.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) if old_mark != new_mark => ("\\u{feff}", rest),
            Some(rest) => ("", rest),
            None => ("", text),
        };
        format!("{mark}{}", text.replace("\r\n", pair).replace('\r', single))
    };
    Shown {
        notes,
        old: shown(old),
        new: shown(new),
    }
}

/// Returns which line endings occur: `\n`, `\r\n` and `\r`. A text without any counts as one with `\n`.
fn kinds(text: &str) -> [bool; 3] {
    let pairs = text.matches("\r\n").count();
    let (newlines, returns) = (text.matches('\n').count(), text.matches('\r').count());
    [newlines > pairs || newlines + returns == 0, pairs > 0, returns > pairs]
}

fn describe(kinds: [bool; 3]) -> String {
    let names = ["LF", "CRLF", "CR"].into_iter().zip(kinds);
    let names: Vec<_> = names.filter_map(|(name, occurs)| occurs.then_some(name)).collect();
    names.join(" and ")
}
