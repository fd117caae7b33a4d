//! Returns the text of its input and the identifier of the call.

#![cfg(target_family = "wasm")]

use art_sdk::prelude::*;

#[args]
struct In {
    /// The text to return.
    text: String,
}

#[output]
struct Out {
    text: String,
    call_id: String,
}

/// Returns the text of its input.
#[tool(
    example(input = r#"{"text":"hello"}"#),
    limits(fuel = 90_000_000, memory = "16 MiB", timeout = "5s", output = "64 KiB")
)]
fn echo(input: In, ctx: &Context) -> Result<Out> {
    ctx.info("echoing");
    Ok(Out {
        text: input.text,
        call_id: ctx.call_id().to_owned(),
    })
}
