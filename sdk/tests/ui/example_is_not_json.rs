use art_sdk::prelude::*;

#[args]
struct In {
    text: String,
}

/// Counts words.
#[tool(example(input = r#"{"text": to be}"#))]
fn word_count(input: In) -> Result<usize> {
    Ok(input.text.split_whitespace().count())
}

fn main() {}
