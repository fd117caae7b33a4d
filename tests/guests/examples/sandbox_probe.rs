//! Tries to access the environment, files and standard input of the host.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[output]
struct Out {
    variables: usize,
    arguments: usize,
    /// How reading a file ended.
    file: String,
    /// How listing a directory ended.
    directory: String,
    /// How writing a file ended.
    written: String,
    /// Number of bytes that were read from standard input.
    input: usize,
}

/// Reports which parts of the host it can access.
#[tool]
fn sandbox_probe(_: NoArgs) -> Result<Out> {
    let describe = |result: std::io::Result<()>| match result {
        Ok(()) => "worked".to_owned(),
        Err(error) => error.kind().to_string(),
    };
    let mut line = String::new();
    Ok(Out {
        variables: std::env::vars_os().count(),
        arguments: std::env::args_os().count(),
        file: describe(std::fs::read("/etc/passwd").map(drop)),
        directory: describe(std::fs::read_dir("/").map(drop)),
        written: describe(std::fs::write("/tmp/escaped", "x")),
        input: std::io::stdin().read_line(&mut line).unwrap_or(0),
    })
}
