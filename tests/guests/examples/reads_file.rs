//! Reads a file. The `#[tool]` attribute requests read access to files.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    path: String,
}

#[output]
struct Out {
    text: String,
}

/// Returns the text of a file.
#[tool(capabilities(fs(read, reason = "to return the text")))]
fn reads_file(input: In) -> Result<Out> {
    let text =
        std::fs::read_to_string(&input.path).map_err(|error| ToolError::new(ErrorCode::IoError, error.to_string()))?;
    Ok(Out { text })
}
