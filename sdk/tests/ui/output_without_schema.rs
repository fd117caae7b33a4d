use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

struct Out {
    words: usize,
}

/// Counts words.
#[tool]
fn word_count(input: In) -> Result<Out> {
    Ok(Out { words: input.text.split_whitespace().count() })
}

fn main() {}
