//! `art tool call` starts a run with one tool call, a direct call. Before the call, the store records that the call is about to
//! be made (the intent of the call), and nothing is shown before the store has recorded the end of the call.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use art_store::FailPoint;
use rusqlite::Connection;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

/// The arguments of `art` for a call of the calculator.
const CALL: [&str; 4] = ["tool", "call", "calculator", r#"{"expression":"6*7"}"#];
/// The question of the run that [`CALL`] starts.
const QUESTION: &str = r#"direct call: calculator {"expression":"6*7"}"#;

/// Returns the newest run in the form of `art runs list`.
fn newest_run(home: &Home) -> Value {
    let runs = home.art(&["--json", "runs", "list"]).json();
    runs.get(0).cloned().unwrap_or_default()
}

/// Returns the status of the newest run, as `art runs list` prints it for people.
fn newest_status(home: &Home) -> String {
    let listed = home.art(&["runs", "list"]).stdout();
    listed
        .lines()
        .nth(1)
        .unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .to_owned()
}

/// Calls `effect` or `repeatable_effect` with an `art` that is killed when it reaches `fail_point` for the first time. Only the
/// build of `art` for tests has these two tools. Each call appends a line with `key` to a file, and takes `ms` milliseconds.
fn call_and_kill_at(fail_point: FailPoint, home: &Home, tool: &str) -> CommandOutput {
    let stop_at = format!("{}:1", fail_point.name());
    let args = ["tool", "call", tool, r#"{"key":"k","ms":2}"#];
    let ran = home.art_with_environment(
        &args,
        &[
            ("ART_TEST_STOP_AT", &stop_at),
            ("ART_TEST_EFFECTS", &effects_file(home)),
        ],
    );
    assert_eq!(ran.0.status.signal(), Some(9), "{fail_point:?} was not reached: {ran}");
    ran
}

/// Returns the file to which the tools append.
fn effects_file(home: &Home) -> String {
    home.dir.path().join("effects").to_str().unwrap().to_owned()
}

/// Returns how often `effect` and `repeatable_effect` appended a line.
fn count_effects(home: &Home) -> usize {
    std::fs::read_to_string(effects_file(home))
        .unwrap_or_default()
        .lines()
        .count()
}

fn resume(home: &Home) -> CommandOutput {
    home.art_with_environment(
        &["runs", "resume", "last"],
        &[("ART_TEST_EFFECTS", &effects_file(home))],
    )
}

#[test]
fn a_direct_call_is_listed_as_a_run() {
    let home = Home::new();
    let called = home.art(&CALL);
    assert_eq!((called.code(), called.stdout().contains("42")), (0, true), "{called}");
    let listed = home.art(&["runs", "list"]);
    assert!(listed.stdout().contains(QUESTION), "{listed}");
    assert_eq!(newest_status(&home), "success");
}

#[test]
fn a_direct_call_is_shown_verified_replayed_and_exported_like_every_run() {
    let home = Home::new();
    let trace_id = home.art(&[&["--json"], &CALL[..]].concat()).json()["traceId"].take();
    let run = trace_id.as_str().unwrap();
    let shown = home.art(&["runs", "show", run]).stdout();
    for part in [
        QUESTION,
        "calculator is called",
        "calculator: success",
        r#"{"result":42}"#,
        "0 model calls, 1 tool call",
    ] {
        assert!(shown.contains(part), "`{part}` is missing: {shown}");
    }
    let file = home.dir.path().join("run.jsonl");
    let file = file.to_str().unwrap();
    for args in [
        &["runs", "verify", run][..],
        &["runs", "replay", run],
        &["runs", "export", run, file],
    ] {
        let ran = home.art(args);
        assert_eq!(ran.code(), 0, "{args:?}: {ran}");
    }
    // The exported file also contains the component of the calculator, so the replay does not need it in its home.
    let replayed = Home::empty().art(&["--json", "runs", "replay", file]);
    assert_eq!(
        (replayed.code(), &replayed.json()["callsRun"]),
        (0, &1.into()),
        "{replayed}"
    );
}

#[test]
fn a_direct_call_needs_no_model() {
    let home = Home::new();
    // This model cannot be used, because it needs a key and there is none.
    home.file("art.toml", "model = \"openai\"\n");
    let asked = home.art(&["run", "What is 6*7?"]);
    assert_eq!(asked.code(), 6, "{asked}");
    let called = home.art(&CALL);
    assert_eq!(called.code(), 0, "{called}");
    assert_eq!(newest_run(&home)["model"], Value::Null);
}

#[test]
fn the_budgets_of_questions_do_not_apply_to_a_direct_call() {
    let home = Home::new();
    home.file(
        "art.toml",
        "[execution]\nmaxToolCalls = 0\nmaxModelCalls = 0\nmaxTokens = 1\nmaxCostUsd = 0.0\n",
    );
    let called = home.art(&CALL);
    assert_eq!(called.code(), 0, "{called}");
}

#[test]
fn a_refused_direct_call_is_a_run_that_failed() {
    let home = Home::new();
    let called = home.art(&["tool", "call", "calculator", "[1]"]);
    assert_eq!(called.code(), 5, "{called}");
    assert!(called.stderr().contains("input must be object"), "{called}");
    assert_eq!(newest_status(&home), "error");
}

#[test]
fn a_text_that_looks_like_an_attachment_reaches_the_tool_unchanged() {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    let called = home.art(&["--json", "tool", "call", "echo", r#"{"text":"attachment:a.csv"}"#]);
    assert_eq!(
        called.json()["result"]["output"]["text"],
        "attachment:a.csv",
        "{called}"
    );
}

#[test]
fn arguments_that_nest_too_deeply_are_a_usage_error_and_no_run() {
    let home = Home::new();
    let arguments = format!(r#"{{"expression":{}{}}}"#, "[".repeat(70), "]".repeat(70));
    let called = home.art(&["tool", "call", "calculator", &arguments]);
    assert_eq!(called.code(), 2, "{called}");
    assert!(called.stderr().contains("nest deeper than 64 levels"), "{called}");
    assert_eq!(newest_run(&home), Value::Null);
}

#[test]
fn a_file_of_a_direct_call_can_be_saved() {
    let home = Home::empty();
    home.add("produces_files", components::PRODUCES_FILES);
    let called = home.art(&["tool", "call", "produces_files", r#"{"name":"out.csv"}"#]);
    assert!(
        called
            .stderr()
            .contains("file: out.csv (text/csv, 8 B); `art runs save "),
        "{called}"
    );
    let saved = home.dir.path().join("saved.csv");
    let save = ["runs", "save", "last", "out.csv", "--to", saved.to_str().unwrap()];
    assert_eq!(home.art(&save).code(), 0);
    assert_eq!(std::fs::read(saved).unwrap().len(), 8);
}

#[test]
fn nothing_of_a_direct_call_is_shown_before_its_end_is_committed() {
    let home = Home::empty();
    let killed = call_and_kill_at(FailPoint::BeforeToolEnds, &home, "repeatable_effect");
    assert_eq!((killed.stdout().as_str(), count_effects(&home)), ("", 1), "{killed}");
    assert_eq!(newest_status(&home), "interrupted");
}

#[test]
fn a_direct_call_whose_process_was_killed_is_made_again_if_its_tool_is_repeatable() {
    let home = Home::empty();
    call_and_kill_at(FailPoint::AfterIntents, &home, "repeatable_effect");
    assert_eq!(
        (newest_status(&home).as_str(), count_effects(&home)),
        ("interrupted", 0)
    );
    // Resuming the run needs no model either, so it works although this model cannot be used.
    home.file("art.toml", "model = \"openai\"\n");
    let resumed = resume(&home);
    assert_eq!(
        (resumed.code(), resumed.stdout().as_str()),
        (0, "{\"done\":\"k\"}\n"),
        "{resumed}"
    );
    assert_eq!((newest_status(&home).as_str(), count_effects(&home)), ("success", 1));
}

#[test]
fn a_direct_call_of_a_tool_that_is_not_repeatable_is_not_made_again_after_a_kill() {
    let home = Home::empty();
    call_and_kill_at(FailPoint::BeforeToolEnds, &home, "effect");
    let resumed = resume(&home);
    assert_eq!(resumed.code(), 5, "{resumed}");
    assert!(
        resumed
            .stdout()
            .contains("it is not known whether `effect` took effect"),
        "{resumed}"
    );
    assert_eq!((newest_status(&home).as_str(), count_effects(&home)), ("error", 1));
}

#[test]
fn the_result_of_a_direct_call_is_withheld_if_its_end_cannot_be_committed() {
    let home = Home::new();
    home.art(&CALL);
    let database = home.dir.path().join("state/art.db");
    let trigger = "CREATE TRIGGER broken BEFORE INSERT ON journal WHEN NEW.kind = 'tool_ended' \
                   BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    Connection::open(&database).unwrap().execute_batch(trigger).unwrap();
    for args in [CALL.to_vec(), [&["--json"], &CALL[..]].concat()] {
        let called = home.art(&args);
        assert_eq!(called.code(), 6, "{called}");
        assert!(!called.stdout().contains("42"), "{called}");
    }
    assert_eq!(newest_status(&home), "interrupted");
    Connection::open(&database)
        .unwrap()
        .execute_batch("DROP TRIGGER broken")
        .unwrap();
    let resumed = home.art(&["runs", "resume", "last"]);
    assert_eq!(
        (resumed.code(), resumed.stdout().as_str()),
        (0, "{\"result\":42}\n"),
        "{resumed}"
    );
}

#[test]
fn a_home_that_cannot_be_written_is_named_in_the_error_and_nothing_is_called() {
    let home = Home::empty();
    home.file("state", "not a folder");
    let args = ["tool", "call", "effect", r#"{"key":"k","ms":0}"#];
    let called = home.art_with_environment(&args, &[("ART_TEST_EFFECTS", &effects_file(&home))]);
    assert_eq!((called.code(), count_effects(&home)), (6, 0), "{called}");
    let state = home.dir.path().join("state");
    assert!(called.stderr().contains(state.to_str().unwrap()), "{called}");
    assert!(called.stderr().contains("--home"), "{called}");
}

/// Starts a direct call, and interrupts it (SIGINT) when its intent is in the journal.
fn interrupt_when_called(home: &Home, mut command: Command) -> CommandOutput {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    // The second entry of the journal is the intent of the call.
    let has_intent = || newest_run(home)["lastSequence"] == 2;
    // Check up to 1,000 times, each time after a wait.
    let mut waits = (0..1_000).map(|_| std::thread::sleep(Duration::from_millis(20)));
    assert!(waits.any(|()| has_intent()), "the intent of the call is not recorded");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    CommandOutput(child.wait_with_output().unwrap())
}

#[test]
fn an_interrupt_cancels_a_direct_call() {
    let home = Home::empty();
    let mut command = home.command(&["tool", "call", "repeatable_effect", r#"{"key":"k","ms":60000}"#]);
    command.env("ART_TEST_EFFECTS", effects_file(&home));
    let ended = interrupt_when_called(&home, command);
    assert_eq!(
        (ended.code(), newest_status(&home).as_str()),
        (130, "cancelled"),
        "{ended}"
    );
}

#[test]
fn a_call_of_a_tool_whose_file_was_refused_says_why() {
    let home = Home::empty();
    fs::write(home.plugins().join("broken.wasm"), "no component").unwrap();
    for args in [&["tool", "call", "broken", "{}"][..], &["tool", "show", "broken"]] {
        let refused = home.art(args);
        assert_eq!(refused.code(), 2, "{refused}");
        let stderr = refused.stderr();
        assert!(
            stderr.contains("there is no tool `broken`: its file was refused: broken.wasm: "),
            "{refused}"
        );
    }
}

#[test]
fn a_tool_is_shown_with_its_mode_its_risk_its_requests_and_its_licence() {
    let home = Home::empty();
    let (_, component) = components::PLUGINS
        .iter()
        .find(|(name, _)| *name == "file_write")
        .unwrap();
    home.add("file_write", component);
    let shown = home.art(&["tool", "show", "file_write"]);
    for line in [
        "mode: blocking (it asks a person)",
        "risk: medium",
        "asks to: read and write",
        concat!("version: ", env!("CARGO_PKG_VERSION")),
        concat!("license: ", env!("CARGO_PKG_LICENSE")),
    ] {
        assert!(shown.stdout().contains(line), "{line}: {shown}");
    }
}

#[test]
fn an_output_is_valid_json_without_invisible_characters_at_a_terminal_and_in_a_pipe() {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    let call = ["tool", "call", "echo", "{\"text\": \"a\u{200b}\u{202e}b\"}"];
    let piped = home.art(&call);
    assert_eq!(piped.json()["text"], "a\u{200b}\u{202e}b", "{piped}");
    assert!(!piped.stdout().contains(['\u{200b}', '\u{202e}']), "{piped}");
    let mut terminal = Terminal::start(&home, &call);
    terminal.until(r#""text": "a\u200b\u202eb""#);
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}
