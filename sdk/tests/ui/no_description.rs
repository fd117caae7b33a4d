use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

#[tool]
fn word_count(input: In) -> Result<usize> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
