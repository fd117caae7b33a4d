//! A component written in Python. It contains an interpreter, whose standard library needs WASI imports for files, sockets
//! and more.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::home::Home;
use crate::program::CommandOutput;

/// Builds the example `python_reader` with the command in its README, and writes it to `component`.
fn build(component: &Path) {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/python_reader");
    let arguments = [
        "-q",
        "-d",
        "../../wit",
        "-w",
        "tool-plugin",
        "componentize",
        "app",
        "-o",
    ];
    let built = Command::new("componentize-py")
        .args(arguments)
        .arg(component)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(example)
        .output()
        .expect("`componentize-py` is in the PATH");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
}

fn call(home: &Home, path: &Path) -> CommandOutput {
    let arguments = json!({ "path": path }).to_string();
    home.art(&["--json", "tool", "call", "python_reader", &arguments])
}

/// Returns the command that the denial suggests, without the name of the program.
fn suggested_command(denied: &CommandOutput) -> Vec<String> {
    let metadata: &Value = &denied.json()["result"]["metadata"];
    let command = metadata["denials"][0]["command"].as_str().unwrap_or_default();
    let words = command.strip_prefix("art ").unwrap_or_else(|| panic!("{denied}"));
    words.split(' ').map(str::to_owned).collect()
}

#[test]
#[ignore = "needs `componentize-py` from PyPI in the PATH; `.ci/run python` installs it"]
fn a_tool_in_python_reads_a_file_with_the_grant_that_its_denial_names() {
    let (home, folder) = (Home::empty(), TempDir::new().unwrap());
    let built = folder.path().join("python_reader.wasm");
    build(&built);
    home.add("python_reader", built.to_str().unwrap());
    let (granted, other) = (folder.path().join("a.txt"), folder.path().join("b.txt"));
    fs::write(&granted, "buy milk\nannual budget\n").unwrap();
    fs::write(&other, "private\n").unwrap();

    let denied = call(&home, &granted);
    assert_eq!(denied.code(), 5, "{denied}");
    assert_eq!(denied.json()["result"]["code"], "PERMISSION_DENIED", "{denied}");
    let command = suggested_command(&denied);
    let words: Vec<_> = command.iter().map(String::as_str).collect();
    let added = home.art(&words);
    assert_eq!(added.code(), 0, "{added}");

    let counted = call(&home, &granted);
    assert_eq!(counted.code(), 0, "{counted}");
    assert_eq!(counted.json()["result"]["output"], json!({"lines": 2, "words": 4}));
    assert_eq!(call(&home, &other).code(), 5);
}
