//! The smallest useful tool.
use art_sdk::prelude::*;

#[args]
struct In {
    /// The text to count in.
    text: String,
}

/// Counts the words of a text, which are what white space separates.
#[tool]
fn word_count(input: In) -> Result<usize> {
    Ok(input.text.split_whitespace().count())
}
