//! A run whose tools used files or sent requests is replayed from its journal alone, in its own home and in another home.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::harness::components;
use crate::home::Home;
use crate::http_server::HttpServer;

/// The value of the secret `KEY`.
const SECRET: &str = "replayed-s3cret-value";

/// Creates a home with a first-party tool.
fn home_with(tool: &str) -> Home {
    let home = Home::empty();
    let mut plugins = components::PLUGINS.iter();
    let (_, component) = plugins.find(|(name, _)| *name == tool).unwrap();
    home.add(tool, component);
    home
}

/// Runs `art grant add` with these arguments.
fn grant(home: &Home, words: &[&str]) {
    let granted = home.art(&[&["grant", "add"], words].concat());
    assert_eq!(granted.code(), 0, "{granted}");
}

/// Calls a tool, and returns its output.
fn call(home: &Home, tool: &str, arguments: &Value) -> Value {
    let called = home.art(&["--json", "tool", "call", tool, &arguments.to_string()]);
    assert_eq!(called.code(), 0, "{called}");
    called.json()["result"]["output"].clone()
}

/// Replays the last run of a home, and its export in a home without tools and grants. Asserts that both replays ran the call with
/// the same fuel as the record.
fn assert_replays_everywhere(home: &Home) {
    let file = home.dir.path().join("run.jsonl");
    let file = file.to_str().unwrap();
    let exported = home.art(&["runs", "export", "--force", "last", file]);
    assert_eq!(exported.code(), 0, "{exported}");
    let elsewhere = Home::empty();
    for (home, run) in [(home, "last"), (&elsewhere, file)] {
        let replayed = home.art(&["--json", "runs", "replay", run]);
        assert_eq!(replayed.code(), 0, "{replayed}");
        let replay = replayed.json();
        assert_eq!(
            (&replay["difference"], &replay["callsRun"], &replay["fuelCompared"]),
            (&Value::Null, &json!(1), &json!(1)),
            "{replay}"
        );
    }
}

/// Returns why the only call of the last run is not run again.
fn reason_for_no_replay(home: &Home) -> String {
    let replay = home.art(&["--json", "runs", "replay", "last"]).json();
    let not_run_again = replay["taken"].as_array().unwrap();
    assert_eq!(
        (not_run_again.len(), &replay["difference"]),
        (1, &Value::Null),
        "{replay}"
    );
    not_run_again[0]["reason"].as_str().unwrap().to_owned()
}

#[test]
fn a_run_that_read_a_file_is_replayed_after_the_file_and_its_grant_are_gone() {
    let (home, folder) = (home_with("file_read"), TempDir::new().unwrap());
    let path = folder.path().canonicalize().unwrap().join("a.txt");
    // A text of this size is stored in a blob and not in an event of the journal.
    fs::write(&path, "all work and no play\n".repeat(2_000)).unwrap();
    let path = path.to_str().unwrap().to_owned();
    grant(&home, &["file_read", "--read", &path]);
    call(&home, "file_read", &json!({"path": path, "from_line": 2}));
    drop(folder);
    assert_replays_everywhere(&home);
    fs::remove_file(home.grants_path("file_read").unwrap()).unwrap();
    assert_replays_everywhere(&home);
}

/// Creates a home with a tool that writes files, and a folder for which the tool has a grant with these options. Writes a file
/// there.
fn home_with_written_file(options: &[&str]) -> (Home, TempDir) {
    let (home, folder) = (Home::empty(), TempDir::new().unwrap());
    home.add("files", components::FILES);
    let path = folder.path().canonicalize().unwrap();
    grant(
        &home,
        &[&["files", "--write", path.to_str().unwrap()], options].concat(),
    );
    let output = call(
        &home,
        "files",
        &json!({"steps": [["write", path.join("new.txt"), "hello"]]}),
    );
    assert_eq!(output["results"], json!(["done"]));
    (home, folder)
}

#[test]
fn a_run_that_wrote_a_file_is_replayed_without_writing_it() {
    let (home, folder) = home_with_written_file(&[]);
    let path = folder.path().join("new.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "hello");
    fs::write(&path, "changed since").unwrap();
    assert_replays_everywhere(&home);
    assert_eq!(fs::read_to_string(&path).unwrap(), "changed since");
    fs::remove_file(&path).unwrap();
    assert_replays_everywhere(&home);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_staged_a_change_is_replayed_without_staging_it() {
    // With `--stage`, what the tool writes is kept apart from the files until a person commits it.
    let (home, _folder) = home_with_written_file(&["--stage"]);
    let changes = || home.art(&["--json", "changes", "list"]).json();
    let staged = changes();
    assert_replays_everywhere(&home);
    assert_eq!((changes(), staged.as_array().unwrap().len()), (staged.clone(), 1));
}

#[test]
fn a_run_that_sent_requests_is_replayed_without_sending_any() {
    let (home, server) = (home_with("http_fetch"), HttpServer::page("<h1>Today</h1><p>Hello"));
    let url = server.url("/");
    // `--private` allows the address of the server, 127.0.0.1, which is not public.
    grant(&home, &["http_fetch", "--http", &url, "--private"]);
    call(&home, "http_fetch", &json!({"url": url}));
    let sent = server.requests().len();
    assert_replays_everywhere(&home);
    assert_eq!(server.requests().len(), sent);
}

#[test]
fn a_run_with_limits_that_the_operator_set_is_replayed_in_a_home_without_them() {
    let home = Home::empty();
    home.add("asks", components::ASKS);
    home.file("art.toml", "[tools.asks]\nfuel = 7000000\n");
    // The call computes until it has used up its fuel.
    let arguments = json!({"questions": ["compute"], "n": u64::MAX});
    let called = home.art(&["--json", "tool", "call", "asks", &arguments.to_string()]);
    assert!(called.stdout().contains("7000000"), "{called}");
    assert_replays_everywhere(&home);
    home.file("art.toml", "");
    assert_replays_everywhere(&home);
}

#[test]
fn a_secret_in_a_file_that_a_tool_reads_is_in_no_record() {
    let (home, folder) = (home_with("file_read"), TempDir::new().unwrap());
    let path = folder.path().canonicalize().unwrap().join("a.txt");
    fs::write(&path, format!("the key is {SECRET}\n")).unwrap();
    let path = path.to_str().unwrap();
    let set = home.art_with_input(&["secret", "set", "KEY"], &format!("{SECRET}\n"));
    assert_eq!(set.code(), 0, "{set}");
    grant(&home, &["file_read", "--read", path]);
    let output = call(&home, "file_read", &json!({"path": path}));
    assert!(!output.to_string().contains(SECRET), "{output}");
    assert_eq!(reason_for_no_replay(&home), "took_secret");
    let file = home.dir.path().join("run.jsonl");
    assert_eq!(home.art(&["runs", "export", "last", file.to_str().unwrap()]).code(), 0);
    let stored = [fs::read(file), fs::read(home.dir.path().join("state/art.db"))];
    for bytes in stored.map(Result::unwrap) {
        assert!(!contains(&bytes, SECRET.as_bytes()));
        // The beginning of the text of the file in Base64.
        assert!(!contains(&bytes, b"dGhlIGtleSBpcyByZXBsYXllZC"));
    }
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}
