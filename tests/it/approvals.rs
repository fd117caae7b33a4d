//! Calls that wait for the decision of a person, at the command line.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::{Provider, Reply};

/// Exit code of a command whose run waits for a decision of a person.
const SUSPENDED: i32 = 7;
/// Exit code of a command whose tool call ended in an error.
const TOOL_ERROR: i32 = 5;
/// Exit code of a command that cannot use the configuration or the store.
const UNUSABLE_ENVIRONMENT: i32 = 6;
/// What a person asks with `art run`. In the run, the tool `confirms` asks the person back before it deletes anything.
const QUESTION: &str = "Delete \"notes.txt\" after asking";

/// Returns a home with the tool `confirms`, which asks a person before it acts.
fn home() -> Home {
    let home = Home::empty();
    home.add("confirms", components::CONFIRMS);
    home
}

/// Returns the calls that `art approve list` shows: those that wait for a decision, and decided ones whose run has not gone on.
fn listed_calls(home: &Home) -> Vec<Value> {
    home.art(&["--json", "approve", "list"])
        .json()
        .as_array()
        .unwrap()
        .clone()
}

/// Returns the identifier of the only listed call.
fn waiting_id(home: &Home) -> String {
    let listed = listed_calls(home);
    assert_eq!(listed.len(), 1, "{listed:?}");
    let id = listed
        .first()
        .and_then(|record| record.pointer("/call/suspensionId")?.as_str());
    id.unwrap().to_owned()
}

/// Asks [`QUESTION`], which suspends its run. Returns the identifier of the waiting call.
fn suspend(home: &Home) -> String {
    let asked = home.run(QUESTION);
    assert_eq!(asked.code(), SUSPENDED, "{asked}");
    waiting_id(home)
}

fn assert_fails_with(output: &CommandOutput, text: &str) {
    assert_ne!(output.code(), 0, "{output}");
    assert!(output.stderr().contains(text), "{output}");
}

#[test]
fn a_run_without_a_terminal_is_suspended_and_says_how_to_decide() {
    let home = home();
    let asked = home.run(QUESTION);
    let id = waiting_id(&home);
    assert_eq!((asked.code(), asked.stdout()), (SUSPENDED, String::new()), "{asked}");
    let instructions = format!(
        "waits for a decision about `confirms`, from any terminal:\n  art approve show {id}\n  art approve yes {id}\n  art approve no {id}\n"
    );
    assert!(asked.stderr().contains(&instructions), "{asked}");
    let runs = home.art(&["runs", "list"]).stdout();
    assert!(runs.contains("suspended"), "{runs}");
}

#[test]
fn the_json_report_of_a_suspended_run_says_what_it_waits_for() {
    let home = home();
    let asked = home.art(&["--json", "run", QUESTION]);
    assert_eq!(asked.code(), SUSPENDED, "{asked}");
    let report = asked.json();
    assert_eq!(report["metadata"]["status"], "suspended");
    let replayed = home.art(&["--json", "runs", "replay", "last"]);
    assert_eq!(replayed.json()["difference"], Value::Null, "{replayed}");
    assert_eq!(
        report["waitsFor"][0]["call"]["call"]["arguments"],
        json!({"what": "notes.txt", "form": null})
    );
    assert_eq!(
        report["uiMetadata"]["suspensionId"],
        report["waitsFor"][0]["call"]["suspensionId"]
    );
}

#[test]
fn a_waiting_call_is_listed_and_shown() {
    let home = home();
    let id = suspend(&home);
    let list = home.art(&["approve", "list"]).stdout();
    assert!(
        list.contains(&id) && list.contains("confirms") && list.contains("Delete notes.txt?"),
        "{list}"
    );
    let shown = home.art(&["approve", "show", "last"]).stdout();
    assert!(
        shown.starts_with("the tool `confirms` asks\n  | Delete notes.txt?\narguments (blake3:"),
        "{shown}"
    );
    assert!(
        shown.contains("preview:\n  | - notes.txt\non approval the tool goes on\n"),
        "{shown}"
    );
}

#[test]
fn an_approval_continues_the_run_and_is_accepted_only_once() {
    let home = home();
    let id = suspend(&home);
    let approved = home.art(&["approve", "yes", &id]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert!(approved.stdout().contains("notes.txt"), "{approved}");
    assert_eq!(listed_calls(&home), Vec::<Value>::new());
    let again = home.art(&["approve", "yes", &id]);
    assert_fails_with(&again, &format!("`{id}` was decided already: the first decision holds"));
    assert_eq!(again.code(), 1, "the decision is refused, but the store can be used");
    let log = home.art(&["runs", "show", "last"]).stdout();
    assert!(log.contains("approved by a person"), "{log}");
    assert_eq!(home.art(&["runs", "verify", "last"]).code(), 0);
    let replayed = home.art(&["--json", "runs", "replay", "last"]);
    assert_eq!(replayed.json()["difference"], Value::Null, "{replayed}");
}

#[test]
fn a_rejected_call_gives_no_result_and_the_reason_of_the_person_is_logged() {
    let home = home();
    let id = suspend(&home);
    let rejected = home.art(&["approve", "no", &id, "--reason", "keep it"]);
    assert_ne!(rejected.code(), SUSPENDED, "{rejected}");
    assert!(!rejected.stdout().contains("deleted"), "{rejected}");
    let log = home.art(&["runs", "show", "last"]).stdout();
    assert!(log.contains("rejected by a person: keep it"), "{log}");
}

#[test]
fn a_decision_can_be_stored_now_and_its_run_resumed_later() {
    let home = home();
    let id = suspend(&home);
    assert_eq!(home.art(&["approve", "yes", &id, "--later"]).code(), 0);
    assert_eq!(listed_calls(&home)[0]["status"], "decided");
    let resumed = home.art(&["runs", "resume", "last"]);
    assert_eq!(resumed.code(), 0, "{resumed}");
}

#[test]
fn an_approval_of_an_unknown_identifier_is_refused() {
    let home = home();
    // Nothing waits for a decision, so `last` names no call either.
    for id in ["4f5a6c1e", "last", ""] {
        let refused = home.art(&["approve", "yes", id]);
        assert!(refused.code() == 1 || refused.code() == 2, "{refused}");
    }
}

#[test]
fn a_conversation_whose_run_waits_refuses_a_question_and_the_run_can_be_cancelled() {
    let home = home();
    let id = suspend(&home);
    let thread_id = listed_calls(&home)[0]["threadId"].as_str().unwrap().to_owned();
    let refused = home.art(&["run", "--thread", &thread_id, QUESTION]);
    assert_fails_with(
        &refused,
        &format!("waits for a decision about `confirms`, with the identifier `{id}`"),
    );
    assert_eq!(home.art(&["runs", "cancel", "last"]).code(), 0);
    assert_eq!(listed_calls(&home), Vec::<Value>::new());
    assert_fails_with(
        &home.art(&["approve", "yes", &id]),
        "has ended: there is nothing left to decide",
    );
}

#[test]
fn a_piped_chat_says_how_to_approve_a_call_and_reads_its_next_line() {
    let home = home();
    let chat = home.art_with_input(&["chat"], &format!("{QUESTION}\n/tools\n"));
    assert_eq!(chat.code(), SUSPENDED, "{chat}");
    assert!(chat.stderr().contains("art approve yes"), "{chat}");
    assert!(chat.stdout().contains("confirms"), "{chat}");
}

/// Returns a home with the tool `echo` and these rules about its calls.
fn home_with_rules(rules: &str) -> Home {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    home.file("art.toml", rules);
    home
}

/// A rule that asks a person before each call of `echo` whose text begins with `secret`.
const ASK_RULE: &str = "[[approval.rule]]\naction = \"ask\"\ntool = \"ec*\"\narguments = { \"/text\" = \"secret*\" }\n";

#[test]
fn a_rule_asks_before_the_calls_that_it_matches_and_before_no_others() {
    let home = home_with_rules(ASK_RULE);
    let asked = home.art(&["tool", "call", "echo", r#"{"text": "secret 1"}"#]);
    assert_eq!((asked.code(), asked.stdout()), (SUSPENDED, String::new()), "{asked}");
    assert!(asked.stderr().contains("\n  art approve yes "), "{asked}");
    let shown = home.art(&["approve", "show", "last"]).stdout();
    assert!(shown.starts_with("may `echo` be called? ("), "{shown}");
    assert!(
        shown.contains("on approval the tool runs with these arguments"),
        "{shown}"
    );
    let approved = home.art(&["approve", "yes", "last"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert!(approved.stdout().contains("secret 1"), "{approved}");
    let other = home.art(&["tool", "call", "echo", r#"{"text": "hello"}"#]);
    assert_eq!(other.code(), 0, "{other}");
}

#[test]
fn an_approval_may_replace_the_arguments_of_the_call_by_other_valid_ones() {
    let home = home_with_rules(ASK_RULE);
    assert_eq!(
        home.art(&["tool", "call", "echo", r#"{"text": "secret 1"}"#]).code(),
        SUSPENDED
    );
    let invalid = home.art(&["approve", "yes", "last", "--args", r#"{"texts": 1}"#]);
    assert_eq!(invalid.code(), 1, "{invalid}");
    assert_eq!(listed_calls(&home).len(), 1, "the call can still be approved");
    let approved = home.art(&["approve", "yes", "last", "--args", r#"{"text": "public"}"#]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert!(
        approved.stdout().contains("public") && !approved.stdout().contains("secret"),
        "{approved}"
    );
}

#[test]
fn a_call_that_a_person_rejects_is_a_tool_error_without_output() {
    let home = home_with_rules(ASK_RULE);
    assert_eq!(
        home.art(&["tool", "call", "echo", r#"{"text": "secret 1"}"#]).code(),
        SUSPENDED
    );
    let rejected = home.art(&["approve", "no", "last"]);
    assert_eq!(
        (rejected.code(), rejected.stdout().contains("secret 1")),
        (TOOL_ERROR, false),
        "{rejected}"
    );
}

#[test]
fn a_rule_can_refuse_calls_without_asking_a_person() {
    let home = home_with_rules(&ASK_RULE.replace("ask", "refuse"));
    let refused = home.art(&["tool", "call", "echo", r#"{"text": "secret 1"}"#]);
    assert_eq!(refused.code(), TOOL_ERROR, "{refused}");
    assert!(refused.stderr().contains("`echo` is not called:"), "{refused}");
}

#[test]
fn a_mistake_in_the_rules_is_an_error_of_the_configuration() {
    for rules in [
        "[approval]\nask_from = \"hihg\"\n",
        "[[approval.rule]]\naction = \"ask\"\ntol = \"x\"\n",
    ] {
        let refused = home_with_rules(rules).art(&["tool", "list"]);
        assert_eq!(refused.code(), UNUSABLE_ENVIRONMENT, "{refused}");
    }
}

// Nobody decides in time (contract Q4).
#[test]
fn an_expired_request_for_approval_is_decided_as_configured_when_its_run_is_resumed() {
    let cases = [("reject", "rejected", TOOL_ERROR), ("approve", "approved", 0)];
    let homes = cases.map(|(on_timeout, decision, exit_code)| {
        let rules = format!("[approval]\ntimeout_ms = 3000\non_timeout = \"{on_timeout}\"\n{ASK_RULE}");
        let home = home_with_rules(&rules);
        let asked = home.art(&["tool", "call", "echo", r#"{"text": "secret 1"}"#]);
        assert_eq!(asked.code(), SUSPENDED, "{asked}");
        (home, decision, exit_code)
    });
    thread::sleep(Duration::from_millis(3_100));
    for (home, decision, exit_code) in homes {
        let id = waiting_id(&home);
        let late = home.art(&["approve", "yes", &id]);
        assert_fails_with(&late, &format!("the time to decide about `{id}` is over"));
        assert_eq!((late.code(), late.stdout()), (1, String::new()), "{late}");
        let resumed = home.art(&["runs", "resume", "last"]);
        let tool_has_run = resumed.stdout().contains("secret 1");
        assert_eq!((resumed.code(), tool_has_run), (exit_code, exit_code == 0), "{resumed}");
        assert_eq!(listed_calls(&home), Vec::<Value>::new());
        let log = home.art(&["runs", "show", "last"]).stdout();
        let decided = format!("{decision} automatically, because nobody decided in time");
        assert!(log.contains(&decided), "{decided}: {log}");
        assert_eq!(home.art(&["runs", "verify", "last"]).code(), 0);
    }
}

// The model asks the person a question (contract C104).
#[test]
fn a_model_asks_the_person_and_receives_the_answer() {
    let home = Home::empty();
    home.file("art.toml", "ask_person = true\n");
    // In reverse order, because `pop` takes the last one.
    let mut replies = vec![
        Reply::Text(vec!["It rains in Bonn.".to_owned()]),
        Reply::Call("request_user_input", json!({"prompt": "Which city?"})),
    ];
    let provider = Provider::start(move |_| replies.pop().unwrap());
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let asked = home.art(&[&model[..], &["run", "What is the weather?"]].concat());
    assert_eq!(asked.code(), SUSPENDED, "{asked}");
    let shown = home.art(&["approve", "show", "last"]).stdout();
    assert!(shown.contains("  | Which city?\n"), "{shown}");
    let without_value = home.art(&[&model[..], &["approve", "yes", "last"]].concat());
    assert_eq!(without_value.code(), 1, "{without_value}");
    let answered = home.art(&[&model[..], &["approve", "yes", "last", "--value", "Bonn"]].concat());
    assert_eq!(
        (answered.code(), answered.stdout()),
        (0, "It rains in Bonn.\n".to_owned()),
        "{answered}"
    );
    let last_request = provider.take_requests().last().unwrap().body.to_string();
    assert!(
        last_request.contains("userInput") && last_request.contains("Bonn"),
        "{last_request}"
    );
    let thread = home.art(&["--json", "thread", "show", "last"]).json();
    let contents: Vec<_> = thread["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["content"].clone())
        .collect();
    assert_eq!(contents, ["What is the weather?", "Bonn", "It rains in Bonn."]);
}

#[test]
fn approve_show_last_is_refused_if_nothing_waits_for_a_decision() {
    let shown = Home::empty().art(&["approve", "show", "last"]);
    assert_eq!(shown.code(), 1);
    assert!(
        shown.stderr().contains("nothing waits for a decision"),
        "{}",
        shown.stderr()
    );
}

#[test]
fn by_default_there_is_no_tool_with_which_a_model_asks_the_person() {
    assert!(
        !Home::empty()
            .art(&["tool", "list"])
            .stdout()
            .contains("request_user_input")
    );
}
