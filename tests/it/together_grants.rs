//! One question about a whole plan: all of its calls need an approval, and for some of them the tool also lacks a grant, which is
//! the permission to read a file.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::terminal::Terminal;

const ASK_TOGETHER_ABOUT_EVERY_CALL: &str = "[approval]\nask_together = true\n[[approval.rule]]\naction = \"ask\"\n";
const CHOICE_FOR_ALL_PROMPT: &str = "(yes, no, each, later) ";
const CHOICE_PROMPT: &str = "details or later? ";

/// A home with a plan of three calls. All of them need an approval, and the two that read a file lack the grant for it.
struct Scene {
    home: Home,
    /// The folder with the files.
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("echo", components::ECHO);
        let mut plugins = components::PLUGINS.iter();
        let (name, path) = plugins.find(|(name, _)| *name == "file_read").unwrap();
        home.add(name, path);
        home.file("art.toml", ASK_TOGETHER_ABOUT_EVERY_CALL);
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("milk.txt"), "buy milk").unwrap();
        fs::write(folder.path().join("bread.txt"), "buy bread").unwrap();
        let scene = Self { home, folder };
        let read = |name| json!({"toolName": "file_read", "arguments": {"path": scene.path(name)}});
        let calls = [
            json!({"toolName": "echo", "arguments": {"text": "the lists"}}),
            read("milk.txt"),
            read("bread.txt"),
        ];
        let steps: Vec<_> = calls
            .iter()
            .enumerate()
            .map(|(n, call)| json!({"id": format!("step_{n}"), "description": "Do it", "toolCalls": [call]}))
            .collect();
        let plan = json!({"version": 1, "question": "Read the lists", "steps": steps});
        scene.home.file("plan.json", &plan.to_string());
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    /// Runs the plan at a terminal until it asks about all calls.
    fn run_until_question(&self) -> Terminal {
        let plan = self.home.dir.path().join("plan.json");
        let mut terminal = Terminal::start(&self.home, &["run", "--plan", plan.to_str().unwrap()]);
        terminal.until("decision 1 of 3");
        terminal.until("may `echo` be called?");
        terminal.until("decision 2 of 3");
        terminal.until("It is not granted");
        terminal.until("decision 3 of 3");
        terminal.until("also for later calls");
        terminal.until(CHOICE_FOR_ALL_PROMPT);
        terminal
    }

    /// Returns the text of the file with the grants of `file_read`, which is empty if there are none.
    fn grants(&self) -> String {
        self.home.grants("file_read")
    }

    /// Returns the identifiers of the waiting calls.
    fn waiting(&self) -> Vec<String> {
        let list = self.home.art(&["--json", "approve", "list"]).json();
        let ids = list.as_array().unwrap().iter();
        ids.map(|record| record["call"]["suspensionId"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Asserts that all three calls were made, each with an approval, and that the grants were made.
    fn assert_done(&self, output: &str, code: i32) {
        assert_eq!(code, 0, "{output}");
        for text in ["the lists", "buy milk", "buy bread"] {
            assert!(output.contains(text), "{text}: {output}");
        }
        assert!(self.grants().contains("milk.txt") && self.grants().contains("bread.txt"));
        let log = self.home.art(&["runs", "show", "last"]).stdout();
        assert_eq!(log.matches("approved by a person").count(), 3, "{log}");
        assert_eq!(self.home.art(&["runs", "verify", "last"]).code(), 0);
    }
}

#[test]
fn one_yes_at_the_terminal_approves_all_calls_and_makes_the_grants() {
    let scene = Scene::new();
    let mut terminal = scene.run_until_question();
    assert_eq!(scene.grants(), "", "nothing is granted before the decision");
    terminal.type_keys("yes\r");
    let (output, code) = terminal.wait();
    scene.assert_done(&output, code);
}

#[test]
fn one_no_at_the_terminal_makes_no_call_and_no_grant() {
    let scene = Scene::new();
    let mut terminal = scene.run_until_question();
    terminal.type_keys("no\r");
    terminal.until("why (may be empty)? ");
    terminal.type_keys("\r");
    let (output, code) = terminal.wait();
    assert_ne!(code, 0, "{output}");
    assert!(
        !output.contains("buy milk") && !output.contains("buy bread"),
        "{output}"
    );
    assert_eq!((scene.grants(), scene.waiting().len()), (String::new(), 0));
}

#[test]
fn decisions_one_by_one_make_only_the_grants_that_were_approved() {
    let scene = Scene::new();
    let mut terminal = scene.run_until_question();
    terminal.type_keys("each\r");
    for decision in ["yes\r", "yes\r", "no\r"] {
        terminal.until(CHOICE_PROMPT);
        terminal.type_keys(decision);
    }
    terminal.until("why (may be empty)? ");
    terminal.type_keys("\r");
    let (output, code) = terminal.wait();
    // The exit code of a run that has an answer although one of its steps failed.
    assert_eq!(code, 3, "{output}");
    assert!(output.contains("buy milk") && !output.contains("buy bread"), "{output}");
    assert!(scene.grants().contains("milk.txt") && !scene.grants().contains("bread.txt"));
}

#[test]
fn one_command_elsewhere_approves_all_calls_and_makes_the_grants() {
    let scene = Scene::new();
    let mut terminal = scene.run_until_question();
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 7, "{output}");
    let ids = scene.waiting();
    let hint = format!("all at once: `art approve yes {}`", ids.join(" "));
    assert!(output.contains(&hint), "{output}");
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let approved = scene.home.art(&[&["approve", "yes"], &ids[..]].concat());
    scene.assert_done(&approved.stdout(), approved.code());
}

#[test]
fn without_a_terminal_the_missing_grants_are_named_before_anything_is_asked_or_run() {
    let scene = Scene::new();
    let plan = scene.home.dir.path().join("plan.json");
    let refused = scene.home.art(&["run", "--plan", plan.to_str().unwrap()]);
    assert_eq!(refused.code(), 10, "{refused}");
    for name in ["milk.txt", "bread.txt"] {
        let hint = format!("art grant add file_read --read {}", scene.path(name).display());
        assert!(refused.stderr().contains(&hint), "{refused}");
    }
    assert_eq!((scene.grants(), scene.waiting().len()), (String::new(), 0));
}

#[test]
fn a_check_of_the_plan_at_a_terminal_names_the_missing_grants() {
    let scene = Scene::new();
    let plan = scene.home.dir.path().join("plan.json");
    let check = ["run", "--check", "--plan", plan.to_str().unwrap()];
    let (output, code) = Terminal::start(&scene.home, &check).wait();
    assert!(
        code == 10 && output.contains("art grant add file_read --read"),
        "{code}: {output}"
    );
}

/// Lets the host ask for a grant at a terminal, and postpones the decision. Then approves the grant with `art approve yes`, whose
/// process is killed when it reaches `fail_point` (a `FailPoint` of the store) for the first time. Returns the scene after that.
fn scene_after_approval_killed_at(fail_point: &str) -> Scene {
    let scene = Scene::new();
    let arguments = json!({"path": scene.path("milk.txt")}).to_string();
    let mut terminal = Terminal::start(&scene.home, &["tool", "call", "file_read", &arguments]);
    terminal.until("It is not granted");
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("later\r");
    assert_eq!(terminal.wait().1, 7);
    let stop_at = format!("{fail_point}:1");
    let mut command = scene.home.command(&["approve", "yes", "last"]);
    let killed = command.env("ART_TEST_STOP_AT", stop_at).output().unwrap();
    assert_eq!(killed.status.code(), None, "{fail_point} was not reached");
    scene
}

#[test]
fn an_approved_grant_is_not_lost_if_the_process_is_killed_before_it_makes_the_grant() {
    // After the decision is stored, the process takes over the run (`taken_over`), makes the grant, and announces the call in the
    // journal (`before_intents`).
    for fail_point in ["after_decision", "taken_over", "before_intents"] {
        let scene = scene_after_approval_killed_at(fail_point);
        let resumed = scene.home.art(&["runs", "resume", "last"]);
        assert!(
            resumed.code() == 0 && resumed.stdout().contains("buy milk"),
            "{fail_point}: {resumed}"
        );
        assert!(scene.grants().contains("milk.txt"), "{fail_point}");
    }
}

#[test]
fn a_call_waits_for_its_grant_if_the_process_is_killed_before_the_decision_is_stored() {
    let scene = scene_after_approval_killed_at("before_decision");
    assert_eq!((scene.waiting().len(), scene.grants()), (1, String::new()));
}

#[test]
fn a_timeout_makes_no_grant_even_if_the_setting_is_that_a_timeout_approves() {
    let scene = Scene::new();
    let settings = "[approval]\ntimeout_ms = 3000\non_timeout = \"approve\"\n";
    scene.home.file("art.toml", settings);
    let arguments = json!({"path": scene.path("milk.txt")}).to_string();
    let mut terminal = Terminal::start(&scene.home, &["tool", "call", "file_read", &arguments]);
    terminal.until("counts as rejected");
    terminal.until(CHOICE_PROMPT);
    terminal.type_keys("later\r");
    assert_eq!(terminal.wait().1, 7);
    std::thread::sleep(std::time::Duration::from_millis(3_100));
    let resumed = scene.home.art(&["runs", "resume", "last"]);
    assert_eq!(resumed.code(), 5, "{resumed}");
    assert_eq!((scene.grants(), scene.waiting().len()), (String::new(), 0));
    let shown: Value = scene.home.art(&["--json", "runs", "show", "last"]).json();
    assert_eq!(shown["run"]["status"], "error", "{shown}");
}
