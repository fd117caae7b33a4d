//! The smallest useful tool: it counts the words of a text.
use art_sdk::prelude::*;

#[args]
struct In {
    /// The text to count in.
    text: String,
}

/// Counts the words of a text, which are separated by white space.
#[tool(example(
    ask = "How many words are in \"to be\"?",
    input = r#"{"text":"to be"}"#,
    output = "2"
))]
fn word_count(input: In) -> Result<usize> {
    Ok(input.text.split_whitespace().count())
}
