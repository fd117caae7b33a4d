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
        ask = "What changed between the two versions?",
        ask = "What is different in the new version?",
        ask = "Tell me what is different in the new version",
        ask = "Show me the differences",
        ask = "Compare the two texts",
        ask = "Compare these files",
        ask = "Diff these",
        ask = "Diff the two files",
        ask = "How do these files differ?",
        ask = "How do the two texts differ?",
        ask = "How does the new version differ?",
        ask = "Difference between the two files",
        ask = "Where do they differ?",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","only":"diff"}"#
    ),
    example(
        ask = "Are the files the same?",
        ask = "Are both texts equal?",
        ask = "Do the two documents have the same content?",
        ask = "Do both files have the same content?",
        ask = "Is the content the same?",
        ask = "Do the files differ?",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","only":"is_same"}"#
    ),
    example(
        ask = "List what was added",
        ask = "List what was added in the second file",
        ask = "What was added in the new version?",
        ask = "Show what was added",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","only":"added"}"#
    ),
    example(
        ask = "What lines got removed?",
        ask = "What lines were deleted?",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","mode":"lines","only":"removed"}"#
    ),
    example(
        ask = "List what was removed",
        ask = "What was removed in the new version?",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","only":"removed"}"#
    ),
    example(
        ask = "How similar are the two files?",
        ask = "How similar are the texts?",
        ask = "Similarity of the two files",
        ask = "How much do the two files have in common?",
        ask = "How alike are the files?",
        input = r#"{"before":"a\nb\n","after":"a\nc\n","mode":"words","only":"similarity"}"#
    ),
    example(
        ask = r#"Compare "the quick fox" to "the slow fox""#,
        ask = r#"Show the word changes from "the quick fox" to "the slow fox""#,
        ask = r#"What changed between "the quick fox" and "the slow fox"?"#,
        ask = r#"Difference between "the quick fox" and "the slow fox""#,
        ask = r#"Which words changed from "the quick fox" to "the slow fox"?"#,
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"diff"}"#
    ),
    example(
        ask = r#"How similar is "night" to "nacht"?"#,
        ask = r#"Similarity of "night" and "nacht""#,
        ask = r#"How alike are "night" and "nacht"?"#,
        input = r#"{"before":"night","after":"nacht","only":"similarity","mode":"chars"}"#
    ),
    example(
        ask = r#"Is "color" the same as "colour"?"#,
        ask = r#"Are "color" and "colour" the same?"#,
        ask = r#"Are "color" and "colour" identical?"#,
        ask = r#"Is "color" equal to "colour"?"#,
        ask = r#"Is "color" identical to "colour"?"#,
        input = r#"{"before":"color","after":"colour","mode":"chars","only":"is_same"}"#
    ),
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
    example(
        ask = "What is the diff?",
        ask = "Make a diff",
        ask = "Make a diff of these two files",
        ask = "Create a diff of these two files",
        ask = "Diff of these two files",
        ask = "Show the diff",
        ask = "Show me the diff of these two files",
        ask = "Show the changes",
        ask = "What are the changes?",
        ask = "What are the differences?",
        ask = "Show the differences",
        ask = "List the changes",
        ask = "What got changed?",
        ask = "What has been changed?",
        ask = "What was modified?",
        ask = "Where do these two files differ?",
        ask = "Which parts differ?",
        ask = "Compare these for me",
        ask = "Compare them",
        ask = "Compare these two for me",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","only":"diff"}"#
    ),
    example(
        ask = "Which lines have changed?",
        ask = "Which lines were changed?",
        ask = "Which lines differ?",
        ask = "What lines differ?",
        ask = "Show the changed lines",
        ask = "List the lines that changed",
        ask = "Which lines were modified?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"diff"}"#
    ),
    example(
        ask = "Which words changed?",
        ask = "Which words were changed?",
        ask = "Which words are different?",
        ask = "Which words differ?",
        ask = "Which words were replaced?",
        ask = "Which words have been replaced?",
        ask = "Which words were replaced in the second text?",
        ask = "Which words were changed in the second text?",
        ask = "Which words were changed compared to the first text?",
        ask = "What words changed?",
        ask = "Find the words that changed",
        ask = "Find the words that differ",
        ask = "Find the words that are different",
        ask = "Find the words that are spelled differently",
        ask = "Which words are spelled differently?",
        ask = "Which words are spelled differently in these two texts?",
        ask = "Show the changed words",
        ask = "List the words that were changed",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"diff"}"#
    ),
    example(
        ask = "Which characters changed?",
        ask = "Which character changed?",
        ask = "Which letter changed?",
        ask = "Which letters changed?",
        ask = "Which character is different?",
        ask = "Which letter is different?",
        ask = "Which characters are different?",
        ask = "What character changed?",
        ask = "What letter is different?",
        input = r#"{"before":"colour","after":"color","mode":"chars","only":"diff"}"#
    ),
    example(
        ask = "Are they the same?",
        ask = "Are they identical?",
        ask = "Are these two the same?",
        ask = "Are these two identical?",
        ask = "Are both the same?",
        ask = "Are these identical?",
        ask = "Are the two files the same?",
        ask = "Are the two files identical?",
        ask = "Is there a difference?",
        ask = "Is there any difference?",
        ask = "Is there a difference between these two files?",
        ask = "Is there any difference between these two files?",
        ask = "Is there any difference between the two files?",
        ask = "Are there differences?",
        ask = "Are there any differences?",
        ask = "Are there any differences between these two files?",
        ask = "Do they match?",
        ask = "Do these two files match?",
        ask = "Do these two files match exactly?",
        ask = "Do they match exactly?",
        ask = "Do the two files match exactly?",
        ask = "Do they differ?",
        ask = "Do these two files differ?",
        ask = "Is anything different?",
        ask = "Did anything change?",
        ask = "Has anything changed?",
        ask = "Did something change?",
        ask = "Check if these two files are the same",
        ask = "Check if these two files are identical",
        ask = "Check if they match exactly",
        ask = "Check whether these two files match",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","only":"is_same"}"#
    ),
    example(
        ask = "How similar are they?",
        ask = "How similar are they in percent?",
        ask = "How similar are these two texts in percent?",
        ask = "How similar are both texts?",
        ask = "How similar are the two texts?",
        ask = "How alike are these two texts?",
        ask = "How alike are they?",
        ask = "Similarity",
        ask = "Similarity in percent",
        ask = "What is the similarity in percent?",
        ask = "How similar are the old and the new version?",
        ask = "How similar are the first and the second text?",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"similarity"}"#
    ),
    example(
        ask = "Which lines are in the second file but not in the first?",
        ask = "Which lines are in the second but not in the first?",
        ask = "Which lines are only in the second file?",
        ask = "Which lines are only in the second text?",
        ask = "Show the lines that the second file adds",
        ask = "Show the lines that were added",
        ask = "Show the lines that are new",
        ask = "List the lines that were added",
        ask = "List the new lines",
        ask = "Show the new lines",
        ask = "Which lines did the second file add?",
        ask = "Which lines have been added?",
        ask = "Only the lines that were added",
        ask = "Just the lines that were inserted",
        ask = "Which lines were inserted?",
        ask = "Show the inserted lines",
        ask = "Which lines are new in the second file?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"added"}"#
    ),
    example(
        ask = "What is new?",
        ask = "What's new?",
        ask = "Who is new?",
        ask = "Which ones are new?",
        ask = "What was inserted?",
        ask = "What got added?",
        ask = "What has been added?",
        ask = "What did I add?",
        ask = "What is only in the second file?",
        ask = "What is in the second but not in the first?",
        ask = "What is new in the second?",
        ask = "What is new in the second version?",
        ask = "What does the second file add?",
        ask = "Who is in the second but not in the first?",
        ask = "Who was added?",
        ask = "Which entries were added?",
        ask = "Which items were added?",
        ask = "Which names were added?",
        ask = "What was added in the second file?",
        ask = "What was added to the second file?",
        ask = "What was added from the first to the second file?",
        ask = "What was added between the first and the second file?",
        ask = "Was anything added?",
        ask = "Was something added?",
        ask = "Has anything been added?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","only":"added"}"#
    ),
    example(
        ask = "Which lines are in the first file but not in the second?",
        ask = "Which lines are in the first but not in the second?",
        ask = "Which lines are only in the first file?",
        ask = "Which lines are only in the first text?",
        ask = "Show the lines that were removed",
        ask = "Show the lines that are missing",
        ask = "List the lines that were removed",
        ask = "Which lines have been removed?",
        ask = "Which lines are gone?",
        ask = "Which lines are gone in the second file?",
        ask = "Which lines disappeared?",
        ask = "Which lines have disappeared?",
        ask = "Which lines were dropped?",
        ask = "Which lines were left out?",
        ask = "Which lines are no longer there?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"removed"}"#
    ),
    example(
        ask = "What is missing?",
        ask = "What is gone?",
        ask = "What was dropped?",
        ask = "What was left out?",
        ask = "What got removed?",
        ask = "What has been removed?",
        ask = "What has been deleted?",
        ask = "What disappeared?",
        ask = "What has disappeared?",
        ask = "Which was removed?",
        ask = "Which one was removed?",
        ask = "Which one is missing?",
        ask = "Which one has disappeared?",
        ask = "Who was removed?",
        ask = "Who is missing?",
        ask = "Which entries were removed?",
        ask = "Which items were removed?",
        ask = "Which names were removed?",
        ask = "Names that were removed",
        ask = "Entries that were removed from the first to the second file",
        ask = "Names that were removed from the first to the second file",
        ask = "What was removed from the first file?",
        ask = "What was deleted from the first file?",
        ask = "What was removed from the first to the second file?",
        ask = "What is only in the first file?",
        ask = "What is in the first but not in the second?",
        ask = "Was anything removed?",
        ask = "Was anything deleted?",
        ask = "Was anything deleted from the first file?",
        ask = "Was something removed?",
        ask = "Has anything been removed?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","only":"removed"}"#
    ),
    example(
        ask = "How many lines have been added?",
        ask = "How many lines were added in the second file?",
        ask = "How many lines have been added in the second file?",
        ask = "How many lines were inserted?",
        ask = "How many lines did the second file add?",
        ask = "Number of lines added",
        ask = "Number of added lines",
        ask = "Number of new lines",
        ask = "Count the added lines",
        ask = "Count the new lines",
        ask = "Count the lines that were added",
        ask = "Count the lines that are new",
        ask = "Count the lines that are new in the second file",
        ask = "How many new lines does the second file have?",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"added_count"}"#
    ),
    example(
        ask = "How many lines have been removed?",
        ask = "How many lines were removed in the second file?",
        ask = "How many lines are gone?",
        ask = "How many lines were dropped?",
        ask = "How many lines were removed from the first file?",
        ask = "Number of lines removed",
        ask = "Number of removed lines",
        ask = "Number of deleted lines",
        ask = "Number of lines removed from the first to the second file",
        ask = "Count the removed lines",
        ask = "Count the lines that were removed",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"removed_count"}"#
    ),
    example(
        ask = "How many lines have changed?",
        ask = "How many lines differ?",
        ask = "How many lines have been changed?",
        ask = "Number of changed lines",
        ask = "Number of lines that changed",
        ask = "Count the changed lines",
        ask = "Count the lines that changed",
        input = r#"{"before":"one\ntwo\n","after":"one\n2\n","mode":"lines","only":"changed_count"}"#
    ),
    example(
        ask = "How many words have been added?",
        ask = "How many words were added in the second text?",
        ask = "Number of words added",
        ask = "Number of added words",
        ask = "Number of new words",
        ask = "Count the added words",
        ask = "Count the new words",
        ask = "Count the words that are new",
        ask = "Count the words that were added",
        ask = "Count the words that are new in the second text",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"added_count"}"#
    ),
    example(
        ask = "How many words have been removed?",
        ask = "Number of words removed",
        ask = "Number of removed words",
        ask = "Count the removed words",
        ask = "Count the words that were removed",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"removed_count"}"#
    ),
    example(
        ask = "How many words differ?",
        ask = "How many words have changed?",
        ask = "How many words have been changed?",
        ask = "How many words were replaced?",
        ask = "Number of changed words",
        ask = "Number of words that changed",
        ask = "Count the changed words",
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words","only":"changed_count"}"#
    ),
    example(
        ask = "How many characters were added?",
        ask = "How many letters were added?",
        ask = "How many characters have been added?",
        ask = "Number of characters added",
        ask = "How many characters were added in the second text?",
        input = r#"{"before":"colour","after":"color","mode":"chars","only":"added_count"}"#
    ),
    example(
        ask = "How many characters were removed?",
        ask = "How many letters were removed?",
        ask = "How many characters have been removed?",
        ask = "How many characters were deleted?",
        ask = "Number of characters removed",
        ask = "How many characters were removed from the first text?",
        ask = "How many characters were removed from the first text to get the second?",
        input = r#"{"before":"colour","after":"color","mode":"chars","only":"removed_count"}"#
    ),
    example(
        ask = "How many characters changed?",
        ask = "How many characters differ?",
        ask = "How many letters differ?",
        ask = "How many characters are different?",
        ask = "How many letters were changed?",
        ask = "How many characters were changed?",
        input = r#"{"before":"colour","after":"color","mode":"chars","only":"changed_count"}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn diff_text(input: DiffTextInput) -> Result<DiffTextOutput> {
    compare::compare(&input).map_err(ToolError::validation)
}
