//! Attaches files to its output, writes a line to its log, and prints to standard output and standard error.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    /// The file name of the table.
    name: String,
}

/// Attaches a table and a picture.
#[tool]
fn produces_files(input: In, ctx: &Context) -> Result<Reply<u32>> {
    ctx.warn("the walrus logs");
    write_lines();
    // The output is the number of files. The title contains a line separator, which the host has to escape.
    Ok(Reply::new(2)
        .title("a table and\u{2028}a picture")
        .attachment(Attachment::new("text/csv", "a,b\n1,2\n").filename(input.name))
        .attachment(Attachment::new("image/png", b"\x89PNG\r\n\x1a\n\xff".to_vec())))
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "tests read what a tool prints")]
fn write_lines() {
    println!("the walrus writes");
    eprintln!("the walrus complains");
}
