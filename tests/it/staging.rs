//! Staged changes: what a tool writes is kept apart from the files, and changes them only when a person commits it. Until then,
//! only the tool sees it.

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

    /// Returns the content of a file, if it exists.
    fn text(&self, relative_path: &str) -> Option<String> {
        fs::read_to_string(self.path(relative_path)).ok()
    }

    fn art(&self, args: &[&str]) -> CommandOutput {
        self.home.art(args)
    }

    /// Calls the tool with steps: an operation, a path (absolute, or relative to the folder), and a text. A text that begins with
    /// `/` is a second path: what follows the `/` is relative to the folder.
    fn call(&self, steps: &[[&str; 3]]) -> CommandOutput {
        let absolute_path = |path: &str| self.path(path).to_str().unwrap().to_owned();
        let steps: Vec<_> = steps
            .iter()
            .map(|[operation, path, text]| {
                let text = text.strip_prefix('/').map_or((*text).to_owned(), absolute_path);
                [(*operation).to_owned(), absolute_path(path), text]
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
    fn stage_changes(&self) -> String {
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

    /// Returns the change sets that are neither committed nor dropped. A change set has the changes of a call in one granted
    /// folder.
    fn waiting_change_sets(&self) -> Value {
        self.art(&["--json", "changes", "list"]).json()
    }

    /// Returns whether the folder is as it was before any change.
    fn is_unchanged(&self) -> bool {
        self.text("a.txt").as_deref() == Some("first\n")
            && self.text("sub/b.txt").as_deref() == Some("second\n")
            && !self.path("new").exists()
    }
}

/// Returns the results of the steps of a call.
fn results(called: &CommandOutput) -> Vec<String> {
    let results = called.json().pointer("/result/output/results").cloned();
    serde_json::from_value(results.unwrap_or_default()).unwrap_or_else(|_| panic!("{called}"))
}

#[test]
fn a_tool_sees_what_it_wrote_and_the_folder_is_unchanged() {
    let scene = Scene::new();
    let new_path = scene.path("new.txt");
    let done = "done";
    let (gone, exists) = ("error: entity not found", "error: entity already exists");
    let steps_with_results = [
        (["append", "a.txt", "more\n"], done),
        (["read", "a.txt", ""], "first\nmore\n"),
        (["write", "new.txt", "new"], done),
        // Writes from the second byte on.
        (["overwrite", "new.txt", "E"], done),
        (["read", "new.txt", ""], "nEw"),
        (["size", "new.txt", ""], "3"),
        (["canonicalize", "new.txt", ""], new_path.to_str().unwrap()),
        (["create_dir_all", "x/y", ""], done),
        (["rename", "new.txt", "/x/y/moved.txt"], done),
        (["read", "x/y/moved.txt", ""], "nEw"),
        (["list", "x/y", ""], "moved.txt"),
        (["read", "new.txt", ""], gone),
        (["remove_file", "sub/b.txt", ""], done),
        (["list", "sub", ""], ""),
        (["remove_dir", "sub", ""], done),
        (["list", "", ""], "a.txt,x"),
        (["create_new", "a.txt", ""], exists),
    ];
    let called = scene.call(&steps_with_results.map(|(step, _)| step));
    assert_eq!(results(&called), steps_with_results.map(|(_, result)| result));
    assert!(scene.is_unchanged());
}

#[test]
fn a_commit_of_a_run_makes_all_changes_that_the_run_staged() {
    let scene = Scene::new();
    let run = scene.stage_changes();
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
    assert_eq!(scene.waiting_change_sets(), json!([]));
}

#[test]
fn staged_changes_of_line_endings_and_of_a_byte_order_mark_are_shown() {
    let scene = Scene::new();
    fs::write(scene.path("a.txt"), "\u{feff}first\r\nsame\r\n").unwrap();
    let called = scene.call(&[["write", "a.txt", "first\nsame"]]);
    assert_eq!(results(&called), ["done"]);
    let shown = scene.art(&["changes", "show", "last"]).stdout();
    assert!(
        shown.starts_with("the byte order mark at the beginning is removed\nthe lines end with LF instead of CRLF\n"),
        "{shown}"
    );
    let lines = "-\\u{feff}first␍␊\n-same␍␊\n+first\n+same\n\\ No newline at end of file\n";
    assert!(shown.contains(lines), "{shown}");
}

#[test]
fn a_commit_does_not_follow_a_link_that_has_replaced_the_granted_directory() {
    let scene = Scene::new();
    let run = scene.stage_changes();
    let (folder, other) = (scene.path(""), TempDir::new().unwrap());
    fs::create_dir(other.path().join("sub")).unwrap();
    fs::write(other.path().join("a.txt"), "first\n").unwrap();
    fs::write(other.path().join("sub/b.txt"), "second\n").unwrap();
    let moved = folder.with_extension("moved");
    fs::rename(&folder, &moved).unwrap();
    std::os::unix::fs::symlink(other.path(), &folder).unwrap();
    let refused = scene.art(&["changes", "commit", &run]);
    assert_ne!(refused.code(), 0, "{refused}");
    assert!(
        refused
            .stderr()
            .contains(&format!("`{}` is a symbolic link", folder.display())),
        "{refused}"
    );
    assert_eq!(fs::read_to_string(other.path().join("a.txt")).unwrap(), "first\n");
    fs::remove_file(&folder).unwrap();
    fs::rename(&moved, &folder).unwrap();
    let committed = scene.art(&["changes", "commit", &run]);
    assert_eq!(committed.code(), 0, "{committed}");
}

#[test]
fn staged_changes_that_are_dropped_change_no_file() {
    let scene = Scene::new();
    let run = scene.stage_changes();
    assert_eq!(scene.art(&["changes", "drop", &run]).code(), 0);
    assert!(scene.is_unchanged());
    assert_eq!(scene.waiting_change_sets(), json!([]));
}

#[test]
fn one_file_of_a_run_can_be_committed_alone() {
    let scene = Scene::new();
    let run = scene.stage_changes();
    let path = scene.path("a.txt");
    let committed = scene.art(&["--json", "changes", "commit", &run, path.to_str().unwrap()]);
    assert_eq!(committed.json(), json!({"committed": [path]}));
    assert_eq!(scene.text("a.txt").as_deref(), Some("first\nmore\n"));
    assert!(!scene.path("new").exists() && scene.path("sub/b.txt").exists());
    let waiting_changes: Vec<_> = scene.waiting_change_sets()[0]["changes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|change| change["change"].clone())
        .collect();
    assert_eq!(
        waiting_changes,
        ["created directory", "created directory", "created", "removed"]
    );
}

#[test]
fn a_commit_that_fails_names_what_it_committed_before() {
    let scene = Scene::new();
    let other_folder = TempDir::new().unwrap();
    let other_file = other_folder.path().canonicalize().unwrap().join("a.txt");
    fs::write(&other_file, "first\n").unwrap();
    let other_folder = other_file.parent().unwrap().to_str().unwrap();
    let granted = scene.art(&["grant", "add", "files", "--write", other_folder, "--stage"]);
    assert_eq!(granted.code(), 0, "{granted}");
    let called = scene.call(&[
        ["append", "a.txt", "more\n"],
        ["append", other_file.to_str().unwrap(), "more\n"],
    ]);
    let run = called.json()["traceId"].as_str().unwrap().to_owned();
    // The change sets are listed in the order in which they are committed.
    let file_of_set = |index: usize| {
        let path = scene.waiting_change_sets()[index]["changes"][0]["path"]
            .as_str()
            .unwrap()
            .to_owned();
        PathBuf::from(path)
    };
    let [committed_file, changed_file] = [0, 1].map(file_of_set);
    fs::write(&changed_file, "theirs\n").unwrap();
    let failed = scene.art(&["changes", "commit", &run]);
    assert_eq!(failed.code(), 1, "{failed}");
    assert_eq!(failed.stdout(), format!("committed {}\n", committed_file.display()));
    assert_eq!(fs::read_to_string(&committed_file).unwrap(), "first\nmore\n");
    assert_eq!(fs::read_to_string(&changed_file).unwrap(), "theirs\n");
}

#[test]
fn a_file_that_changed_in_the_meantime_is_not_overwritten() {
    let scene = Scene::new();
    let run = scene.stage_changes();
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
fn a_tool_with_staged_changes_cannot_use_links_or_move_directories() {
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
    // The result of the last step does not matter, but it must leave the real folder unchanged.
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
    assert_eq!(scene.waiting_change_sets(), json!([]));
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
fn changes_are_found_by_the_word_last_or_by_a_unique_prefix_of_their_run() {
    let scene = Scene::new();
    let first = scene.stage_changes();
    let shown = scene.art(&["changes", "show", &first[..first.len() - 1]]);
    assert!(shown.stdout().contains("+++ "), "{shown}");
    let second = scene.stage_changes();
    let dropped = scene.art(&["changes", "drop", "last"]);
    assert_eq!(dropped.code(), 0, "{dropped}");
    let change_sets = scene.waiting_change_sets();
    assert_eq!(change_sets[0]["run"], json!(first));
    assert_ne!(first, second);
    assert_eq!(change_sets.as_array().unwrap().len(), 1);
}

#[test]
fn an_ambiguous_or_empty_prefix_of_a_run_is_refused() {
    let scene = Scene::new();
    let (first, second) = (scene.stage_changes(), scene.stage_changes());
    let common_length = first.bytes().zip(second.bytes()).take_while(|(a, b)| a == b).count();
    for (prefix, hint) in [
        (&first[..common_length], "type a longer prefix"),
        ("", "`art changes list` shows all"),
    ] {
        let refused = scene.art(&["changes", "commit", prefix]);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains(hint), "{refused}");
    }
    assert!(scene.is_unchanged());
}

#[test]
fn staged_changes_of_a_deleted_conversation_are_dropped_and_named() {
    let scene = Scene::new();
    let kept = scene.stage_changes();
    let run = scene.stage_changes();
    let runs = scene.art(&["--json", "runs", "list"]).json();
    let is_run = |listed: &&Value| listed["traceId"] == run.as_str();
    let thread = runs.as_array().unwrap().iter().find(is_run).unwrap()["threadId"].clone();
    let deleted = scene.art(&["thread", "delete", thread.as_str().unwrap()]);
    assert_eq!(deleted.code(), 0, "{deleted}");
    assert!(deleted.stderr().contains("dropped its staged change of"), "{deleted}");
    assert!(deleted.stderr().contains("new/deep/c.txt"), "{deleted}");
    let waiting = scene.waiting_change_sets();
    let runs: Vec<_> = waiting
        .as_array()
        .unwrap()
        .iter()
        .map(|set| set["run"].clone())
        .collect();
    assert!(
        !runs.contains(&Value::from(run)) && runs.contains(&Value::from(kept)),
        "{waiting}"
    );
    assert!(scene.is_unchanged());
}

#[test]
fn a_deletion_that_is_killed_leaves_no_staged_changes_without_their_conversation() {
    let scene = Scene::new();
    let run = scene.stage_changes();
    let runs = || scene.art(&["--json", "runs", "list"]).json();
    let is_run = |listed: &&Value| listed["traceId"] == run.as_str();
    let thread = runs().as_array().unwrap().iter().find(is_run).unwrap()["threadId"].clone();
    let delete = ["thread", "delete", thread.as_str().unwrap()];
    // The writes to the database one after the other, until the deletion is not killed any more.
    for write in 1..10 {
        let mut deletion = scene.home.command(&delete);
        let ended = deletion
            .env("ART_TEST_STOP_AT", format!("before_commit:{write}"))
            .output()
            .unwrap();
        if ended.status.success() {
            assert!(write > 2, "the deletion was not killed");
            assert!(runs().as_array().unwrap().is_empty());
            assert_eq!(scene.waiting_change_sets(), json!([]));
            return;
        }
        let has_run = runs().as_array().unwrap().iter().any(|listed| is_run(&listed));
        assert!(has_run, "write {write}");
    }
    panic!("the deletion never ended");
}
