//! Ranks texts by their similarity to a query, with the BM25 function.
//!
//! [`rank`] is for documents that are ranked once: it counts only the words of the query. An [`Index`] is for documents that are
//! ranked many times: it counts all words once, and then answers each query from these counts.

use std::collections::{BTreeSet, HashMap};

/// Maximum number of words of a document that are read.
const MAX_DOCUMENT_WORDS: usize = 2_000;

/// Maximum number of words of a query that are read.
const MAX_QUERY_WORDS: usize = 500;

/// How much repetitions of a word count (`k1` of BM25).
const K1: f32 = 1.2;

/// How much the length of a document counts (`b` of BM25).
const B: f32 = 0.75;

/// Returns the positions and scores of at most `limit` documents that share a word with `query`, best first. Documents with equal
/// scores keep their order. Scores are positive and can be compared within one call only.
///
/// A word is a run of letters and digits; case is ignored. There is no stemming and no list of stop words; a caller may apply
/// both to the documents and the query. Repeating a word in a document raises its weight; repeating a word in the query does
/// not. At most 2,000 words of a document and 500 of a query are read.
#[must_use]
pub fn rank<T: AsRef<str>>(documents: &[T], query: &str, limit: usize) -> Vec<(usize, f32)> {
    let query = Query::new(query);
    Index::build(documents, Some(&query)).rank_by(&query, limit)
}

/// Documents that are ranked many times. Gives the same ranks as [`rank`], whose rules apply.
#[derive(Debug)]
pub struct Index {
    /// Number of words of each document.
    lengths: Vec<u32>,
    /// For each word, the positions of the documents that have it, each with the number of occurrences.
    occurrences: HashMap<Box<str>, Vec<(u32, u32)>>,
}

impl Index {
    /// Creates an index of `documents`.
    #[must_use]
    pub fn new<T: AsRef<str>>(documents: &[T]) -> Self {
        Self::build(documents, None)
    }

    /// Returns the positions and scores of the documents that share a word with `query`, as [`rank`] does.
    #[must_use]
    pub fn rank(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        self.rank_by(&Query::new(query), limit)
    }

    /// Creates an index of the words of `query`, or of all words if `query` is `None`. Words that are not in the index only add
    /// to the lengths of the documents.
    fn build<T: AsRef<str>>(documents: &[T], query: Option<&Query>) -> Self {
        let mut index = Self {
            lengths: Vec::with_capacity(documents.len()),
            occurrences: HashMap::new(),
        };
        let mut buffer = String::new();
        for (document, text) in (0_u32..).zip(documents) {
            let mut length = 0;
            for_each_word(text.as_ref(), MAX_DOCUMENT_WORDS, |word| {
                length += 1;
                if query.is_some_and(|query| !query.may_contain(word)) {
                    return;
                }
                let word = lower_case(word, &mut buffer);
                if query.is_none_or(|query| query.words.contains(word)) {
                    index.add(word, document);
                }
            });
            index.lengths.push(length);
        }
        index
    }

    fn add(&mut self, word: &str, document: u32) {
        let Some(occurrences) = self.occurrences.get_mut(word) else {
            self.occurrences.insert(word.into(), vec![(document, 1)]);
            return;
        };
        match occurrences.last_mut() {
            Some((last, count)) if *last == document => *count += 1,
            _ => occurrences.push((document, 1)),
        }
    }

    fn rank_by(&self, query: &Query, limit: usize) -> Vec<(usize, f32)> {
        let mean = self.mean_length();
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for occurrences in query
            .words
            .iter()
            .filter_map(|word| self.occurrences.get(word.as_str()))
        {
            let weight = self.weight(occurrences.len());
            for (document, count) in occurrences {
                let document = *document as usize;
                let length = self.lengths.get(document).copied().unwrap_or_default();
                if let Some(score) = scores.get_mut(document) {
                    *score += weight * saturation(*count, length, mean);
                }
            }
        }
        let scores = scores.into_iter().enumerate();
        let mut ranked: Vec<_> = scores.filter(|(_, score)| *score > 0.0).collect();
        // The sort is stable, so documents with equal scores keep their order.
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        ranked.truncate(limit);
        ranked
    }

    /// Returns the weight of a word that occurs in `document_count` documents. The fewer documents have the word, the higher its
    /// weight.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    fn weight(&self, document_count: usize) -> f32 {
        let (document_count, all) = (document_count as f32, self.lengths.len() as f32);
        (1.0 + (all - document_count + 0.5) / (document_count + 0.5)).ln()
    }

    #[expect(clippy::cast_precision_loss, reason = "the lengths are small")]
    fn mean_length(&self) -> f32 {
        let total: u64 = self.lengths.iter().copied().map(u64::from).sum();
        // If there are no documents, or all are empty, no score is computed from the mean, so any value will do.
        (total as f32 / self.lengths.len() as f32).max(f32::MIN_POSITIVE)
    }
}

/// Returns how much a word counts in a document of this length in which it occurs `count` times.
#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn saturation(count: u32, length: u32, mean_length: f32) -> f32 {
    let damping = K1 * (1.0 - B + B * (length as f32 / mean_length));
    count as f32 * (K1 + 1.0) / (count as f32 + damping)
}

/// The words of a query.
struct Query {
    /// The words in lower case, sorted, each once.
    words: BTreeSet<String>,
    /// The set of the first letters of the words: one [bit](first_letter_bit) for each.
    first_letters: u32,
}

impl Query {
    fn new(text: &str) -> Self {
        let mut words = BTreeSet::new();
        for_each_word(text, MAX_QUERY_WORDS, |word| {
            words.insert(lower_case(word, &mut String::new()).to_owned());
        });
        Self {
            first_letters: words
                .iter()
                .fold(0, |first_letters, word| first_letters | first_letter_bit(word)),
            words,
        }
    }

    /// Returns whether the query may contain `word`, judged by the first letter alone. For a word that is not ASCII the answer is
    /// always `true`, because its lower case may begin with an ASCII letter.
    fn may_contain(&self, word: &str) -> bool {
        !word.is_ascii() || self.first_letters & first_letter_bit(word) != 0
    }
}

/// Returns a bit for the first letter of a word, the same in upper and lower case if the letter is ASCII. Several characters may
/// share a bit.
fn first_letter_bit(word: &str) -> u32 {
    word.bytes().next().map_or(0, |byte| 1 << (byte & 31))
}

/// Calls `use_word` with each of the first `limit` words of `text`.
fn for_each_word<'a>(text: &'a str, limit: usize, mut use_word: impl FnMut(&'a str)) {
    let (mut start, mut word_count) = (0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            continue;
        }
        if start < at {
            if word_count == limit {
                return;
            }
            word_count += 1;
            use_word(text.get(start..at).unwrap_or_default());
        }
        start = at + c.len_utf8();
    }
}

/// Returns a word in lower case, in `buffer`.
fn lower_case<'a>(word: &str, buffer: &'a mut String) -> &'a str {
    buffer.clear();
    if word.is_ascii() {
        buffer.push_str(word);
        buffer.make_ascii_lowercase();
    } else {
        // The lower case of a letter may depend on its neighbours.
        buffer.push_str(&word.to_lowercase());
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NO_POSITIONS: [usize; 0] = [];

    fn positions(documents: &[&str], query: &str, limit: usize) -> Vec<usize> {
        let ranked = rank(documents, query, limit);
        ranked.into_iter().map(|(position, _)| position).collect()
    }

    const TOOLS: [&str; 4] = [
        "Sends a message to a person",
        "Tells the weather of a city",
        "Weather warnings: storm, flood, weather",
        "Evaluates an expression",
    ];

    #[test]
    fn documents_that_share_words_with_the_query_come_best_first() {
        assert_eq!(positions(&TOOLS, "storm weather", 4), [2, 1]);
    }

    #[test]
    fn a_query_that_shares_no_word_with_any_document_ranks_nothing() {
        assert_eq!(positions(&TOOLS, "zebra", 4), NO_POSITIONS);
        assert_eq!(positions(&[], "weather", 4), NO_POSITIONS);
        assert_eq!(positions(&["", "?!"], "", 4), NO_POSITIONS);
    }

    #[test]
    fn at_most_limit_documents_are_returned() {
        assert_eq!(positions(&TOOLS, "storm weather", 1), [2]);
        assert_eq!(positions(&TOOLS, "weather", 0), NO_POSITIONS);
    }

    #[test]
    fn equal_documents_keep_their_order() {
        assert_eq!(positions(&["a", "b x", "b x", "b x"], "B", 9), [1, 2, 3]);
    }

    #[test]
    fn case_and_punctuation_do_not_count() {
        assert_eq!(positions(&["Größe,Höhe", "Tiefe"], "(HÖHE)", 9), [0]);
        // The Kelvin sign is not an ASCII character, but its lower case is.
        assert_eq!(positions(&["\u{212a}", "Tiefe"], "k", 9), [0]);
    }

    #[test]
    fn repeating_a_word_of_the_query_changes_nothing() {
        assert_eq!(rank(&TOOLS, "city storm city", 9), rank(&TOOLS, "storm city", 9));
    }

    #[test]
    fn words_past_the_maximum_of_a_document_are_ignored() {
        let long = format!("{} late", "early ".repeat(MAX_DOCUMENT_WORDS));
        assert_eq!(positions(&[&long, "other"], "late", 9), NO_POSITIONS);
        assert_eq!(positions(&[&long, "other"], "early", 9), [0]);
    }

    proptest! {
        #[test]
        fn an_index_gives_the_same_ranks_and_scores_as_rank(
            documents in prop::collection::vec("([aAbBkK\u{212a}1ß] ?|\\PC){0,12}", 0..6),
            query in "([aAbBkK\u{212a}1ß] ?|\\PC){0,12}",
        ) {
            let ranked = rank(&documents, &query, 3);
            prop_assert!(ranked.len() <= 3);
            prop_assert!(ranked.iter().all(|(position, score)| *position < documents.len() && *score > 0.0));
            prop_assert_eq!(ranked, Index::new(&documents).rank(&query, 3));
        }
    }
}
