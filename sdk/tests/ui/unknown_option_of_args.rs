use art_sdk::prelude::*;

#[args(ignore_unkown)]
struct In {
    text: String,
}

/// Counts words.
#[tool]
fn word_count(input: In) -> Result<usize> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
