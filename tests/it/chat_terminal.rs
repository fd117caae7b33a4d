//! `art chat` and `art run` at a terminal.

use std::os::unix::fs::PermissionsExt;

use rustix::process::{Signal, kill_process};
use serde_json::json;

use crate::harness::components;
use crate::home::Home;
use crate::models::display_tool_and_provider;
use crate::provider::{BEGINNING_OF_PLAN, Provider, Reply, is_synthesis, plan_text};
use crate::terminal::{PROMPT, Terminal};

/// The key Ctrl-C.
const CTRL_C: &str = "\x03";
/// The key Ctrl-D.
const CTRL_D: &str = "\x04";
/// Makes the program kill itself when it has announced its first call in the journal, so that the run is interrupted.
const KILLED_BEFORE_CALL: (&str, &str) = ("ART_TEST_STOP_AT", "after_intents:1");

#[test]
fn a_chat_prints_each_answer_once_says_how_to_leave_and_has_a_private_history_file() {
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until_first_prompt();
    terminal.type_keys("What is 2+2?\r");
    terminal.until("2+2: 4\r\n");
    terminal.until(PROMPT);
    terminal.type_keys(CTRL_C);
    terminal.until("to leave, press Ctrl-D or type /exit");
    terminal.until(PROMPT);
    terminal.type_keys(CTRL_D);
    let (output, code) = terminal.wait();
    assert_eq!((output.matches("2+2: 4").count(), code), (1, 0), "{output}");
    let history = home.dir.path().join("state/chat_history");
    assert!(std::fs::read_to_string(&history).unwrap().contains("What is 2+2?"));
    assert_eq!(history.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn keys_typed_during_the_start_are_not_lost() {
    let home = Home::with_empty_cache();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until("compiling 1 tool for this machine (first use only)");
    terminal.type_keys("What is 2+2?\rWhat is 3+3?\r/exi");
    terminal.until("2+2: 4\r\n");
    terminal.until("3+3: 6\r\n");
    terminal.until(PROMPT);
    terminal.type_keys("t\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn resume_in_a_chat_at_a_terminal_continues_an_interrupted_run() {
    let home = Home::new();
    assert!(
        home.art_with_environment(&["run", "What is 2+2?"], &[KILLED_BEFORE_CALL])
            .0
            .status
            .code()
            .is_none()
    );
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until("interrupted: \"What is 2+2?\"; `/resume ");
    terminal.until(PROMPT);
    terminal.type_keys("/resume\r");
    // A resumed run shows the progress of its step, as a question does.
    terminal.until("done");
    terminal.until("2+2: 4\r\n");
    terminal.until("1 tool call");
    terminal.until(PROMPT);
    terminal.type_keys("/resume\r");
    terminal.until("error: no run of this conversation was interrupted");
    terminal.until(PROMPT);
    terminal.type_keys("/exit\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn a_run_that_a_chat_has_resumed_can_be_cancelled() {
    let home = Home::empty();
    // `ART_TEST_EFFECTS` adds the tool `repeatable_effect`, which appends a line to the file that the variable names. A call of
    // the tool takes `ms` milliseconds.
    let effects_path = home.dir.path().join("effects");
    let effects_file = effects_path.to_str().unwrap();
    let effects = ("ART_TEST_EFFECTS", effects_file);
    let slow_call = ["tool", "call", "repeatable_effect", r#"{"key":"k","ms":50000}"#];
    let killed = home.art_with_environment(&slow_call, &[effects, KILLED_BEFORE_CALL]);
    assert!(killed.0.status.code().is_none(), "{killed}");
    let with_effects = |art: &str| format!("ART_TEST_EFFECTS='{effects_file}' exec {art}");
    let mut terminal = Terminal::start_in_shell(&home, &["chat"], with_effects);
    terminal.until("interrupted: \"direct call: repeatable_effect");
    terminal.until(PROMPT);
    terminal.type_keys("/resume last\r");
    terminal.until("Call `repeatable_effect`.");
    terminal.type_keys(CTRL_C);
    terminal.until("stopping; press again to stop immediately");
    terminal.until("was cancelled");
    terminal.until(PROMPT);
    terminal.type_keys("/exit\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn an_answer_is_streamed_and_can_be_stopped() {
    let provider = Provider::start(|request| match is_synthesis(request) {
        true => Reply::Hang("<mainContent>The beginning of an answer that never ends"),
        false => Reply::Text(vec![plan_text(&json!([]))]),
    });
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "chat"];
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &args);
    terminal.until_first_prompt();
    terminal.type_keys("Hello\r");
    terminal.until("The beginning of an answer");
    terminal.type_keys(CTRL_C);
    terminal.until("stopping; press again to stop immediately");
    terminal.until("The run was cancelled");
    terminal.until(PROMPT);
    terminal.type_keys("/exit\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn sigterm_ends_a_conversation_during_a_run() {
    let provider = Provider::start(|_| Reply::Hang(BEGINNING_OF_PLAN));
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "chat"];
    let home = Home::new();
    let mut terminal = Terminal::start(&home, &args);
    terminal.until_first_prompt();
    terminal.type_keys("Hello\r");
    provider.next_request();
    kill_process(terminal.art_process(), Signal::TERM).unwrap();
    terminal.until("The run was cancelled");
    let (output, code) = terminal.wait();
    assert_eq!(code, 130, "{output}");
}

#[test]
fn sigterm_restores_the_terminal() {
    let home = Home::new();
    // The shell outlives `art` and prints the state of the terminal.
    let mut terminal = Terminal::start_in_shell(&home, &["chat"], |art| format!("{art}; stty -a"));
    terminal.until_first_prompt();
    kill_process(terminal.art_process(), Signal::TERM).unwrap();
    let (output, _) = terminal.wait();
    assert!(output.contains(" icanon ") && output.contains(" echo "), "{output}");
    // The last places where bracketed paste was turned on and off.
    let [on, off] = ["\x1b[?2004h", "\x1b[?2004l"].map(|escape_sequence| output.rfind(escape_sequence));
    assert!(on.is_some() && on < off, "bracketed paste is still on: {output:?}");
}

#[test]
fn the_progress_of_a_tool_is_shown_on_the_line_of_its_step() {
    // The tool first reports the progress `an earlier report`, then the progress with this title. Then it sleeps until the run is
    // cancelled.
    let arguments = json!({"title": "row\u{1b}[2Js", "ms": 600_000});
    let provider = Provider::calling("reports_progress", arguments, "Done.");
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url, "run", "Hi"];
    let home = Home::new();
    home.add("reports_progress", components::REPORTS_PROGRESS);
    let mut terminal = Terminal::start(&home, &args);
    terminal.until("Count: row\\u{1b}[2Js (50 %)");
    terminal.type_keys(CTRL_C);
    terminal.until("The run was cancelled");
    let (output, code) = terminal.wait();
    assert!(!output.contains("an earlier report"), "{output}");
    assert_eq!(code, 130, "{output}");
}

#[test]
fn the_streamed_answer_to_a_single_question_is_printed_once_at_a_terminal() {
    let provider = Provider::answering(&["<mainContent>Hello ", "there, ", "you.</mainContent>"]);
    let args = [
        "--model",
        "compatible:m",
        "--base-url",
        &provider.base_url,
        "run",
        "Hello",
    ];
    let home = Home::new();
    let (output, code) = Terminal::start(&home, &args).wait();
    assert_eq!(
        (output.matches("Hello there, you.\r\n").count(), code),
        (1, 0),
        "{output}"
    );
}

/// Starts a provider that first replies with `first`, and then with the beginning of an answer that never ends.
fn provider_with_first_reply(first: Reply) -> Provider {
    let mut first = Some(first);
    Provider::start(move |_| {
        first
            .take()
            .unwrap_or(Reply::Hang("The beginning of an answer that never ends"))
    })
}

/// Asks a question, asserts that the beginning of the answer that never ends appears after `parts`, and returns the output.
fn assert_streamed_after(provider: &Provider, parts: &[&str]) -> String {
    let home = Home::new();
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let mut terminal = Terminal::start(&home, &[&model[..], &["run", "What is 6 times 7?"]].concat());
    for part in parts {
        terminal.until(part);
    }
    terminal.until("The beginning of an answer");
    terminal.type_keys(CTRL_C);
    terminal.until("The run was cancelled");
    let (output, code) = terminal.wait();
    assert_eq!(code, 130, "{output}");
    output
}

#[test]
fn an_answer_that_the_planner_gives_at_once_is_streamed() {
    assert_streamed_after(
        &Provider::start(|_| Reply::Hang("The beginning of an answer that never ends")),
        &[],
    );
}

#[test]
fn an_answer_that_the_planner_gives_after_its_calls_is_streamed_below_them() {
    let provider = provider_with_first_reply(Reply::Call("calculator", json!({"expression": "6 * 7"})));
    assert_streamed_after(
        &provider,
        &["done  step_1", "call  calculator {\"expression\":\"6 * 7\"}"],
    );
}

#[test]
fn a_text_beside_the_calls_of_the_planner_is_printed_on_its_own_line_above_them() {
    let text = "I will calculate this for you.";
    let provider = provider_with_first_reply(Reply::TextAndCall(text, "calculator", json!({"expression": "6 * 7"})));
    let output = assert_streamed_after(&provider, &["I will calculate this for you.\r\n", "done  step_1"]);
    assert_eq!(output.matches(text).count(), 1, "{output}");
}

#[test]
fn a_plan_that_the_planner_writes_as_text_is_not_shown_as_an_answer() {
    let plan = plan_text(&json!([{"id": "a", "description": "Multiply", "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": "6 * 7"}}]}]));
    let provider = provider_with_first_reply(Reply::Text(plan.chars().map(String::from).collect()));
    let output = assert_streamed_after(&provider, &["done  a"]);
    assert!(
        !output.contains("todoList") && !output.contains("JSON_OUTPUT"),
        "{output}"
    );
}

#[test]
fn each_drawing_is_printed_once_above_what_the_planner_writes_after_it() {
    let home = Home::new();
    home.add("draws", components::DRAWS);
    // The tool shows a table of two bars, and calls the second bar `{name}-14`.
    let arguments = |name: &str| json!({"name": name});
    // The last reply comes first, because `pop` takes the last item.
    let mut replies = vec![
        Reply::Text(vec!["There they are, above this line.".to_owned()]),
        Reply::TextAndCall("The second one follows now.", "draws", arguments("otter")),
        Reply::Call("draws", arguments("walrus")),
    ];
    let provider = Provider::start(move |_| replies.pop().unwrap());
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let terminal = Terminal::start(&home, &[&model[..], &["run", "Draw both"]].concat());
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
    let shown = ["walrus-14", "The second one", "otter-14", "There they are"];
    let positions = shown.map(|text| {
        let all: Vec<_> = output.match_indices(text).map(|(at, _)| at).collect();
        assert_eq!(all.len(), 1, "`{text}`: {output}");
        all[0]
    });
    assert!(positions.is_sorted(), "{output}");
}

#[test]
fn an_error_of_the_store_during_streaming_is_on_its_own_line() {
    let provider = Provider::start(|request| match is_synthesis(request) {
        true => {
            // The text after the answer is not shown, but stored.
            let answer = "<mainContent>The beginning</mainContent>".to_owned();
            let more = vec!["x".repeat(100_000); 20];
            Reply::Text([answer].into_iter().chain(more).collect())
        }
        false => Reply::Text(vec![plan_text(&json!([]))]),
    });
    let args = ["--model", "compatible:m", "--base-url", &provider.base_url];
    for command in [&["run", "Hello"][..], &["chat"]] {
        let home = Home::new();
        // Without tools, since writing their compiled code would exceed the file size limit too.
        std::fs::remove_dir_all(home.plugins()).unwrap();
        std::fs::create_dir(home.plugins()).unwrap();
        // No file may exceed 1 MiB (2048 blocks of 512 bytes), including the store. Logs are off, since they would be printed
        // between the answer and the error.
        let limited = |art: &str| format!("trap '' XFSZ; ulimit -f 2048; export ART_LOG=off; exec {art}");
        let mut terminal = Terminal::start_in_shell(&home, &[&args, command].concat(), limited);
        if command == ["chat"] {
            terminal.until(PROMPT);
            terminal.type_keys("Hello\r");
        }
        terminal.until("The beginning\r\nerror: ");
        if command == ["chat"] {
            terminal.until(PROMPT);
            terminal.type_keys("/exit\r");
        }
        let (output, code) = terminal.wait();
        // A chat that its user leaves has succeeded, whatever happened before.
        assert_eq!(code, if command == ["chat"] { 0 } else { 6 }, "{output}");
    }
}

#[test]
fn the_output_of_a_display_tool_is_printed_once_above_the_answer() {
    let (home, provider) = display_tool_and_provider();
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let terminal = Terminal::start(&home, &[&model[..], &["run", "Draw it"]].concat());
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
    // A cell of the table that the tool displays.
    let positions: Vec<_> = output.match_indices("walrus-14").map(|(at, _)| at).collect();
    let [table] = positions[..] else { panic!("{output}") };
    assert!(table < output.find("There it is.").unwrap(), "{output}");
}
