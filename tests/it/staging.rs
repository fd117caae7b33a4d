//! Staged changes: a tool sees what it wrote. Nobody else does before a person has committed it.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// A home with a tool that writes files, and a folder in which its changes are staged.
struct Scene {
    home: Home,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("files", components::FILES);
        let folder = TempDir::new().unwrap();
        let scene = Self { home, folder };
        fs::create_dir(scene.path("sub")).unwrap();
        fs::write(scene.path("a.txt"), "first\n").unwrap();
        fs::write(scene.path("sub/b.txt"), "second\n").unwrap();
        let granted = scene.art(&[
            "grant",
            "add",
            "files",
            "--write",
            scene.path("").to_str().unwrap(),
            "--stage",
        ]);
        assert_eq!(granted.code(), 0, "{granted}");
        scene
    }

    fn path(&self, relative_path: &str) -> PathBuf {
        let folder = self.folder.path().canonicalize().unwrap();
        if relative_path.is_empty() {
            folder
        } else {
            folder.join(relative_path)
        }
    }

    fn text(&self, relative_path: &str) -> Option<String> {
        fs::read_to_string(self.path(relative_path)).ok()
    }

    fn art(&self, args: &[&str]) -> CommandOutput {
        self.home.art(args)
    }

    /// Calls the tool with steps. Their paths are relative to the folder. A third part that begins with `/` is such a path too.
    fn call(&self, steps: &[[&str; 3]]) -> CommandOutput {
        let absolute_path = |path: &str| self.path(path).to_str().unwrap().to_owned();
        let steps: Vec<_> = steps
            .iter()
            .map(|[operation, path, extra]| {
                let extra = extra.strip_prefix('/').map_or((*extra).to_owned(), absolute_path);
                [(*operation).to_owned(), absolute_path(path), extra]
            })
            .collect();
        self.art(&[
            "--json",
            "tool",
            "call",
            "files",
            &json!({ "steps": steps }).to_string(),
        ])
    }

    /// Stages a changed file, a new file in new directories, and a removed file. Returns the identifier of the run.
    fn stage(&self) -> String {
        let called = self.call(&[
            ["append", "a.txt", "more\n"],
            ["create_dir_all", "new/deep", ""],
            ["write", "new/deep/c.txt", "third\n"],
            ["remove_file", "sub/b.txt", ""],
        ]);
        assert_eq!(results(&called), ["done"; 4]);
        let run = called.json();
        run.get("traceId").and_then(Value::as_str).unwrap().to_owned()
    }

    fn listed_changes(&self) -> Value {
        self.art(&["--json", "changes", "list"]).json()
    }

    fn is_unchanged(&self) -> bool {
        self.text("a.txt").as_deref() == Some("first\n")
            && self.text("sub/b.txt").as_deref() == Some("second\n")
            && !self.path("new").exists()
    }
}

fn results(called: &CommandOutput) -> Vec<String> {
    let results = called.json().pointer("/result/output/results").cloned();
    serde_json::from_value(results.unwrap_or_default()).unwrap_or_else(|_| panic!("{called}"))
}

#[test]
fn a_tool_sees_what_it_wrote_and_the_folder_is_unchanged() {
    let scene = Scene::new();
    let called = scene.call(&[
        ["append", "a.txt", "more\n"],
        ["read", "a.txt", ""],
        ["write", "new.txt", "new"],
        ["overwrite", "new.txt", "E"],
        ["read", "new.txt", ""],
        ["size", "new.txt", ""],
        ["canonicalize", "new.txt", ""],
        ["create_dir_all", "x/y", ""],
        ["rename", "new.txt", "/x/y/moved.txt"],
        ["read", "x/y/moved.txt", ""],
        ["list", "x/y", ""],
        ["read", "new.txt", ""],
        ["remove_file", "sub/b.txt", ""],
        ["list", "sub", ""],
        ["remove_dir", "sub", ""],
        ["list", "", ""],
        ["create_new", "a.txt", ""],
    ]);
    let done = "done";
    let (gone, exists) = ("error: entity not found", "error: entity already exists");
    let new = scene.path("new.txt");
    assert_eq!(
        results(&called),
        [
            done,
            "first\nmore\n",
            done,
            done,
            "nEw",
            "3",
            new.to_str().unwrap(),
            done,
            done,
            "nEw",
            "moved.txt",
            gone,
            done,
            "",
            done,
            "a.txt,x",
            exists
        ]
    );
    assert!(scene.is_unchanged());
}

#[test]
fn a_committed_run_changes_all_of_its_files() {
    let scene = Scene::new();
    let run = scene.stage();
    assert!(scene.is_unchanged());
    let shown = scene.art(&["changes", "show", &run]).stdout();
    assert!(
        shown.contains("+++ ") && shown.contains(" first\n+more") && shown.contains("-second"),
        "{shown}"
    );
    let committed = scene.art(&["changes", "commit", &run]);
    assert_eq!(committed.code(), 0, "{committed}");
    assert_eq!(scene.text("a.txt").as_deref(), Some("first\nmore\n"));
    assert_eq!(scene.text("new/deep/c.txt").as_deref(), Some("third\n"));
    assert!(!scene.path("sub/b.txt").exists());
    assert_eq!(scene.listed_changes(), json!([]));
}

#[test]
fn a_dropped_run_changes_nothing() {
    let scene = Scene::new();
    let run = scene.stage();
    assert_eq!(scene.art(&["changes", "drop", &run]).code(), 0);
    assert!(scene.is_unchanged());
    assert_eq!(scene.listed_changes(), json!([]));
}

#[test]
fn one_file_of_a_run_can_be_committed_alone() {
    let scene = Scene::new();
    let run = scene.stage();
    let path = scene.path("a.txt");
    let committed = scene.art(&["--json", "changes", "commit", &run, path.to_str().unwrap()]);
    assert_eq!(committed.json(), json!({"committed": [path]}));
    assert_eq!(scene.text("a.txt").as_deref(), Some("first\nmore\n"));
    assert!(!scene.path("new").exists() && scene.path("sub/b.txt").exists());
    let left: Vec<_> = scene.listed_changes()[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["change"].clone())
        .collect();
    assert_eq!(left, ["created directory", "created directory", "created", "removed"]);
}

#[test]
fn a_file_that_changed_in_the_meantime_is_not_overwritten() {
    let scene = Scene::new();
    let run = scene.stage();
    fs::write(scene.path("a.txt"), "theirs\n").unwrap();
    let refused = scene.art(&["changes", "commit", &run]);
    assert_eq!(refused.code(), 1, "{refused}");
    assert!(
        refused.stderr().contains("changed after the tool had read it"),
        "{refused}"
    );
    assert_eq!(scene.text("a.txt").as_deref(), Some("theirs\n"));
    assert!(!scene.path("new").exists() && scene.path("sub/b.txt").exists());
}

#[test]
fn a_call_says_that_its_changes_wait_and_how_to_look_at_them() {
    let scene = Scene::new();
    let path = scene.path("a.txt");
    let steps = json!({"steps": [["write", path, "x"]]}).to_string();
    let called = scene.art(&["tool", "call", "files", &steps]);
    assert!(
        called.stderr().contains("1 change waits: `art changes show "),
        "{called}"
    );
}

#[test]
fn links_and_moved_directories_are_refused_in_staged_files() {
    let scene = Scene::new();
    std::os::unix::fs::symlink("a.txt", scene.path("link")).unwrap();
    std::os::unix::fs::symlink("/etc", scene.path("etc")).unwrap();
    let called = scene.call(&[
        ["hard_link", "a.txt", "/hard"],
        ["symlink", "soft", "a.txt"],
        ["rename", "sub", "/other"],
        ["read", "link", ""],
        ["write", "link", "x"],
        ["read", "etc/hostname", ""],
        ["write", "etc/new", "x"],
        ["remove_dir_all", "", ""],
    ]);
    let results = results(&called);
    assert!(
        results.iter().take(7).all(|result| result.starts_with("error: ")),
        "{results:?}"
    );
    assert!(scene.is_unchanged());
}

#[test]
fn a_call_that_fails_stages_nothing() {
    let scene = Scene::new();
    let path = scene.path("a.txt");
    let trapping = json!({"steps": [["write", path, "x"], ["trap", path, ""]]}).to_string();
    let called = scene.art(&["--json", "tool", "call", "files", &trapping]);
    assert_ne!(called.code(), 0, "{called}");
    assert_eq!(scene.listed_changes(), json!([]));
    assert!(scene.is_unchanged());
}

#[test]
fn a_commit_of_an_unknown_run_is_refused() {
    let scene = Scene::new();
    let refused = scene.art(&["changes", "commit", "nothing"]);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr().contains("`art changes list` shows all"), "{refused}");
}

#[test]
fn changes_are_found_by_last_or_by_a_unique_prefix() {
    let scene = Scene::new();
    let first = scene.stage();
    let shown = scene.art(&["changes", "show", &first[..first.len() - 1]]);
    assert!(shown.stdout().contains("+++ "), "{shown}");
    let second = scene.stage();
    let dropped = scene.art(&["changes", "drop", "last"]);
    assert_eq!(dropped.code(), 0, "{dropped}");
    let left = scene.listed_changes();
    assert_eq!(left[0]["run"], json!(first));
    assert_ne!(first, second);
    assert_eq!(left.as_array().unwrap().len(), 1);
}

#[test]
fn an_ambiguous_or_empty_prefix_of_a_run_is_refused() {
    let scene = Scene::new();
    let (first, second) = (scene.stage(), scene.stage());
    let common = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    for (prefix, hint) in [
        (&first[..common], "type a longer prefix"),
        ("", "`art changes list` shows all"),
    ] {
        let refused = scene.art(&["changes", "commit", prefix]);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains(hint), "{refused}");
    }
    assert!(scene.is_unchanged());
}
