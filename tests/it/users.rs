//! Several users of one home: each of them sees and decides only their own calls, and learns nothing about the others.

use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

/// A question that leads to a call of `confirms`, which asks a person, so that the call waits for a decision.
const QUESTION: &str = "Delete \"notes.txt\" after asking";
/// An identifier that does not exist.
const UNKNOWN_ID: &str = "4f5a6c1e-0000-4000-8000-000000000000";
/// The identifiers of waiting calls if there are none.
const NO_IDS: [&str; 0] = [];
const ASK_ABOUT_ECHO: &str = "[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n";

/// Returns a home with a tool that asks a person, and a tool whose calls need an approval because of a rule in `art.toml`.
fn home() -> Home {
    let home = Home::empty();
    home.add("confirms", components::CONFIRMS);
    home.add("echo", components::ECHO);
    home.file("art.toml", ASK_ABOUT_ECHO);
    home
}

/// Runs `art` for a user, or without a user.
fn art_as(home: &Home, user: Option<&str>, args: &[&str]) -> CommandOutput {
    let user: Vec<_> = user.into_iter().flat_map(|user| ["--user", user]).collect();
    home.art(&[&user, args].concat())
}

/// Returns the identifiers of the waiting calls that a user sees.
fn waiting(home: &Home, user: Option<&str>) -> Vec<String> {
    let list = art_as(home, user, &["--json", "approve", "list"]).json();
    let ids = list
        .as_array()
        .unwrap()
        .iter()
        .map(|record| record["call"]["suspensionId"].as_str());
    ids.map(|id| id.unwrap().to_owned()).collect()
}

/// Asks [`QUESTION`] as a user, so that the run is suspended. Returns the identifier of the waiting call.
fn suspend(home: &Home, user: Option<&str>) -> String {
    let asked = art_as(home, user, &["run", QUESTION]);
    assert_eq!(asked.code(), 7, "{asked}");
    let [id] = &waiting(home, user)[..] else {
        panic!("{asked}")
    };
    id.clone()
}

/// Asserts that a command of a user says the same about an identifier of another user as about one that does not exist.
fn assert_looks_unknown(home: &Home, user: Option<&str>, command: &[&str], foreign_id: &str) {
    for format in [&[][..], &["--json"]] {
        let reply = |id: &str| {
            let output = art_as(home, user, &[format, command, &[id]].concat());
            let text = (output.stdout() + &output.stderr()).replace(id, "ID");
            (output.code(), text)
        };
        let (about_foreign, about_unknown) = (reply(foreign_id), reply(UNKNOWN_ID));
        assert_eq!(about_foreign, about_unknown, "{command:?}");
        let (exit_code, text) = about_foreign;
        assert_ne!(exit_code, 0, "{command:?}: {text}");
    }
}

#[test]
fn a_user_sees_and_decides_what_is_theirs() {
    let home = home();
    let id = suspend(&home, Some("ann"));
    let shown = art_as(&home, Some("ann"), &["approve", "show", "last"]);
    assert!(shown.stdout().contains("| Delete notes.txt?"), "{shown}");
    let approved = art_as(&home, Some("ann"), &["approve", "yes", &id]);
    assert!(
        approved.code() == 0 && approved.stdout().contains("notes.txt"),
        "{approved}"
    );
    let log = art_as(&home, Some("ann"), &["runs", "show", "last"]).stdout();
    assert!(log.contains("approved by ann"), "{log}");
    let again = art_as(&home, Some("ann"), &["approve", "no", &id]);
    assert!(again.stderr().contains("was decided already"), "{again}");
}

#[test]
fn a_user_sees_nothing_of_others_and_decides_nothing_for_them() {
    let home = home();
    let ann_id = suspend(&home, Some("ann"));
    for stranger in [Some("bob"), Some("Ann"), None] {
        assert_eq!(waiting(&home, stranger), NO_IDS);
        let prefix_of_id = ann_id.get(..8).unwrap();
        for id in [ann_id.as_str(), prefix_of_id] {
            for command in [
                &["approve", "show"][..],
                &["approve", "yes"],
                &["approve", "yes", "--later"],
                &["approve", "no"],
                &["approve", "list", "--after"],
            ] {
                assert_looks_unknown(&home, stranger, command, id);
            }
        }
        for list in ["runs", "thread"] {
            let listed = art_as(&home, stranger, &["--json", list, "list"]).json();
            assert_eq!(listed, json!([]), "{list}");
        }
        let last = art_as(&home, stranger, &["approve", "yes", "last"]);
        assert_eq!(last.code(), 1, "{last}");
    }
    assert_eq!(waiting(&home, Some("ann")), [ann_id]);
}

#[test]
fn identifiers_of_another_user_look_unknown_before_and_after_the_decision() {
    let home = home();
    let ann_id = suspend(&home, Some("ann"));
    let run_id = art_as(&home, Some("ann"), &["--json", "runs", "list"]).json()[0]["traceId"].clone();
    let run_id = run_id.as_str().unwrap();
    let commands_of_runs = [&["runs", "show"][..], &["runs", "resume"], &["runs", "cancel"]];
    for command in commands_of_runs {
        assert_looks_unknown(&home, Some("bob"), command, run_id);
    }
    let decided = art_as(&home, Some("ann"), &["approve", "yes", &ann_id]);
    assert_eq!(decided.code(), 0, "{decided}");
    assert_looks_unknown(&home, Some("bob"), &["approve", "yes"], &ann_id);
    for command in commands_of_runs {
        assert_looks_unknown(&home, Some("bob"), command, run_id);
    }
}

#[test]
fn an_expired_question_to_another_user_looks_unknown() {
    let home = home();
    home.file("art.toml", "[approval]\ntimeout_ms = 3000\n");
    let ann_id = suspend(&home, Some("ann"));
    thread::sleep(Duration::from_millis(3_100));
    assert_looks_unknown(&home, Some("bob"), &["approve", "yes"], &ann_id);
    let late = art_as(&home, Some("ann"), &["approve", "yes", &ann_id]);
    assert!(late.stderr().contains("the time to decide about"), "{late}");
}

#[test]
fn a_conversation_of_another_user_cannot_be_continued() {
    let home = home();
    assert_eq!(art_as(&home, Some("ann"), &["run", QUESTION]).code(), 7);
    let threads = art_as(&home, Some("ann"), &["--json", "thread", "list"]).json();
    let thread_id = threads[0]["id"].as_str().unwrap();
    for command in [&["thread", "show"][..], &["thread", "delete"], &["chat", "--thread"]] {
        assert_looks_unknown(&home, Some("bob"), command, thread_id);
    }
    assert_looks_unknown(&home, Some("bob"), &["run", "What is 2+2?", "--thread"], thread_id);
}

#[test]
fn a_standing_approval_holds_only_for_the_person_who_made_it() {
    let home = home();
    let call = ["tool", "call", "echo", r#"{"text": "hello"}"#];
    assert_eq!(art_as(&home, Some("ann"), &call).code(), 7);
    let approved = art_as(&home, Some("ann"), &["approve", "yes", "last", "--always"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert_eq!(art_as(&home, Some("ann"), &call).code(), 0);
    assert_eq!(art_as(&home, Some("bob"), &call).code(), 7);
    let standing = |user| {
        let rules = art_as(&home, Some(user), &["--json", "approve", "rules"]).json();
        rules["standing"].as_array().unwrap().clone()
    };
    let (ann_approvals, bob_approvals) = (standing("ann"), standing("bob"));
    assert_eq!((ann_approvals.len(), bob_approvals), (1, Vec::<Value>::new()));
    let id = ann_approvals[0]["id"].as_str().unwrap();
    let foreign = art_as(&home, Some("bob"), &["approve", "forget", id]);
    assert!(
        foreign.code() == 1 && foreign.stderr().contains("there is no standing approval"),
        "{foreign}"
    );
    assert_eq!(art_as(&home, Some("ann"), &["approve", "forget", id]).code(), 0);
}

#[test]
fn a_user_decides_at_the_terminal_about_a_call_of_their_own() {
    let home = home();
    suspend(&home, Some("bob"));
    let mut terminal = Terminal::start(
        &home,
        &["--user", "ann", "tool", "call", "echo", r#"{"text": "hello"}"#],
    );
    terminal.until("details or later? ");
    terminal.type_keys("yes\r");
    let (output, code) = terminal.wait();
    assert!(code == 0 && output.contains("hello"), "{code}: {output}");
    assert_eq!(waiting(&home, Some("bob")).len(), 1);
}

#[test]
fn the_user_can_be_named_in_the_environment_and_the_flag_overrides_it() {
    let home = home();
    suspend(&home, Some("ann"));
    let environment = [("ART_USER", "ann")];
    let listed = home.art_with_environment(&["approve", "list"], &environment);
    assert!(listed.stdout().contains("confirms"), "{listed}");
    let other = home.art_with_environment(&["--user", "bob", "approve", "list"], &environment);
    assert_eq!(other.stdout(), "", "{other}");
    let invalid = home.art_with_environment(&["approve", "list"], &[("ART_USER", "../ann")]);
    assert_eq!(invalid.code(), 2, "{invalid}");
}
