//! The files of a home: what killed commands leave behind, damaged values, pipes in place of locks, files that others can write,
//! and limits and clocks that are set oddly. None of it makes `art` hang or panic, and each error says what to do.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rusqlite::Connection;
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// Text that a program prints if it panics.
const PANIC: &str = "panicked";

/// Calls the calculator, which makes a run.
fn calculate(home: &Home) -> CommandOutput {
    home.art(&["--json", "tool", "call", "calculator", r#"{"expression":"6*7"}"#])
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Stores a secret and kills the process before the new file gets its name. Returns the folder of the secrets.
fn kill_while_a_secret_is_stored(home: &Home) -> std::path::PathBuf {
    let mut command = home.command(&["secret", "set", "KEY", "--from-env", "MY_KEY"]);
    command
        .env("MY_KEY", "hunter2hunter2")
        .env("ART_TEST_STOP_BEFORE_RENAME", "secrets.toml")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), None, "the process was not killed");
    let folder = home.dir.path().join("secrets");
    assert_eq!(names(&folder).len(), 1, "the new file is there");
    folder
}

#[test]
fn a_start_removes_what_a_killed_command_has_left_of_a_secret() {
    let home = Home::new();
    let folder = kill_while_a_secret_is_stored(&home);
    assert_eq!(calculate(&home).code(), 0);
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn removing_a_secret_leaves_nothing_of_it_even_if_an_earlier_command_was_killed() {
    let home = Home::empty();
    let folder = kill_while_a_secret_is_stored(&home);
    let removed = home.art(&["secret", "rm", "KEY"]);
    assert!(!removed.stderr().contains(PANIC), "{removed}");
    assert_eq!(names(&folder), [""; 0]);
    let set = home.art_with_input(&["secret", "set", "OTHER"], "hunter3hunter3");
    assert_eq!(set.code(), 0, "{set}");
    assert_eq!(names(&folder), ["secrets.toml"]);
}

/// Makes a grant or a standing approval and kills the process before a new file gets its name. Returns the folder of the file.
fn kill_while_a_file_is_written(home: &Home, args: &[&str], file: &str, folder: &str) -> std::path::PathBuf {
    let mut command = home.command(args);
    command
        .env("ART_TEST_STOP_BEFORE_RENAME", file)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    assert_eq!(command.status().unwrap().code(), None, "the process was not killed");
    let folder = home.dir.path().join(folder);
    assert_eq!(new_files(&folder).len(), 1);
    folder
}

/// Returns the names of the files that were not completed.
fn new_files(folder: &Path) -> Vec<String> {
    names(folder).into_iter().filter(|name| name.starts_with('.')).collect()
}

#[test]
fn a_start_and_the_next_change_remove_what_a_killed_command_has_left_of_a_grant() {
    let home = Home::new();
    home.add("reads_file", components::READS_FILE);
    let digest = blake3::hash(&fs::read(components::READS_FILE).unwrap()).to_hex();
    let granted = TempDir::new().unwrap();
    let grant = ["grant", "add", "reads_file", "--read", granted.path().to_str().unwrap()];
    let kill = || kill_while_a_file_is_written(&home, &grant, &format!("{digest}.toml"), "grants");
    let folder = kill();
    assert_eq!(calculate(&home).code(), 0);
    assert_eq!(names(&folder), [""; 0]);
    kill();
    assert_eq!(home.art(&grant).code(), 0);
    assert_eq!(new_files(&folder), [""; 0]);
    assert!(!names(&folder).is_empty());
}

/// A file that `art` has not completed has this name until it is complete. No process has the identifier 0.
#[test]
fn a_start_removes_what_a_killed_command_has_left_of_a_standing_approval() {
    let home = Home::new();
    let folder = home.dir.path().join("approvals");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(".art-new-0-1"), "{").unwrap();
    assert_eq!(calculate(&home).code(), 0);
    assert_eq!(names(&folder), [""; 0]);
}

#[test]
fn a_damaged_value_in_the_database_is_an_error_and_no_panic() {
    let home = Home::new();
    home.skip_check_on_drop();
    assert_eq!(calculate(&home).code(), 0);
    let database = home.dir.path().join("state/art.db");
    for value in ["-1", "9223372036854775807", "'soon'"] {
        for (table, column) in [
            ("runs", "ended"),
            ("runs", "started"),
            ("runs", "status"),
            ("runs", "summary"),
            ("threads", "updated"),
            ("threads", "created"),
            ("threads", "config"),
            ("journal", "timestamp"),
            ("journal", "sequence"),
        ] {
            let copy = home.dir.path().join("state/before.db");
            fs::copy(&database, &copy).unwrap();
            let connection = Connection::open(&database).unwrap();
            // A column that the database does not have, or a value that it refuses, damages nothing.
            drop(connection.execute_batch(&format!(
                "PRAGMA ignore_check_constraints = ON; UPDATE {table} SET {column} = {value}; PRAGMA wal_checkpoint(TRUNCATE)"
            )));
            drop(connection);
            for words in [
                &["runs", "list"][..],
                &["runs", "show", "last"],
                &["thread", "list"],
                &["approve", "list"],
            ] {
                let ran = home.art(words);
                assert!(
                    !ran.stderr().contains(PANIC),
                    "{table}.{column} = {value}: {words:?}: {ran}"
                );
                assert_ne!(ran.code(), 101, "{table}.{column} = {value}: {words:?}: {ran}");
            }
            fs::rename(&copy, &database).unwrap();
        }
    }
}

#[test]
fn a_pipe_a_folder_or_a_link_in_place_of_a_lock_is_refused_at_once() {
    let make_pipe = |path: &Path| assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    let make_folder = |path: &Path| fs::create_dir(path).unwrap();
    let make_link = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    let ways: [&dyn Fn(&Path); 3] = [&make_pipe, &make_folder, &make_link];
    for replace in ways {
        let home = Home::new();
        home.skip_check_on_drop();
        assert_eq!(calculate(&home).code(), 0);
        let lock = home.dir.path().join("state/art.db-lock");
        fs::remove_file(&lock).unwrap();
        replace(&lock);
        let refused = calculate(&home);
        assert_ne!(refused.code(), 0, "{refused}");
        assert!(refused.stdout().contains("art.db-lock"), "{refused}");
        assert!(refused.stdout().contains("not a regular file"), "{refused}");
    }
}

#[test]
fn a_pipe_among_the_holders_of_leases_does_not_stop_a_start() {
    let home = Home::new();
    assert_eq!(calculate(&home).code(), 0);
    let pipe = home
        .dir
        .path()
        .join("state/art.db-hosts/0192f1c2-0000-7000-8000-000000000000");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert_eq!(calculate(&home).code(), 0);
}

#[test]
fn a_file_of_the_home_that_others_can_write_is_refused_with_what_to_do() {
    let home = Home::new();
    home.skip_check_on_drop();
    home.file("art.toml", "");
    assert_eq!(calculate(&home).code(), 0);
    for name in ["state/art.db", "art.toml"] {
        let path = home.dir.path().join(name);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode | 0o002)).unwrap();
        let refused = calculate(&home);
        assert_ne!(refused.code(), 0, "{name}: {refused}");
        let shown = refused.stdout() + &refused.stderr();
        assert!(shown.contains("every user can write to it"), "{name}: {shown}");
        assert!(shown.contains("chmod"), "{name}: {shown}");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(calculate(&home).code(), 0, "{name}");
    }
}

#[test]
fn a_write_beyond_the_maximum_size_of_files_is_an_error_and_ends_no_process() {
    let home = Home::new();
    home.skip_check_on_drop();
    assert_eq!(calculate(&home).code(), 0);
    for blocks in [0, 1, 64] {
        let words = ["tool", "call", "calculator", r#"{"expression":"6*7"}"#];
        let ended = home.art_with_limits(&format!("ulimit -f {blocks}"), &words);
        let code = ended.0.status.code();
        assert!(code.is_some_and(|code| code < 128), "{blocks}: {ended}");
        assert!(code == Some(0) || !ended.stderr().is_empty(), "{blocks}: {ended}");
    }
}

/// Builds a library with which a process reads a clock of this time, in seconds since 1970.
fn clock_at(folder: &Path, seconds: i64) -> String {
    let (source, library) = (folder.join("clock.c"), folder.join(format!("clock{seconds}.so")));
    let text = format!(
        "#define _GNU_SOURCE\n#include <time.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
         int clock_gettime(clockid_t id, struct timespec *at) {{\n\
             if (id == CLOCK_REALTIME) {{ at->tv_sec = {seconds}LL; at->tv_nsec = 5; return 0; }}\n\
             return syscall(SYS_clock_gettime, id, at);\n}}\n"
    );
    fs::write(&source, text).unwrap();
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(&library)
        .arg(&source)
        .status();
    assert!(built.unwrap().success());
    library.to_str().unwrap().to_owned()
}

#[test]
fn a_clock_before_1970_or_beyond_the_year_9999_makes_nothing_panic() {
    let folder = tempfile::tempdir().unwrap();
    for seconds in [-1, -86_400 * 365 * 30, 253_402_300_800, 1 << 40, i64::MAX / 2] {
        let home = Home::new();
        home.skip_check_on_drop();
        let library = clock_at(folder.path(), seconds);
        for words in [
            &["tool", "call", "calculator", r#"{"expression":"6*7"}"#][..],
            &["tool", "call", "datetime", r#"{"operation":"now"}"#],
            &["run", "What is 2+2?"],
            &["runs", "list"],
            &["thread", "list"],
            &["approve", "list"],
        ] {
            let ran = home.art_with_environment(words, &[("LD_PRELOAD", library.as_str())]);
            assert!(!ran.stderr().contains(PANIC), "{seconds}: {words:?}: {ran}");
            assert!(
                ran.0.status.code().is_some_and(|code| code != 101),
                "{seconds}: {words:?}: {ran}"
            );
        }
    }
}

#[test]
fn an_error_about_a_home_that_cannot_be_written_is_said_once() {
    let home = Home::empty();
    for args in [
        &["run", "What is 6*7?"][..],
        &["tool", "call", "calculator", r#"{"expression":"6*7"}"#],
        &["doctor"],
    ] {
        // No directory can be made there, not even by root.
        let ran = home.art(&[&["--home", "/sys/art"], args].concat());
        assert_eq!(ran.code(), 6, "{args:?}: {ran}");
        let shown = format!("{}{}", ran.stdout(), ran.stderr());
        let about_state = shown.matches("failed to create the directory `/sys/art/state`").count();
        assert_eq!(about_state, 1, "{args:?}: {ran}");
        assert_eq!(shown.matches("use another --home").count(), 1, "{args:?}: {ran}");
    }
}
