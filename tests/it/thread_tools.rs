//! Which tools a conversation may use, as a person sets it.

use serde_json::Value;

use crate::home::Home;
use crate::program::Ran;

/// Returns a conversation that has begun.
fn thread(home: &Home) -> String {
    let report = home.art(&["--json", "run", "What is 2+2?"]).json();
    report.get("threadId").and_then(Value::as_str).unwrap().to_owned()
}

fn set(home: &Home, thread: &str, tools: &[&str]) -> Ran {
    home.art(&[&["thread", "set", thread, "tools"], tools].concat())
}

/// Returns the exit code of a question for the calculator: 0 when it may be used, 4 when no tool fits.
fn asked(home: &Home, thread: &str) -> i32 {
    home.art(&["run", "--thread", thread, "What is 3*5?"]).code()
}

#[test]
fn a_new_conversation_may_use_every_tool() {
    let home = Home::new();
    let shown = home.art(&["--json", "thread", "show", &thread(&home)]).json();
    assert_eq!(shown["thread"]["config"]["enabledTools"], serde_json::json!(["*"]));
}

#[test]
fn a_conversation_may_use_the_tools_that_it_names_and_no_other() {
    let home = Home::new();
    let thread = thread(&home);
    let expected: [(&[&str], i32); 5] = [
        (&["datetime"], 4),
        (&["datetime", "calculator"], 0),
        (&[], 4),
        (&["*"], 0),
        (&["null"], 4),
    ];
    for (tools, code) in expected {
        let ran = set(&home, &thread, tools);
        assert_eq!(ran.code(), 0, "{}", ran.stderr());
        // Twice: a question must not change the list.
        assert_eq!([asked(&home, &thread), asked(&home, &thread)], [code; 2], "{tools:?}");
    }
}

#[test]
fn what_cannot_be_the_name_of_a_tool_is_refused() {
    let home = Home::new();
    let thread = thread(&home);
    let ran = set(&home, &thread, &["calculator", "Cargo.toml"]);
    assert_eq!(ran.code(), 2, "{}", ran.stderr());
    assert!(
        ran.stderr().contains("`Cargo.toml` cannot be the name"),
        "{}",
        ran.stderr()
    );
    assert_eq!(asked(&home, &thread), 0);
}

#[test]
fn a_setting_that_takes_one_value_is_given_one() {
    let home = Home::new();
    let thread = thread(&home);
    for values in [&[][..], &["1", "2"]] {
        let ran = home.art(&[&["thread", "set", &thread, "history-limit"], values].concat());
        assert_eq!(ran.code(), 2, "{}", ran.stderr());
    }
}
