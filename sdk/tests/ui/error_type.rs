use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

/// Counts words.
#[tool]
fn word_count(input: In) -> Result<usize, String> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
