//! What a loss of power leaves. A disk may store any of the changes that a program has not waited for, in any order. So a file is whole
//! after a crash at any time if the program waits in these places: for the content of a file before the file gets its name, for the
//! old content and its note before the file is overwritten in place, and for the new content before the note is removed. The tests
//! record the system calls of a host and check this order, in which every crash is a prefix.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;

/// A system call that changes files, as far as a test needs it.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Write(String),
    Sync(String),
    Rename(String, String),
    Remove(String),
}

/// Calls `art` and returns the changes that it made, in their order. `None` if system calls cannot be recorded here.
fn recorded_changes(home: &Home, args: &[&str]) -> Option<Vec<Change>> {
    let can_record = Command::new("strace").args(["-o", "/dev/null", "true"]).status();
    if !can_record.is_ok_and(|status| status.success()) {
        #[expect(clippy::print_stdout, reason = "a person reads why nothing was tested")]
        {
            println!("skipped: `strace` cannot be used here");
        }
        return None;
    }
    let record = home.dir.path().join("system_calls");
    let calls = "write,pwrite64,pwritev,ftruncate,copy_file_range,sendfile,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat";
    let strace = format!(
        "exec strace -f -y -s 0 -e trace={calls} -o {} \"$0\" \"$@\"",
        record.display()
    );
    let called = home.art_with_limits(&strace, args);
    assert_eq!(called.code(), 0, "{called}");
    let text = fs::read_to_string(&record).unwrap();
    Some(text.lines().filter_map(change_in_line).collect())
}

/// Reads a line such as `12 renameat2(5</a>, "b", 6</c>, "d", 0) = 0`.
fn change_in_line(line: &str) -> Option<Change> {
    let (_, call) = line.split_once(' ')?;
    let (name, arguments) = call.trim_start().split_once('(')?;
    if arguments.contains("= -1 ") {
        return None;
    }
    let first_file = || {
        arguments
            .split_once('<')?
            .1
            .split_once('>')
            .map(|(path, _)| path.to_owned())
    };
    Some(match name {
        "write" | "pwrite64" | "pwritev" | "ftruncate" | "copy_file_range" | "sendfile" => Change::Write(first_file()?),
        "fsync" | "fdatasync" => Change::Sync(first_file()?),
        "rename" | "renameat" | "renameat2" => {
            let mut paths = paths_in(arguments).into_iter();
            Change::Rename(paths.next()?, paths.next()?)
        }
        "unlink" | "unlinkat" => Change::Remove(paths_in(arguments).into_iter().next()?),
        _ => return None,
    })
}

/// Returns the paths in arguments such as `5</a>, "b"` or `"/a/b"`.
fn paths_in(arguments: &str) -> Vec<String> {
    let mut directory = "";
    let mut paths = Vec::new();
    for argument in arguments.split(", ") {
        if let Some(name) = argument.trim_end_matches(')').strip_prefix('"') {
            let name = name.split('"').next().unwrap_or_default();
            paths.push(match name.starts_with('/') {
                true => name.to_owned(),
                false => format!("{directory}/{name}"),
            });
        } else if let Some((_, rest)) = argument.split_once('<') {
            directory = rest.split('>').next().unwrap_or_default();
        }
    }
    paths
}

/// Asserts that the content of each file that gets a name in `folder` is stored before.
fn assert_stored_before_named(changes: &[Change], folder: &str) {
    let mut unsynced: HashSet<&str> = HashSet::new();
    let mut renamed = 0;
    for change in changes {
        match change {
            Change::Write(path) => drop(unsynced.insert(path)),
            Change::Sync(path) => drop(unsynced.remove(path.as_str())),
            Change::Rename(from, to) if to.starts_with(folder) => {
                assert!(
                    !unsynced.contains(from.as_str()),
                    "`{from}` is not stored before it is `{to}`"
                );
                renamed += 1;
            }
            Change::Rename(..) | Change::Remove(_) => {}
        }
    }
    assert!(renamed > 0, "{changes:?}");
}

/// Returns whether a change is the sync of this file or directory.
fn is_sync(path: &str) -> impl Fn(&Change) -> bool {
    let sync = Change::Sync(path.to_owned());
    move |change| *change == sync
}

/// Returns the index of the first change that `is_wanted`.
fn position(changes: &[Change], is_wanted: impl Fn(&Change) -> bool) -> usize {
    changes
        .iter()
        .position(is_wanted)
        .unwrap_or_else(|| panic!("{changes:#?}"))
}

/// A home with the guest `files`, which may write a folder with `a.txt` and `one`, whose second name is `two`.
fn scene(options: &[&str]) -> (Home, TempDir, String) {
    let home = Home::empty();
    home.add("files", components::FILES);
    let folder = TempDir::new().unwrap();
    let path = folder.path().canonicalize().unwrap().to_str().unwrap().to_owned();
    let file = |name: &str| Path::new(&path).join(name);
    fs::write(file("a.txt"), "old a").unwrap();
    fs::write(file("one"), "old one").unwrap();
    fs::hard_link(file("one"), file("two")).unwrap();
    let granted = home.art(&[&["grant", "add", "files", "--write", &path], options].concat());
    assert_eq!(granted.code(), 0, "{granted}");
    (home, folder, path)
}

#[test]
fn what_a_tool_writes_is_stored_before_it_can_be_seen() {
    let (home, _folder, path) = scene(&[]);
    let steps = json!({ "steps": [
        ["write", format!("{path}/a.txt"), "new a"],
        ["create_dir", format!("{path}/new"), ""],
        ["write", format!("{path}/new/b.txt"), "new b"],
        ["write", format!("{path}/one"), "new one"],
    ]});
    let Some(changes) = recorded_changes(&home, &["tool", "call", "files", &steps.to_string()]) else {
        return;
    };
    assert_stored_before_named(&changes, &path);
    let place = |name: &'static str| {
        let to = format!("{path}/{name}");
        position(
            &changes,
            |change| matches!(change, Change::Rename(_, renamed) if *renamed == to),
        )
    };
    // The directories of new files are stored, and the one in which the tool has made a directory.
    for (file, directory) in [
        ("a.txt", path.clone()),
        ("new/b.txt", format!("{path}/new")),
        ("new/b.txt", path.clone()),
    ] {
        assert!(
            changes[place(file)..].iter().any(is_sync(&directory)),
            "{file}: {changes:#?}"
        );
    }
    // The file with two names is overwritten only when its old content is stored with a note, and its note is removed only when the
    // new content is stored.
    let one = format!("{path}/one");
    let is_note = |path: &str| path.ends_with(".kept.json");
    let noted = position(
        &changes,
        |change| matches!(change, Change::Rename(_, to) if is_note(to)),
    );
    let overwritten = position(&changes, |change| *change == Change::Write(one.clone()));
    let stored = position(&changes, is_sync(&one));
    let forgotten = position(
        &changes,
        |change| matches!(change, Change::Remove(path) if is_note(path)),
    );
    assert!(
        noted < overwritten && overwritten < stored && stored < forgotten,
        "{changes:#?}"
    );
    let Change::Rename(_, note) = &changes[noted] else {
        panic!()
    };
    let old = note.trim_end_matches(".kept.json").to_owned();
    assert!(position(&changes, is_sync(&old)) < noted, "{changes:#?}");
    let call_folder = Path::new(note).parent().unwrap();
    for directory in [call_folder, call_folder.parent().unwrap(), Path::new(&path)] {
        let between = &changes[noted..overwritten];
        assert!(
            between.iter().any(is_sync(directory.to_str().unwrap())),
            "{directory:?}: {changes:#?}"
        );
    }
    assert!(
        !changes.contains(&Change::Write(format!("{path}/a.txt"))),
        "{changes:#?}"
    );
}

#[test]
fn a_commit_stores_all_contents_before_it_says_that_it_will_make_them_visible() {
    let (home, _folder, path) = scene(&["--stage"]);
    let steps = json!({ "steps": [
        ["write", format!("{path}/a.txt"), "new a"],
        ["create_dir_all", format!("{path}/new/deep"), ""],
        ["write", format!("{path}/new/deep/b.txt"), "new b"],
    ]});
    assert_eq!(home.art(&["tool", "call", "files", &steps.to_string()]).code(), 0);
    let Some(changes) = recorded_changes(&home, &["changes", "commit", "last"]) else {
        return;
    };
    assert_stored_before_named(&changes, &path);
    let journal = position(
        &changes,
        |change| matches!(change, Change::Rename(_, to) if to.ends_with("/journal.json")),
    );
    for directory in [path.clone(), format!("{path}/new"), format!("{path}/new/deep")] {
        assert!(
            changes[..journal].contains(&Change::Sync(directory.clone())),
            "{directory}: {changes:#?}"
        );
    }
    assert_eq!(fs::read_to_string(format!("{path}/new/deep/b.txt")).unwrap(), "new b");
}
