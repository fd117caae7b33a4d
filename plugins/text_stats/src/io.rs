//! The input and the output of the tool.

use art_sdk::{args, never_null, output, promise, schemars, serde_json::json};

/// A text to count in.
#[args]
pub(crate) struct TextStatsInput {
    /// The text to analyse.
    pub(crate) text: String,
    /// How many of the most frequent words to list, 0 to 1000.
    #[serde(default = "default_top")]
    #[schemars(range(max = 1000))]
    pub(crate) top: u32,
    /// The minimum length of the frequent words, in characters: for example 4 to skip `the` and `and`.
    #[serde(default = "default_min_word_length")]
    pub(crate) min_word_length: u32,
    /// The text whose occurrences to count, in any letter case: a word or a phrase as whole words, a single letter anywhere.
    pub(crate) find: Option<String>,
    /// The only value to return, for a question that asks for one. If omitted, all are returned.
    pub(crate) only: Option<Only>,
    /// The reading speed, for the reading time. 238 is the average of adults who read English silently.
    #[serde(default = "average_speed")]
    #[schemars(range(min = 1))]
    pub(crate) words_per_minute: u32,
}

fn default_top() -> u32 {
    10
}

fn default_min_word_length() -> u32 {
    1
}

/// Returns the default reading speed, in words per minute. Its source is Brysbaert, "How many words do we read per minute?",
/// Journal of Memory and Language 109 (2019).
fn average_speed() -> u32 {
    238
}

/// A value of the output that `only` can name.
#[args]
#[output]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Only {
    Times,
    Words,
    UniqueWords,
    Characters,
    CharactersWithoutSpaces,
    Letters,
    Sentences,
    Lines,
    Paragraphs,
    Vowels,
    Consonants,
    Digits,
    AverageWordLength,
    AverageSentenceLength,
    LongestWord,
    ShortestWord,
    FrequentWords,
    ReadingTime,
}

/// The counts.
#[output]
#[derive(Default)]
#[schemars(transform = add_promises)]
pub(crate) struct TextStatsOutput {
    /// How many times `find` occurs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) times: Option<usize>,
    /// The number of words, as Unicode separates them (UAX #29).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) words: Option<usize>,
    /// The number of different words, ignoring letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) unique_words: Option<usize>,
    /// The number of characters as a reader sees them: an accented letter or an emoji is one. Includes line breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) characters: Option<usize>,
    /// The number of characters without white space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) characters_without_spaces: Option<usize>,
    /// The number of characters that are letters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) letters: Option<usize>,
    /// The number of the letters a, e, i, o and u, with or without an accent mark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vowels: Option<usize>,
    /// The number of letters that are not vowels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) consonants: Option<usize>,
    /// The number of digits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) digits: Option<usize>,
    /// The number of sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sentences: Option<usize>,
    /// The number of lines, including empty ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lines: Option<usize>,
    /// The number of paragraphs, which are separated by empty lines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) paragraphs: Option<usize>,
    /// The average number of characters per word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) average_word_length: Option<f64>,
    /// The average number of words per sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) average_sentence_length: Option<f64>,
    /// The longest word; the first one if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) longest_word: Option<String>,
    /// The shortest word; the first one if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) shortest_word: Option<String>,
    /// The most frequent words in lower case, most frequent first, equally frequent ones in alphabetical order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) frequent_words: Option<Vec<WordCount>>,
    /// The reading time in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reading_seconds: Option<u64>,
    /// The reading time as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) reading_time: Option<String>,
}

/// A word and the number of its occurrences.
#[output]
pub(crate) struct WordCount {
    /// The word in lower case.
    pub(crate) word: String,
    /// The number of its occurrences.
    pub(crate) count: usize,
}

/// Adds to the schema that no property is null, and promises which values the output has, depending on `only`. If `only` names a
/// value, the output has this value. Without `only` (a promise writes this as `null`), the output has all values except `times`,
/// which needs `find`. Nothing is promised about `shortest_word`, because a text without words has none.
fn add_promises(schema: &mut schemars::Schema) {
    never_null(schema);
    for name in ALWAYS_PRESENT {
        promise(schema, json!({"only": [name]}), json!({"required": [name]}));
    }
    promise(schema, json!({"only": ["times"]}), json!({"required": ["times"]}));
    promise(
        schema,
        json!({"only": ["reading_time"]}),
        json!({"required": ["reading_time"]}),
    );
    let reading_values = ["reading_seconds", "reading_time"];
    let all: Vec<&str> = ALWAYS_PRESENT.into_iter().chain(reading_values).collect();
    promise(schema, json!({"only": [null]}), json!({"required": all}));
}

/// Names of the values that every text has, even a text without words, whose `longest_word` is an empty text. The two values of
/// the reading time are not listed, because `only` has one name for both.
const ALWAYS_PRESENT: [&str; 15] = [
    "words",
    "unique_words",
    "characters",
    "characters_without_spaces",
    "letters",
    "vowels",
    "consonants",
    "digits",
    "sentences",
    "lines",
    "paragraphs",
    "average_word_length",
    "average_sentence_length",
    "longest_word",
    "frequent_words",
];
