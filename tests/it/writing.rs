//! What a tool writes where its changes are not staged: a write that breaks off, for whatever reason, leaves the old file, and nothing
//! else.
//!
//! `ART_WRITE_ROUNDS=200` kills the program in 200 rounds instead of the default 20.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use art_core::capability::{Access, FsGrant};
use art_core::limits::Limits;
use art_core::outcome::Ending;
use art_sandbox::{Sandbox, SandboxConfig};
use art_tools::executor::{CheckedCall, ToolExecutor};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use crate::granted::{GrantedFolder, load_files_tool, writable_folder};
use crate::harness::{components, output, shared_code, tool_call};
use crate::home::Home;
use crate::small_disk::SmallDisk;

/// Number of rounds of kills, unless `ART_WRITE_ROUNDS` sets another.
const ROUNDS: u64 = 20;

/// A home with the guest `files`, which may write a folder.
struct Scene {
    home: Home,
    folder: PathBuf,
}

impl Scene {
    fn new(folder: &Path) -> Self {
        let home = Home::empty();
        home.add("files", components::FILES);
        let folder = folder.canonicalize().unwrap();
        let granted = home.art(&["grant", "add", "files", "--write", folder.to_str().unwrap()]);
        assert_eq!(granted.code(), 0, "{granted}");
        Self { home, folder }
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    fn arguments(&self, steps: &[[&str; 3]]) -> String {
        let steps = steps
            .iter()
            .map(|[operation, name, extra]| [(*operation).to_owned(), self.path(name), (*extra).to_owned()]);
        json!({ "steps": steps.collect::<Vec<_>>() }).to_string()
    }

    fn call(&self, steps: &[[&str; 3]]) -> crate::program::CommandOutput {
        self.home
            .art(&["--json", "tool", "call", "files", &self.arguments(steps)])
    }
}

/// Returns the paths of all files and folders beneath a folder, also of those that the host hides from tools.
fn all_names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            names.push(path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    names.sort();
    names
}

#[test]
fn a_write_that_exceeds_the_size_of_files_leaves_the_old_file() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::new(folder.path());
    fs::write(scene.path("old.txt"), "old content").unwrap();
    scene.home.skip_check_on_drop();
    // The first call writes the compiled code of the tool.
    scene.call(&[["read", "old.txt", ""]]);
    // 4 MiB, if a block has 512 bytes as in POSIX. The database of the home is smaller.
    let arguments = scene.arguments(&[["fill", "old.txt", "8000000"]]);
    let called = scene
        .home
        .art_with_limits("ulimit -f 8192", &["tool", "call", "files", &arguments]);
    assert_eq!(
        fs::read_to_string(scene.path("old.txt")).unwrap(),
        "old content",
        "{called}"
    );
    // The program may have been ended by the system. Then the next call clears what was left.
    scene.call(&[["read", "old.txt", ""]]);
    assert_eq!(all_names(&scene.folder), ["old.txt"]);
}

#[test]
fn a_full_disk_leaves_the_old_file() {
    let folder = TempDir::new().unwrap();
    let Some(disk) = SmallDisk::mount(folder.path(), "size=4m") else {
        return;
    };
    let scene = Scene::new(folder.path());
    fs::write(scene.path("old.txt"), vec![b'o'; 2 << 20]).unwrap();
    let called = scene.call(&[["fill", "old.txt", "3000000"], ["fill", "new.txt", "3000000"]]);
    let old = fs::read(scene.path("old.txt")).unwrap();
    let names = all_names(&scene.folder);
    drop(disk);
    assert_eq!(names, ["old.txt"], "{called}");
    assert!(old.len() == 2 << 20 && old.iter().all(|byte| *byte == b'o'));
    assert!(called.to_string().contains("keeps its old content"), "{called}");
}

#[test]
fn a_disk_without_room_for_another_file_is_told_as_what_the_system_said() {
    let folder = TempDir::new().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), "size=4m,nr_inodes=2") else {
        return;
    };
    let scene = Scene::new(folder.path());
    fs::write(scene.path("old.txt"), "old").unwrap();
    let called = scene.call(&[["write", "new.txt", "new"], ["create_dir", "folder", ""]]);
    let denials = called.json()["result"]["metadata"]["denials"].clone();
    assert_eq!(denials.as_array().map(Vec::len), Some(2), "{called}");
    for denial in denials.as_array().unwrap() {
        assert_eq!(denial["reason"], "no space left on device", "{called}");
        assert_eq!(denial["bySystem"], true, "{called}");
        assert_eq!(denial["command"], Value::Null, "{called}");
    }
}

#[test]
fn a_failure_that_a_full_disk_causes_says_what_the_system_said() {
    let folder = TempDir::new().unwrap();
    let Some(_disk) = SmallDisk::mount(folder.path(), "size=64k") else {
        return;
    };
    let home = Home::empty();
    let mut plugins = components::PLUGINS.iter();
    let (name, path) = plugins.find(|(name, _)| *name == "file_write").unwrap();
    home.add(name, path);
    let folder = folder.path().canonicalize().unwrap();
    let granted = home.art(&["grant", "add", "file_write", "--write", folder.to_str().unwrap()]);
    assert_eq!(granted.code(), 0, "{granted}");
    let arguments = json!({"path": folder.join("new.txt"), "text": "x".repeat(100_000)}).to_string();
    let asked = home.art(&["tool", "call", "file_write", &arguments]);
    assert_eq!(asked.code(), 7, "{asked}");
    let called = home.art(&["--json", "approve", "yes", "last"]);
    assert_ne!(called.code(), 0, "{called}");
    let text = called.to_string();
    assert!(text.contains("`/"), "{called}");
    assert!(
        text.contains("was not created: a write to it failed: No space left on device"),
        "{called}"
    );
    assert!(!text.contains("no grant covers it"), "{called}");
    assert_eq!(all_names(&folder), Vec::<String>::new());
}

#[test]
fn a_call_that_traps_leaves_the_old_files_and_nothing_else() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::new(folder.path());
    fs::write(scene.path("old.txt"), "old").unwrap();
    let called = scene.call(&[
        ["write", "old.txt", "new"],
        ["overwrite", "old.txt", "x"],
        ["write", "new.txt", "new"],
        ["trap", "old.txt", ""],
    ]);
    assert_ne!(called.code(), 0, "{called}");
    assert_eq!(fs::read_to_string(scene.path("old.txt")).unwrap(), "old");
    assert_eq!(all_names(&scene.folder), ["old.txt"]);
}

#[test]
fn a_tool_that_does_not_use_our_library_is_protected_as_well() {
    let folder = TempDir::new().unwrap();
    let home = Home::empty();
    home.add("raw_files", components::RAW_FILES);
    let path = folder.path().canonicalize().unwrap();
    assert_eq!(
        home.art(&["grant", "add", "raw_files", "--write", path.to_str().unwrap()])
            .code(),
        0
    );
    let old = path.join("old.txt");
    fs::write(&old, "old content").unwrap();
    let call = |steps: Value| {
        let arguments = json!({ "steps": steps }).to_string();
        home.art(&["--json", "tool", "call", "raw_files", &arguments])
    };
    // Writing more than is allowed at once ends the call.
    let trapped = call(json!([
        ["truncate", old],
        ["write_far", old, "3"],
        ["write_unchecked", old, "1000000"]
    ]));
    assert_ne!(trapped.code(), 0, "{trapped}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "old content");
    let called = call(json!([["set_size", old, "3"], ["write_far", old, "3"]]));
    assert_eq!(called.code(), 0, "{called}");
    assert_eq!(fs::read_to_string(&old).unwrap(), "oldx");
    assert_eq!(all_names(&path), ["old.txt"]);
}

/// Runs commands and kills them at random.
struct Kills {
    /// How long a command takes that is not killed, so that kills fall into all parts of it.
    longest: Duration,
    seed: u64,
}

impl Default for Kills {
    fn default() -> Self {
        Self {
            longest: Duration::ZERO,
            seed: 88_172_645_463_325_252,
        }
    }
}

impl Kills {
    /// Runs a command. Kills it, except in every fourth round.
    fn run(&mut self, home: &Home, args: &[&str], round: u64) {
        let started = std::time::Instant::now();
        let mut child = home.start(args);
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        let is_killed = round % 4 != 1;
        let delay = self.longest.mul_f64((self.seed % 1_000) as f64 / 1_000.0);
        while is_killed && started.elapsed() < delay && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        if is_killed && child.try_wait().unwrap().is_none() {
            kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
        } else {
            child.wait().unwrap();
            self.longest = started.elapsed();
        }
        child.wait().unwrap();
    }
}

fn rounds() -> u64 {
    std::env::var("ART_WRITE_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap())
}

#[test]
fn a_program_that_is_killed_while_it_commits_leaves_all_files_old_or_all_new() {
    let folder = TempDir::new().unwrap();
    let mut scene = Scene::new(folder.path());
    scene.home.skip_check_on_drop();
    let staged = TempDir::new().unwrap();
    scene.folder = staged.path().canonicalize().unwrap();
    let granted = [
        "grant",
        "add",
        "files",
        "--stage",
        "--write",
        scene.folder.to_str().unwrap(),
    ];
    assert_eq!(scene.home.art(&granted).code(), 0);
    let names = ["a.txt", "b.txt", "c.txt"];
    names.iter().for_each(|name| fs::write(scene.path(name), "0").unwrap());
    let mut kills = Kills::default();
    for round in 1..=rounds() {
        let text = round.to_string();
        let written = names.map(|name| ["write", name, text.as_str()]);
        assert_eq!(scene.call(&written).code(), 0);
        kills.run(&scene.home, &["changes", "commit", "last"], round);
        // Opening the staged changes carries out an interrupted commit, or undoes it.
        let listed = scene.home.art(&["--json", "changes", "list"]);
        let found = names.map(|name| fs::read_to_string(scene.path(name)).unwrap());
        let is_committed = listed.json() == json!([]);
        let expected = if is_committed { text } else { (round - 1).to_string() };
        assert!(
            found.iter().all(|found| *found == expected),
            "round {round}: {found:?}, {listed}"
        );
        assert_eq!(all_names(&scene.folder), names, "round {round}");
        if !is_committed {
            assert_eq!(scene.home.art(&["changes", "commit", "last"]).code(), 0);
        }
    }
}

#[test]
fn a_program_that_is_killed_while_a_tool_writes_leaves_whole_files() {
    let rounds = rounds();
    let folder = TempDir::new().unwrap();
    let scene = Scene::new(folder.path());
    scene.home.skip_check_on_drop();
    let names: Vec<String> = (0..8).map(|index| format!("{index}.txt")).collect();
    let content = |round: u64| format!("{round:08}").repeat(1_000);
    fs::create_dir(scene.path("sub")).unwrap();
    fs::write(scene.path("linked.txt"), content(0)).unwrap();
    fs::hard_link(scene.path("linked.txt"), scene.path("sub/linked.txt")).unwrap();
    names
        .iter()
        .for_each(|name| fs::write(scene.path(name), content(0)).unwrap());
    let expected_names = all_names(&scene.folder);
    let (mut kills, mut kept, mut changed) = (Kills::default(), 0, 0);
    for round in 1..=rounds {
        let text = content(round);
        let mut steps: Vec<_> = names
            .iter()
            .map(|name| ["write", name.as_str(), text.as_str()])
            .collect();
        steps.push(["write", "linked.txt", &text]);
        let arguments = scene.arguments(&steps);
        kills.run(&scene.home, &["tool", "call", "files", &arguments], round);
        // The next call clears what the killed one left.
        assert_eq!(scene.call(&[["read", "0.txt", ""]]).code(), 0);
        for name in names.iter().map(String::as_str).chain(["linked.txt"]) {
            let found = fs::read_to_string(scene.path(name)).unwrap();
            let of_round: u64 = found.get(..8).unwrap_or_default().parse().unwrap_or(u64::MAX);
            assert!(
                of_round <= round && found == content(of_round),
                "`{name}` is cut in round {round}"
            );
            match of_round == round {
                true => changed += 1,
                false => kept += 1,
            }
        }
        assert_eq!(
            fs::read(scene.path("sub/linked.txt")).unwrap(),
            fs::read(scene.path("linked.txt")).unwrap()
        );
        assert_eq!(all_names(&scene.folder), expected_names, "round {round}");
    }
    #[expect(
        clippy::print_stdout,
        reason = "a person who runs more rounds reads what the kills hit"
    )]
    {
        println!("{rounds} rounds: {changed} files were new, {kept} were old, none was cut");
    }
}

#[tokio::test]
async fn a_call_says_what_it_changes_in_place_and_is_replayed_with_it() {
    let granted = writable_folder();
    let [a, new] = ["notes/a.txt", "notes/new.txt"].map(|path| granted.path(path));
    let steps = [["append", &a, "!"], ["write", &new, "x"], ["append", &a, "!"]];
    let outcome = granted.call(&steps).await;
    let lines: Vec<_> = outcome
        .log
        .records
        .iter()
        .map(|record| record.message.as_str())
        .collect();
    assert_eq!(
        lines,
        [format!("`{a}` is changed in place: something is appended to it")]
    );
    assert_eq!(fs::read_to_string(&a).unwrap(), "first!!");
    let replayed = granted.replay(&steps, &outcome.intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(replayed.outcome.log, outcome.log);
}

#[tokio::test]
async fn a_name_that_is_not_utf8_hides_no_other_entry() {
    let granted = writable_folder();
    let notes = granted.folder.path().join("notes");
    for name in [&b"caf\xe9.txt"[..], b"b.txt", b"c.txt", b"d.txt", b"e.txt", b"\xff\xfe"] {
        fs::write(notes.join(std::ffi::OsStr::from_bytes(name)), "x").unwrap();
    }
    let listed = granted.step("list", "notes", "").await;
    assert_eq!(listed, "\\xFF\\xFE,a.txt,b.txt,c.txt,caf\\xE9.txt,d.txt,e.txt,sub");
    assert_eq!(granted.step("size", "notes/caf\\xE9.txt", "").await, "1");
    let path = granted.path("notes/caf\\xE9.txt");
    let outcome = granted.call(&[["read", &path, ""]]).await;
    assert!(
        outcome.denials[0].reason.contains("its name is not UTF-8"),
        "{:?}",
        outcome.denials
    );
}

/// Returns a folder with a sparse file of 40 GB in `notes/huge`, and the tool, whose changes are staged. It runs in a sandbox of its
/// own with one worker.
fn staged_folder_with_huge_file() -> GrantedFolder {
    let mut granted = writable_folder();
    let folder = granted.folder.path();
    fs::File::create(folder.join("notes/huge"))
        .unwrap()
        .set_len(40 << 30)
        .unwrap();
    let sandbox = Sandbox::new(&SandboxConfig {
        workers: 1,
        cache: Some(shared_code()),
        staging: Some(folder.join("staging")),
        ..SandboxConfig::default()
    });
    let grant = FsGrant {
        stage: true,
        max_bytes: 80 << 30,
        ..FsGrant::new(folder.join("notes"), Access::ReadWrite)
    };
    granted.tool = load_files_tool(&sandbox.unwrap(), vec![grant], granted.folder.path());
    granted
}

#[tokio::test]
async fn a_change_of_a_huge_file_lets_others_run_and_can_be_cancelled() {
    let granted = Arc::new(staged_folder_with_huge_file());
    let [huge, moved, a] = ["notes/huge", "notes/moved", "notes/a.txt"].map(|path| granted.path(path));
    for step in [
        ["remove_file", &huge, ""],
        ["write", &huge, "x"],
        ["set_len", &huge, "1"],
        ["overwrite", &huge, "x"],
        ["rename", &huge, &moved],
        ["rename", &a, &huge],
    ] {
        let arguments = json!({ "steps": [step] });
        let cancel = CancellationToken::new();
        let changing = tokio::spawn({
            let (granted, cancel) = (Arc::clone(&granted), cancel.clone());
            async move {
                let grants = granted.tool.authorize(&arguments).unwrap();
                let call = CheckedCall::for_test_with_grants(tool_call(arguments), Limits::EXECUTE, grants, cancel);
                granted.tool.execute(&call).await
            }
        });
        // The only worker also runs this call, which ends first.
        let other = granted.call(&[["read", &a, ""]]).await;
        assert_eq!(output(&other)["results"], json!(["first"]));
        assert!(!changing.is_finished(), "{step:?} ended before the other call");
        cancel.cancel();
        let ending = changing.await.unwrap().ending;
        assert!(matches!(ending, Ending::Cancelled), "{step:?}: {ending:?}");
    }
}

#[tokio::test]
async fn reading_a_large_file_for_a_staged_change_costs_fuel_also_in_a_replay() {
    let granted = staged_folder_with_huge_file();
    let large = granted.path("notes/large");
    fs::write(&large, vec![b'x'; 4 << 20]).unwrap();
    let steps = [["remove_file", large.as_str(), ""]];
    let outcome = granted.call(&steps).await;
    assert_eq!(output(&outcome)["results"], json!(["done"]));
    let replayed = granted.replay(&steps, &outcome.intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(replayed.outcome.usage.fuel, outcome.usage.fuel);
    let small = granted.path("notes/a.txt");
    let of_small = granted.call(&[["remove_file", small.as_str(), ""]]).await;
    assert!(outcome.usage.fuel > of_small.usage.fuel + (4 << 20) / 16 - 10_000);
}

#[tokio::test]
async fn copying_a_file_before_it_is_rewritten_costs_fuel_also_in_a_replay() {
    let granted = writable_folder();
    let large = granted.path("notes/large");
    let fuel = async |steps: &[[&str; 3]]| {
        fs::write(&large, vec![b'x'; 4 << 20]).unwrap();
        let outcome = granted.call(steps).await;
        let replayed = granted.replay(steps, &outcome.intake).await;
        assert_eq!(replayed.divergence, None);
        assert_eq!(replayed.outcome.usage.fuel, outcome.usage.fuel);
        outcome.usage.fuel
    };
    let small = granted.path("notes/a.txt");
    let of_small = fuel(&[["overwrite", &small, "x"]]).await;
    let of_large = fuel(&[["overwrite", &large, "x"]]).await;
    assert!(of_large >= of_small + (4 << 20) / 16, "{of_large} and {of_small}");
    // The old content of a file with two names is copied too, when the call ends.
    fs::hard_link(&large, granted.path("notes/second")).unwrap();
    let of_linked = fuel(&[["overwrite", &large, "x"]]).await;
    assert!(of_linked >= of_small + 2 * (4 << 20) / 16, "{of_linked} and {of_small}");
    let of_truncated = fuel(&[["write", &large, "x"]]).await;
    assert!(of_truncated >= (4 << 20) / 16, "{of_truncated}");
}

#[test]
fn a_start_puts_back_what_a_killed_call_has_left_whatever_the_next_call_opens() {
    let folder = TempDir::new().unwrap();
    let scene = Scene::new(folder.path());
    scene.home.skip_check_on_drop();
    fs::write(scene.path("a.txt"), "the n content").unwrap();
    let metadata = fs::metadata(scene.path("a.txt")).unwrap();
    let id = "0123456789abcdef";
    let user = scene
        .folder
        .join(format!(".art-{}.part", rustix::process::geteuid().as_raw()));
    let parts = user.join(id);
    fs::create_dir_all(&parts).unwrap();
    fs::set_permissions(&user, fs::Permissions::from_mode(0o700)).unwrap();
    let kept = json!({
        "path": "a.txt", "device": metadata.dev(), "inode": metadata.ino(), "old": "1", "new": "0",
    });
    for (name, content) in [
        ("art-parts", String::new()),
        ("0", "the n".to_owned()),
        ("1", "the old content".to_owned()),
        ("1.kept.json", kept.to_string()),
    ] {
        fs::write(parts.join(name), content).unwrap();
    }
    fs::write(scene.path("a.txt"), "the nld content").unwrap();
    let notes = scene.home.dir.path().join("state/writes");
    fs::create_dir_all(&notes).unwrap();
    let note = format!("{}\n{}", metadata.dev(), scene.folder.display());
    fs::write(notes.join(id), note).unwrap();
    // This call needs no file.
    scene.home.art(&["tool", "call", "files", r#"{"steps":[]}"#]);
    assert_eq!(fs::read_to_string(scene.path("a.txt")).unwrap(), "the old content");
    assert_eq!(all_names(&scene.folder), ["a.txt"]);
}
