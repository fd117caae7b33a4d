//! Looks for anything outside of the sandbox.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[output]
struct Out {
    variables: usize,
    arguments: usize,
    file: String,
    directory: String,
    written: String,
    input: usize,
}

/// Reports what it can see of its host.
#[tool]
fn empty_hands(_: NoArgs) -> Result<Out> {
    let told = |result: std::io::Result<()>| match result {
        Ok(()) => "worked".to_owned(),
        Err(error) => error.kind().to_string(),
    };
    let mut line = String::new();
    Ok(Out {
        variables: std::env::vars_os().count(),
        arguments: std::env::args_os().count(),
        file: told(std::fs::read("/etc/passwd").map(drop)),
        directory: told(std::fs::read_dir("/").map(drop)),
        written: told(std::fs::write("/tmp/escaped", "x")),
        input: std::io::stdin().read_line(&mut line).unwrap_or(0),
    })
}
