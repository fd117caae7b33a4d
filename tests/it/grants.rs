//! Grants: tools may access nothing by default, and operators grant access. A denial tells people and programs which grant is
//! missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;
use crate::provider::Provider;
use crate::small_disk::SmallDisk;
use crate::terminal::Terminal;

/// Exit code of a command that was denied something.
const DENIED: i32 = 5;
/// Exit code of a command whose run waits for a decision of a person.
const SUSPENDED: i32 = 7;

/// A home with one tool, the guest `reads_file`, which requests access to files, and a directory outside of the home.
struct Scene {
    home: Home,
    outside: TempDir,
}

impl Scene {
    fn new() -> Self {
        let home = Home::empty();
        home.add("reads_file", components::READS_FILE);
        let outside = TempDir::new().unwrap();
        fs::write(outside.path().join("note.txt"), "buy milk").unwrap();
        Self { home, outside }
    }

    /// Returns the path of a file outside of the home.
    fn note(&self) -> PathBuf {
        self.outside.path().canonicalize().unwrap().join("note.txt")
    }

    /// Calls the tool `reads_file`.
    fn read(&self, path: &Path) -> CommandOutput {
        let arguments = json!({"path": path}).to_string();
        self.home.art(&["--json", "tool", "call", "reads_file", &arguments])
    }

    /// Runs `art grant` with these arguments.
    fn art_grant(&self, args: &[&str]) -> CommandOutput {
        self.home.art(&[&["grant"], args].concat())
    }

    /// Runs a command line that a denial names, which begins with `art`.
    fn run_printed(&self, command: &str) -> CommandOutput {
        let words: Vec<_> = command.strip_prefix("art ").unwrap().split(' ').collect();
        self.home.art(&words)
    }

    /// Replaces the component of a tool by a different one: the same code with an additional custom section.
    fn change_component(&self, tool: &str) {
        let path = self.home.plugins().join(format!("{tool}.wasm"));
        let mut wasm = fs::read(&path).unwrap();
        wasm.extend([0, 3, 1, b'x', 0]);
        fs::write(&path, wasm).unwrap();
    }

    /// Returns the stored grants of `reads_file`, or an empty text if it has none.
    fn reads_file_grants(&self) -> String {
        self.home.grants("reads_file")
    }
}

/// Asserts that a call was denied, and returns its denials.
fn assert_denied(called: &CommandOutput) -> Value {
    let result = called.json();
    assert_eq!(called.code(), DENIED, "{called}");
    assert_eq!(result["result"]["code"], "PERMISSION_DENIED", "{called}");
    result["result"]["metadata"]["denials"].clone()
}

#[test]
fn a_file_is_denied_by_default_and_the_denial_names_the_grant() {
    let scene = Scene::new();
    let denials = assert_denied(&scene.read(&scene.note()));
    let note = scene.note();
    assert_eq!(denials[0]["resource"], json!(note));
    assert_eq!(
        denials[0]["command"],
        json!(format!("art grant add reads_file --read {}", note.display()))
    );
}

#[test]
fn the_command_of_a_denial_makes_the_call_work() {
    let scene = Scene::new();
    let command = assert_denied(&scene.read(&scene.note()))[0]["command"]
        .as_str()
        .unwrap()
        .to_owned();
    let granted = scene.run_printed(&command);
    assert_eq!(granted.code(), 0, "{granted}");
    let read = scene.read(&scene.note());
    assert_eq!(read.code(), 0, "{read}");
    assert_eq!(read.json()["result"]["output"]["text"], "buy milk", "{read}");
    let revoked = scene.art_grant(&["revoke", "reads_file", scene.note().to_str().unwrap()]);
    assert_eq!(revoked.code(), 0, "{revoked}");
    assert_denied(&scene.read(&scene.note()));
}

#[test]
fn a_capability_that_a_tool_does_not_request_cannot_be_granted() {
    let scene = Scene::new();
    let refused = scene.art_grant(&["add", "reads_file", "--http", "https://example.com/"]);
    assert_eq!(refused.code(), 2, "{refused}");
    assert!(refused.stderr().contains("does not ask for it"), "{refused}");
    assert_eq!(scene.reads_file_grants(), "");
}

#[test]
fn the_home_of_the_host_and_system_paths_cannot_be_granted() {
    let scene = Scene::new();
    let home = scene.home.dir.path().to_owned();
    for path in [home.clone(), home.join("plugins"), "/proc".into(), "/".into()] {
        let refused = scene.art_grant(&["add", "reads_file", "--read", path.to_str().unwrap()]);
        assert_eq!(refused.code(), 2, "{refused}");
        assert!(refused.stderr().contains("cannot be granted"), "{refused}");
    }
}

#[test]
fn a_tool_whose_grants_are_invalid_is_refused() {
    let scene = Scene::new();
    for text in [
        "[[fs]]\npath = 1",
        "everything = true",
        "component = \"\"",
        "tool = 1",
        "clock = true\nclock = false",
    ] {
        scene.home.store_grants("reads_file", text);
        let listed = scene.home.art(&["tool", "list"]);
        // A refused tool is listed by the name of its file, with the reason.
        assert!(listed.stdout().contains("reads_file.wasm: "), "{text}: {listed}");
    }
}

#[test]
fn a_component_that_replaces_an_approved_one_is_not_called_before_it_is_approved() {
    let scene = Scene::new();
    let outside = scene.outside.path().to_str().unwrap().to_owned();
    // Approves the component that the tool has now.
    scene.art_grant(&["add", "reads_file", "--read", &outside]);
    scene.change_component("reads_file");
    let denials = assert_denied(&scene.read(&scene.note()));
    assert_eq!(denials[0]["command"], "art grant approve reads_file");
    let listed = scene.art_grant(&["list"]);
    assert!(listed.stdout().contains("another component"), "{listed}");
    let unconfirmed = scene.art_grant(&["approve", "reads_file"]);
    assert_eq!(unconfirmed.code(), 2, "{unconfirmed}");
    let approved = scene.art_grant(&["approve", "reads_file", "--yes"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert_eq!(scene.read(&scene.note()).code(), 0);
}

#[test]
fn grants_that_processes_make_at_the_same_time_are_all_kept() {
    let scene = Scene::new();
    let folders = [(); 8].map(|()| TempDir::new().unwrap());
    let add = |folder: &TempDir| {
        let path = folder.path().to_str().unwrap();
        let mut command = scene.home.command(&["grant", "add", "reads_file", "--read", path]);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
    };
    let adding = folders.each_ref().map(add);
    for mut process in adding {
        assert!(process.wait().unwrap().success());
    }
    let granted = scene.reads_file_grants();
    for folder in &folders {
        let path = folder.path().canonicalize().unwrap();
        assert!(granted.contains(path.to_str().unwrap()), "{path:?}: {granted}");
    }
}

/// Returns a scene that has the plugin `file_read` as well. Unlike `reads_file`, this plugin declares which of its arguments is
/// the path of a file, so the host can ask for the grant before the call.
fn file_read_scene() -> Scene {
    let scene = Scene::new();
    let mut plugins = components::PLUGINS.iter();
    let (name, path) = plugins.find(|(name, _)| *name == "file_read").unwrap();
    scene.home.add(name, path);
    scene
}

/// Calls `file_read` at a terminal until the host asks for the grant.
fn call_until_grant_question(scene: &Scene) -> Terminal {
    let arguments = json!({"path": scene.note()}).to_string();
    let mut terminal = Terminal::start(&scene.home, &["tool", "call", "file_read", &arguments]);
    terminal.until("It is not granted");
    terminal.until(&format!("art grant add file_read --read {}", scene.note().display()));
    terminal.until("or later? ");
    terminal
}

/// Returns the stored grants of `file_read`, or an empty text if it has none.
fn file_read_grants(scene: &Scene) -> String {
    scene.home.grants("file_read")
}

#[test]
fn a_yes_at_the_terminal_makes_the_grant_and_the_call() {
    let scene = file_read_scene();
    let mut terminal = call_until_grant_question(&scene);
    terminal.type_keys("yes\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, 0, "{output}");
    assert!(output.contains("buy milk"), "{output}");
    assert!(file_read_grants(&scene).contains("note.txt"));
}

#[test]
fn a_no_at_the_terminal_grants_nothing() {
    let scene = file_read_scene();
    let mut terminal = call_until_grant_question(&scene);
    terminal.type_keys("no\r");
    terminal.until("why");
    terminal.type_keys("\r");
    let (output, code) = terminal.wait();
    assert_ne!(code, 0, "{output}");
    assert!(!output.contains("buy milk"), "{output}");
    assert_eq!(file_read_grants(&scene), "");
}

#[test]
fn a_grant_that_is_left_for_later_can_be_made_with_art_approve() {
    let scene = file_read_scene();
    let mut terminal = call_until_grant_question(&scene);
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, SUSPENDED, "{output}");
    let approved = scene.home.art(&["approve", "yes", "last"]);
    assert_eq!(approved.code(), 0, "{approved}");
    assert!(approved.stdout().contains("buy milk"), "{approved}");
    assert!(file_read_grants(&scene).contains("note.txt"));
}

#[test]
fn an_approved_grant_that_cannot_be_stored_is_told_as_what_the_system_said() {
    let scene = file_read_scene();
    let mut terminal = call_until_grant_question(&scene);
    terminal.type_keys("later\r");
    let (output, code) = terminal.wait();
    assert_eq!(code, SUSPENDED, "{output}");
    let folder = scene.home.dir.path().join("grants");
    fs::create_dir_all(&folder).unwrap();
    let Some(_disk) = SmallDisk::mount(&folder, "size=4k") else {
        return;
    };
    fs::write(folder.join("full"), [b'x'; 4096]).unwrap();
    let approved = scene.home.art(&["approve", "yes", "last"]);
    assert_ne!(approved.code(), 0, "{approved}");
    assert!(
        approved.stderr().contains("a person granted what it needs, but"),
        "{approved}"
    );
    assert!(approved.stderr().contains("No space left on device"), "{approved}");
    assert!(!approved.stderr().contains("no grant covers it"), "{approved}");
}

#[test]
fn without_a_terminal_nobody_is_asked_and_nothing_is_granted() {
    let scene = file_read_scene();
    let arguments = json!({"path": scene.note()}).to_string();
    let called = scene.home.art(&["tool", "call", "file_read", &arguments]);
    assert_eq!(called.code(), DENIED, "{called}");
    assert!(called.stderr().contains("do not make the same call again"), "{called}");
    assert!(called.stderr().contains(&grant_command_in_message(&scene)), "{called}");
    assert_eq!(file_read_grants(&scene), "");
    assert_eq!(scene.home.art(&["--json", "approve", "list"]).json(), json!([]));
}

/// Returns the part of a message that names the command to grant `file_read` the file of the scene.
fn grant_command_in_message(scene: &Scene) -> String {
    format!("with `art grant add file_read --read {}`", scene.note().display())
}

#[test]
fn an_unattended_run_names_the_command_of_the_grant_to_the_person_and_to_the_model() {
    let scene = file_read_scene();
    let provider = Provider::calling("file_read", json!({"path": scene.note()}), "I may not read it.");
    let model = ["--model", "compatible:m", "--base-url", &provider.base_url];
    let ran = scene.home.art(&[&model[..], &["run", "What is on my list?"]].concat());
    let allowed_by = format!("to allow it: art grant add file_read --read {}", scene.note().display());
    assert!(ran.stderr().contains(&allowed_by), "{ran}");
    let requests = provider.take_requests();
    let requests_with_command = requests
        .iter()
        .filter(|request| request.body.to_string().contains(&grant_command_in_message(&scene)));
    assert!(requests_with_command.count() > 0, "no request names the command");
}

#[test]
fn a_changed_component_is_denied_without_a_question_about_grants() {
    let scene = file_read_scene();
    let outside = scene.outside.path().to_str().unwrap();
    assert_eq!(scene.art_grant(&["add", "file_read", "--read", outside]).code(), 0);
    scene.change_component("file_read");
    let arguments = json!({"path": scene.note()}).to_string();
    let terminal = Terminal::start(&scene.home, &["tool", "call", "file_read", &arguments]);
    let (output, code) = terminal.wait();
    assert_eq!(code, DENIED, "{output}");
    assert!(output.contains("another one than that which was approved"), "{output}");
}
