//! A `display` tool whose output is rendered as a table.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    /// The name of the bars.
    name: String,
}

#[output]
struct Bar {
    bar: String,
    height: u32,
}

/// Draws a chart of bars.
#[tool(mode = "display")]
fn draws(input: In) -> Result<Reply<Vec<Bar>>> {
    let bar = |height: u32| Bar {
        bar: format!("{}-{height}", input.name),
        height,
    };
    Ok(Reply::new(vec![bar(3), bar(14)]).title(format!("Bars of {}", input.name)))
}
