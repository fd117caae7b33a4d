//! Grants whose paths run through other grants or through links: nothing that a tool or another program moves leads them elsewhere.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use art_core::capability::{Access, FsGrant};
use art_tools::executor::ToolExecutor;
use rustix::io::Errno;
use serde_json::json;

use crate::granted::{GrantedFolder, deny_openat2, folder_with_grants, load_files_tool};
use crate::harness::{components, run_alone, sandbox};
use crate::home::Home;

/// Creates a folder in which `notes` may be written and `notes/d/x` read. `notes/e/x` is a link to the parent folder of `notes`,
/// which contains `outside.txt` with the content `canary`.
fn nested_folder() -> GrantedFolder {
    let granted = folder_with_grants(|notes| {
        vec![
            FsGrant::new(notes.to_owned(), Access::ReadWrite),
            FsGrant::new(notes.join("d/x"), Access::Read),
        ]
    });
    for directory in ["notes/d/x", "notes/e"] {
        fs::create_dir_all(granted.path(directory)).unwrap();
    }
    fs::write(granted.path("notes/d/x/outside.txt"), "inside").unwrap();
    symlink(granted.folder.path(), granted.path("notes/e/x")).unwrap();
    granted
}

/// Returns why the calls of a tool are denied, or an empty text if they are not.
fn refusal(tool: &impl ToolExecutor) -> String {
    let denials = tool.authorize(&json!({"steps": []})).err().unwrap_or_default();
    denials.into_iter().map(|denial| denial.reason).collect()
}

/// Lets one tool try to move directories so that the path of its second grant runs through a link.
async fn assert_renames_lead_no_grant_out() {
    let granted = nested_folder();
    let path = |relative: &str| granted.path(relative);
    let (d, moved, e, file) = (
        path("notes/d"),
        path("notes/moved"),
        path("notes/e"),
        path("notes/d/x/outside.txt"),
    );
    let results = granted
        .run(&[["rename", &d, &moved], ["rename", &e, &d], ["read", &file, ""]])
        .await;
    assert_eq!(results[..2], ["error: permission denied", "error: permission denied"]);
    assert_eq!(results[2], "inside");
    assert_eq!(fs::read_to_string(path("outside.txt")).unwrap(), "canary");
    assert_eq!(refusal(&granted.tool), "");
}

#[tokio::test]
async fn two_renames_in_one_call_lead_no_other_grant_out() {
    assert_renames_lead_no_grant_out().await;
}

#[test]
fn two_renames_lead_no_other_grant_out_without_openat2() {
    run_alone("nested_grants::without_openat2", "");
    run_alone("nested_grants::with_openat2_forbidden", "");
}

#[tokio::test]
#[ignore = "denies itself a system call, so it runs in a process of its own"]
async fn without_openat2() {
    deny_openat2(Errno::NOSYS);
    assert_renames_lead_no_grant_out().await;
}

#[tokio::test]
#[ignore = "denies itself a system call, so it runs in a process of its own"]
async fn with_openat2_forbidden() {
    deny_openat2(Errno::PERM);
    assert_renames_lead_no_grant_out().await;
}

#[tokio::test]
async fn renames_of_one_tool_lead_no_grant_of_another_tool_out() {
    let granted = nested_folder();
    let second_grant = FsGrant::new(granted.path("notes/d/x").into(), Access::ReadWrite);
    let second_tool = load_files_tool(sandbox(), vec![second_grant], granted.folder.path());
    assert_eq!(refusal(&second_tool), "");
    let (d, moved, e) = (
        granted.path("notes/d"),
        granted.path("notes/moved"),
        granted.path("notes/e"),
    );
    // The first tool may only write `notes` here, so that no other grant of it is in the way.
    let first_grant = FsGrant::new(granted.path("notes").into(), Access::ReadWrite);
    let first_tool = GrantedFolder {
        tool: load_files_tool(sandbox(), vec![first_grant], granted.folder.path()),
        folder: granted.folder,
    };
    let results = first_tool.run(&[["rename", &d, &moved], ["rename", &e, &d]]).await;
    assert_eq!(results, ["done", "done"]);
    let reason = refusal(&second_tool);
    assert!(reason.contains("is a symbolic link"), "{reason}");
}

#[test]
fn a_grant_through_a_link_works_whichever_way_the_path_is_written() {
    let home = Home::empty();
    home.add("reads_file", components::READS_FILE);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("disk")).unwrap();
    fs::write(root.join("disk/note.txt"), "buy milk").unwrap();
    symlink("disk", root.join("data")).unwrap();
    let read = |path: &Path| {
        home.art(&[
            "--json",
            "tool",
            "call",
            "reads_file",
            &json!({"path": path}).to_string(),
        ])
    };
    let linked = root.join("data/note.txt");
    let denied = read(&linked);
    let command = denied.json()["result"]["metadata"]["denials"][0]["command"].clone();
    let words: Vec<_> = command.as_str().unwrap().split(' ').skip(1).collect();
    assert_eq!(home.art(&words).code(), 0, "{denied}");
    for path in [&linked, &root.join("disk/note.txt")] {
        assert_eq!(read(path).json()["result"]["output"]["text"], "buy milk", "{path:?}");
    }
    // The grant stays at the file to which it led, whatever the link becomes.
    fs::remove_file(root.join("data")).unwrap();
    fs::create_dir(root.join("secret")).unwrap();
    fs::write(root.join("secret/note.txt"), "canary").unwrap();
    symlink("secret", root.join("data")).unwrap();
    assert_eq!(read(&linked).json()["result"]["output"]["text"], "buy milk");
    assert_eq!(read(&root.join("secret/note.txt")).code(), 5);
    // It is revoked either way.
    assert_eq!(
        home.art(&["grant", "revoke", "reads_file", linked.to_str().unwrap()])
            .code(),
        0
    );
    assert_eq!(read(&root.join("disk/note.txt")).code(), 5);
}

#[test]
fn a_tool_that_breaks_off_and_looks_for_its_source_is_a_trap_with_its_last_words() {
    let home = Home::empty();
    home.add("files", components::FILES);
    let call = |steps: serde_json::Value| {
        let arguments = json!({ "steps": steps }).to_string();
        home.art(&["--json", "tool", "call", "files", &arguments]).json()["result"].clone()
    };
    let trapped = call(json!([["panic", "", "these are the last words"]]));
    assert_eq!(trapped["code"], "TRAP", "{trapped}");
    let error = trapped["error"].as_str().unwrap();
    assert!(
        error.contains("these are the last words") && error.contains("/program/source.py"),
        "{error}"
    );
    assert_eq!(
        trapped["metadata"]["denials"].as_array().map_or(0, Vec::len),
        0,
        "{trapped}"
    );
    // A file that an argument names is a reason.
    let denied = call(json!([
        ["read", "/data/a.txt", ""],
        ["panic", "", "these are the last words"]
    ]));
    assert_eq!(denied["code"], "PERMISSION_DENIED", "{denied}");
    assert_eq!(denied["metadata"]["denials"][0]["resource"], "/data/a.txt", "{denied}");
}
