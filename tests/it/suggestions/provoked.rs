//! Provokes as many messages as it can, and runs each command that they suggest, as it is written, in a copy of the home.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use super::{DENIED, Scene, denial};
use crate::harness::components;
use crate::home::Home;
use crate::program::{self, CommandOutput};

/// Commands that are not run: they build components for minutes, or have a word in capital letters in place of a value.
const NOT_RUN: [&str; 4] = [
    "art quickstart",
    "art plugin build PATH",
    "art runs export last FILE",
    "ARGUMENTS",
];

/// A scene in which each command that a message suggests is run at once.
struct Provocation {
    scene: Scene,
    /// The commands that were run.
    ran: BTreeSet<String>,
}

impl Provocation {
    fn new() -> Self {
        let scene = Scene::new();
        let mut plugins = components::PLUGINS.iter();
        // `art run "What is 2+2?"` is suggested.
        let (name, path) = plugins.find(|(name, _)| *name == "calculator").unwrap();
        scene.home.add(name, path);
        Self {
            scene,
            ran: BTreeSet::new(),
        }
    }

    fn home(&self) -> &Path {
        self.scene.home.dir.path()
    }

    /// Runs `art`, and then each command that its messages suggest. Returns what `art` printed.
    fn art(&mut self, words: &[&str]) -> CommandOutput {
        let ran = self.scene.home.art(words);
        let mut commands = commands_in(&ran.stderr());
        commands.extend(commands_in(&ran.stdout()));
        for command in commands {
            let followed = follow_in_copy(self.home(), &command);
            // A call that a person rejects ends as denied.
            let expected = if command.starts_with("art approve no ") {
                DENIED
            } else {
                0
            };
            assert_eq!(
                followed.code(),
                expected,
                "`{command}` after `art {}`: {followed}\n{ran}",
                words.join(" ")
            );
            self.ran.insert(command);
        }
        ran
    }
}

/// Returns the commands that a text suggests: in backticks, in a line of their own, or behind `to allow it: `.
fn commands_in(text: &str) -> BTreeSet<String> {
    let in_backticks = text.split('`').skip(1).step_by(2);
    let in_lines = text
        .lines()
        .map(|line| line.rsplit(": ").next().unwrap_or_default().trim());
    let commands = in_backticks.chain(in_lines).filter(|part| part.starts_with("art "));
    let is_run = |command: &&str| !NOT_RUN.iter().any(|not_run| command.contains(not_run));
    commands.filter(is_run).map(str::to_owned).collect()
}

/// Runs a command in a shell in which `art` uses a copy of the home, so that it changes nothing for the commands after it.
fn follow_in_copy(home: &Path, command: &str) -> CommandOutput {
    let copy = TempDir::new().unwrap();
    let mut copied = Command::new("cp");
    copied.arg("-a").arg(format!("{}/.", home.display())).arg(copy.path());
    assert!(copied.status().unwrap().success());
    let art = program::art(copy.path());
    // A person answers the question of the first command, and types the secret of the second one.
    let (input, yes) = match command {
        command if command.contains("secret set") => ("printf some-s3cret-value |", ""),
        command if command.contains("grant approve") => ("", " --yes"),
        _ => ("", ""),
    };
    let program = art.get_program().to_str().unwrap();
    let mut shell = Command::new("sh");
    // Some commands write files into the current directory.
    shell.current_dir(copy.path());
    shell.args([
        "-c",
        &format!("art() {{ '{program}' \"$@\"; }}\n{input} {command}{yes}"),
    ]);
    for (name, value) in art.get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    CommandOutput(shell.output().unwrap())
}

#[test]
fn every_command_that_a_mistake_provokes_works() {
    let mut provoked = Provocation::new();
    let note = provoked.scene.path("note.txt").display().to_string();
    let read = json!({"path": note}).to_string();
    for words in [
        &["grant", "add", "reads_file", "--http", "https://example.com/"][..],
        &["grant", "revoke", "reads_file", "/nowhere"],
        &["grant", "revoke", "reads_fil", "/nowhere"],
        &["grant", "add", "reads_fil", "--read", &note],
        &["grant", "learn", "reads_file"],
        &["thread", "show", "nothing"],
        &["runs", "show", "0192f1c2"],
        &["runs", "resume", "last"],
        &["runs", "replay", "0192f1c2"],
        &["approve", "yes", "0192f1c2"],
        &["approve", "forget", "nothing"],
        &["secret", "rm", "NOTHING"],
        &["changes", "show", "nothing"],
        &["run", ""],
        &["plan", ""],
        &["tool", "call", "reads_file", &read],
        &["tool", "call", "file_read", &read],
        &["tool", "call", "http_fetch", "{\"url\":\"http://localhost:1/\"}"],
        &["--json", "tool", "call", "reads_file", &read],
        &["doctor"],
    ] {
        provoked.art(words);
    }
    assert!(provoked.ran.len() >= 14, "{:?}", provoked.ran);
}

#[test]
fn every_command_about_a_missing_grant_of_a_run_works() {
    let mut provoked = Provocation::new();
    let note = provoked.scene.path("note.txt").display().to_string();
    fs::write(
        provoked.scene.home.plugins().join("file_read.toml"),
        format!("clock = false\n[[fs]]\npath = {note:?}\n[[fs]]\npath = \"notes\"\n[limits]\ntimeout_ms = 5000\n"),
    )
    .unwrap();
    let listed = provoked.art(&["tool", "list"]);
    assert!(listed.stderr().contains("; 3 more are not shown)"), "{listed}");
    provoked.art(&["run", "What is 2+2?"]);
    provoked.art(&["runs", "list"]);
    let with_secret = [
        "grant",
        "add",
        "http_fetch",
        "--http",
        "http://localhost:1/",
        "--private",
    ];
    let with_secret = [&with_secret[..], &["--secret", "MISSING", "--prefix", "Token "]].concat();
    provoked.art(&with_secret);
    provoked.art(&["tool", "call", "http_fetch", "{\"url\":\"http://localhost:1/\"}"]);
    let secret = provoked
        .ran
        .iter()
        .any(|command| command.starts_with("art secret set MISSING"));
    assert!(secret, "{:?}", provoked.ran);
}

#[test]
fn every_command_about_changes_files_and_decisions_works() {
    let mut provoked = Provocation::new();
    let folder = provoked.scene.path("").display().to_string();
    provoked.scene.home.add("files", components::FILES);
    provoked.scene.home.add("confirms", components::CONFIRMS);
    provoked.scene.home.add("produces_files", components::PRODUCES_FILES);
    provoked.art(&["grant", "add", "files", "--write", &folder, "--stage"]);
    let steps = json!({"steps": [["write", provoked.scene.path("new.txt"), "x"]]}).to_string();
    provoked.art(&["tool", "call", "files", &steps]);
    provoked.art(&["tool", "call", "produces_files", r#"{"name": "it's.csv"}"#]);
    provoked.art(&["tool", "call", "confirms", r#"{"what": "old.txt"}"#]);
    provoked.art(&["approve", "list"]);
    let verbs = |verb: &str| {
        provoked
            .ran
            .iter()
            .any(|command| command.starts_with(&format!("art {verb} ")))
    };
    for verb in [
        "changes show",
        "changes commit",
        "changes drop",
        "runs save",
        "approve yes",
        "approve no",
    ] {
        assert!(verbs(verb), "{verb}: {:?}", provoked.ran);
    }
}

#[test]
fn every_command_about_a_changed_or_missing_component_works() {
    let mut provoked = Provocation::new();
    let note = provoked.scene.path("note.txt").display().to_string();
    provoked.art(&["grant", "add", "reads_file", "--read", &note]);
    provoked.art(&["grant", "add", "file_read", "--read", &note]);
    provoked.scene.remove_capabilities();
    fs::remove_file(provoked.scene.home.plugins().join("file_read.wasm")).unwrap();
    provoked.art(&["grant", "list"]);
    provoked.art(&["tool", "list"]);
    provoked.art(&["tool", "call", "reads_file", &json!({"path": note}).to_string()]);
    for command in ["art grant approve reads_file", "art grant revoke file_read --all"] {
        assert!(provoked.ran.contains(command), "{command}: {:?}", provoked.ran);
    }
}

#[test]
fn a_suggested_command_has_the_options_of_the_command_line_that_prints_it() {
    let home = Home::empty();
    home.add("reads_file", components::READS_FILE);
    let elsewhere = tempfile::Builder::new().prefix("an other").tempdir().unwrap();
    let scene = Scene::new();
    let read = json!({"path": scene.path("note.txt")}).to_string();
    let program = home.command(&[]).get_program().to_owned();
    let art = |words: &[&str]| {
        let mut command = Command::new(&program);
        command
            .arg("--home")
            .arg(elsewhere.path())
            .arg("--plugins")
            .arg(home.plugins());
        command.args(["--user", "ann"]).args(words);
        CommandOutput(
            command
                .env_remove("ART_HOME")
                .env_remove("ART_PLUGINS")
                .output()
                .unwrap(),
        )
    };
    let options = format!(
        "art --home '{}' --plugins {} --user ann ",
        elsewhere.path().display(),
        home.plugins().display()
    );
    let called = art(&["tool", "call", "reads_file", &read]);
    assert!(
        called.stderr().contains(&format!("`{options}grant add reads_file")),
        "{called}"
    );
    let unknown = art(&["runs", "show", "0192f1c2"]);
    assert!(unknown.stderr().contains(&format!("`{options}runs list`")), "{unknown}");
    let unknown = art(&["--json", "runs", "show", "0192f1c2"]).json();
    let message = unknown["error"]["message"].as_str().unwrap();
    assert!(message.contains(&format!("`{options}runs list`")), "{message}");
    let called = art(&["--json", "tool", "call", "reads_file", &read]);
    let command = denial(&called)["command"].as_str().unwrap().to_owned();
    assert!(
        command.starts_with(&format!("{options}grant add reads_file")),
        "{command}"
    );
    // What the model reads and what is stored stays the same for every command line.
    let log = art(&["--json", "runs", "show", "last"]).stdout();
    assert!(
        log.contains("art grant add reads_file") && !log.contains("--user ann"),
        "{log}"
    );
    let script = command.replacen("art ", &format!("'{}' ", program.display()), 1);
    let granted = CommandOutput(Command::new("sh").args(["-c", &script]).output().unwrap());
    assert_eq!(granted.code(), 0, "{granted}");
    let called = art(&["tool", "call", "reads_file", &read]);
    assert_eq!(called.code(), 0, "{called}");
}
