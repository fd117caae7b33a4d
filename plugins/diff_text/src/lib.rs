//! `diff_text`: compares two texts.

use art_sdk::prelude::*;

mod compare;
mod io;

#[cfg(test)]
mod tests;

use io::{DiffTextInput, DiffTextOutput};

/// Compares two texts and shows the difference: which lines, words or characters were added, removed or changed between
/// an old version and a new version. Use it for what changed, what is different between two files, drafts, lists or
/// configurations, whether two texts are the same, or how similar they are. Returns a unified diff, the numbers of
/// inserted, deleted and equal parts, and a similarity ratio from 0 to 1.
#[tool(
    example(
        ask = "What changed between these two files?",
        ask = "What changed between these two versions?",
        ask = "What is the difference between these two texts?",
        ask = "Compare these two files",
        ask = "Compare these two texts",
        ask = "Show the differences between these texts",
        ask = "What is the difference between these two files?",
        ask = "How do these two files differ?",
        ask = "What changed between these two texts?",
        ask = "Show the differences between these files",
        ask = "Diff these two files",
        ask = "How do these two texts differ?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\n"}"#,
        output = r#"{"diff":"--- before\n+++ after\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n","identical":false,"inserted":1,"deleted":1,"equal":2,"ratio":0.6667}"#
    ),
    example(
        ask = r#"What is the difference between "the quick fox" and "the slow fox"?"#,
        ask = r#"Compare "the quick fox" with "the slow fox""#,
        ask = r#"Compare "the quick fox" and "the slow fox""#,
        ask = r#"How do "the quick fox" and "the slow fox" differ?"#,
        ask = r#"What changed from "the quick fox" to "the slow fox"?"#,
        ask = r#"Which words differ between "the quick fox" and "the slow fox"?"#,
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words"}"#,
        output = r#"{"diff":"the [-quick-]{+slow+} fox","identical":false,"inserted":1,"deleted":1,"equal":4,"ratio":0.8}"#
    ),
    example(
        ask = r#"Are "night" and "nacht" the same?"#,
        ask = r#"Is "night" the same as "nacht"?"#,
        ask = r#"How similar are "night" and "nacht"?"#,
        ask = r#"Which letters differ between "night" and "nacht"?"#,
        ask = r#"Compare "night" and "nacht" character by character"#,
        ask = r#"Compare "night" and "nacht" letter by letter"#,
        input = r#"{"before":"night","after":"nacht","mode":"chars"}"#,
        output = r#"{"diff":"n[-ig-]{+ac+}ht","identical":false,"inserted":2,"deleted":2,"equal":3,"ratio":0.6}"#
    ),
    example(
        ask = "Are these two files the same?",
        ask = "Are these two texts identical?",
        ask = "Are these two files identical?",
        ask = "Are these two texts the same?",
        ask = "How similar are these two texts?",
        ask = "How similar are these two files?",
        input = r#"{"before":"same","after":"same"}"#,
        output = r#"{"diff":"","identical":true,"inserted":0,"deleted":0,"equal":1,"ratio":1.0}"#
    ),
    example(
        ask = "Which words changed between these two texts?",
        ask = "Which words changed between these two files?",
        ask = "Compare these two files word by word",
        ask = "Compare these two texts word by word",
        input = r#"{"before":"a b c","after":"a x c","mode":"words"}"#
    ),
    example(
        ask = "Compare these two texts character by character",
        ask = "Which characters differ between these two texts?",
        input = r#"{"before":"abc","after":"abd","mode":"chars"}"#
    ),
    example(
        ask = "Compare these two texts line by line",
        ask = "Compare these two files line by line",
        ask = "Which lines changed between these two files?",
        ask = "Which lines were added or removed?",
        input = r#"{"before":"one\n","after":"two\n","mode":"lines"}"#
    ),
    example(
        ask = "Show the differences between these files with 1 line of context",
        ask = "Compare these two files with 1 line of context",
        input = r#"{"before":"a\nb\nc\n","after":"a\nb\nd\n","context":1}"#
    ),
    example(
        ask = "Show only the changed lines of these two files",
        ask = "Compare these two files without context",
        input = r#"{"before":"a\nb\nc\n","after":"a\nb\nd\n","context":0}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn diff_text(input: DiffTextInput) -> Result<DiffTextOutput> {
    compare::compare(&input).map_err(ToolError::validation)
}
