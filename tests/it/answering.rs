//! A tool asks a person a question, which has one of ten input types. The person answers with `art approve` at the command line,
//! or at the prompts of a terminal. An invalid answer leaves the question open, and a valid one is stored.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::terminal::Terminal;

/// Exit code of a command whose run waits for a decision of a person.
const SUSPENDED: i32 = 7;
/// The end of the terminal's prompt for `yes`, `no` or another choice.
const CHOICE_PROMPT: &str = "details or later? ";
/// The beginning of the terminal's prompt for the value of an answer.
const ANSWER_PROMPT: &str = "answer (";

/// A question, with an invalid and a valid answer as a person types them.
struct Case {
    /// The form of the answer with the text of the question, as the tool passes it to the host.
    form: Value,
    invalid: &'static str,
    valid: &'static str,
    /// The value that is stored for `valid`.
    stored: Value,
    /// The prompt that the terminal shows after `invalid`:
    /// - [`ANSWER_PROMPT`] if `invalid` cannot be read as a value of this type.
    /// - [`CHOICE_PROMPT`] if `invalid` can be read, but is refused when the decision is stored.
    /// - [`CHOICE_PROMPT`] if the question asks for no value, because `invalid` is then typed at this prompt.
    next_prompt: &'static str,
}

impl Case {
    fn input_type(&self) -> &str {
        self.form.get("inputType").and_then(Value::as_str).unwrap()
    }
}

/// Returns a case whose invalid answer cannot be read as a value, so that [`ANSWER_PROMPT`] follows it.
fn case(form: Value, invalid: &'static str, valid: &'static str, stored: Value) -> Case {
    Case {
        form,
        invalid,
        valid,
        stored,
        next_prompt: ANSWER_PROMPT,
    }
}

fn cases() -> Vec<Case> {
    let form = |input_type: &str| json!({"inputType": input_type, "prompt": "Which?"});
    let colours = json!([{"value": "r", "label": "Red"}, {"value": "g", "label": "Green"}]);
    let form_with_options = |input_type: &str| json!({"inputType": input_type, "prompt": "Which?", "options": colours});
    let text = json!({"inputType": "text", "prompt": "Which?", "validation": {"minLength": 3}});
    let custom = json!({"inputType": "custom", "prompt": "Which?", "customSchema": {"type": "object"}});
    vec![
        case(form("boolean"), "maybe", "no", json!(false)),
        Case {
            next_prompt: CHOICE_PROMPT,
            ..case(text, "ab", "a b c", json!("a b c"))
        },
        case(form_with_options("select"), "blue", "green", json!("g")),
        case(
            form_with_options("multiselect"),
            "red, blue",
            "green, red",
            json!(["g", "r"]),
        ),
        case(form("number"), "many", "2.5", json!(2.5)),
        case(form("date"), "2026-13-01", "2026-12-24", json!("2026-12-24")),
        case(
            form("datetime"),
            "noon",
            "2026-12-24 18:00:00Z",
            json!("2026-12-24T18:00:00Z"),
        ),
        case(form("file"), "absent.txt", "answer.txt", json!("answer.txt")),
        // A question of type `confirm` asks for no value, so the valid value is empty: the choice `yes` or `no` is the answer.
        Case {
            next_prompt: CHOICE_PROMPT,
            ..case(form("confirm"), "perhaps", "", Value::Null)
        },
        case(custom, "{", r#"{"a": 1}"#, json!({"a": 1})),
    ]
}

/// Returns a home that contains the tool `confirms` and a file for an answer, and the arguments that make the tool ask `form`.
/// After an approval, the output of the tool has the field `deleted`.
fn home_and_arguments(form: &Value) -> (Home, String) {
    let home = Home::empty();
    home.add("confirms", components::CONFIRMS);
    home.file("answer.txt", "content");
    (home, json!({"what": "notes.txt", "form": form}).to_string())
}

/// Returns the text that a person types: for a file, its path instead of its name.
fn typed_text(home: &Home, case: &Case, text: &str) -> String {
    match case.input_type() {
        "file" => home.dir.path().join(text).to_str().unwrap().to_owned(),
        _ => text.to_owned(),
    }
}

/// Returns the identifier of the open question.
fn open_question(home: &Home) -> String {
    let list = home.art(&["--json", "approve", "list"]).json();
    assert_eq!(list.pointer("/0/status"), Some(&json!("open")), "{list}");
    let id = list.pointer("/0/call/suspensionId").and_then(Value::as_str);
    id.unwrap().to_owned()
}

/// Asserts that the stored decision is an approval with the value of `case`.
fn assert_stored(home: &Home, id: &str, case: &Case) {
    let shown = home.art(&["--json", "approve", "show", id]).json();
    let feedback = |path: &str| shown.pointer(&format!("/decision/feedback/{path}"));
    assert_eq!(feedback("approved"), Some(&json!(true)), "{shown}");
    let value = match case.input_type() {
        "file" => feedback("value/filename"),
        _ => feedback("value"),
    };
    assert_eq!(value.unwrap_or(&Value::Null), &case.stored, "{}", case.form);
}

#[test]
fn each_question_type_accepts_only_valid_answers_at_the_command_line() {
    for case in cases() {
        let (home, arguments) = home_and_arguments(&case.form);
        let called = home.art(&["tool", "call", "confirms", &arguments]);
        assert_eq!(called.code(), SUSPENDED, "{called}");
        let id = open_question(&home);
        let invalid = typed_text(&home, &case, case.invalid);
        let refused = home.art(&["approve", "yes", &id, "--value", &invalid]);
        // The code is 2 if the text cannot be read as a value of this type. It is 1 if the value, or the file that the text
        // names, is refused.
        assert!(matches!(refused.code(), 1 | 2), "{}: {refused}", case.form);
        assert_eq!(open_question(&home), id, "{}", case.form);
        let valid = typed_text(&home, &case, case.valid);
        let approved = home.art(&["approve", "yes", &id, "--value", &valid]);
        assert_eq!(approved.code(), 0, "{}: {approved}", case.form);
        assert!(approved.stdout().contains("deleted"), "{approved}");
        assert_stored(&home, &id, &case);
    }
}

#[test]
fn each_question_type_accepts_only_valid_answers_at_a_terminal() {
    for case in cases() {
        let (home, arguments) = home_and_arguments(&case.form);
        let mut terminal = Terminal::start(&home, &["tool", "call", "confirms", &arguments]);
        terminal.until(CHOICE_PROMPT);
        let id = open_question(&home);
        let is_confirm = case.input_type() == "confirm";
        let choose_yes = |terminal: &mut Terminal| {
            terminal.type_keys("yes\r");
            terminal.until(ANSWER_PROMPT);
        };
        if !is_confirm {
            choose_yes(&mut terminal);
        }
        terminal.type_keys(&format!("{}\r", typed_text(&home, &case, case.invalid)));
        terminal.until(case.next_prompt);
        assert_eq!(open_question(&home), id, "{}", case.form);
        // Types what the prompt after the invalid answer asks for.
        match (is_confirm, case.next_prompt) {
            (true, _) => terminal.type_keys("yes\r"),
            (false, CHOICE_PROMPT) => choose_yes(&mut terminal),
            _ => {}
        }
        if !is_confirm {
            terminal.type_keys(&format!("{}\r", typed_text(&home, &case, case.valid)));
        }
        let (output, code) = terminal.wait();
        assert!(code == 0 && output.contains("deleted"), "{code}: {output}");
        assert_stored(&home, &id, &case);
    }
}
