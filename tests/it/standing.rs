//! Standing approvals: a person who approves a call can also approve later calls of the same tool, about which the approval rules
//! of `art.toml` would ask. And previews: `art approve preview` shows what approval rules would have decided about earlier calls.

use std::fs;

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

const ASK_ABOUT_EVERY_CALL: &str = "[[approval.rule]]\naction = \"ask\"\n";
/// The arguments of a call that converts kilometres to metres.
const KILOMETRES: &str = r#"{"value": 2, "from": "km", "to": "m"}"#;
/// The arguments of a call that converts miles to metres.
const MILES: &str = r#"{"value": 3, "from": "mi", "to": "m"}"#;

/// The identifiers of the standing approvals if there are none.
const NO_IDS: [&str; 0] = [];

/// Returns a home with one tool, `unit_convert`, and a rule because of which every call needs an approval.
fn home() -> Home {
    let home = Home::empty();
    let (name, path) = components::PLUGINS
        .iter()
        .find(|(name, _)| *name == "unit_convert")
        .unwrap();
    home.add(name, path);
    home.file("art.toml", ASK_ABOUT_EVERY_CALL);
    home
}

/// Calls `unit_convert`. The exit code is 0 if the call is made, and 7 if the call waits for an approval.
fn call(home: &Home, arguments: &str) -> CommandOutput {
    home.art(&["tool", "call", "unit_convert", arguments])
}

/// Makes a call that needs an approval, and approves it with these options.
fn approve(home: &Home, arguments: &str, options: &[&str]) -> CommandOutput {
    let asked = call(home, arguments);
    assert_eq!(asked.code(), 7, "{asked}");
    home.art(&[&["approve", "yes", "last"], options].concat())
}

/// Returns the identifiers of the standing approvals.
fn standing_approvals(home: &Home) -> Vec<String> {
    let rules = home.art(&["--json", "approve", "rules"]).json();
    let list = rules.pointer("/standing").and_then(Value::as_array).unwrap().iter();
    list.map(|approval| approval.pointer("/id").and_then(Value::as_str).unwrap().to_owned())
        .collect()
}

#[test]
fn approving_a_call_with_always_also_approves_equal_later_calls_and_no_others() {
    let home = home();
    let approved = approve(&home, KILOMETRES, &["--always"]);
    assert_eq!(approved.code(), 0, "{approved}");
    let shown = approved.stderr();
    let [id] = &standing_approvals(&home)[..] else {
        panic!("{shown}")
    };
    assert!(
        shown.contains("no rule asks about calls of `unit_convert` in its version "),
        "{shown}"
    );
    assert!(shown.contains("  |   \"from\": \"km\""), "{shown}");
    assert!(
        shown.contains(&format!("`art approve forget {id}` removes it")),
        "{shown}"
    );
    let again = call(&home, KILOMETRES);
    assert_eq!(again.code(), 0, "{again}");
    let log = home.art(&["runs", "show", "last"]).stdout();
    assert!(
        log.contains(&format!("unit_convert is called, by the standing approval {id}")),
        "{log}"
    );
    assert_eq!(call(&home, MILES).code(), 7);
}

#[test]
fn with_the_option_any_a_standing_approval_allows_any_value_of_the_named_arguments() {
    let home = home();
    let approved = approve(&home, KILOMETRES, &["--always", "--any", "value,from"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert!(
        approved.stderr().contains("and any value of `from`, `value`"),
        "{approved}"
    );
    assert_eq!(call(&home, MILES).code(), 0);
    assert_eq!(call(&home, r#"{"value": 2, "from": "km", "to": "mi"}"#).code(), 7);
}

#[test]
fn the_option_any_arguments_also_approves_all_later_calls_of_the_tool_but_no_others() {
    let home = home();
    let approved = approve(&home, KILOMETRES, &["--always", "--any-arguments"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert_eq!(call(&home, MILES).code(), 0);
    home.add("echo", components::ECHO);
    let other = home.art(&["tool", "call", "echo", r#"{"text": "a"}"#]);
    assert_eq!(other.code(), 7, "{other}");
}

#[test]
fn a_standing_approval_does_not_override_a_rule_that_refuses() {
    let home = home();
    assert_eq!(approve(&home, KILOMETRES, &["--always", "--any-arguments"]).code(), 0);
    home.file("art.toml", &ASK_ABOUT_EVERY_CALL.replace("ask", "refuse"));
    let refused = call(&home, KILOMETRES);
    assert_eq!(refused.code(), 5, "{refused}");
}

#[test]
fn a_standing_approval_is_listed_and_can_be_removed() {
    let home = home();
    assert_eq!(approve(&home, KILOMETRES, &["--always"]).code(), 0);
    let id = standing_approvals(&home).remove(0);
    let list = home.art(&["approve", "rules"]).stdout();
    assert!(list.starts_with("rule 1 asks about every call\n"), "{list}");
    assert!(
        list.contains(&format!("standing approval {id}: no rule asks about")),
        "{list}"
    );
    assert_eq!(home.art(&["approve", "forget", &id]).code(), 0);
    assert_eq!(standing_approvals(&home), NO_IDS);
    let unknown = home.art(&["approve", "forget", &id]);
    assert_eq!(unknown.code(), 1, "{unknown}");
    assert_eq!(call(&home, KILOMETRES).code(), 7);
}

#[test]
fn a_standing_approval_for_another_tool_version_or_in_a_damaged_file_approves_nothing() {
    let home = home();
    assert_eq!(approve(&home, KILOMETRES, &["--always", "--any-arguments"]).code(), 0);
    let id = standing_approvals(&home).remove(0);
    let file = home.dir.path().join("approvals").join(format!("{id}.json"));
    let mut stored: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    stored["toolDigest"] = json!("blake3:of another version");
    fs::write(&file, stored.to_string()).unwrap();
    assert_eq!(call(&home, KILOMETRES).code(), 7);
    fs::write(&file, "{").unwrap();
    assert_eq!(call(&home, KILOMETRES).code(), 7, "a damaged file approves nothing");
}

#[test]
fn an_invalid_standing_approval_is_refused_and_its_call_is_not_approved() {
    let home = home();
    home.add("confirms", components::CONFIRMS);
    assert_eq!(call(&home, KILOMETRES).code(), 7);
    for options in [
        // Changed arguments.
        &["--always", "--args", "{}"][..],
        // No `--always`.
        &["--any", "value"],
        // An argument that the tool does not have.
        &["--always", "--any", "unit"],
        // Two options that exclude each other.
        &["--always", "--any", "to", "--any-arguments"],
    ] {
        let refused = home.art(&[&["approve", "yes", "last"], options].concat());
        assert_eq!(refused.code(), 2, "{refused}");
    }
    // `confirms` itself asks a person, also without rules. A standing approval answers only the questions of rules.
    home.file("art.toml", "");
    let asked = home.art(&["tool", "call", "confirms", r#"{"what": "a"}"#]);
    assert_eq!(asked.code(), 7, "{asked}");
    let refused = home.art(&["approve", "yes", "last", "--always"]);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr().contains("no rule asks about `confirms`"), "{refused}");
    let waiting = home.art(&["--json", "approve", "list"]).json();
    let statuses: Vec<_> = waiting
        .as_array()
        .unwrap()
        .iter()
        .map(|record| &record["status"])
        .collect();
    assert_eq!(statuses, ["open", "open"]);
    assert_eq!(standing_approvals(&home), NO_IDS);
}

#[test]
fn approving_a_call_that_was_rejected_before_stores_no_standing_approval() {
    let home = home();
    assert_eq!(call(&home, KILOMETRES).code(), 7);
    let id = home.art(&["--json", "approve", "list"]).json()[0]["call"]["suspensionId"].clone();
    let id = id.as_str().unwrap();
    home.art(&["approve", "no", id]);
    let late = home.art(&["approve", "yes", id, "--always"]);
    assert_eq!(late.code(), 1, "{late}");
    assert_eq!(standing_approvals(&home), NO_IDS);
}

const CHOICE_PROMPT: &str = "yes, no, edit, always, details or later? ";

#[test]
fn at_the_terminal_a_person_chooses_and_confirms_a_standing_approval() {
    let home = home();
    let mut terminal = Terminal::start(&home, &["tool", "call", "unit_convert", KILOMETRES]);
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("always\r");
    terminal.until("1, 2, 3 or back? ");
    // The choice 2: calls with any value of some arguments.
    terminal.type_keys("2\r");
    terminal.until("separated by commas: ");
    terminal.type_keys("value, from\r");
    terminal.until("and any value of `from`, `value`");
    terminal.until("keep this, and approve the call? (yes or no) ");
    terminal.type_keys("yes\r");
    terminal.until("kept as the standing approval ");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
    assert_eq!(call(&home, MILES).code(), 0);
}

#[test]
fn at_the_terminal_no_standing_approval_is_stored_before_it_is_confirmed() {
    let home = home();
    let mut terminal = Terminal::start(&home, &["tool", "call", "unit_convert", KILOMETRES]);
    // The choice 1: calls with exactly these arguments. The choice 3: all calls of the tool.
    for (choice, confirmation) in [("back", None), ("1", Some("no")), ("3", Some("no"))] {
        terminal.until(CHOICE_PROMPT);
        // Short for `always`.
        terminal.type_keys("a\r");
        terminal.until("1, 2, 3 or back? ");
        terminal.type_keys(&format!("{choice}\r"));
        if let Some(confirmation) = confirmation {
            terminal.until("(yes or no) ");
            terminal.type_keys(&format!("{confirmation}\r"));
        }
    }
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 7, "{output}");
    assert_eq!(standing_approvals(&home), NO_IDS);
}

#[test]
fn a_preview_applies_rules_to_earlier_calls_and_changes_nothing() {
    let home = home();
    home.add("echo", components::ECHO);
    assert_eq!(call(&home, KILOMETRES).code(), 7);
    assert_eq!(approve(&home, MILES, &[]).code(), 0);
    home.file("art.toml", "");
    assert_eq!(home.art(&["tool", "call", "echo", r#"{"text": "a"}"#]).code(), 0);
    // The arguments of this call are invalid, so the preview does not have it.
    home.art(&["tool", "call", "echo", r#"{"texts": "a"}"#]);
    // Settings outside of the table `[approval]`, such as `plugins`, are ignored.
    let rules = home.file(
        "new.toml",
        "plugins = \"x\"\n[approval]\nask_from = \"never\"\n[[approval.rule]]\naction = \"refuse\"\ntool = \"unit*\"\n\
         arguments = { \"/from\" = \"km\" }\n[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n",
    );
    let rules = rules.to_str().unwrap();
    let preview = home.art(&["--json", "approve", "preview", "--rules", rules]).json();
    let calls = preview["calls"].as_array().unwrap().iter();
    let calls: Vec<_> = calls
        .map(|call| json!([call["tool"], call["ran"], call["wasAsked"], call["now"]["verdict"]]))
        .collect();
    let expected = [
        json!(["echo", true, false, "asked"]),
        json!(["unit_convert", true, true, "allowed"]),
        json!(["unit_convert", false, true, "refused"]),
    ];
    assert_eq!(calls, expected);
    let shown = home.art(&["approve", "preview", "--rules", rules]);
    assert!(
        shown
            .stderr()
            .contains("3 calls in 4 runs: 1 allowed, 1 asked about, 1 refused"),
        "{shown}"
    );
    // The two newest runs are those of `echo`, of which only one has a valid call. The current `art.toml` is empty.
    let with_current_rules = home.art(&["approve", "preview", "--runs", "2"]);
    assert!(
        with_current_rules.stderr().contains("1 call in 2 runs: 1 allowed"),
        "{with_current_rules}"
    );
    assert_eq!(home.art(&["--json", "approve", "list"]).json()[0]["status"], "open");
}

#[test]
fn a_preview_refuses_invalid_rules() {
    let home = home();
    for text in [
        // The table `[approval]` is missing.
        "",
        // `ask_from`, misspelt.
        "[approval]\nask_form = \"high\"\n",
        "[[approval.rule]]\naction = \"maybe\"\n",
    ] {
        let file = home.file("new.toml", text);
        let refused = home.art(&["approve", "preview", "--rules", file.to_str().unwrap()]);
        assert_eq!(refused.code(), 6, "{refused}");
    }
}

#[test]
fn a_preview_applies_standing_approvals_and_shows_calls_of_removed_tools_as_invalid() {
    let home = home();
    assert_eq!(approve(&home, KILOMETRES, &["--always"]).code(), 0);
    let id = standing_approvals(&home).remove(0);
    let decision_now = |home: &Home| home.art(&["--json", "approve", "preview"]).json()["calls"][0]["now"].clone();
    assert_eq!(
        decision_now(&home),
        json!({"verdict": "allowed", "standingApproval": id})
    );
    fs::remove_file(home.plugins().join("unit_convert.wasm")).unwrap();
    assert_eq!(decision_now(&home)["verdict"], "invalid");
}
