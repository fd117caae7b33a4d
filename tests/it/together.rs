//! Before a plan runs, a person is asked one question about all its known calls that need an approval. A call is known if its
//! arguments do not depend on the result of another call.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

const ASK_TOGETHER: &str = "[approval]\nask_together = true\n[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n";

/// Returns a step with one call of `echo`.
fn step(id: &str, dependencies: &[&str], text: &Value) -> Value {
    let call = json!({"toolName": "echo", "arguments": {"text": text}});
    json!({"id": id, "description": format!("Echo {id}"), "dependencies": dependencies, "toolCalls": [call]})
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

/// Runs the plan. The exit code is 7 if the run waits for a decision.
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
    let home = home(ASK_TOGETHER);
    let asked = run(&home);
    assert_eq!(asked.code(), 7, "{asked}");
    let known_calls = waiting(&home);
    assert_eq!(texts(&known_calls), ["first", "second"]);
    let hint = format!("all at once: `art approve yes {}`", ids(&known_calls).join(" "));
    assert!(asked.stderr().contains(&hint), "{asked}");
    let approved = home.art(&[&["approve", "yes"], &ids(&known_calls)[..]].concat());
    assert_eq!(approved.code(), 7, "{approved}");
    let last_call = waiting(&home);
    assert_eq!(
        texts(&last_call),
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
fn without_ask_together_only_the_next_call_waits() {
    let home = home(&ASK_TOGETHER.replace("true", "false"));
    assert_eq!(run(&home).code(), 7);
    assert_eq!(texts(&waiting(&home)), ["first"]);
}

#[test]
fn a_rejected_call_of_the_plan_is_not_made() {
    let home = home(ASK_TOGETHER);
    assert_eq!(run(&home).code(), 7);
    let known_calls = waiting(&home);
    let [(first_id, _), (second_id, _)] = &known_calls[..] else {
        panic!("{known_calls:?}")
    };
    // `--later` stores the decision without going on with the run.
    assert_eq!(home.art(&["approve", "no", second_id, "--later"]).code(), 0);
    let ended = home.art(&["approve", "yes", first_id]);
    // The exit code of a run that has an answer although one of its steps failed.
    assert_eq!(ended.code(), 3, "{ended}");
    assert!(
        ended.stdout().contains("first") && !ended.stdout().contains("second"),
        "{ended}"
    );
}

#[test]
fn one_command_cannot_decide_about_calls_of_different_runs() {
    let home = home(ASK_TOGETHER);
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
    for (reply, further_questions, waiting_calls) in [("yes", 1, 1), ("later", 0, 2), ("each", 2, 2)] {
        let home = home(ASK_TOGETHER);
        let plan = home.dir.path().join("plan.json");
        let mut terminal = Terminal::start(&home, &["run", "--plan", plan.to_str().unwrap()]);
        terminal.until("decision 2 of 2");
        terminal.until("(yes, no, each, later) ");
        terminal.type_keys(&format!("{reply}\r"));
        // After `yes` the host asks about the last step, and after `each` it asks about both calls separately.
        for _ in 0..further_questions {
            terminal.until("details or later? ");
            // Ctrl-D leaves the decision for later.
            terminal.type_keys("\x04");
        }
        let (output, code) = terminal.wait();
        assert_eq!(code, 7, "{output}");
        assert_eq!(waiting(&home).len(), waiting_calls, "{reply}: {output}");
    }
}

#[test]
fn a_no_to_all_calls_is_abandoned_if_one_of_them_is_decided_elsewhere_meanwhile() {
    let home = home(ASK_TOGETHER);
    let plan = home.dir.path().join("plan.json");
    let mut terminal = Terminal::start(&home, &["run", "--plan", plan.to_str().unwrap()]);
    terminal.until("(yes, no, each, later) ");
    terminal.type_keys("no\r");
    terminal.until("why (may be empty)? ");
    let (first_id, _) = waiting(&home).remove(0);
    assert_eq!(home.art(&["approve", "yes", &first_id, "--later"]).code(), 0);
    terminal.until("it was decided elsewhere");
    // The host asks about the second call on its own, and then about the last one.
    terminal.until("details or later? ");
    terminal.type_keys("yes\r");
    terminal.until("details or later? ");
    // Ctrl-D leaves the decision for later.
    terminal.type_keys("\x04");
    let (output, code) = terminal.wait();
    assert_eq!(code, 7, "{output}");
    assert_eq!(
        texts(&waiting(&home)),
        ["first"],
        "only the call of the last step waits"
    );
}
