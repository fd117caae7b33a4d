// A `path`, or a text in braces, has to name an argument of the call: `{args.NAME}`.
use art_sdk::prelude::*;

/// Reads a file.
#[tool(capabilities(fs(read, path = "/etc/passwd")))]
fn read(_: NoArgs) -> Result<bool> {
    Ok(true)
}

/// Fetches a page.
#[tool(capabilities(http("{url}", methods("GET"))))]
fn fetch(_: NoArgs) -> Result<bool> {
    Ok(true)
}

fn main() {}
