//! What goes in and what comes out.

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
    /// Words shorter than this many characters are left out of the frequent words, for example 4 to skip `the` and `and`.
    #[serde(default = "one")]
    pub(crate) min_word_length: u32,
    /// What to count the occurrences of, in any letter case: a word or a phrase as whole words, a single letter anywhere.
    pub(crate) find: Option<String>,
    /// How fast the reader is, for the reading time. 238 is the average of adults who read English silently.
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

/// What the text is made of.
#[output]
#[derive(Default)]
pub(crate) struct TextStatsOutput {
    /// How many times `find` occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<usize>,
    /// The number of words, as Unicode separates them (UAX #29).
    pub(crate) words: usize,
    /// The number of different words, upper and lower case being the same.
    pub(crate) unique_words: usize,
    /// The number of characters as a reader sees them: an accented letter or an emoji is one. Line breaks count.
    pub(crate) characters: usize,
    /// The same without white space.
    pub(crate) characters_without_spaces: usize,
    /// The number of characters that are letters.
    pub(crate) letters: usize,
    /// The number of sentences.
    pub(crate) sentences: usize,
    /// The number of lines, empty ones included.
    pub(crate) lines: usize,
    /// The number of paragraphs, which empty lines separate.
    pub(crate) paragraphs: usize,
    /// Characters per word on average.
    pub(crate) average_word_length: f64,
    /// Words per sentence on average.
    pub(crate) average_sentence_length: f64,
    /// The longest word, the first one if there are several.
    pub(crate) longest_word: String,
    /// The most frequent words in lower case, most frequent first, equals in alphabetical order.
    pub(crate) frequent_words: Vec<WordCount>,
    /// How long reading takes, in seconds.
    pub(crate) reading_seconds: u64,
    /// How long reading takes, in words.
    pub(crate) reading_time: String,
}

/// A word and how often it occurs.
#[output]
pub(crate) struct WordCount {
    /// The word in lower case.
    pub(crate) word: String,
    /// How often it occurs.
    pub(crate) count: usize,
}
