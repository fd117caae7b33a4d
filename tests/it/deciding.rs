//! Decisions that a person makes at a terminal.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::terminal::{PROMPT, Terminal};

/// The key Ctrl-C.
const CTRL_C: &str = "\x03";
/// The key Ctrl-D.
const CTRL_D: &str = "\x04";
/// Exit code of a command whose run waits for a decision of a person.
const SUSPENDED: i32 = 7;
/// Exit code of a command that the user cancelled.
const CANCELLED: i32 = 130;
/// The question of the user. It leads to a call of a tool that asks a person before it acts.
const QUESTION: &str = "Delete \"notes.txt\" after asking";
/// The end of the prompt at which the user decides about a call.
const CHOICE_PROMPT: &str = "details or later? ";

/// Returns a home with a tool that asks before it acts.
fn home() -> Home {
    let home = Home::empty();
    home.add("confirms", components::CONFIRMS);
    home
}

/// Starts `art run` and reads its output until it asks for a decision.
fn run_until_choice_prompt(home: &Home) -> Terminal {
    let mut terminal = Terminal::start(home, &["run", QUESTION]);
    terminal.until("the tool `confirms` asks");
    terminal.until("| Delete notes.txt?");
    terminal.until(CHOICE_PROMPT);
    terminal
}

/// Returns the calls that wait for a decision.
fn waiting_calls(home: &Home) -> Vec<Value> {
    let list = home.art(&["--json", "approve", "list"]).json();
    list.as_array().unwrap().clone()
}

#[test]
fn a_yes_at_the_terminal_continues_the_run() {
    let home = home();
    let mut terminal = run_until_choice_prompt(&home);
    terminal.type_keys("yes\r");
    let (output, code) = terminal.wait();
    assert!(code == 0 && output.contains("deleted"), "{code}: {output}");
    assert_eq!(waiting_calls(&home), Vec::<Value>::new());
}

#[test]
fn a_no_at_the_terminal_asks_why_and_logs_the_reason() {
    let home = home();
    let mut terminal = run_until_choice_prompt(&home);
    terminal.type_keys("no\r");
    terminal.until("why (may be empty)? ");
    terminal.type_keys("keep it\r");
    let (output, _) = terminal.wait();
    assert!(!output.contains("\"deleted\""), "{output}");
    let log = home.art(&["runs", "show", "last"]).stdout();
    assert!(log.contains("rejected by a person: keep it"), "{log}");
}

#[test]
fn details_are_shown_and_later_leaves_the_run_suspended() {
    let home = home();
    let mut terminal = run_until_choice_prompt(&home);
    terminal.type_keys("details\r");
    terminal.until("preview:");
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert!(
        code == SUSPENDED && output.contains("art approve yes "),
        "{code}: {output}"
    );
    assert_eq!(waiting_calls(&home).len(), 1);
}

#[test]
fn the_arguments_of_a_call_that_a_rule_asks_about_can_be_edited() {
    let home = Home::empty();
    home.add("echo", components::ECHO);
    home.file("art.toml", "[[approval.rule]]\naction = \"ask\"\ntool = \"echo\"\n");
    let mut terminal = Terminal::start(&home, &["tool", "call", "echo", r#"{"text": "secret"}"#]);
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("edit\r");
    terminal.until("arguments, as JSON on one line: ");
    terminal.type_keys("{\"text\": \"public\"}\r");
    terminal.until("`yes` approves the call with these arguments");
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("yes\r");
    terminal.until("\"text\": \"public\",\r\n");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn a_decision_by_another_process_ends_the_prompt_at_the_terminal() {
    let home = home();
    let mut terminal = run_until_choice_prompt(&home);
    // With `--later`, this process only stores the decision. The process at the terminal goes on with the run.
    let decided = home.art(&["approve", "yes", "last", "--later"]);
    assert_eq!(decided.code(), 0, "{decided}");
    terminal.until("it was decided elsewhere");
    let (output, code) = terminal.wait();
    assert!(code == 0 && output.contains("deleted"), "{code}: {output}");
}

#[test]
fn ctrl_c_and_ctrl_d_leave_the_run_suspended_at_every_prompt() {
    for (key, expected_code) in [(CTRL_C, CANCELLED), (CTRL_D, SUSPENDED)] {
        for earlier_keys in ["", "no\r"] {
            let home = home();
            let mut terminal = run_until_choice_prompt(&home);
            if !earlier_keys.is_empty() {
                terminal.type_keys(earlier_keys);
                terminal.until("why (may be empty)? ");
            }
            terminal.type_keys(key);
            let (output, code) = terminal.wait();
            assert_eq!(code, expected_code, "{output}");
            assert!(output.contains("art approve yes "), "{output}");
            assert_eq!(waiting_calls(&home)[0]["status"], "open");
        }
    }
}

#[test]
fn ctrl_c_at_a_choice_prompt_leaves_the_call_undecided_and_continues_the_chat() {
    let home = home();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until_first_prompt();
    terminal.type_keys(&format!("{QUESTION}\r"));
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys(CTRL_C);
    terminal.until("art approve yes ");
    terminal.until(PROMPT);
    terminal.type_keys("/tools\r");
    terminal.until("confirms");
    terminal.until(PROMPT);
    terminal.type_keys("/exit\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
    assert_eq!(waiting_calls(&home)[0]["status"], "open");
}

#[test]
fn a_yes_in_a_chat_continues_the_run() {
    let home = home();
    let mut terminal = Terminal::start(&home, &["chat"]);
    terminal.until_first_prompt();
    terminal.type_keys(&format!("{QUESTION}\r"));
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("y\r");
    terminal.until("deleted");
    terminal.until(PROMPT);
    terminal.type_keys("/exit\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
}

#[test]
fn a_sensitive_answer_is_not_shown_and_the_terminal_shows_input_again() {
    for (keys, is_decided) in [("opensesame\r", true), (CTRL_C, false)] {
        let home = home();
        let form = json!({"inputType": "text", "prompt": "Password?", "sensitive": true});
        let input = json!({"what": "notes.txt", "form": form}).to_string();
        let call = ["tool", "call", "confirms", &input];
        // The result of the call goes to the file `answer`.
        // The trap lets the shell survive Ctrl-C. After `art` has ended, `stty -a` prints the settings of the terminal.
        let to_script = |art: &str| format!("trap : INT; {art} >answer; stty -a");
        let mut terminal = Terminal::start_in_shell(&home, &call, |art| {
            format!("cd '{}'; {}", home.dir.path().display(), to_script(art))
        });
        terminal.until(CHOICE_PROMPT);
        terminal.type_keys("yes\r");
        terminal.until("answer (a text): ");
        terminal.type_keys(keys);
        let (output, _) = terminal.wait();
        assert!(!output.contains("opensesame"), "{output}");
        assert!(output.contains(" icanon ") && output.contains(" echo "), "{output}");
        assert_eq!(waiting_calls(&home).is_empty(), is_decided, "{output}");
    }
}
