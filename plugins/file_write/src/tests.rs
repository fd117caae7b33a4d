use std::fs;
use std::path::PathBuf;

use art_sdk::serde_json;
use art_sdk::testing::{call_with, failure};
use tempfile::TempDir;

use super::*;

struct Scene {
    directory: TempDir,
}

impl Scene {
    fn new(before: Option<&str>) -> Self {
        let scene = Self {
            directory: TempDir::new().unwrap(),
        };
        if let Some(text) = before {
            fs::write(scene.path(), text).unwrap();
        }
        scene
    }

    fn path(&self) -> PathBuf {
        self.directory.path().join("todo.txt")
    }

    fn now(&self) -> Option<String> {
        fs::read_to_string(self.path()).ok()
    }

    fn input(&self, text: &str, existing: &str) -> Value {
        json!({"path": self.path(), "text": text, "existing": existing})
    }

    fn ask(&self, input: &Value) -> Suspension {
        match call_with(&FILE_WRITE, input.clone(), &Context::for_test()) {
            Outcome::Suspended(question) => question,
            other => panic!("{other:?}"),
        }
    }

    fn decide(&self, input: &Value, approved: bool, answer: Value) -> Outcome<Value> {
        let context = Context::for_test().with_hitl(Hitl::for_test(approved, answer));
        call_with(&FILE_WRITE, input.clone(), &context)
    }

    /// Asks a person, approves, and returns the output.
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
    let scene = Scene::new(None);
    let input = scene.input("buy milk\n", "replace");
    let question = scene.ask(&input);
    assert_eq!(scene.now(), None);
    assert!(question.message.starts_with("Create `"), "{}", question.message);
    assert!(
        question
            .preview
            .unwrap()
            .as_str()
            .unwrap()
            .ends_with("@@ -0,0 +1 @@\n+buy milk\n")
    );
    let written = scene.approve(&input);
    assert_eq!(scene.now().as_deref(), Some("buy milk\n"));
    assert_eq!(
        (&written["created"], &written["size"], &written["lines_added"]),
        (&json!(true), &json!(9), &json!(1))
    );
}

#[test]
fn a_rejected_call_writes_nothing() {
    let scene = Scene::new(Some("old"));
    let outcome = scene.decide(&scene.input("new", "replace"), false, Value::Null);
    assert!(matches!(outcome, Outcome::Failure(error) if error.code == ErrorCode::PermissionDenied));
    assert_eq!(scene.now().as_deref(), Some("old"));
}

#[test]
fn an_approval_without_the_answer_of_its_question_writes_nothing() {
    let scene = Scene::new(Some("old"));
    let outcome = scene.decide(&scene.input("new", "replace"), true, Value::Null);
    assert!(matches!(outcome, Outcome::Failure(_)), "{outcome:?}");
    assert_eq!(scene.now().as_deref(), Some("old"));
}

#[test]
fn a_file_that_changed_after_the_question_is_kept() {
    let scene = Scene::new(Some("old\n"));
    let input = scene.input("new\n", "replace");
    let answer = scene.ask(&input).feedback_schema.unwrap()["defaultValue"].clone();
    fs::write(scene.path(), "other\n").unwrap();
    let outcome = scene.decide(&input, true, answer);
    assert!(matches!(outcome, Outcome::Failure(error) if error.message.contains("has changed since")));
    assert_eq!(scene.now().as_deref(), Some("other\n"));
}

#[test]
fn appended_text_begins_and_ends_a_line() {
    let scene = Scene::new(Some("one"));
    scene.approve(&scene.input("two", "append"));
    scene.approve(&scene.input("three", "append"));
    assert_eq!(scene.now().as_deref(), Some("one\ntwo\nthree\n"));
}

#[test]
fn an_existing_file_is_kept_if_asked_and_an_equal_one_is_not_written() {
    let scene = Scene::new(Some("same"));
    let kept = failure(&FILE_WRITE, scene.input("other", "keep"));
    assert!(kept.message.contains("choose another path"), "{kept}");
    let equal = failure(&FILE_WRITE, scene.input("same", "replace"));
    assert!(equal.message.contains("nothing to write"), "{equal}");
    let new = Scene::new(None);
    new.approve(&new.input("x", "keep"));
    assert_eq!(new.now().as_deref(), Some("x"));
}

#[test]
fn a_directory_cannot_be_written() {
    let scene = Scene::new(None);
    let error = failure(&FILE_WRITE, json!({"path": scene.directory.path(), "text": "x"}));
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
