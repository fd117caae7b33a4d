//! Grants that are made or taken back by another process while a run is in progress.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::{self, CommandOutput};
use crate::provider::{Provider, Reply, is_planning, is_synthesis, plan_text};

/// A home with the tools `reads_file` and `file_read`, and a file. The first tool is denied the file while it runs; the second one
/// declares which argument is a path, and is denied the file before it runs.
struct Scene {
    home: Home,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("reads_file", components::READS_FILE);
        let mut first_party = components::PLUGINS.iter();
        let (name, path) = first_party.find(|(name, _)| *name == "file_read").unwrap();
        home.add(name, path);
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("note.txt"), "buy milk").unwrap();
        Self { home, folder }
    }

    fn note(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("note.txt")
    }

    /// Asks a question whose one step makes the same call of `tool` again and again. Before the reply number `n` of the step,
    /// counted from 0, runs `art` with the words of `commands[n]`, if there are any. Ends the step after the last command. Returns
    /// the statuses of the calls that were made, and the output of the run.
    fn run(&self, tool: &'static str, commands: Vec<Vec<String>>) -> (Vec<String>, CommandOutput) {
        let (arguments, home) = (json!({"path": self.note()}), self.home.dir.path().to_owned());
        let step = json!([{"id": "step_1", "description": "Read", "stepType": "tool", "requiredTools": [tool],
            "dependencies": []}]);
        let mut commands = commands.into_iter();
        let provider = Provider::start(move |request| {
            if is_planning(request) {
                return Reply::Text(vec![plan_text(&step)]);
            }
            if is_synthesis(request) {
                return Reply::Text(vec!["<mainContent>done</mainContent>".to_owned()]);
            }
            match commands.next() {
                Some(words) => {
                    run_art(&home, &words);
                    Reply::Call(tool, arguments.clone())
                }
                None => Reply::Text(vec!["done".to_owned()]),
            }
        });
        let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
        let ran = self.home.art(&[&model[..], &["run", "What is on my list?"]].concat());
        let log = self.home.art(&["--json", "runs", "show", "last"]).json();
        let ends = log["journal"].as_array().unwrap().iter();
        let ends = ends.filter(|entry| entry["kind"] == "tool_ended");
        let endings = ends.map(|entry| entry["payload"]["end"]["ending"].as_str().unwrap().to_owned());
        (endings.collect(), ran)
    }

    fn grant_words(&self, verb: &str, tool: &str) -> Vec<String> {
        let note = self.note().to_str().unwrap().to_owned();
        let words: &[&str] = match verb {
            "add" => &["grant", "add", tool, "--read", &note],
            _ => &["grant", "revoke", tool, &note],
        };
        words.iter().map(|&word| word.to_owned()).collect()
    }
}

/// Runs `art` with a home, unless there are no words.
fn run_art(home: &Path, words: &[String]) {
    if !words.is_empty() {
        let ran = CommandOutput(program::art(home).args(words).output().unwrap());
        assert_eq!(ran.code(), 0, "{ran}");
    }
}

#[test]
fn a_grant_that_is_made_during_a_run_counts_for_the_same_call_when_it_is_made_again() {
    for tool in ["reads_file", "file_read"] {
        let scene = Scene::new();
        let commands = vec![Vec::new(), scene.grant_words("add", tool)];
        let (endings, ran) = scene.run(tool, commands);
        assert_eq!(endings, ["denied", "success"], "{tool}: {ran}");
        let log = scene.home.art(&["runs", "show", "last"]);
        assert!(
            log.stdout().contains(&format!("the grants of `{tool}` have changed")),
            "{log}"
        );
    }
}

#[test]
fn without_a_new_grant_a_denied_call_is_not_made_again() {
    for tool in ["reads_file", "file_read"] {
        let scene = Scene::new();
        // A grant of another tool changes nothing.
        let other = if tool == "reads_file" {
            "file_read"
        } else {
            "reads_file"
        };
        let commands = vec![Vec::new(), Vec::new(), scene.grant_words("add", other)];
        let (endings, ran) = scene.run(tool, commands);
        assert_eq!(endings, ["denied"], "{tool}: {ran}");
    }
}

#[test]
fn a_grant_that_is_made_before_the_first_call_of_a_run_counts_for_it() {
    for tool in ["reads_file", "file_read"] {
        let scene = Scene::new();
        let (endings, ran) = scene.run(tool, vec![scene.grant_words("add", tool)]);
        assert_eq!(endings, ["success"], "{tool}: {ran}");
    }
}

#[test]
fn a_grant_that_is_taken_back_during_a_run_does_not_count_for_the_next_call() {
    for tool in ["reads_file", "file_read"] {
        let scene = Scene::new();
        run_art(scene.home.dir.path(), &scene.grant_words("add", tool));
        let commands = vec![Vec::new(), scene.grant_words("revoke", tool)];
        let (endings, ran) = scene.run(tool, commands);
        assert_eq!(endings, ["success", "denied"], "{tool}: {ran}");
    }
}
