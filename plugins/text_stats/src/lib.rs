//! `text_stats`: counts what a text is made of.

use art_sdk::prelude::*;

mod count;
mod io;

#[cfg(test)]
mod tests;

use io::{TextStatsInput, TextStatsOutput};

/// Counts the words, characters, letters, sentences, lines and paragraphs of a text, its unique words, the most frequent
/// words, the average word length, and the time it takes to read. Use it for how many words or characters an article,
/// essay, post or message has, how long it is, which words it uses most often, or how many minutes reading takes. Works
/// in every language, emoji and accents included. Returns the counts and the list of frequent words.
#[tool(
    example(
        input = r#"{"text":"To be, or not to be: that is the question.","top":2}"#,
        output = r#"{"words":10,"unique_words":8,"characters":42,"characters_without_spaces":33,"letters":30,"sentences":1,"lines":1,"paragraphs":1,"average_word_length":3.0,"average_sentence_length":10.0,"longest_word":"question","frequent_words":[{"word":"be","count":2},{"word":"to","count":2}],"reading_seconds":3,"reading_time":"less than a minute"}"#,
        description = "How many words are in this sentence, and which occur most often?"
    ),
    example(
        input = r#"{"text":"","top":0}"#,
        output = r#"{"words":0,"unique_words":0,"characters":0,"characters_without_spaces":0,"letters":0,"sentences":0,"lines":0,"paragraphs":0,"average_word_length":0.0,"average_sentence_length":0.0,"longest_word":"","frequent_words":[],"reading_seconds":0,"reading_time":"less than a minute"}"#,
        description = "An empty text has nothing to count"
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn text_stats(input: TextStatsInput) -> Result<TextStatsOutput> {
    count::count(&input).map_err(ToolError::validation)
}
