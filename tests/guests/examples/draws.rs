//! A tool in `display` mode, whose output the host shows as a table.

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

/// Returns the bars of a chart.
#[tool(mode = "display")]
fn draws(input: In) -> Result<Reply<Vec<Bar>>> {
    let bar = |height: u32| Bar {
        bar: format!("{}-{height}", input.name),
        height,
    };
    Ok(Reply::new(vec![bar(3), bar(14)]).title(format!("Bars of {}", input.name)))
}
