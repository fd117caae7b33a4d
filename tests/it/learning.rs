//! `art grant learn`: suggests the smallest grants for the observed accesses of a tool. Learning itself allows nothing.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// A home with the tool `reads_file`, which returns the text of a file, and a folder with two files.
struct Scene {
    home: Home,
    folder: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("reads_file", components::READS_FILE);
        let folder = TempDir::new().unwrap();
        for name in ["a.txt", "b.txt"] {
            fs::write(folder.path().join(name), "buy milk").unwrap();
        }
        Self { home, folder }
    }

    /// Returns the path of a file in the folder.
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    fn folder_path(&self) -> PathBuf {
        self.path("")
    }

    /// Calls the tool, which reads the file. The exit code is 5 if the file is not granted.
    fn read(&self, path: &Path) -> CommandOutput {
        self.home
            .art(&["--json", "tool", "call", "reads_file", &arguments(path)])
    }

    fn grant(&self, path: &Path) {
        let granted = self
            .home
            .art(&["grant", "add", "reads_file", "--read", path.to_str().unwrap()]);
        assert_eq!(granted.code(), 0, "{granted}");
    }

    /// Runs `art grant learn` with `args`. The command calls the tool once with each JSON text in `args`, and learns from these
    /// calls. Without a JSON text in `args`, it calls nothing, and learns from the calls that were recorded before.
    fn learn(&self, args: &[&str]) -> CommandOutput {
        self.home.art(&[&["grant", "learn", "reads_file"], args].concat())
    }

    /// Same as [`Scene::learn`], with output in JSON.
    fn learn_json(&self, args: &[&str]) -> Value {
        let learned = self
            .home
            .art(&[&["--json", "grant", "learn", "reads_file"], args].concat());
        assert_eq!(learned.code(), 0, "{learned}");
        learned.json()
    }

    /// Returns the text of the tool's file of grants, which is empty if there is no file.
    fn grants_file(&self) -> String {
        self.home.grants("reads_file")
    }

    /// Returns the digest of the component, in hexadecimal.
    fn digest(&self) -> String {
        let wasm = fs::read(self.home.plugins().join("reads_file.wasm")).unwrap();
        art_store::digest(&wasm).trim_start_matches("blake3:").to_owned()
    }

    /// Returns stdout, with placeholders for the paths and the digest of this scene.
    fn masked_stdout(&self, learned: &CommandOutput) -> String {
        let folder = self.folder.path().canonicalize().unwrap();
        let text = learned.stdout().replace(folder.to_str().unwrap(), "/FOLDER");
        let text = text.replace(self.home.dir.path().to_str().unwrap(), "/HOME");
        text.replace(&self.digest(), "DIGEST")
    }
}

fn arguments(path: &Path) -> String {
    json!({"path": path}).to_string()
}

#[test]
fn learning_from_calls_proposes_the_smallest_grants_and_applies_none() {
    let scene = Scene::new();
    let (first, second) = (arguments(&scene.path("a.txt")), arguments(&scene.path("b.txt")));
    let learned = scene.learn(&[&first, &second]);
    insta::assert_snapshot!(scene.masked_stdout(&learned), @r#"
    reads_file: 2 calls observed
    denied, and proposed below:
      read `/FOLDER/a.txt`: no grant covers it (1 call)
      read `/FOLDER/b.txt`: no grant covers it (1 call)
    proposed for `/HOME/grants/DIGEST.toml`:
    + component = "DIGEST"
    +
    + [[fs]]
    + path = "/FOLDER/a.txt"
    + access = "read"
    +
    + [[fs]]
    + path = "/FOLDER/b.txt"
    + access = "read"
    "#);
    assert!(!learned.to_string().contains("buy milk"), "{learned}");
    assert_eq!(scene.grants_file(), "");
    assert_eq!(scene.read(&scene.path("a.txt")).code(), 5);
}

#[test]
fn applied_grants_name_the_digest_of_the_component_and_allow_the_calls() {
    let scene = Scene::new();
    let learned = scene.learn(&[&arguments(&scene.path("a.txt")), "--apply", "--yes"]);
    assert_eq!(learned.code(), 0, "{learned}");
    assert!(scene.grants_file().contains(&scene.digest()));
    assert_eq!(
        scene.read(&scene.path("a.txt")).json()["result"]["output"]["text"],
        "buy milk"
    );
    assert_eq!(scene.read(&scene.path("b.txt")).code(), 5);
}

#[test]
fn proposed_grants_are_not_applied_without_a_confirmation() {
    let scene = Scene::new();
    let learned = scene.learn(&[&arguments(&scene.path("a.txt")), "--apply"]);
    assert_eq!(learned.code(), 2, "{learned}");
    assert!(learned.stderr().contains("add `--yes`"), "{learned}");
    assert_eq!(scene.grants_file(), "");
}

#[test]
fn grants_are_narrowed_to_the_recorded_calls_and_unused_grants_are_listed() {
    let scene = Scene::new();
    let other = TempDir::new().unwrap();
    let other_path = other.path().canonicalize().unwrap();
    scene.grant(&scene.folder_path());
    scene.grant(&other_path);
    scene.read(&scene.path("a.txt"));
    scene.read(&scene.path("a.txt"));
    let learned = scene.learn(&[]);
    let shown = scene
        .masked_stdout(&learned)
        .replace(other_path.to_str().unwrap(), "/OTHER");
    insta::assert_snapshot!(shown, @r#"
    reads_file: 2 calls observed
    never used:
      granted: read `/OTHER`
    proposed for `/HOME/grants/DIGEST.toml`:
      component = "DIGEST"

      [[fs]]
    - path = "/FOLDER"
    - access = "read"
    -
    - [[fs]]
    - path = "/OTHER"
    + path = "/FOLDER/a.txt"
      access = "read"
    "#);
    let applied = scene.learn_json(&["--apply", "--yes"]);
    assert_eq!(applied["applied"], true, "{applied}");
    assert_eq!(scene.read(&scene.path("a.txt")).code(), 0);
    assert_eq!(scene.read(&scene.path("b.txt")).code(), 5);
}

#[test]
fn grants_for_exactly_the_used_files_are_proposed_unchanged() {
    let scene = Scene::new();
    scene.grant(&scene.path("a.txt"));
    scene.read(&scene.path("a.txt"));
    let learned = scene.learn_json(&[]);
    assert_eq!(learned["present"], learned["proposed"], "{learned}");
    assert_eq!(learned["neverUsed"], json!([]), "{learned}");
}

#[test]
fn a_path_in_the_home_of_the_host_is_not_proposed() {
    let scene = Scene::new();
    let secret = scene.home.dir.path().join("secrets.json");
    let learned = scene.learn_json(&[&arguments(&secret)]);
    assert_eq!(learned["proposed"]["fs"], Value::Null, "{learned}");
    assert_eq!(
        learned["notGrantable"][0]["denial"]["resource"],
        json!(secret),
        "{learned}"
    );
}

#[test]
fn calls_of_a_replaced_component_are_not_learned_from() {
    let scene = Scene::new();
    scene.grant(&scene.folder_path());
    scene.read(&scene.path("a.txt"));
    let path = scene.home.plugins().join("reads_file.wasm");
    let mut wasm = fs::read(&path).unwrap();
    // A custom section changes the digest of the component and nothing else.
    wasm.extend([0, 3, 1, b'x', 0]);
    fs::write(&path, wasm).unwrap();
    let refused = scene.learn(&[]);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr().contains("art grant approve reads_file"), "{refused}");
    assert_eq!(scene.home.art(&["grant", "approve", "reads_file", "--yes"]).code(), 0);
    let learned = scene.learn(&[]);
    assert!(
        learned
            .stderr()
            .contains("no call of the present component of `reads_file` is recorded"),
        "{learned}"
    );
}
