use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

struct WithoutDisplay;

/// Counts words.
#[tool]
fn word_count(input: In) -> Result<usize, WithoutDisplay> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
