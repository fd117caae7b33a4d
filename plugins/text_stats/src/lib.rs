//! `text_stats`: counts words, characters, sentences and more in a text.

use art_sdk::prelude::*;

mod count;
mod io;

#[cfg(test)]
mod tests;

use io::{TextStatsInput, TextStatsOutput};

/// Counts the words, characters, letters, sentences, lines and paragraphs of a text, its unique words, the most
/// frequent words, the average word length, and the time it takes to read. Use it for how many words or characters an
/// article, essay, post or message has, how long it is, which words it uses most often, or how many minutes reading
/// takes. Works in every language, emoji and accents included. Returns the counts and the list of frequent words.
#[tool(
    example(
        ask = r#"How many words are in "to be or not to be"?"#,
        ask = r#"How many words does "to be or not to be" have?"#,
        ask = r#"Count the words in "to be or not to be""#,
        ask = r#"How many words are there in "to be or not to be"?"#,
        ask = r#"Number of words in "to be or not to be""#,
        input = r#"{"text":"to be or not to be","only":"words"}"#,
        output = r#"{"words":6}"#
    ),
    example(
        ask = "How many words are in this text?",
        ask = "How many words does this text have?",
        ask = "How many words does this file have?",
        ask = "How many words are in the attached text?",
        ask = "How many words are in the attached file?",
        ask = "How many words does the attached file have?",
        ask = "How many words are in this file?",
        ask = "How many words are in the text?",
        ask = "Count the words in this text",
        ask = "Count the words",
        ask = "How many words are there?",
        ask = "How long is this text?",
        ask = "What is the word count of this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"words"}"#
    ),
    example(
        ask = r#"How many characters are in "hello world"?"#,
        ask = r#"How many characters does "hello world" have?"#,
        ask = r#"Count the characters in "hello world""#,
        ask = r#"How long is "hello world"?"#,
        input = r#"{"text":"hello world","only":"characters"}"#,
        output = r#"{"characters":11}"#
    ),
    example(
        ask = "How many characters are in this text?",
        ask = "Count the characters in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters"}"#
    ),
    example(
        ask = r#"How many letters are in "strawberry"?"#,
        ask = r#"How many letters does "strawberry" have?"#,
        ask = r#"Count the letters in "strawberry""#,
        input = r#"{"text":"strawberry","only":"letters"}"#
    ),
    example(
        ask = r#"How many sentences are in "It rains. We stay."?"#,
        ask = r#"Count the sentences in "It rains. We stay.""#,
        input = r#"{"text":"It rains. We stay.","only":"sentences"}"#
    ),
    example(
        ask = "How many sentences are in this text?",
        ask = "How many sentences does this text have?",
        ask = "Count the sentences in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"sentences"}"#
    ),
    example(
        ask = "How many lines are in this text?",
        ask = "How many lines does this file have?",
        ask = "Count the lines",
        input = r#"{"text":"one\ntwo\n","only":"lines"}"#
    ),
    example(
        ask = "How many paragraphs are in this text?",
        ask = "How many paragraphs does this text have?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"paragraphs"}"#
    ),
    example(
        ask = r#"How many unique words are in "to be or not to be"?"#,
        ask = r#"How many different words are in "to be or not to be"?"#,
        input = r#"{"text":"to be or not to be","only":"unique_words"}"#
    ),
    example(
        ask = "How many unique words are in this text?",
        ask = "How many different words does this text use?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"unique_words"}"#
    ),
    example(
        ask = "How long does it take to read this text?",
        ask = "What is the reading time of this text?",
        ask = "How many minutes does it take to read this?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"reading_time"}"#,
        output = r#"{"reading_time":"less than a minute"}"#
    ),
    example(
        ask = "How long does it take to read this text at 200 words per minute?",
        input = r#"{"text":"The sea was calm. The ship was not.","words_per_minute":200,"only":"reading_time"}"#
    ),
    example(
        ask = "What are the most frequent words in this text?",
        ask = "Which words occur most often in this text?",
        ask = "What are the most common words in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words"}"#
    ),
    example(
        ask = r#"What are the 2 most frequent words in "to be or not to be"?"#,
        ask = r#"What are the 2 most common words in "to be or not to be"?"#,
        input = r#"{"text":"to be or not to be","top":2,"only":"frequent_words"}"#,
        output = r#"{"frequent_words":[{"word":"be","count":2},{"word":"to","count":2}]}"#
    ),
    example(
        ask = "What are the 3 most frequent words in this text?",
        ask = "Which 3 words occur most often in this text?",
        ask = "Top 3 words of this text",
        input = r#"{"text":"The sea was calm. The ship was not.","top":3,"only":"frequent_words"}"#
    ),
    example(
        ask = "What are the 3 most common words with at least 5 letters in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","top":3,"min_word_length":5,"only":"frequent_words"}"#
    ),
    example(
        ask = r#"What is the longest word in "to be or not to be"?"#,
        input = r#"{"text":"to be or not to be","only":"longest_word"}"#
    ),
    example(
        ask = "What is the longest word in this text?",
        ask = "Which word is the longest in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"longest_word"}"#
    ),
    example(
        ask = "What is the average word length of this text?",
        ask = "How long are the words of this text on average?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_word_length"}"#
    ),
    example(
        ask = r#"How many times does "be" occur in "to be or not to be"?"#,
        ask = r#"How often does "be" occur in "to be or not to be"?"#,
        ask = r#"How often is "be" in "to be or not to be"?"#,
        input = r#"{"text":"to be or not to be","find":"be","only":"times"}"#,
        output = r#"{"times":2}"#
    ),
    example(
        ask = r#"How many times does "r" occur in "strawberry"?"#,
        ask = r#"How many times is "r" in "strawberry"?"#,
        ask = r#"How often does the letter "r" occur in "strawberry"?"#,
        ask = r#"How many "r" are in "strawberry"?"#,
        input = r#"{"text":"strawberry","find":"r","only":"times"}"#,
        output = r#"{"times":3}"#
    ),
    example(
        ask = r#"How many times does "the" occur in this text?"#,
        ask = r#"How often does the word "the" occur in this text?"#,
        ask = r#"How often does this text say "the"?"#,
        input = r#"{"text":"The sea was calm. The ship was not.","find":"the","only":"times"}"#
    ),
    example(
        ask = r#"How many characters without spaces are in "hello world"?"#,
        ask = r#"How many characters are in "hello world" without spaces?"#,
        ask = r#"How many characters does "hello world" have without spaces?"#,
        ask = r#"Count the characters in "hello world" without spaces"#,
        ask = r#"How many characters are in "hello world", not counting spaces?"#,
        input = r#"{"text":"hello world","only":"characters_without_spaces"}"#,
        output = r#"{"characters_without_spaces":10}"#
    ),
    example(
        ask = "How many characters without spaces are in this text?",
        ask = "How many characters are in this text without spaces?",
        ask = "How many characters does this text have without spaces?",
        ask = "How many characters are in this file, not counting spaces?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters_without_spaces"}"#,
        output = r#"{"characters_without_spaces":28}"#
    ),
    example(
        ask = r#"How many vowels are in "strawberry"?"#,
        ask = r#"How many vowels does "strawberry" have?"#,
        ask = r#"Count the vowels in "strawberry""#,
        input = r#"{"text":"strawberry","only":"vowels"}"#,
        output = r#"{"vowels":2}"#
    ),
    example(
        ask = "How many vowels are in this text?",
        ask = "Count the vowels in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"vowels"}"#
    ),
    example(
        ask = r#"How many consonants are in "strawberry"?"#,
        ask = r#"How many consonants does "strawberry" have?"#,
        ask = r#"Count the consonants in "strawberry""#,
        input = r#"{"text":"strawberry","only":"consonants"}"#,
        output = r#"{"consonants":8}"#
    ),
    example(
        ask = "How many consonants are in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"consonants"}"#
    ),
    example(
        ask = r#"How many digits are in "room 101"?"#,
        ask = r#"Count the digits in "room 101""#,
        input = r#"{"text":"room 101","only":"digits"}"#,
        output = r#"{"digits":3}"#
    ),
    example(
        ask = "How many digits are in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"digits"}"#,
        output = r#"{"digits":0}"#
    ),
    example(
        ask = "How many letters are in this text?",
        ask = "How many letters does this text have?",
        ask = "Count the letters in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"letters"}"#,
        output = r#"{"letters":26}"#
    ),
    example(
        ask = r#"What is the shortest word in "to be or not to be"?"#,
        ask = r#"Which word is the shortest in "to be or not to be"?"#,
        ask = r#"Shortest word in "to be or not to be""#,
        input = r#"{"text":"to be or not to be","only":"shortest_word"}"#,
        output = r#"{"shortest_word":"to"}"#
    ),
    example(
        ask = "What is the shortest word in this text?",
        ask = "Which word is the shortest in this text?",
        ask = "Shortest word in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"shortest_word"}"#,
        output = r#"{"shortest_word":"The"}"#
    ),
    example(
        ask = "What is the average sentence length of this text?",
        ask = "How long are the sentences of this text on average?",
        ask = "What is the average length of the sentences in this text?",
        ask = "How many words does a sentence have on average in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_sentence_length"}"#,
        output = r#"{"average_sentence_length":4.0}"#
    ),
    example(
        ask = r#"What is the average word length in "to be or not to be"?"#,
        input = r#"{"text":"to be or not to be","only":"average_word_length"}"#,
        output = r#"{"average_word_length":2.17}"#
    ),
    example(
        ask = "Count the paragraphs in this text",
        ask = "How many paragraphs are in this file?",
        input = r#"{"text":"one\n\ntwo\n","only":"paragraphs"}"#,
        output = r#"{"paragraphs":2}"#
    ),
    example(
        ask = "How many characters does this file have?",
        ask = "How many characters are in this file?",
        ask = "How many characters does this text have?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters"}"#,
        output = r#"{"characters":35}"#
    ),
    example(
        ask = "Statistics of this text",
        ask = "Give all counts for this text",
        ask = "Analyse this text",
        input = r#"{"text":"The sea was calm. The ship was not."}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn text_stats(input: TextStatsInput) -> Result<TextStatsOutput> {
    count::count(&input).map_err(ToolError::validation)
}
