//! Files of the program's own that are pipes, cut short or something else: nobody waits for them, and a cache is only a cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::program::Ran;

/// Nothing that these tests run takes a part of this, unless it waits for somebody.
const HANGS: Duration = Duration::from_secs(120);

fn pipe(path: &Path) {
    // There may be a file of that name.
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs `art`, and fails when it does not end.
fn ends(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("`art {}` waits for ever", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ran(child.wait_with_output().unwrap())
}

/// The one tool of a fresh home is offered, whatever was found on the way.
fn lists(home: &Home) -> Ran {
    let ran = ends(home, &["tool", "list"]);
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(ran.stdout().contains("calculator"), "{ran}");
    ran
}

fn cache(home: &Home) -> PathBuf {
    home.dir.path().join("cache").join("code")
}

fn compiled(home: &Home) -> PathBuf {
    let entries = fs::read_dir(cache(home)).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths
        .find(|path| path.extension().is_some_and(|ending| ending == "cwasm"))
        .unwrap()
}

#[test]
fn a_configuration_that_is_a_pipe_is_told() {
    let home = Home::fresh();
    pipe(&home.dir.path().join("art.toml"));
    let ran = ends(&home, &["tool", "list"]);
    assert_eq!(ran.code(), 6, "{ran}");
    assert!(ran.stderr().contains("art.toml`: not a regular file"), "{ran}");
}

#[test]
fn a_component_that_is_a_pipe_is_refused_and_the_others_load() {
    let home = Home::fresh();
    pipe(&home.plugins().join("a.wasm"));
    assert!(lists(&home).stdout().contains("a.wasm: not a regular file"));
}

#[test]
fn compiled_code_that_is_a_pipe_is_made_again() {
    let home = Home::fresh();
    lists(&home);
    let code = compiled(&home);
    pipe(&code);
    lists(&home);
    let ran = ends(&home, &["tool", "call", "calculator", r#"{"expression":"6*7"}"#]);
    assert!(ran.stdout().contains("42"), "{ran}");
}

#[test]
fn a_cache_key_that_is_a_pipe_or_was_cut_is_replaced_and_that_is_told_once() {
    let home = Home::fresh();
    lists(&home);
    let key = cache(&home).join("key");
    let cut = |key: &Path| fs::write(key, "short").unwrap();
    let none = |key: &Path| fs::write(key, "").unwrap();
    let long = |key: &Path| fs::write(key, [0; 33]).unwrap();
    let ways: [&dyn Fn(&Path); 4] = [&cut, &none, &long, &|key| pipe(key)];
    for spoil in ways {
        spoil(&key);
        let told = [lists(&home).stderr(), lists(&home).stderr()];
        assert!(
            told[0].contains("the key of the cache is invalid and is replaced"),
            "{told:?}"
        );
        assert_eq!(told[1], "");
    }
}
