//! `diff_text`: compares two texts.

use art_sdk::prelude::*;

mod compare;
mod io;

#[cfg(test)]
mod tests;

use io::{DiffTextInput, DiffTextOutput};

/// Compares two texts and shows the difference: which lines, words or characters were added, removed or changed between
/// an old version and a new version. Use it for what changed, what is different between two files, drafts, lists or
/// configurations, whether two texts are the same, or how similar they are. Returns the value that is asked for, or a
/// unified diff with the numbers of inserted, deleted and equal parts, and a similarity ratio from 0 to 1.
#[tool(
    example(
        ask = "What changed?",
        ask = "What is different?",
        ask = "What's different between these two files?",
        ask = "What differs between these two files?",
        ask = "What is the diff between these two files?",
        ask = "What's the diff?",
        ask = "Differences between these two files",
        ask = "Find the differences between these two files",
        ask = "List the differences between these two files",
        ask = "Show what changed between these two files",
        ask = "Tell me what changed between these two files",
        ask = "What changed in these two files?",
        ask = "What is different in these two files?",
        ask = "What has changed between these two files?",
        ask = "What was changed between these two files?",
        ask = "What are the differences between these two files?",
        ask = "What are the changes between these two files?",
        ask = "What changed between these two?",
        ask = "What changed between these files?",
        ask = "What changed between both files?",
        ask = "What changed between the two files?",
        ask = "What changed between the old and the new version?",
        ask = "What changed between the first and the second file?",
        ask = "What changed from the first to the second file?",
        ask = "What changed from the old to the new version?",
        ask = "What did I change?",
        ask = "Compare both files",
        ask = "Compare the two files",
        ask = "Compare the attached files",
        ask = "Compare these",
        ask = "Compare the old and the new version",
        ask = "What changed between these two lists?",
        ask = "What changed between these two drafts?",
        ask = "What changed between these two letters?",
        ask = "What changed between these two memos?",
        ask = "What changed between these two documents?",
        ask = "What changed between these two notes?",
        ask = "What changed between these two emails?",
        ask = "What changed between these two reports?",
        ask = "What changed between these two configs?",
        ask = "What changed between these two pages?",
        ask = "What changed between these two scripts?",
        ask = "What changed between these two recipes?",
        ask = "What changed between these two articles?",
        input = r#"{"before":"apples\npears\n","after":"apples\nplums\n","only":"diff"}"#
    ),
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
        ask = "What is different between these two files?",
        ask = "What has changed?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\n","only":"diff"}"#,
        output = r#"{"diff":"--- before\n+++ after\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"}"#
    ),
    example(
        ask = "Compare these two texts line by line",
        ask = "Compare these two files line by line",
        ask = "Which lines changed between these two files?",
        ask = "Which lines were added or removed?",
        ask = "Which lines are different?",
        input = r#"{"before":"one\n","after":"two\n","mode":"lines","only":"diff"}"#
    ),
    example(
        ask = r#"What is the difference between "the quick fox" and "the slow fox"?"#,
        ask = r#"Compare "the quick fox" with "the slow fox""#,
        ask = r#"Compare "the quick fox" and "the slow fox""#,
        ask = r#"How do "the quick fox" and "the slow fox" differ?"#,
        ask = r#"What changed from "the quick fox" to "the slow fox"?"#,
        ask = r#"Which words differ between "the quick fox" and "the slow fox"?"#,
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"diff"}"#,
        output = r#"{"diff":"the [-quick-]{+slow+} fox"}"#
    ),
    example(
        ask = "Which words changed between these two texts?",
        ask = "Which words changed between these two files?",
        ask = "Compare these two files word by word",
        ask = "Compare these two texts word by word",
        input = r#"{"before":"a b c","after":"a x c","mode":"words","only":"diff"}"#,
        output = r#"{"diff":"a [-b-]{+x+} c"}"#
    ),
    example(
        ask = r#"Which letters differ between "night" and "nacht"?"#,
        ask = r#"Compare "night" and "nacht" character by character"#,
        ask = r#"Compare "night" and "nacht" letter by letter"#,
        input = r#"{"before":"night","after":"nacht","mode":"chars","only":"diff"}"#,
        output = r#"{"diff":"n[-ig-]{+ac+}ht"}"#
    ),
    example(
        ask = "Compare these two texts character by character",
        ask = "Which characters differ between these two texts?",
        input = r#"{"before":"abc","after":"abd","mode":"chars","only":"diff"}"#,
        output = r#"{"diff":"ab[-c-]{+d+}"}"#
    ),
    example(
        ask = r#"Are "night" and "nacht" the same?"#,
        ask = r#"Is "night" the same as "nacht"?"#,
        ask = r#"Are "night" and "nacht" identical?"#,
        ask = r#"Are "night" and "nacht" equal?"#,
        input = r#"{"before":"night","after":"nacht","mode":"chars","only":"is_same"}"#,
        output = r#"{"same":"no"}"#
    ),
    example(
        ask = "Are these two files the same?",
        ask = "Are these two texts identical?",
        ask = "Are these two files identical?",
        ask = "Are these two texts the same?",
        ask = "Are these the same?",
        ask = "Are both files the same?",
        input = r#"{"before":"same","after":"same","only":"is_same"}"#,
        output = r#"{"same":"yes"}"#
    ),
    example(
        ask = r#"How similar are "night" and "nacht"?"#,
        ask = r#"What is the similarity of "night" and "nacht"?"#,
        input = r#"{"before":"night","after":"nacht","mode":"chars","only":"similarity"}"#,
        output = r#"{"similarity":"60 %"}"#
    ),
    example(
        ask = "How similar are these two texts?",
        ask = "How similar are these two files?",
        ask = "How similar are these?",
        ask = "What is the similarity of these two texts?",
        ask = "How much do these two texts have in common?",
        input = r#"{"before":"a b c d","after":"a b c x","mode":"words","only":"similarity"}"#
    ),
    example(
        ask = "Which lines were added?",
        ask = "Which lines are new?",
        ask = "What lines were added?",
        ask = "Which lines were added in the second file?",
        ask = "Show the added lines",
        ask = "List the added lines",
        ask = "Which lines does only the second file have?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","mode":"lines","only":"added"}"#,
        output = r#"{"added":["2","four"]}"#
    ),
    example(
        ask = "What was added?",
        ask = "What is new in the second file?",
        ask = "What did the second version add?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","only":"added"}"#,
        output = r#"{"added":["2","four"]}"#
    ),
    example(
        ask = "Which lines were removed?",
        ask = "Which lines are missing?",
        ask = "Which lines were deleted?",
        ask = "What lines were removed?",
        ask = "Show the removed lines",
        ask = "List the deleted lines",
        ask = "Which lines are missing in the second file?",
        ask = "Which lines does only the first file have?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","mode":"lines","only":"removed"}"#,
        output = r#"{"removed":["two"]}"#
    ),
    example(
        ask = "What was removed?",
        ask = "What was deleted?",
        ask = "What is missing in the second file?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","only":"removed"}"#,
        output = r#"{"removed":["two"]}"#
    ),
    example(
        ask = "Which words were added?",
        ask = "Which words are new?",
        ask = "Which words were added in the second text?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"added"}"#,
        output = r#"{"added":["slow"]}"#
    ),
    example(
        ask = r#"Which words were added between "the quick fox" and "the slow fox"?"#,
        ask = r#"Which words were added from "the quick fox" to "the slow fox"?"#,
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"added"}"#
    ),
    example(
        ask = "Which words were removed?",
        ask = "Which words were deleted?",
        ask = "Which words are missing in the second text?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"removed"}"#,
        output = r#"{"removed":["quick"]}"#
    ),
    example(
        ask = "How many lines were added?",
        ask = "How many lines are new?",
        ask = "How many new lines are there?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","mode":"lines","only":"added_count"}"#,
        output = r#"{"inserted":2}"#
    ),
    example(
        ask = "How many lines were removed?",
        ask = "How many lines were deleted?",
        ask = "How many lines are missing?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","mode":"lines","only":"removed_count"}"#,
        output = r#"{"deleted":1}"#
    ),
    example(
        ask = "How many lines changed?",
        ask = "How many lines are different?",
        ask = "How many lines differ between these two files?",
        ask = "How many lines were changed?",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\nfour\n","mode":"lines","only":"changed_count"}"#,
        output = r#"{"changed":2}"#
    ),
    example(
        ask = "How many words changed?",
        ask = "How many words are different?",
        ask = "How many words differ between these two texts?",
        ask = "How many words were changed?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"changed_count"}"#,
        output = r#"{"changed":1}"#
    ),
    example(
        ask = "How many words were added?",
        ask = "How many words are new?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"added_count"}"#,
        output = r#"{"inserted":1}"#
    ),
    example(
        ask = "How many words were removed?",
        ask = "How many words were deleted?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"removed_count"}"#,
        output = r#"{"deleted":1}"#
    ),
    example(
        ask = r#"How many words differ between "the quick fox" and "the slow fox"?"#,
        ask = r#"How many words changed between "the quick fox" and "the slow fox"?"#,
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"changed_count"}"#,
        output = r#"{"changed":1}"#
    ),
    example(
        ask = r#"How many letters differ between "night" and "nacht"?"#,
        ask = r#"How many characters differ between "night" and "nacht"?"#,
        input = r#"{"before":"night","after":"nacht","mode":"chars","only":"changed_count"}"#,
        output = r#"{"changed":2}"#
    ),
    example(
        ask = "Show the differences between these files with 1 line of context",
        ask = "Compare these two files with 1 line of context",
        input = r#"{"before":"a\nb\nc\n","after":"a\nb\nd\n","context":1,"only":"diff"}"#
    ),
    example(
        ask = "Show only the changed lines of these two files",
        ask = "Compare these two files without context",
        input = r#"{"before":"a\nb\nc\n","after":"a\nb\nd\n","context":0,"only":"diff"}"#
    ),
    example(
        ask = "Give all numbers of the difference between these two files",
        ask = "Show all statistics of the difference between these two texts",
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\n"}"#,
        output = r#"{"diff":"--- before\n+++ after\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n","identical":false,"inserted":1,"deleted":1,"equal":2,"ratio":0.6667}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn diff_text(input: DiffTextInput) -> Result<DiffTextOutput> {
    compare::compare(&input).map_err(ToolError::validation)
}
