//! The input and the output of the tool.

use art_sdk::{args, output};

/// A text to count in.
#[args]
pub(crate) struct TextStatsInput {
    /// The text to analyse.
    pub(crate) text: String,
    /// How many of the most frequent words to list, 0 to 1000.
    #[serde(default = "ten")]
    #[schemars(range(max = 1000))]
    pub(crate) top: u32,
    /// The minimum length of the frequent words, in characters: for example 4 to skip `the` and `and`.
    #[serde(default = "one")]
    pub(crate) min_word_length: u32,
    /// The text whose occurrences to count, in any letter case: a word or a phrase as whole words, a single letter anywhere.
    pub(crate) find: Option<String>,
    /// The reading speed, for the reading time. 238 is the average of adults who read English silently.
    #[serde(default = "average_speed")]
    #[schemars(range(min = 1))]
    pub(crate) words_per_minute: u32,
}

fn ten() -> u32 {
    10
}

fn one() -> u32 {
    1
}

/// Brysbaert, "How many words do we read per minute?", Journal of Memory and Language 109 (2019).
fn average_speed() -> u32 {
    238
}

/// The counts.
#[output]
#[derive(Default)]
pub(crate) struct TextStatsOutput {
    /// How many times `find` occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<usize>,
    /// The number of words, as Unicode separates them (UAX #29).
    pub(crate) words: usize,
    /// The number of different words, ignoring letter case.
    pub(crate) unique_words: usize,
    /// The number of characters as a reader sees them: an accented letter or an emoji is one. Includes line breaks.
    pub(crate) characters: usize,
    /// The number of characters without white space.
    pub(crate) characters_without_spaces: usize,
    /// The number of characters that are letters.
    pub(crate) letters: usize,
    /// The number of sentences.
    pub(crate) sentences: usize,
    /// The number of lines, including empty ones.
    pub(crate) lines: usize,
    /// The number of paragraphs, which are separated by empty lines.
    pub(crate) paragraphs: usize,
    /// The average number of characters per word.
    pub(crate) average_word_length: f64,
    /// The average number of words per sentence.
    pub(crate) average_sentence_length: f64,
    /// The longest word; the first one if there are several.
    pub(crate) longest_word: String,
    /// The most frequent words in lower case, most frequent first, equally frequent ones in alphabetical order.
    pub(crate) frequent_words: Vec<WordCount>,
    /// The reading time in seconds.
    pub(crate) reading_seconds: u64,
    /// The reading time as text.
    pub(crate) reading_time: String,
}

/// A word and the number of its occurrences.
#[output]
pub(crate) struct WordCount {
    /// The word in lower case.
    pub(crate) word: String,
    /// The number of its occurrences.
    pub(crate) count: usize,
}
