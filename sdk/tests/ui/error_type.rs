use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

struct Silent;

/// Counts words.
#[tool]
fn word_count(input: In) -> Result<usize, Silent> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
