//! One question for all calls of a plan whose arguments are known.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

const RULES: &str = "[approval]\nask_together = true\n[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n";

fn step(id: &str, after: &[&str], text: &Value) -> Value {
    let call = json!({"toolName": "echo", "arguments": {"text": text}});
    json!({"id": id, "description": format!("Echo {id}"), "dependencies": after, "toolCalls": [call]})
}

/// Returns a home with a plan of three calls, all of which need an approval. The arguments of the last call are known only after
/// the first call.
fn home(rules: &str) -> Home {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    home.file("art.toml", rules);
    let steps = [
        step("one", &[], &json!("first")),
        step("two", &["one"], &json!("second")),
        step("three", &["two"], &json!({"$from": "one", "path": "/text"})),
    ];
    let plan = json!({"version": 1, "question": "Echo it three times", "steps": steps});
    home.file("plan.json", &plan.to_string());
    home
}

fn run(home: &Home) -> CommandOutput {
    let plan = home.dir.path().join("plan.json");
    home.art(&["run", "--plan", plan.to_str().unwrap()])
}

/// Returns the identifiers of the waiting calls, with the texts in their arguments.
fn waiting(home: &Home) -> Vec<(String, String)> {
    let list = home.art(&["--json", "approve", "list"]).json();
    let text = |record: &Value, pointer| record.pointer(pointer).and_then(Value::as_str).unwrap().to_owned();
    let records = list.as_array().unwrap().iter();
    records
        .map(|record| {
            (
                text(record, "/call/suspensionId"),
                text(record, "/call/call/arguments/text"),
            )
        })
        .collect()
}

fn ids(waiting: &[(String, String)]) -> Vec<&str> {
    waiting.iter().map(|(id, _)| id.as_str()).collect()
}

fn texts(waiting: &[(String, String)]) -> Vec<&str> {
    waiting.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn the_known_calls_of_a_plan_wait_together_and_one_command_decides_about_them() {
    let home = home(RULES);
    let asked = run(&home);
    assert_eq!(asked.code(), 7, "{asked}");
    let first = waiting(&home);
    assert_eq!(texts(&first), ["first", "second"]);
    let how = format!("all at once: `art approve yes {}`", ids(&first).join(" "));
    assert!(asked.stderr().contains(&how), "{asked}");
    let approved = home.art(&[&["approve", "yes"], &ids(&first)[..]].concat());
    assert_eq!(approved.code(), 7, "{approved}");
    let last = waiting(&home);
    assert_eq!(
        texts(&last),
        ["first"],
        "the call of the third step has the text of the first"
    );
    let done = home.art(&["approve", "yes", "last"]);
    assert_eq!(done.code(), 0, "{done}");
    let log = home.art(&["runs", "show", "last"]).stdout();
    assert!(
        log.contains("before the first step, echo waits for the decision"),
        "{log}"
    );
    assert_eq!(home.art(&["runs", "verify", "last"]).code(), 0);
    let replayed = home.art(&["--json", "runs", "replay", "last"]).json();
    assert_eq!(replayed.pointer("/difference"), Some(&Value::Null), "{replayed}");
}

#[test]
fn without_the_setting_each_call_waits_when_it_is_to_be_made() {
    let home = home(&RULES.replace("true", "false"));
    assert_eq!(run(&home).code(), 7);
    assert_eq!(texts(&waiting(&home)), ["first"]);
}

#[test]
fn a_rejected_call_of_the_plan_is_not_made() {
    let home = home(RULES);
    assert_eq!(run(&home).code(), 7);
    let first = waiting(&home);
    let (one, two) = (&first.first().unwrap().0, &first.last().unwrap().0);
    assert_eq!(home.art(&["approve", "no", two, "--later"]).code(), 0);
    let ended = home.art(&["approve", "yes", one]);
    assert_eq!(ended.code(), 3, "{ended}");
    assert!(
        ended.stdout().contains("first") && !ended.stdout().contains("second"),
        "{ended}"
    );
}

#[test]
fn one_command_cannot_decide_about_calls_of_different_runs() {
    let home = home(RULES);
    assert_eq!(run(&home).code(), 7);
    assert_eq!(run(&home).code(), 7);
    let all = waiting(&home);
    let refused = home.art(&[&["approve", "no"], &ids(&all)[..]].concat());
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr().contains("are of different runs"), "{refused}");
    assert_eq!(waiting(&home).len(), 4, "nothing is decided");
}

#[test]
fn at_the_terminal_yes_later_and_each_apply_to_all_known_calls() {
    for reply in ["yes", "later", "each"] {
        let home = home(RULES);
        let plan = home.dir.path().join("plan.json");
        let mut terminal = Terminal::start(&home, &["run", "--plan", plan.to_str().unwrap()]);
        terminal.until("decision 2 of 2");
        terminal.until("(yes, no, each, later) ");
        terminal.type_keys(&format!("{reply}\r"));
        // After `yes` the host asks about the last step, and after `each` it asks about both calls separately.
        let questions = [("yes", 1), ("each", 2)]
            .into_iter()
            .find(|(answer, _)| *answer == reply);
        for _ in 0..questions.map_or(0, |(_, questions)| questions) {
            terminal.until("details or later? ");
            terminal.type_keys("\x04");
        }
        let (output, code) = terminal.wait();
        assert_eq!(code, 7, "{output}");
        let left = if reply == "yes" { 1 } else { 2 };
        assert_eq!(waiting(&home).len(), left, "{output}");
    }
}
