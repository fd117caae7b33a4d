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
// The lexical model of the host, which finds calls without a language model, learns from the questions in `ask` how people ask.
// A question that does not contain the `text` of its example is about an attached text or file.
#[tool(
    example(
        ask = "word count",
        ask = "Word count please",
        ask = "Length in words",
        ask = "Count how many words there are",
        ask = "Total number of words",
        ask = "Give me the word count",
        ask = "How many words have I written?",
        ask = "Words?",
        ask = "Count all words",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"words"}"#
    ),
    example(
        ask = "Length of this text in characters",
        ask = "Length in characters",
        ask = "Count all characters",
        ask = "How many characters did I write?",
        ask = "What is the character count?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters"}"#
    ),
    example(
        ask = r#"How many characters long is "hello world"?"#,
        ask = r#"Length of "hello world""#,
        ask = r#"What is the length of "hello world"?"#,
        ask = r#"How many characters in "hello world"?"#,
        ask = r#"Characters in "hello world""#,
        input = r#"{"text":"hello world","only":"characters"}"#
    ),
    example(
        ask = r#"Characters in "hello world" not counting spaces"#,
        ask = r#"Characters of "hello world" without spaces"#,
        ask = r#"How many characters has "hello world" excluding spaces?"#,
        ask = r#"Number of characters in "hello world" without spaces"#,
        ask = r#"How many characters without spaces does "hello world" have?"#,
        input = r#"{"text":"hello world","only":"characters_without_spaces"}"#
    ),
    example(
        ask = "How many sentences are in it?",
        ask = "Total number of sentences",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"sentences"}"#
    ),
    example(
        ask = "How many paragraphs did I write?",
        ask = "Total number of paragraphs",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"paragraphs"}"#
    ),
    example(
        ask = "Number of lines in this file",
        ask = "Count all lines",
        ask = "Total number of lines",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"lines"}"#
    ),
    example(
        ask = "Which word is the longest one?",
        ask = "Which word is longest?",
        ask = "The longest word",
        ask = "Which is the longest word?",
        ask = "Find the longest word",
        ask = "What's the longest word here?",
        ask = "Which word has the most letters?",
        ask = "Longest word used",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"longest_word"}"#
    ),
    example(
        ask = r#"Which word is the longest in "to be or not to be"?"#,
        ask = r#"Longest word in "to be or not to be""#,
        ask = r#"Find the longest word of "to be or not to be""#,
        input = r#"{"text":"to be or not to be","only":"longest_word"}"#
    ),
    example(
        ask = "What's the most frequent word?",
        ask = "What is the most used word?",
        ask = "Which words are used most?",
        ask = "Which words are used the most?",
        ask = "Which words occur most?",
        ask = "Most frequent words",
        ask = "Words by frequency",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words"}"#
    ),
    example(
        ask = "the 3 most common words",
        ask = "Give me the 3 most common words",
        ask = "Show the top 3 words",
        ask = "Which 3 words are used most?",
        ask = "Which 3 words are the most common?",
        ask = "What are the top 3 words?",
        input = r#"{"text":"The sea was calm. The ship was not.","top":3,"only":"frequent_words"}"#
    ),
    example(
        ask = "How many unique words does it have?",
        ask = "How many different words are used?",
        ask = "How many distinct words are there?",
        ask = "Count the unique words",
        ask = "How many words are unique?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"unique_words"}"#
    ),
    example(
        ask = "What's the reading time?",
        ask = "How long does it take to read this?",
        ask = "How long will it take to read this?",
        ask = "How long would I need to read this?",
        ask = "How much time does it take to read this?",
        ask = "How many minutes does it take to read this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"reading_time"}"#
    ),
    example(
        ask = "Reading time at 200 words per minute",
        ask = "What is the reading time at 200 words per minute?",
        ask = "How long does it take at 200 words per minute?",
        ask = "How long to read this at 200 words per minute?",
        ask = "How long do I need at 200 words a minute?",
        ask = "Reading time with 200 words per minute",
        input = r#"{"text":"The sea was calm. The ship was not.","words_per_minute":200,"only":"reading_time"}"#
    ),
    example(
        ask = "What's the average word length?",
        ask = "What is the mean word length?",
        ask = "Average length of words",
        ask = "How long are the words on average?",
        ask = "Average number of letters per word",
        ask = "How many letters does a word have on average?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_word_length"}"#
    ),
    example(
        ask = r#"How many times does the letter r occur in "strawberry"?"#,
        ask = r#"How many times does the letter "r" appear in "strawberry"?"#,
        ask = r#"How many times does r occur in "strawberry"?"#,
        ask = r#"How often does r appear in "strawberry"?"#,
        ask = r#"How often does the letter r occur in "strawberry"?"#,
        ask = r#"How many r's are in "strawberry"?"#,
        ask = r#"How many r's in "strawberry"?"#,
        ask = r#"How many r's are there in "strawberry"?"#,
        ask = r#"Count the letter r in "strawberry""#,
        ask = r#"Count the r's in "strawberry""#,
        ask = r#"Number of r's in "strawberry""#,
        ask = r#"How many letters r are in "strawberry"?"#,
        input = r#"{"text":"strawberry","find":"r","only":"times"}"#
    ),
    example(
        ask = "How often does sea appear?",
        ask = "How often is sea mentioned?",
        ask = "How often is the word sea used?",
        ask = "How many times is sea mentioned?",
        ask = "How many times does it say sea?",
        ask = "How many times is the word sea used?",
        ask = "Count how often sea occurs",
        ask = "Count how many times sea is used",
        ask = "How often is sea used in this text?",
        ask = "Count the occurrences of sea",
        ask = "Number of times sea occurs",
        ask = "How many times does sea appear in this text?",
        input = r#"{"text":"The sea was calm. The ship was not.","find":"sea","only":"times"}"#
    ),
    example(
        ask = r#"How often does "the" appear?"#,
        ask = r#"How often is "the" mentioned?"#,
        ask = r#"Count how many times "the" is used in this text"#,
        ask = r#"Count how many times "the" occurs"#,
        ask = r#"Count the occurrences of "the""#,
        ask = r#"How often is "the" used?"#,
        ask = r#"How many times do I use "the"?"#,
        ask = r#"How many times is "the" written?"#,
        ask = r#"Number of times "the" occurs"#,
        input = r#"{"text":"The sea was calm. The ship was not.","find":"the","only":"times"}"#
    ),
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
    example(
        ask = "How many words does it have?",
        ask = "How many words do I have?",
        ask = "Words in this text, how many?",
        ask = "Words, how many?",
        ask = "How many words does this text contain in total?",
        ask = "Tell me how many words this text has",
        ask = "Tell me how many words this text contains",
        ask = "Count the words in the attached text",
        ask = "Count the words of this text",
        ask = "Number of words",
        ask = "Total words",
        ask = "Total word count",
        ask = "Words in total",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"words"}"#
    ),
    example(
        ask = "How many sentences are there?",
        ask = "How many sentences does it have?",
        ask = "Tell me how many sentences this text has",
        ask = "Tell me how many sentences this text contains",
        ask = "Number of sentences",
        ask = "Count the sentences of this text",
        ask = "How many sentences are in the attached text?",
        ask = "Sentences in this text, how many?",
        ask = "Sentence count of this text",
        ask = "How many sentences did I write?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"sentences"}"#
    ),
    example(
        ask = "How many lines are there?",
        ask = "How many lines does it have?",
        ask = "Number of lines",
        ask = "Count the lines of this text",
        ask = "How many lines are in the attached file?",
        ask = "Lines in this text, how many?",
        ask = "Line count of this text",
        ask = "Tell me how many lines this text has",
        ask = "Tell me how many lines this text contains",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"lines"}"#
    ),
    example(
        ask = "How many paragraphs are there?",
        ask = "How many paragraphs does it have?",
        ask = "Number of paragraphs",
        ask = "Count the paragraphs of this text",
        ask = "How many paragraphs are in the attached text?",
        ask = "Paragraphs, how many?",
        ask = "Paragraph count of this text",
        ask = "How many paragraphs does this text contain?",
        ask = "Tell me how many paragraphs this text has",
        ask = "Tell me how many paragraphs this text contains",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"paragraphs"}"#
    ),
    example(
        ask = "How many characters are there?",
        ask = "How many characters does it have?",
        ask = "Number of characters",
        ask = "How many characters with spaces are in this text?",
        ask = "How many characters are in this text with spaces?",
        ask = "How many characters including spaces are in this text?",
        ask = "How many characters is this text?",
        ask = "How long is this text in characters?",
        ask = "How long in characters is this text?",
        ask = "Total number of characters",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters"}"#
    ),
    example(
        ask = r#"How many characters with spaces are in "hello world"?"#,
        ask = r#"How many characters are in "hello world" with spaces?"#,
        ask = r#"How many characters are in "hello world", including spaces?"#,
        ask = r#"How many characters is "hello world"?"#,
        ask = r#"How long in characters is "hello world"?"#,
        ask = r#"How long is "hello world" in characters?"#,
        ask = r#"Character count of "hello world""#,
        ask = r#"Number of characters in "hello world""#,
        ask = r#"How many characters is this with the spaces counted: "hello world""#,
        input = r#"{"text":"hello world","only":"characters"}"#
    ),
    example(
        ask = "Count the characters without spaces",
        ask = "Number of characters without spaces",
        ask = "Characters without spaces",
        ask = "Character count without spaces",
        ask = "Count the characters without the spaces in this text",
        ask = "How many characters are there without spaces?",
        ask = "Number of characters, not counting spaces",
        ask = "How many characters, not counting spaces?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"characters_without_spaces"}"#
    ),
    example(
        ask = "How many letters are there?",
        ask = "Number of letters in this text",
        ask = "How many letters does it have?",
        ask = "Number of letters",
        ask = "Count the letters",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"letters"}"#
    ),
    example(
        ask = r#"Letter count of "strawberry""#,
        ask = r#"Number of letters in "strawberry""#,
        ask = r#"How many letters in "strawberry"?"#,
        ask = r#"How many letters does the word "strawberry" have?"#,
        ask = r#"How many letters are in the word "strawberry"?"#,
        ask = r#"How many letters has "strawberry"?"#,
        input = r#"{"text":"strawberry","only":"letters"}"#
    ),
    example(
        ask = r#"Word count of "hello there world""#,
        ask = r#"How many words in "hello there world"?"#,
        ask = r#"Words in "hello there world""#,
        ask = r#"Word count for "hello there world""#,
        ask = r#"How many words is "hello there world"?"#,
        input = r#"{"text":"hello there world","only":"words"}"#
    ),
    example(
        ask = r#"Sentence count of "It rains. We stay.""#,
        ask = r#"Sentence count for "It rains. We stay.""#,
        ask = r#"Number of sentences in "It rains. We stay.""#,
        ask = r#"How many sentences does "It rains. We stay." have?"#,
        ask = r#"How many sentences in "It rains. We stay."?"#,
        input = r#"{"text":"It rains. We stay.","only":"sentences"}"#
    ),
    example(
        ask = "Which word is used most often?",
        ask = "Which word is used the most?",
        ask = "Which word occurs most often?",
        ask = "Which word occurs most frequently?",
        ask = "Which word appears most often?",
        ask = "Which word appears most frequently?",
        ask = "What is the most common word?",
        ask = "What is the most frequent word?",
        ask = "Most frequent word",
        ask = "Most common word",
        ask = "Most used word",
        ask = "Which word do I use most often?",
        ask = "Which word do I use the most?",
        ask = "Which word comes up most often?",
        ask = "Which word occurs most frequently, and how many times?",
        ask = "Which word occurs most often and how often?",
        ask = "Which word is the most frequent?",
        ask = "What is the most common word and how often does it occur?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words"}"#
    ),
    example(
        ask = "Most used words",
        ask = "What are the most used words?",
        ask = "Which words do I use most often?",
        ask = "Which words do I use the most?",
        ask = "Which words are most frequent?",
        ask = "Which words occur most frequently?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"frequent_words"}"#
    ),
    example(
        ask = "Top 3 most used words",
        ask = "Top 3 most common words",
        ask = "Top 3 most frequent words",
        ask = "The 3 most used words",
        ask = "The 3 most frequent words",
        ask = "What are the 3 most used words?",
        ask = "Which 3 words do I use most often?",
        ask = "Which 3 words do I use the most?",
        ask = "3 most frequent words",
        ask = "Top 3 words in this text",
        ask = "List the top 3 words",
        input = r#"{"text":"The sea was calm. The ship was not.","top":3,"only":"frequent_words"}"#
    ),
    example(
        ask = "How long would someone need to read this text?",
        ask = "How long does one need to read this text?",
        ask = "How long do you need to read this text?",
        ask = "How long is the reading time?",
        ask = "About how long would it take to read this text?",
        ask = "How long would it take someone to read this text?",
        ask = "How much time does it take to read this text?",
        ask = "How much time would it take to read this text?",
        ask = "How long would it take to read it?",
        ask = "How long would it take to read this?",
        ask = "Approximately how long would it take to read this text?",
        ask = "How many minutes of reading is this text?",
        ask = "Estimated reading time",
        ask = "How long does it take to read?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"reading_time"}"#
    ),
    example(
        ask = "Average length of a word",
        ask = "Average length of the words",
        ask = "Average word length of this text",
        ask = "Mean word length",
        ask = "What is the average word length?",
        ask = "How long is a word on average?",
        ask = "How long is the average word?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_word_length"}"#
    ),
    example(
        ask = "Average sentence length",
        ask = "Average number of words per sentence",
        ask = "How many words per sentence are there on average?",
        ask = "How long is a sentence on average?",
        ask = "How long is the average sentence?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"average_sentence_length"}"#
    ),
    example(
        ask = "How many unique words are there?",
        ask = "How many different words are there?",
        ask = "Number of unique words",
        ask = "Number of different words",
        ask = "Number of distinct words",
        ask = "Count the different words",
        ask = "Unique words",
        ask = "Unique word count",
        ask = "How many different words do I use?",
        ask = "How many different words did I use?",
        ask = "How many unique words are in the attached text?",
        ask = "How many distinct words does this text use?",
        input = r#"{"text":"The sea was calm. The ship was not.","only":"unique_words"}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn text_stats(input: TextStatsInput) -> Result<TextStatsOutput> {
    count::count(&input).map_err(ToolError::validation)
}
