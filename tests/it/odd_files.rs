//! Files that `art` reads (configuration, plugins and cache) and that are pipes, truncated or otherwise invalid: `art` does not
//! hang, and it replaces invalid files of the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::home::Home;
use crate::program::CommandOutput;

/// Time after which a program counts as hanging. The programs of these tests take a fraction of it.
const TIMEOUT: Duration = Duration::from_secs(120);

fn replace_with_pipe(path: &Path) {
    // A file of that name need not exist.
    drop(fs::remove_file(path));
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Runs `art`. Fails if it does not end before the timeout.
fn run(home: &Home, args: &[&str]) -> CommandOutput {
    let mut command = home.command(args);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > TIMEOUT {
            child.kill().unwrap();
            panic!("`art {}` hangs", args.join(" "));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    CommandOutput(child.wait_with_output().unwrap())
}

/// Lists the tools of a home, and asserts that `calculator` is among them.
fn list_tools(home: &Home) -> CommandOutput {
    let ran = run(home, &["tool", "list"]);
    assert_eq!(ran.code(), 0, "{ran}");
    assert!(ran.stdout().contains("calculator"), "{ran}");
    ran
}

fn code_cache(home: &Home) -> PathBuf {
    home.dir.path().join("cache").join("code")
}

/// Returns the path of the compiled code of `calculator`, the only tool of the home.
fn compiled_calculator(home: &Home) -> PathBuf {
    let entries = fs::read_dir(code_cache(home)).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths
        .find(|path| path.extension().is_some_and(|ending| ending == "cwasm"))
        .unwrap()
}

#[test]
fn a_configuration_that_is_a_pipe_is_an_error() {
    let home = Home::with_empty_cache();
    replace_with_pipe(&home.dir.path().join("art.toml"));
    let ran = run(&home, &["tool", "list"]);
    assert_eq!(ran.code(), 6, "{ran}");
    assert!(ran.stderr().contains("art.toml`: not a regular file"), "{ran}");
}

#[test]
fn a_component_that_is_a_pipe_is_refused_and_the_others_load() {
    let home = Home::with_empty_cache();
    replace_with_pipe(&home.plugins().join("a.wasm"));
    assert!(list_tools(&home).stdout().contains("a.wasm: not a regular file"));
}

#[test]
fn only_regular_files_of_a_bounded_size_are_read_from_the_plugins_folder() {
    let home = Home::with_empty_cache();
    let plugin = |name: &str| home.plugins().join(name);
    fs::create_dir(plugin("directory.wasm")).unwrap();
    for (target, name) in [
        ("/etc/shadow", "link.wasm"),
        ("/dev/zero", "device.wasm"),
        ("nowhere", "dangling.wasm"),
    ] {
        std::os::unix::fs::symlink(target, plugin(name)).unwrap();
    }
    // The file is sparse, so its size matters only to a program that reads it.
    fs::File::create(plugin("huge.wasm")).unwrap().set_len(2 << 30).unwrap();
    let listed = list_tools(&home).stdout();
    for name in [
        "directory.wasm",
        "link.wasm",
        "device.wasm",
        "dangling.wasm",
        "huge.wasm",
    ] {
        assert!(listed.contains(name), "{name}: {listed}");
    }
}

#[test]
fn compiled_code_that_is_a_pipe_does_not_prevent_a_call() {
    let home = Home::with_empty_cache();
    list_tools(&home);
    let code = compiled_calculator(&home);
    replace_with_pipe(&code);
    list_tools(&home);
    let ran = run(&home, &["tool", "call", "calculator", r#"{"expression":"6*7"}"#]);
    assert!(ran.stdout().contains("42"), "{ran}");
}

#[test]
fn an_invalid_key_file_of_the_cache_is_replaced_with_one_warning() {
    let home = Home::with_empty_cache();
    list_tools(&home);
    let key = code_cache(&home).join("key");
    // The key authenticates the files of the cache. A valid key has 32 bytes.
    let truncate = |key: &Path| fs::write(key, "short").unwrap();
    let empty = |key: &Path| fs::write(key, "").unwrap();
    let lengthen = |key: &Path| fs::write(key, [0; 33]).unwrap();
    let ways_to_damage: [&dyn Fn(&Path); 4] = [&truncate, &empty, &lengthen, &|key| replace_with_pipe(key)];
    for damage in ways_to_damage {
        damage(&key);
        let [first, second] = [list_tools(&home).stderr(), list_tools(&home).stderr()];
        assert!(
            first.contains("the key of the cache is invalid and is replaced"),
            "{first}"
        );
        assert_eq!(second, "");
    }
}
