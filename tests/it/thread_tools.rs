//! The list of tools that a conversation (on the command line: a thread) may use, as set with `art thread set`.

use serde_json::Value;

use crate::home::Home;
use crate::program::CommandOutput;

/// Exit code of a question that was answered.
const ANSWERED: i32 = 0;
/// Exit code of a question for which the conversation has no tool.
const NO_TOOL: i32 = 4;

/// Starts a conversation and returns its identifier.
fn start_thread(home: &Home) -> String {
    let report = home.art(&["--json", "run", "What is 2+2?"]).json();
    report.get("threadId").and_then(Value::as_str).unwrap().to_owned()
}

fn set_tools(home: &Home, thread: &str, tools: &[&str]) -> CommandOutput {
    home.art(&[&["thread", "set", thread, "tools"], tools].concat())
}

/// Asks a question that needs the calculator. Returns the exit code: [`ANSWERED`] or [`NO_TOOL`].
fn ask(home: &Home, thread: &str) -> i32 {
    home.art(&["run", "--thread", thread, "What is 3*5?"]).code()
}

#[test]
fn a_new_conversation_may_use_every_tool() {
    let home = Home::new();
    let shown = home.art(&["--json", "thread", "show", &start_thread(&home)]).json();
    assert_eq!(shown["thread"]["config"]["enabledTools"], serde_json::json!(["*"]));
}

#[test]
fn a_conversation_may_use_only_the_tools_of_its_list() {
    let home = Home::new();
    let thread = start_thread(&home);
    let expected: [(&[&str], i32); 5] = [
        (&["datetime"], NO_TOOL),
        (&["datetime", "calculator"], ANSWERED),
        (&[], NO_TOOL),
        (&["*"], ANSWERED),
        // `null` removes the list, which means no tools.
        (&["null"], NO_TOOL),
    ];
    for (tools, exit_code) in expected {
        let ran = set_tools(&home, &thread, tools);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        // Ask twice, because a question must not change the list.
        assert_eq!([ask(&home, &thread), ask(&home, &thread)], [exit_code; 2], "{tools:?}");
    }
}

#[test]
fn an_invalid_tool_name_is_refused() {
    let home = Home::new();
    let thread = start_thread(&home);
    let ran = set_tools(&home, &thread, &["calculator", "Cargo.toml"]);
    assert_eq!(ran.code(), 2, "{}", ran.stderr());
    assert!(
        ran.stderr().contains("`Cargo.toml` is not a valid tool name"),
        "{}",
        ran.stderr()
    );
    assert_eq!(ask(&home, &thread), ANSWERED);
}

#[test]
fn a_setting_with_one_value_cannot_be_set_to_two_values_or_to_no_value() {
    let home = Home::new();
    let thread = start_thread(&home);
    for values in [&[][..], &["1", "2"]] {
        let ran = home.art(&[&["thread", "set", &thread, "history-limit"], values].concat());
        assert_eq!(ran.code(), 2, "{}", ran.stderr());
    }
}
