//! Granted files: what a tool can do with them through its standard library, and what it cannot. The tool is the guest `files`,
//! which performs steps: each is an operation, a path and an extra value, which is empty if the operation needs none.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use art_core::capability::{Access, FsGrant};
use art_core::intake::DivergenceReason;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::granted::{folder_with_grants, load_files_tool, readable_folder, writable_folder};
use crate::harness::{components, new_sandbox, output};
use crate::home::Home;
use crate::replay::without_times_and_used_grants;

#[tokio::test]
async fn the_standard_library_reads_granted_files() {
    let granted = readable_folder();
    let [notes, a, b] =
        ["notes", "notes/a.txt", "notes/sub/../sub/b.txt"].map(|relative_path| granted.path(relative_path));
    let steps = [
        ["read", &a, ""],
        ["read", &b, ""],
        ["read_from", &a, "2"],
        ["size", &a, ""],
        ["type", &a, ""],
        ["type", &notes, ""],
        ["list", &notes, ""],
        ["canonicalize", &b, ""],
        // The granted folder is the home directory of the tool.
        ["read", "~/notes/a.txt", ""],
    ];
    let canonical = granted.path("notes/sub/b.txt");
    assert_eq!(
        granted.run(&steps).await,
        [
            "first",
            "second",
            "rst",
            "5",
            "file",
            "directory",
            "a.txt,sub",
            &canonical,
            "first"
        ]
    );
}

#[tokio::test]
async fn the_standard_library_writes_granted_files() {
    let granted = writable_folder();
    let [a, new, moved, deep] = ["notes/a.txt", "notes/new.txt", "notes/sub/moved.txt", "notes/x/y/z"]
        .map(|relative_path| granted.path(relative_path));
    let [x, deep_file] = ["notes/x", "notes/x/y/z/f"].map(|relative_path| granted.path(relative_path));
    let steps = [
        ["write", &new, "one"],
        ["append", &new, " two"],
        ["overwrite", &new, "NE"],
        ["read", &new, ""],
        ["create_new", &new, ""],
        ["rename", &new, &moved],
        ["read", &moved, ""],
        ["set_len", &moved, "3"],
        ["read", &moved, ""],
        ["set_modified", &moved, "86400"],
        ["modified", &moved, ""],
        ["create_dir_all", &deep, ""],
        ["copy", &moved, &deep_file],
        ["remove_dir_all", &x, ""],
        ["type", &x, ""],
        ["hard_link", &a, &new],
        ["remove_file", &a, ""],
    ];
    let done = "done";
    let results = granted.run(&steps).await;
    assert_eq!(
        results,
        [
            done,
            done,
            done,
            "oNE two",
            "error: entity already exists",
            done,
            "oNE two",
            done,
            "oNE",
            done,
            "86400",
            done,
            done,
            done,
            "error: entity not found",
            done,
            done
        ]
    );
    let content = |relative_path: &str| fs::read_to_string(granted.path(relative_path)).unwrap();
    assert_eq!(
        (content("notes/new.txt"), content("notes/sub/moved.txt")),
        ("first".to_owned(), "oNE".to_owned())
    );
    assert!(!Path::new(&a).exists() && !Path::new(&x).exists());
}

#[tokio::test]
async fn only_granted_paths_and_the_directories_above_them_are_visible() {
    let granted = readable_folder();
    let [folder, outside, passwd] = [granted.path(""), granted.path("outside.txt"), "/etc/passwd".to_owned()];
    let steps = [
        ["list", &folder, ""],
        ["type", "/", ""],
        ["list", "~", ""],
        ["canonicalize", &folder, ""],
        ["read", &outside, ""],
        ["type", &outside, ""],
        ["read", &passwd, ""],
        ["list", "/etc", ""],
    ];
    let denied = "error: permission denied";
    let folder = folder.trim_end_matches('/');
    assert_eq!(
        granted.run(&steps).await,
        ["notes", "directory", "notes", folder, denied, denied, denied, denied]
    );
}

#[tokio::test]
async fn a_denial_names_the_path_and_the_grant_that_is_missing() {
    let granted = readable_folder();
    let (outside, a) = (granted.path("outside.txt"), granted.path("notes/a.txt"));
    // The third step is denied for the same reason as the first, which is reported only once.
    let outcome = granted
        .call(&[["read", &outside, ""], ["write", &a, "x"], ["read", &outside, ""]])
        .await;
    let commands: Vec<_> = outcome
        .denials
        .iter()
        .map(|denial| denial.command.clone().unwrap())
        .collect();
    assert_eq!(
        commands,
        [
            format!("art grant add files --read {outside}"),
            format!("art grant add files --write {a}")
        ]
    );
}

#[tokio::test]
async fn the_number_of_denials_of_a_call_is_limited() {
    let granted = readable_folder();
    let paths: Vec<String> = (0..300).map(|index| format!("/usr/lib/python/{index}")).collect();
    let steps: Vec<_> = paths.iter().map(|path| ["type", path.as_str(), ""]).collect();
    let outcome = granted.call(&steps).await;
    assert_eq!(outcome.denials.len(), art_core::capability::MAX_DENIALS);
}

#[tokio::test]
async fn a_read_only_grant_refuses_every_change() {
    let granted = readable_folder();
    let [a, new, sub] = ["notes/a.txt", "notes/new.txt", "notes/sub"].map(|relative_path| granted.path(relative_path));
    let steps = [
        ["write", &a, "x"],
        ["append", &a, "x"],
        ["set_len", &a, "0"],
        ["write", &new, "x"],
        ["create_dir", &new, ""],
        ["rename", &a, &new],
        ["hard_link", &a, &new],
        ["symlink", &new, "a.txt"],
        ["remove_file", &a, ""],
        ["remove_dir_all", &sub, ""],
        ["set_modified", &a, "1"],
        // Sets the time through a file that is opened for reading only.
        ["set_modified_read_only", &a, ""],
    ];
    let results = granted.run(&steps).await;
    let refused = |result: &String| {
        [
            "error: read-only filesystem or storage medium",
            "error: permission denied",
        ]
        .contains(&result.as_str())
    };
    assert!(results.iter().all(refused), "{results:?}");
    assert_eq!(granted.step("read", "notes/a.txt", "").await, "first");
    assert_eq!(granted.step("list", "notes", "").await, "a.txt,sub");
    assert_eq!(granted.step("list", "notes/sub", "").await, "b.txt");
}

#[tokio::test]
async fn a_tool_cannot_create_a_symbolic_link() {
    let granted = writable_folder();
    for target in ["a.txt", "/etc/passwd", "../outside.txt"] {
        assert_eq!(
            granted.step("symlink", "notes/link", target).await,
            "error: permission denied",
            "{target}"
        );
    }
    assert_eq!(granted.step("list", "notes", "").await, "a.txt,sub");
}

#[tokio::test]
async fn links_are_followed_only_inside_of_a_grant() {
    let granted = readable_folder();
    let notes = granted.folder.path().join("notes");
    let link = |target: &str, name: &str| std::os::unix::fs::symlink(target, notes.join(name)).unwrap();
    link("sub/b.txt", "inside");
    link("../outside.txt", "outside");
    link("/etc/passwd", "absolute");
    link("/proc/self/root", "magic");
    link("..", "up");
    assert_eq!(granted.step("read", "notes/inside", "").await, "second");
    for path in [
        "notes/outside",
        "notes/absolute",
        "notes/magic/etc/passwd",
        "notes/up/outside.txt",
        "notes/outside/",
    ] {
        assert_eq!(
            granted.step("read", path, "").await,
            "error: permission denied",
            "{path}"
        );
    }
    assert_eq!(granted.step("link_type", "notes/outside", "").await, "link");
}

#[tokio::test]
async fn a_call_adds_no_more_bytes_and_files_than_granted() {
    let granted = folder_with_grants(|notes| {
        vec![FsGrant {
            max_bytes: 10_000,
            max_files: 5,
            ..FsGrant::new(notes.to_owned(), Access::ReadWrite)
        }]
    });
    let quota_exceeded = "error: no storage space";
    let [one, two, sub] = ["notes/one", "notes/two", "notes/sub"].map(|relative_path| granted.path(relative_path));
    let huge = (1_u64 << 60).to_string();
    let steps = [
        ["fill", &one, "8192"],
        ["fill", &two, "8192"],
        ["set_len", &one, &huge],
        ["create_many", &sub, "4"],
    ];
    let outcome = granted.call(&steps).await;
    // The C library of a guest does not ask why a stream failed.
    let stream_failed = "error: uncategorized error";
    assert_eq!(
        output(&outcome)["results"],
        json!(["done", stream_failed, quota_exceeded, quota_exceeded])
    );
    assert!(
        outcome.denials[0].reason.contains("at most 10000 bytes and 5 files"),
        "{:?}",
        outcome.denials
    );
    let size = |relative_path: &str| fs::metadata(granted.path(relative_path)).unwrap().len();
    assert!(size("notes/one") + size("notes/two") <= 10_000);
    // `b.txt` was there before. Of the five files of the grant, `one` and `two` are in `notes`, so three are in `notes/sub`.
    assert_eq!(fs::read_dir(granted.path("notes/sub")).unwrap().count(), 4);
    assert_eq!(
        granted.step("fill", "notes/two", "8192").await,
        "done",
        "each call has its own quota"
    );
}

#[tokio::test]
async fn bytes_of_files_cost_fuel() {
    let granted = writable_folder();
    let [small, large] = ["notes/small", "notes/large"].map(|relative_path| granted.path(relative_path));
    fs::write(&small, "").unwrap();
    fs::write(&large, vec![b'x'; 1 << 20]).unwrap();
    let fuel_of_read = async |path: &str| granted.call(&[["read", path, ""]]).await.usage.fuel;
    assert!(fuel_of_read(&large).await > fuel_of_read(&small).await + (1 << 20));
}

#[tokio::test]
async fn a_replayed_call_gets_every_result_from_its_record_and_touches_no_file() {
    let granted = writable_folder();
    let [notes, a, new, moved, outside] = [
        "notes",
        "notes/a.txt",
        "notes/new.txt",
        "notes/moved.txt",
        "outside.txt",
    ]
    .map(|relative_path| granted.path(relative_path));
    let steps = [
        ["read", &a, ""],
        ["read_from", &a, "2"],
        ["size", &a, ""],
        ["modified", &a, ""],
        ["write", &new, "text"],
        ["append", &new, "more"],
        ["set_len", &new, "6"],
        ["read", &new, ""],
        ["rename", &new, &moved],
        ["list", &notes, ""],
        ["canonicalize", &notes, ""],
        ["remove_file", &moved, ""],
        ["read", &moved, ""],
        ["create_dir", &outside, ""],
        ["read", &outside, ""],
    ];
    let recorded = granted.call(&steps).await;
    assert_eq!((recorded.ending.name(), recorded.denials.len()), ("success", 2));
    fs::remove_dir_all(&notes).unwrap();
    let replayed = granted.replay(&steps, &recorded.intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(
        without_times_and_used_grants(replayed.outcome),
        without_times_and_used_grants(recorded)
    );
    assert!(!Path::new(&notes).exists());
}

#[tokio::test]
async fn a_call_that_was_denied_everything_is_replayed_with_its_denials() {
    let granted = folder_with_grants(|_| Vec::new());
    let outside = granted.path("outside.txt");
    let steps = [["read", &outside, ""], ["write", &outside, "x"]];
    let recorded = granted.call(&steps).await;
    assert_eq!(recorded.denials.len(), 2);
    let replayed = granted.replay(&steps, &recorded.intake).await;
    assert_eq!(replayed.divergence, None);
    assert_eq!(
        without_times_and_used_grants(replayed.outcome),
        without_times_and_used_grants(recorded)
    );
}

#[tokio::test]
async fn a_call_that_reads_more_than_can_be_recorded_is_not_replayed() {
    let granted = readable_folder();
    let large = granted.path("notes/large");
    // A record holds at most 4 MiB of the contents of files, so the file can be read once and not twice.
    fs::write(&large, vec![b'x'; 3 << 20]).unwrap();
    let once = granted.call(&[["read_repeatedly", &large, "1"]]).await;
    assert!(!once.intake.truncated);
    let steps = [["read_repeatedly", &large, "2"]];
    let twice = granted.call(&steps).await;
    // The crossings are the recorded answers of the host. A record that grows too large loses all of them.
    assert!(twice.intake.truncated && twice.intake.crossings.is_empty());
    let replayed = granted.replay(&steps, &twice.intake).await;
    assert_eq!(replayed.divergence.unwrap().reason, DivergenceReason::Truncated);
}

/// Returns a home with the tool `files`, a folder that is granted to the tool, and the path of a pipe in the folder.
fn home_with_granted_pipe() -> (Home, TempDir, String) {
    let home = Home::empty();
    home.add("files", components::FILES);
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe").to_str().unwrap().to_owned();
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let granted = home.art(&["grant", "add", "files", "--write", folder.path().to_str().unwrap()]);
    assert_eq!(granted.code(), 0, "{granted}");
    (home, folder, pipe)
}

// If reads of a pipe waited, 600 of them would use up the threads of tokio for blocking operations, which are at most 512.
#[test]
fn six_hundred_reads_of_a_pipe_do_not_hang_a_call_of_the_program() {
    let (home, _folder, pipe) = home_with_granted_pipe();
    let arguments = json!({"steps": [["read_repeatedly", pipe, "600"]]}).to_string();
    let called = home.art(&["tool", "call", "files", &arguments]);
    assert!(called.stdout().contains("600 failed"), "{called}");
}

#[test]
fn sigterm_ends_the_program_within_five_seconds_while_a_tool_reads_pipes() {
    let (home, _folder, pipe) = home_with_granted_pipe();
    let arguments = json!({"steps": [["read_repeatedly", pipe, "1000000000"]]}).to_string();
    let mut called = home.start(&["tool", "call", "files", &arguments]);
    // The second entry of the journal announces the call.
    let is_announced = || home.art(&["--json", "runs", "list"]).json()[0]["lastSequence"] == 2;
    assert!(wait_until(is_announced), "the call is not announced");
    kill_process(Pid::from_child(&called), Signal::TERM).unwrap();
    let signalled = Instant::now();
    assert!(wait_until(|| called.try_wait().unwrap().is_some()));
    assert!(
        signalled.elapsed() < Duration::from_secs(5),
        "{:?}",
        signalled.elapsed()
    );
}

/// Waits for at most 20 seconds until `is_true` returns true. Returns whether it did.
fn wait_until(mut is_true: impl FnMut() -> bool) -> bool {
    (0..1_000).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        is_true()
    })
}

#[tokio::test]
async fn pipes_in_a_granted_folder_block_neither_calls_nor_the_drop_of_the_sandbox() {
    let asks_for_instance_pool = true;
    let own_sandbox = new_sandbox(asks_for_instance_pool);
    let mut granted = writable_folder();
    let grants = granted.tool.authority().policy().fs.clone();
    granted.tool = load_files_tool(&own_sandbox, grants, granted.folder.path());
    let pipe = granted.path("notes/pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (once, often) = (["read", pipe.as_str(), ""], ["read_repeatedly", pipe.as_str(), "300"]);
    let results = granted.run(&[once, often, ["write", &pipe, "x"], often]).await;
    assert_eq!(
        results,
        [
            "error: permission denied",
            "300 failed",
            "error: permission denied",
            "300 failed"
        ]
    );
    for _ in 0..6 {
        let attempt = [["read", pipe.as_str(), ""]];
        let calls = (0..100).map(|_| granted.run(&attempt));
        let results = futures_util::future::join_all(calls).await;
        assert!(results.iter().all(|result| *result == ["error: permission denied"]));
    }
    let end = tokio::task::spawn_blocking(move || drop((granted, own_sandbox)));
    tokio::time::timeout(Duration::from_secs(5), end)
        .await
        .expect("the sandbox ends")
        .unwrap();
}
