//! Counts words, characters, sentences and more.

use std::{cmp::Reverse, collections::HashMap};

use art_sdk::lines::{Lines, split_byte_order_mark};
use thiserror::Error;
use unicode_segmentation::UnicodeSegmentation;

use crate::io::{Only, TextStatsInput, TextStatsOutput, WordCount};

/// The reason for which an input is refused.
#[derive(Debug, Error)]
pub(crate) enum CountError {
    #[error("`words_per_minute` is 0: give the number of words that are read in a minute, for example 238")]
    ZeroReadingSpeed,
    #[error("`find` is empty: give the word, phrase or letter to count")]
    EmptyFind,
    #[error("`only` is `times`, which needs `find`: give the word, phrase or letter to count")]
    MissingFind,
}

/// Counts in `input.text` what `input.only` asks for, or everything.
pub(crate) fn count(input: &TextStatsInput) -> Result<TextStatsOutput, CountError> {
    if input.words_per_minute == 0 {
        return Err(CountError::ZeroReadingSpeed);
    }
    if input.find.is_none() && matches!(input.only, Some(Only::Times)) {
        return Err(CountError::MissingFind);
    }
    let (_, text) = split_byte_order_mark(&input.text);
    let tally = Tally::of(text);
    let sentences = text.unicode_sentences().count();
    let reading_seconds = reading_seconds(tally.words, input.words_per_minute);
    let times = input.find.as_deref().map(|find| occurrences(text, find)).transpose()?;
    let count_graphemes =
        |is_counted: fn(&str) -> bool| Some(text.graphemes(true).filter(|grapheme| is_counted(grapheme)).count());
    let stats = TextStatsOutput {
        times,
        words: Some(tally.words),
        unique_words: Some(tally.count_by_word.len()),
        characters: count_graphemes(|_| true),
        characters_without_spaces: count_graphemes(|grapheme| !grapheme.chars().all(char::is_whitespace)),
        letters: count_graphemes(|grapheme| grapheme.starts_with(char::is_alphabetic)),
        vowels: count_graphemes(is_vowel),
        consonants: count_graphemes(|grapheme| grapheme.starts_with(char::is_alphabetic) && !is_vowel(grapheme)),
        digits: count_graphemes(is_digit),
        sentences: Some(sentences),
        lines: Some(Lines::of(text).count()),
        paragraphs: Some(paragraphs(text)),
        average_word_length: Some(ratio(tally.word_characters, tally.words)),
        average_sentence_length: Some(ratio(tally.words, sentences)),
        longest_word: Some(tally.longest_word.to_owned()),
        shortest_word: text
            .unicode_words()
            .min_by_key(|word| word.graphemes(true).count())
            .map(str::to_owned),
        frequent_words: Some(tally.most_frequent(input)),
        reading_seconds: Some(reading_seconds),
        reading_time: Some(reading_time(reading_seconds)),
    };
    Ok(match input.only {
        Some(only) => keep_only(only, stats),
        None => stats,
    })
}

/// Returns the one value of the statistics that `only` names, and leaves out all others.
fn keep_only(only: Only, stats: TextStatsOutput) -> TextStatsOutput {
    let empty = TextStatsOutput::default();
    match only {
        Only::Times => TextStatsOutput {
            times: stats.times,
            ..empty
        },
        Only::Words => TextStatsOutput {
            words: stats.words,
            ..empty
        },
        Only::UniqueWords => TextStatsOutput {
            unique_words: stats.unique_words,
            ..empty
        },
        Only::Characters => TextStatsOutput {
            characters: stats.characters,
            ..empty
        },
        Only::CharactersWithoutSpaces => TextStatsOutput {
            characters_without_spaces: stats.characters_without_spaces,
            ..empty
        },
        Only::Letters => TextStatsOutput {
            letters: stats.letters,
            ..empty
        },
        Only::Vowels => TextStatsOutput {
            vowels: stats.vowels,
            ..empty
        },
        Only::Consonants => TextStatsOutput {
            consonants: stats.consonants,
            ..empty
        },
        Only::Digits => TextStatsOutput {
            digits: stats.digits,
            ..empty
        },
        Only::Sentences => TextStatsOutput {
            sentences: stats.sentences,
            ..empty
        },
        Only::Lines => TextStatsOutput {
            lines: stats.lines,
            ..empty
        },
        Only::Paragraphs => TextStatsOutput {
            paragraphs: stats.paragraphs,
            ..empty
        },
        Only::AverageWordLength => TextStatsOutput {
            average_word_length: stats.average_word_length,
            ..empty
        },
        Only::AverageSentenceLength => TextStatsOutput {
            average_sentence_length: stats.average_sentence_length,
            ..empty
        },
        Only::LongestWord => TextStatsOutput {
            longest_word: stats.longest_word,
            ..empty
        },
        Only::ShortestWord => TextStatsOutput {
            shortest_word: stats.shortest_word,
            ..empty
        },
        Only::FrequentWords => TextStatsOutput {
            frequent_words: stats.frequent_words,
            ..empty
        },
        Only::ReadingTime => TextStatsOutput {
            reading_time: stats.reading_time,
            ..empty
        },
    }
}

/// The vowels in lower case: a, e, i, o and u, the characters of Unicode that are one of these letters with accent marks, and the
/// letters that are made of two vowels or a changed form of one, such as `æ`, `ø` and `ı`.
const VOWELS: &str = "aeiou\
    àáâãäåèéêëìíîïòóôõöùúûüāăąēĕėęěĩīĭįōŏőũūŭůűųơưǎǐǒǔǖǘǚǜǟǡǫǭǻȁ\
    ȃȅȇȉȋȍȏȕȗȧȩȫȭȯȱḁḕḗḙḛḝḭḯṍṏṑṓṳṵṷṹṻạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗ\
    ộớờởỡợụủứừửữựæøœı";

/// Returns whether a character is a, e, i, o or u, with or without an accent mark, or a letter made of them such as `æ`.
fn is_vowel(grapheme: &str) -> bool {
    let letter = grapheme
        .chars()
        .next()
        .map(|letter| letter.to_lowercase().next().unwrap_or(letter));
    letter.is_some_and(|letter| VOWELS.contains(letter))
}

/// Returns whether a character is a decimal digit of any script, and not another number such as `½` or `Ⅷ`.
fn is_digit(grapheme: &str) -> bool {
    let is_number = grapheme.starts_with(char::is_numeric) && !grapheme.starts_with(char::is_alphabetic);
    // Put a `0` before the character to find out whether it is a digit: the word boundary rules of Unicode (UAX #29) never
    // separate two digits, but they separate a digit from a number such as `½`.
    let is_one_word_with_zero = || format!("0{grapheme}").split_word_bounds().count() == 1;
    grapheme.starts_with(|c: char| c.is_ascii_digit()) || (is_number && is_one_word_with_zero())
}

/// The counts of one pass over the words.
#[derive(Default)]
struct Tally<'a> {
    words: usize,
    /// Number of characters in all words together.
    word_characters: usize,
    longest_word: &'a str,
    /// Number of occurrences of each word, in lower case.
    count_by_word: HashMap<String, usize>,
}

impl<'a> Tally<'a> {
    fn of(text: &'a str) -> Self {
        let mut tally = Self::default();
        let mut longest_length = 0;
        for word in text.unicode_words() {
            let length = word.graphemes(true).count();
            tally.words += 1;
            tally.word_characters += length;
            if length > longest_length {
                (longest_length, tally.longest_word) = (length, word);
            }
            *tally.count_by_word.entry(word.to_lowercase()).or_default() += 1;
        }
        tally
    }

    fn most_frequent(self, input: &TextStatsInput) -> Vec<WordCount> {
        let min_length = usize::try_from(input.min_word_length).unwrap_or(usize::MAX);
        let top = usize::try_from(input.top.min(1000)).unwrap_or_default();
        let long_enough = |(word, _): &(String, usize)| word.graphemes(true).count() >= min_length;
        let mut words: Vec<(String, usize)> = self.count_by_word.into_iter().filter(long_enough).collect();
        words.sort_by(|(a, count_a), (b, count_b)| (Reverse(count_a), a).cmp(&(Reverse(count_b), b)));
        words
            .into_iter()
            .take(top)
            .map(|(word, count)| WordCount { word, count })
            .collect()
    }
}

/// Returns how often `find` occurs in any letter case: a single character anywhere, a longer text only as whole words.
fn occurrences(text: &str, find: &str) -> Result<usize, CountError> {
    let (text, find) = (text.to_lowercase(), find.trim().to_lowercase());
    if find.is_empty() {
        return Err(CountError::EmptyFind);
    }
    let is_single_character = find.graphemes(true).count() == 1;
    Ok(if is_single_character {
        text.matches(find.as_str()).count()
    } else {
        count_whole_words(&text, &find)
    })
}

/// Returns how often `find` occurs with no letter and no digit directly before or after it. Occurrences do not overlap.
fn count_whole_words(text: &str, find: &str) -> usize {
    let is_alphanumeric = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let (mut count, mut position) = (0_usize, 0_usize);
    while let Some(offset) = text.get(position..).and_then(|rest| rest.find(find)) {
        let (start, end) = (position + offset, position + offset + find.len());
        let before = text.get(..start).and_then(|before| before.chars().next_back());
        let after = text.get(end..).and_then(|after| after.chars().next());
        position = if is_alphanumeric(before) || is_alphanumeric(after) {
            position_after_next_separator(text, start)
        } else {
            count += 1;
            end
        };
    }
    count
}

/// Returns the next position at which whole words can begin: directly after the first character, from `position` on, that is no
/// letter and no digit. Returns the end of the text if there is no such character.
fn position_after_next_separator(text: &str, position: usize) -> usize {
    let mut chars = text.get(position..).unwrap_or_default().char_indices();
    let separator = chars.find(|(_, c)| !c.is_alphanumeric());
    separator.map_or(text.len(), |(offset, c)| position + offset + c.len_utf8())
}

/// Returns the number of paragraphs, which are runs of lines that are not blank.
fn paragraphs(text: &str) -> usize {
    let mut inside = false;
    let mut paragraphs = 0;
    // Without pairs, so that there is no empty line between their two signs.
    for line in text.replace("\r\n", "\n").split(['\n', '\r']) {
        let blank = line.trim().is_empty();
        paragraphs += usize::from(!blank && !inside);
        inside = !blank;
    }
    paragraphs
}

/// Returns the ratio, rounded to two decimals; 0 if `parts` is 0.
fn ratio(total: usize, parts: usize) -> f64 {
    if parts == 0 {
        0.0
    } else {
        (total as f64 / parts as f64 * 100.0).round() / 100.0
    }
}

/// Returns the reading time, rounded up to whole seconds.
fn reading_seconds(words: usize, words_per_minute: u32) -> u64 {
    let words = u64::try_from(words).unwrap_or(u64::MAX);
    words.saturating_mul(60).div_ceil(u64::from(words_per_minute).max(1))
}

/// Returns the reading time as text, rounded to minutes.
fn reading_time(seconds: u64) -> String {
    match (seconds + 30) / 60 {
        0 => "less than a minute".to_owned(),
        1 => "1 minute".to_owned(),
        minutes @ 2..=59 => format!("{minutes} minutes"),
        minutes => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}
