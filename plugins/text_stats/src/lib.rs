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
        ask = "How many words are in this essay?",
        ask = "How many words are in this article?",
        ask = "How many words are in this letter?",
        ask = "How many words are in this email?",
        ask = "How many words are in this message?",
        ask = "How many words are in this story?",
        ask = "How many words are in this report?",
        ask = "How many words are in this note?",
        ask = "How many words are in this document?",
        ask = "How many words are in this post?",
        ask = "How many words are in this page?",
        ask = "How many words are in this poem?",
        ask = "How many words are in this speech?",
        ask = "How many words are in this log?",
        ask = "How many words are in this list?",
        ask = "How many words are in this draft?",
        ask = "How many words are in this chapter?",
        ask = "How many words are in this memo?",
        ask = "How many words are in this transcript?",
        ask = "How many words are in this readme?",
        ask = "How many words are in this paper?",
        ask = "How many words are in this script?",
        ask = "How many words are in these notes?",
        ask = "How many words are in this?",
        ask = "How many words are in here?",
        ask = "How many words does this text contain?",
        ask = "How many words is this text?",
        ask = "How many words did I write?",
        ask = "How many words in this text?",
        ask = "How many words long is this text?",
        ask = "Number of words in this text",
        ask = "Total words in this text",
        ask = "Total number of words in this text",
        ask = "Count up the words in this text",
        ask = "Word count",
        ask = "Word count of this text",
        ask = "Word count for this text",
        ask = "What's the word count?",
        ask = "How long is this text in words?",
        ask = "Tell me how many words are in this text",
        ask = "Words in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"words"}"#
    ),
    example(
        ask = r#"Word count of "to be or not to be""#,
        ask = "Word count: to be or not to be",
        ask = "Count words: to be or not to be",
        ask = "How many words: to be or not to be",
        ask = "How many words are in this sentence: to be or not to be",
        ask = "Count the words in this sentence: to be or not to be",
        input = r#"{"text":"to be or not to be","only":"words"}"#
    ),
    example(
        ask = "How many characters long is this text?",
        ask = "Character count",
        ask = "Character count of this text",
        ask = "Number of characters in this text",
        ask = "Count the characters",
        ask = "How many characters does this text contain?",
        ask = "How many chars are in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters"}"#
    ),
    example(
        ask = "Letter count",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"letters"}"#
    ),
    example(
        ask = "How many letters are in the word strawberry?",
        ask = "How many letters are there in the word strawberry?",
        ask = "How many letters does the word strawberry have?",
        ask = "How many letters has the word strawberry?",
        ask = "Count the letters in the word strawberry",
        input = r#"{"text":"strawberry","only":"letters"}"#
    ),
    example(
        ask = "Number of sentences in this text",
        ask = "Count the sentences",
        ask = "How many sentences does this text contain?",
        ask = "How many sentences in this text?",
        ask = "Sentence count",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"sentences"}"#
    ),
    example(
        ask = "How many lines does this text have?",
        ask = "How many lines are in this file?",
        ask = "Count the lines in this text",
        ask = "Number of lines in this text",
        ask = "How many lines in this text?",
        ask = "Line count",
        ask = "How many lines does this text contain?",
        ask = "How many lines long is this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"lines"}"#
    ),
    example(
        ask = "Count the paragraphs",
        ask = "Number of paragraphs in this text",
        ask = "How many paragraphs in this text?",
        ask = "Paragraph count",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"paragraphs"}"#
    ),
    example(
        ask = "How many distinct words are in this text?",
        ask = "How many different words are in this text?",
        ask = "Number of unique words in this text",
        ask = "Count the unique words in this text",
        ask = "How many unique words does this text have?",
        ask = "How many unique words does this text use?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"unique_words"}"#
    ),
    example(
        ask = "How long would it take to read this text?",
        ask = "How long will it take to read this text?",
        ask = "How long to read this text?",
        ask = "Reading time",
        ask = "Reading time of this text",
        ask = "Estimate the reading time of this text",
        ask = "How many minutes would it take to read this text?",
        ask = "How long does this text take to read?",
        ask = "What is the estimated reading time of this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"reading_time"}"#
    ),
    example(
        ask = "Most common words",
        ask = "Most frequent words in this text",
        ask = "Which words are used most often in this text?",
        ask = "Which words are used the most in this text?",
        ask = "Which words appear most often in this text?",
        ask = "Which words come up most in this text?",
        ask = "What words occur most often in this text?",
        ask = "List the most common words in this text",
        ask = "Show the most frequent words in this text",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words"}"#
    ),
    example(
        ask = "What are the 3 most common words in this text?",
        ask = "3 most common words",
        ask = "Top 3 words",
        ask = "What are the top 3 words in this text?",
        ask = "List the 3 most frequent words in this text",
        ask = "Which 3 words are used most often in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words","top":3}"#
    ),
    example(
        ask = "Longest word",
        ask = "Longest word in this text",
        ask = "Find the longest word in this text",
        ask = "Which is the longest word in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"longest_word"}"#
    ),
    example(
        ask = "Average word length",
        ask = "What is the average length of a word in this text?",
        ask = "What is the mean word length of this text?",
        ask = "What is the average word length in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_word_length"}"#
    ),
    example(
        ask = r#"How many times does "the" appear in this text?"#,
        ask = r#"How many times does "the" come up in this text?"#,
        ask = r#"How many times does "the" show up in this text?"#,
        ask = r#"How many times is "the" used in this text?"#,
        ask = r#"How many times is "the" mentioned in this text?"#,
        ask = r#"How many times is the word "the" in this text?"#,
        ask = r#"How many times does the word "the" occur in this text?"#,
        ask = r#"How many times does this text say "the"?"#,
        ask = r#"How many times does this text mention "the"?"#,
        ask = r#"How many times does this text use "the"?"#,
        ask = r#"How many times does it say "the" in this text?"#,
        ask = r#"How often does "the" appear in this text?"#,
        ask = r#"How often does "the" occur in this text?"#,
        ask = r#"How often is "the" used in this text?"#,
        ask = r#"How often is "the" mentioned in this text?"#,
        ask = r#"How often is the word "the" used in this text?"#,
        ask = r#"Count how often "the" occurs in this text"#,
        ask = r#"Count the times "the" occurs in this text"#,
        ask = r#"Count the occurrences of "the" in this text"#,
        ask = r#"Number of times "the" occurs in this text"#,
        input = r#"{"text":"The sea was calm. The ship was not.","find":"the","only":"times"}"#
    ),
    example(
        ask = "How many times does the word sea occur in this text?",
        ask = "How many times does the word sea appear in this text?",
        ask = "How often does the word sea occur in this text?",
        ask = "How often does the word sea occur?",
        ask = "How often does the word sea appear?",
        ask = "How many times does the word sea occur?",
        ask = "How many times is the word sea used in this text?",
        ask = "How often is the word sea used in this text?",
        ask = "How many times does this text say the word sea?",
        input = r#"{"text":"The sea was calm. The ship was not.","find":"sea","only":"times"}"#
    ),
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
