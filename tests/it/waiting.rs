//! Two lists are bounded: the list of the calls that wait for an approval, and the list of standing approvals. Large arguments
//! are cut in questions and lists; `art approve show` and the choice `details` show all of them.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::terminal::Terminal;

/// The identifiers of waiting calls if there are none.
const NO_IDS: [&str; 0] = [];

/// Returns a home with the tool `echo`, whose calls need an approval.
fn home() -> Home {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    home.file("art.toml", "[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n");
    home
}

/// Makes a call that waits for a decision.
fn suspend(home: &Home, text: &str) -> CommandOutput {
    let arguments = json!({ "text": text }).to_string();
    let asked = home.art_with_input(&["tool", "call", "echo", "-"], &arguments);
    assert_eq!(asked.code(), 7, "{asked}");
    asked
}

/// Returns the identifiers of the waiting calls that `art approve list` lists with these options.
fn waiting_ids(home: &Home, options: &[&str]) -> Vec<String> {
    let listed = home.art(&[&["--json", "approve", "list"], options].concat()).json();
    let ids = listed.as_array().unwrap().iter();
    ids.map(|record| record["call"]["suspensionId"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_list_ends_at_its_limit_and_names_the_command_that_lists_the_rest() {
    let home = home();
    for text in ["one", "two", "three"] {
        suspend(&home, text);
    }
    let all = waiting_ids(&home, &[]);
    let [first, second, third] = &all[..] else {
        panic!("{all:?}")
    };
    let listed = home.art(&["approve", "list", "--limit", "2"]);
    assert!(
        listed.stdout().contains(second) && !listed.stdout().contains(third),
        "{listed}"
    );
    let hint = format!("more wait: `art approve list --after {second}` lists them");
    assert!(listed.stderr().contains(&hint), "{listed}");
    let rest = home.art(&["approve", "list", "--after", second]);
    assert!(
        rest.stdout().contains(third) && !rest.stdout().contains(second),
        "{rest}"
    );
    assert!(!rest.stderr().contains("more wait"), "{rest}");
    assert_eq!(
        waiting_ids(&home, &["--limit", "1", "--after", first]),
        std::slice::from_ref(second)
    );
    assert_eq!(waiting_ids(&home, &["--after", third]), NO_IDS);
}

#[test]
fn a_list_of_waiting_calls_ends_before_it_exceeds_eight_mebibytes() {
    let home = home();
    // Eight calls with such arguments are smaller than 8 MiB, and nine are larger.
    let large = "x".repeat(1_000_000);
    for _ in 0..9 {
        suspend(&home, &large);
    }
    let first_list = waiting_ids(&home, &[]);
    assert_eq!(first_list.len(), 8, "at most 8 MiB");
    assert_eq!(waiting_ids(&home, &["--after", &first_list[7]]).len(), 1);
    let last = home.art(&["--json", "approve", "show", "last"]).json();
    assert_eq!(last["call"]["call"]["arguments"]["text"], Value::from(large));
}

#[test]
fn a_megabyte_of_arguments_is_cut_in_the_list_and_shown_in_full_on_request() {
    let home = home();
    let asked = suspend(&home, &format!("{}the end", "x".repeat(1_000_000)));
    let listed = home.art(&["approve", "list"]);
    for shortened in [asked, listed] {
        let bytes = shortened.stdout().len() + shortened.stderr().len();
        assert!(bytes < 4_000, "{bytes}");
    }
    let shown = home.art(&["approve", "show", "last"]).stdout();
    assert!(shown.len() > 1_000_000 && shown.contains("the end"), "{}", shown.len());
}

#[test]
fn long_arguments_are_cut_at_the_terminal_and_their_digest_is_shown() {
    let home = home();
    let arguments = json!({"text": format!("{}the end", "x".repeat(50_000))}).to_string();
    let mut terminal = Terminal::start(&home, &["tool", "call", "echo", &arguments]);
    terminal.until("arguments (blake3:");
    terminal.until("(cut; `details` shows all)");
    terminal.until("later? ");
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert!(code == 7 && output.len() < 4_000, "{code}: {}", output.len());
    assert!(!output.contains("the end"), "{output}");
}

#[test]
fn a_list_of_standing_approvals_says_how_many_are_left_out() {
    let home = home();
    // `--always` approves only calls with the same arguments, so each call waits again.
    for text in ["one", "two", "three"] {
        suspend(&home, text);
        let approved = home.art(&["approve", "yes", "last", "--always"]);
        assert_eq!(approved.code(), 0, "{approved}");
    }
    let listed = home.art(&["approve", "rules", "--limit", "1"]);
    assert_eq!(listed.stdout().matches("standing approval ").count(), 1, "{listed}");
    assert!(listed.stderr().contains("and 2 more"), "{listed}");
    let json = home.art(&["--json", "approve", "rules", "--limit", "1"]).json();
    assert_eq!(
        (json["standing"].as_array().unwrap().len(), &json["more"]),
        (1, &json!(2))
    );
}
