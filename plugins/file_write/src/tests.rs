use std::fs;
use std::path::PathBuf;

use art_sdk::serde_json;
use art_sdk::testing::{call_with, failure};
use tempfile::TempDir;

use super::*;

/// The file `todo.txt` in a directory of its own, with calls of the tool to write it.
struct TestFile {
    directory: TempDir,
}

impl TestFile {
    /// Creates the directory, and in it the file with the text `before`, if there is a text.
    fn new(before: Option<&str>) -> Self {
        let file = Self {
            directory: TempDir::new().unwrap(),
        };
        if let Some(text) = before {
            fs::write(file.path(), text).unwrap();
        }
        file
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("todo.txt")
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(self.path()).ok()
    }

    /// Returns an input. `if_exists` says what to do with a file that exists: `replace`, `append` or `keep`.
    fn input(&self, text: &str, if_exists: &str) -> Value {
        json!({"path": self.path(), "text": text, "existing": if_exists})
    }

    /// Calls the tool without a decision of a person, and returns the question that it asks.
    fn ask(&self, input: &Value) -> Suspension {
        match call_with(&FILE_WRITE, input.clone(), &Context::for_test()) {
            Outcome::Suspended(question) => question,
            other => panic!("{other:?}"),
        }
    }

    /// Calls the tool as the host does after a person has answered its question.
    fn decide(&self, input: &Value, approved: bool, answer: Value) -> Outcome<Value> {
        let context = Context::for_test().with_hitl(Hitl::for_test(approved, answer));
        call_with(&FILE_WRITE, input.clone(), &context)
    }

    /// Calls the tool, approves the change with the default answer of the question, and returns the output. This answer
    /// identifies the change that the question showed.
    fn approve(&self, input: &Value) -> Value {
        let answer = self.ask(input).feedback_schema.unwrap()["defaultValue"].clone();
        match self.decide(input, true, answer) {
            Outcome::Success(reply) => reply.output,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nothing_is_written_before_the_approval() {
    let file = TestFile::new(None);
    let input = file.input("buy milk\n", "replace");
    let question = file.ask(&input);
    assert_eq!(file.text(), None);
    assert!(question.message.starts_with("Create `"), "{}", question.message);
    assert!(
        question
            .preview
            .unwrap()
            .as_str()
            .unwrap()
            .ends_with("@@ -0,0 +1 @@\n+buy milk\n")
    );
    let written = file.approve(&input);
    assert_eq!(file.text().as_deref(), Some("buy milk\n"));
    assert_eq!(
        (&written["created"], &written["size"], &written["lines_added"]),
        (&json!(true), &json!(9), &json!(1))
    );
}

#[test]
fn a_rejected_call_writes_nothing() {
    let file = TestFile::new(Some("old"));
    let outcome = file.decide(&file.input("new", "replace"), false, Value::Null);
    assert!(matches!(outcome, Outcome::Failure(error) if error.code == ErrorCode::PermissionDenied));
    assert_eq!(file.text().as_deref(), Some("old"));
}

#[test]
fn an_approval_without_the_expected_answer_writes_nothing() {
    let file = TestFile::new(Some("old"));
    let outcome = file.decide(&file.input("new", "replace"), true, Value::Null);
    assert!(matches!(outcome, Outcome::Failure(_)), "{outcome:?}");
    assert_eq!(file.text().as_deref(), Some("old"));
}

#[test]
fn a_file_that_changed_after_the_question_is_not_overwritten() {
    let file = TestFile::new(Some("old\n"));
    let input = file.input("new\n", "replace");
    let answer = file.ask(&input).feedback_schema.unwrap()["defaultValue"].clone();
    fs::write(file.path(), "other\n").unwrap();
    let outcome = file.decide(&input, true, answer);
    assert!(matches!(outcome, Outcome::Failure(error) if error.message.contains("has changed since")));
    assert_eq!(file.text().as_deref(), Some("other\n"));
}

#[test]
fn appended_text_begins_and_ends_a_line() {
    let file = TestFile::new(Some("one"));
    file.approve(&file.input("two", "append"));
    file.approve(&file.input("three", "append"));
    assert_eq!(file.text().as_deref(), Some("one\ntwo\nthree\n"));
}

#[test]
fn appended_lines_end_as_the_last_line_before_them() {
    for (before, after) in [
        ("one\r\n", "one\r\ntwo\r\nthree\r\n"),
        (
            "\u{feff}zero\none\r\nhalf",
            "\u{feff}zero\none\r\nhalf\r\ntwo\r\nthree\r\n",
        ),
        ("one\r", "one\rtwo\rthree\r"),
        ("\u{feff}", "\u{feff}two\nthree\n"),
    ] {
        let file = TestFile::new(Some(before));
        file.approve(&file.input("\u{feff}two\nthree", "append"));
        assert_eq!(file.text().as_deref(), Some(after));
    }
}

#[test]
fn a_replacement_shows_which_signs_it_changes() {
    let file = TestFile::new(Some("\u{feff}one\r\n"));
    let preview = file.ask(&file.input("one\n", "replace")).preview.unwrap();
    let preview = preview.as_str().unwrap();
    assert!(
        preview.contains("byte order mark at the beginning is removed"),
        "{preview}"
    );
    assert!(preview.contains("the lines end with LF instead of CRLF"), "{preview}");
    assert!(preview.ends_with("-\\u{feff}one␍␊\n+one\n"), "{preview}");
}

#[test]
fn with_keep_an_existing_file_is_not_changed_and_a_missing_one_is_created() {
    let file = TestFile::new(Some("old"));
    let error = failure(&FILE_WRITE, file.input("other", "keep"));
    assert!(error.message.contains("choose another path"), "{error}");
    let missing = TestFile::new(None);
    missing.approve(&missing.input("x", "keep"));
    assert_eq!(missing.text().as_deref(), Some("x"));
}

#[test]
fn writing_the_text_that_a_file_already_has_is_refused() {
    let file = TestFile::new(Some("same"));
    let error = failure(&FILE_WRITE, file.input("same", "replace"));
    assert!(error.message.contains("nothing to write"), "{error}");
}

#[test]
fn a_directory_cannot_be_written() {
    let file = TestFile::new(None);
    let error = failure(&FILE_WRITE, json!({"path": file.directory.path(), "text": "x"}));
    assert!(error.message.contains("is a directory"), "{error}");
}

#[test]
fn the_examples_have_arguments_that_the_tool_accepts() {
    for example in FILE_WRITE.examples() {
        let input = serde_json::from_str(example.input).unwrap();
        let outcome = call_with(&FILE_WRITE, input, &Context::for_test());
        assert!(matches!(outcome, Outcome::Suspended(_)), "{outcome:?}");
    }
}
