//! Returns its input, and an integer of 128 bits.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    /// A number to return.
    id: u64,
    /// Any value to return.
    #[serde(default)]
    any: Value,
}

#[output]
struct Out {
    id: u64,
    any: Value,
    large: u128,
    negative: i128,
}

/// Returns large numbers.
#[tool(
    example(input = r#"{"id":1}"#),
    limits(fuel = 90_000_000, memory = "16 MiB", timeout = "5s", output = "64 KiB")
)]
fn large_numbers(input: In) -> Result<Out> {
    Ok(Out {
        id: input.id,
        any: input.any,
        large: u128::MAX,
        negative: i128::MIN,
    })
}
