//! Fuzz test of the functions that make the text of a tool fit for a terminal, a table or a message.

use art_core::show::labelled;
use art_core::text::{byte_prefix, first_sentences, prefix, printable, truncate};
use serde_json::Value;

/// Checks how a text is made printable and cut to a limit. Also reads the text as the JSON of a result. If that result is shown
/// as a table, checks the table.
pub(crate) fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let shown = printable(&text);
    assert!(shown.chars().all(is_harmless), "{shown:?}");
    assert_eq!(printable(&shown), shown);
    assert_eq!(text.chars().all(is_harmless), *text == *shown);
    for limit in [0, 1, 7, 80, 2_000] {
        let (beginning, cut) = (prefix(&text, limit), truncate(&text, limit));
        assert!(text.starts_with(beginning) && cut.starts_with(beginning));
        assert!(beginning.chars().count() <= limit && byte_prefix(&text, limit).len() <= limit);
        assert!(first_sentences(&text, limit).chars().count() <= limit + "...".len());
    }
    let value = serde_json::from_slice(bytes).unwrap_or_else(|_| Value::from(&*text));
    check_table(&value);
}

/// Checks that all rows below the header row of a table have the same number of cells, whatever the result contains.
fn check_table(result: &Value) {
    let shown = labelled("Result", result);
    assert!(shown.starts_with("Result:"));
    let Some((_, table)) = shown.split_once("\n\n| ") else {
        return;
    };
    let rows = table.split("\n\n").next().unwrap_or_default();
    let count_cells = |row: &str| row.replace("\\|", "").matches('|').count();
    // Skips the header row, from which `split_once` has removed the first `|`.
    let cell_counts: Vec<_> = rows.lines().skip(1).map(count_cells).collect();
    assert!(cell_counts.windows(2).all(|pair| pair[0] == pair[1]), "{shown}");
}

/// Returns whether a character may be written to a terminal as it is. The lists of characters are independent of the code of the
/// host.
fn is_harmless(c: char) -> bool {
    let point = u32::from(c);
    let controls = point < 0x20 && c != '\n' && c != '\t' || (0x7f..0xa0).contains(&point);
    let directions = matches!(point, 0x061c | 0x200e | 0x200f | 0x202a..=0x202e | 0x2066..=0x2069);
    let separators = matches!(point, 0x2028 | 0x2029 | 0x00ad | 0x180e);
    let invisible = matches!(point, 0x200b..=0x200d | 0x2060..=0x2065 | 0x206a..=0x206f | 0xfeff | 0xfff9..=0xfffb);
    let tags = (0xe0000..=0xe007f).contains(&point);
    !(controls || directions || separators || invisible || tags)
}
