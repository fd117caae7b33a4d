use std::fs;

use art_sdk::serde_json;
use art_sdk::testing::{call_with, failure};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

/// Creates a file with the text `before`, asks for the edit, approves it, and returns the new text.
fn edit(before: &str, arguments: Value) -> String {
    let (directory, input) = file_and_input(before, arguments);
    let question = ask(&input);
    assert_eq!(fs::read_to_string(directory.path().join("a.txt")).unwrap(), before);
    let outcome = call_approved(input, question);
    assert!(matches!(outcome, Outcome::Success(_)), "{outcome:?}");
    fs::read_to_string(directory.path().join("a.txt")).unwrap()
}

/// Calls the tool without a decision of a person, and returns the question that it asks.
fn ask(input: &Value) -> Suspension {
    match call_with(&FILE_EDIT, input.clone(), &Context::for_test()) {
        Outcome::Suspended(question) => question,
        other => panic!("the tool did not ask: {other:?}"),
    }
}

/// Calls the tool as the host does after a person has approved the change in `question`. The default answer of the question
/// identifies this change.
fn call_approved(input: Value, question: Suspension) -> Outcome<Value> {
    let answer = question.feedback_schema.unwrap()["defaultValue"].clone();
    let context = Context::for_test().with_hitl(Hitl::for_test(true, answer));
    call_with(&FILE_EDIT, input, &context)
}

fn refusal_message(before: &str, arguments: Value) -> String {
    let (_directory, input) = file_and_input(before, arguments);
    failure(&FILE_EDIT, input).message
}

/// Creates a file with the text `before` in a directory of its own. Returns the directory, and `arguments` with the path of the
/// file.
fn file_and_input(before: &str, mut arguments: Value) -> (TempDir, Value) {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("a.txt");
    fs::write(&path, before).unwrap();
    arguments["path"] = json!(path);
    (directory, arguments)
}

#[test]
fn a_text_that_occurs_once_is_replaced() {
    let after = edit("buy milk\nbuy bread\n", json!({"old_text": "milk", "new_text": "tea"}));
    assert_eq!(after, "buy tea\nbuy bread\n");
}

#[test]
fn several_texts_are_replaced_in_turn_or_none() {
    let edits = json!({"edits": [
        {"old_text": "milk", "new_text": "tea"},
        {"old_text": "buy tea", "new_text": "drink tea"},
        {"old_text": "b", "new_text": "B", "all": true},
    ]});
    assert_eq!(edit("buy milk\r\nbuy bread\r\n", edits), "drink tea\r\nBuy Bread\r\n");
    let edits = json!({"edits": [{"old_text": "milk", "new_text": "tea"}, {"old_text": "milk", "new_text": "x"}]});
    let message = refusal_message("buy milk\n", edits);
    assert!(
        message.starts_with("`edits[1].old_text` does not occur in `"),
        "{message}"
    );
    let edits = json!({"edits": [{"old_text": "u", "new_text": "a"}]});
    let message = refusal_message("buy\nmud\n", edits);
    assert!(
        message.contains("`edits[0].old_text` occurs 2 times in `") && message.contains("lines 1, 2"),
        "{message}"
    );
    for mixed in [
        json!({"edits": [{"old_text": "milk", "new_text": "tea"}], "old_text": "milk", "new_text": "x"}),
        json!({"edits": []}),
        json!({"old_text": "milk"}),
        json!({"from_line": 1}),
    ] {
        let message = refusal_message("buy milk\n", mixed);
        assert!(message.contains("name the part to change"), "{message}");
    }
}

#[test]
fn an_ambiguous_text_is_refused_with_its_lines_unless_all_is_set() {
    let before = "milk\nbread\nmilk\n";
    let message = refusal_message(before, json!({"old_text": "milk", "new_text": "tea"}));
    assert!(
        message.contains("occurs 2 times") && message.contains("lines 1, 3"),
        "{message}"
    );
    assert_eq!(
        edit(before, json!({"old_text": "milk", "new_text": "tea", "all": true})),
        "tea\nbread\ntea\n"
    );
}

#[test]
fn a_text_that_does_not_occur_is_refused() {
    for other_text in ["Milk", "", "milk "] {
        let message = refusal_message("milk\n", json!({"old_text": other_text, "new_text": "tea"}));
        assert!(message.contains("does not occur"), "{message}");
    }
}

#[test]
fn lines_are_replaced_inserted_and_removed() {
    let edit_lines = |from: usize, to: Option<usize>, text: &str| {
        edit("1\n2\n3\n", json!({"from_line": from, "to_line": to, "new_text": text}))
    };
    assert_eq!(edit_lines(2, None, "two"), "1\ntwo\n3\n");
    assert_eq!(edit_lines(1, Some(2), "both\n"), "both\n3\n");
    assert_eq!(edit_lines(2, Some(1), "new"), "1\nnew\n2\n3\n");
    assert_eq!(edit_lines(4, Some(3), "4"), "1\n2\n3\n4\n");
    assert_eq!(edit_lines(2, Some(3), ""), "1\n");
}

#[test]
fn a_last_line_without_an_ending_stays_without_one() {
    let edit_lines = |from: usize, to: usize, text: &str| {
        edit("0\r\n1", json!({"from_line": from, "to_line": to, "new_text": text}))
    };
    assert_eq!(edit_lines(2, 2, "one"), "0\r\none");
    assert_eq!(edit_lines(2, 2, "one\ntwo\n"), "0\r\none\r\ntwo");
    // An insertion after it begins a new line.
    assert_eq!(edit_lines(3, 2, "2"), "0\r\n1\r\n2");
    assert_eq!(edit("", json!({"from_line": 1, "to_line": 0, "new_text": "x"})), "x\n");
}

#[test]
fn new_lines_end_as_those_around() {
    let insert = |before: &str, from: usize, text: &str| {
        edit(
            before,
            json!({"from_line": from, "to_line": from - 1, "new_text": text}),
        )
    };
    assert_eq!(insert("1\r\n2\r\n", 2, "new"), "1\r\nnew\r\n2\r\n");
    assert_eq!(insert("1\r\n2\r\n", 3, "new\nlines"), "1\r\n2\r\nnew\r\nlines\r\n");
    assert_eq!(insert("1\r2\r", 1, "new"), "new\r1\r2\r");
    assert_eq!(insert("1\n2\n", 1, "new\r\n"), "new\n1\n2\n");
    assert_eq!(insert("1\r\n2\n3\n", 1, "new"), "new\r\n1\r\n2\n3\n");
    assert_eq!(insert("1\r\n2\n3\n", 3, "new"), "1\r\n2\nnew\n3\n");
}

#[test]
fn an_old_text_is_found_whatever_its_lines_end_with_and_other_lines_keep_their_endings() {
    let replace = |before: &str, old: &str, new: &str| edit(before, json!({"old_text": old, "new_text": new}));
    assert_eq!(replace("1\r\n2\r\n3\r\n", "1\n2", "1\ntwo"), "1\r\ntwo\r\n3\r\n");
    assert_eq!(replace("1\n2\n3\n", "1\r\n2", "1\r\ntwo"), "1\ntwo\n3\n");
    assert_eq!(
        replace("1\r\n2\n3\r4", "1\n2\n3", "1\nnew\n2\nthree"),
        "1\r\nnew\r\n2\nthree\r4"
    );
    assert_eq!(replace("1\r\n2", "1\n", ""), "2");
    let all = json!({"old_text": "a\n", "new_text": "b\n", "all": true});
    assert_eq!(edit("a\r\na\na\r", all), "b\r\nb\nb\r");
    let only_endings = json!({"old_text": "\r\n", "new_text": "\n", "all": true});
    assert!(refusal_message("1\r\n", only_endings).contains("nothing to change"));
}

#[test]
fn a_byte_order_mark_stays_at_the_beginning() {
    let before = "\u{feff}1\r\n2\r\n";
    let line =
        |from: usize, to: usize, text: &str| edit(before, json!({"from_line": from, "to_line": to, "new_text": text}));
    assert_eq!(line(1, 1, "one"), "\u{feff}one\r\n2\r\n");
    assert_eq!(line(1, 0, "new"), "\u{feff}new\r\n1\r\n2\r\n");
    assert_eq!(line(1, 2, ""), "\u{feff}");
    let with_mark = json!({"old_text": "\u{feff}1", "new_text": "\u{feff}one"});
    assert_eq!(edit(before, with_mark), "\u{feff}one\r\n2\r\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn an_edit_changes_only_the_bytes_of_the_edit(
        mark in "\u{feff}?", head in "[ab\r\n]{0,8}", tail in "[ab\r\n]{0,8}", new in "[c\n]{0,3}c",
    ) {
        let before = format!("{mark}{head}x{tail}");
        let after = edit(&before, json!({"old_text": "x", "new_text": new}));
        let middle = after.strip_prefix(&format!("{mark}{head}")).and_then(|rest| rest.strip_suffix(&tail));
        let middle = middle.map(|text| text.replace("\r\n", "\n").replace('\r', "\n"));
        prop_assert_eq!(middle, Some(new));
    }
}

#[test]
fn impossible_line_ranges_are_refused() {
    let message =
        |from: usize, to: usize| refusal_message("1\n2\n", json!({"from_line": from, "to_line": to, "new_text": "x"}));
    assert!(message(3, 3).contains("has 2 lines"), "{}", message(3, 3));
    assert!(message(9, 9).contains("line 9 does not exist"));
    assert!(message(2, 0).contains("is before"));
}

#[test]
fn missing_or_contradictory_arguments_and_edits_without_a_change_are_refused() {
    for input in [
        json!({"new_text": "x"}),
        json!({"old_text": "1", "from_line": 1, "new_text": "x"}),
        json!({"from_line": 1, "all": true, "new_text": "x"}),
        json!({"old_text": "1", "to_line": 1, "new_text": "x"}),
    ] {
        let message = refusal_message("1\n", input);
        assert!(message.contains("name the part to change"), "{message}");
    }
    assert!(refusal_message("1\n", json!({"old_text": "1", "new_text": "1"})).contains("nothing to change"));
}

#[test]
fn a_file_that_changed_after_the_question_is_not_overwritten() {
    let (directory, input) = file_and_input("milk\n", json!({"old_text": "milk", "new_text": "tea"}));
    let question = ask(&input);
    let path = directory.path().join("a.txt");
    fs::write(&path, "milk\nbread\n").unwrap();
    let outcome = call_approved(input, question);
    assert!(matches!(outcome, Outcome::Failure(error) if error.message.contains("has changed since")));
    assert_eq!(fs::read_to_string(path).unwrap(), "milk\nbread\n");
}

#[test]
fn the_error_for_a_missing_file_suggests_file_write() {
    let error = failure(
        &FILE_EDIT,
        json!({"path": "/no/such/file", "old_text": "a", "new_text": "b"}),
    );
    assert_eq!(error.code, ErrorCode::NotFound);
    assert!(error.message.contains("use `file_write`"), "{error}");
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in FILE_EDIT.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        // The files of the examples need not exist. Any other error would mean that arguments were refused.
        if let Outcome::Failure(error) = art_sdk::testing::call(&FILE_EDIT, input) {
            assert_eq!(error.code, ErrorCode::NotFound, "{}: {error}", example.input);
        }
    }
}
