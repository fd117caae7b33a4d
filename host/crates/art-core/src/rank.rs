//! Ranks texts by their similarity to a query (BM25).
//!
//! Documents that are ranked once have only the words of the query counted; those that are ranked often have an [`Index`].

use std::collections::{BTreeSet, HashMap};

/// Maximum number of words of a document that are read.
const MAX_DOCUMENT_WORDS: usize = 2_000;

/// Maximum number of words of a query that are read.
const MAX_QUERY_WORDS: usize = 500;

/// How much more of the same word counts.
const K1: f32 = 1.2;

/// How much the length of a document counts.
const B: f32 = 0.75;

/// Returns the positions and scores of at most `limit` documents that share a word with `query`, best first. Documents with equal
/// scores keep their order. Scores are positive and can be compared within one call only.
///
/// A word is a run of letters and digits; case is ignored. There is no stemming and no list of stop words; a caller may apply
/// both to the documents and the query. Repeating a word in a document raises its weight; repeating a word in the query does
/// not. At most 2,000 words of a document and 500 of a query are read.
#[must_use]
pub fn rank<T: AsRef<str>>(documents: &[T], query: &str, limit: usize) -> Vec<(usize, f32)> {
    let query = Query::of(query);
    Index::of_words(documents, |word| query.may_have(word)).rank_by(&query, limit)
}

/// Documents that are ranked many times. Gives the same ranks as [`rank`], whose rules apply.
#[derive(Debug)]
pub struct Index {
    /// Number of words of each document.
    lengths: Vec<usize>,
    /// The positions of the documents that have a word, with how often they have it.
    found: HashMap<String, Vec<(usize, usize)>>,
}

impl Index {
    /// Creates an index of `documents`.
    #[must_use]
    pub fn new<T: AsRef<str>>(documents: &[T]) -> Self {
        Self::of_words(documents, |_| true)
    }

    /// Returns the positions and scores of the nearest documents, as [`rank`] does.
    #[must_use]
    pub fn rank(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        self.rank_by(&Query::of(query), limit)
    }

    /// Creates an index of the words that `is_kept`. The others only count for the lengths of the documents.
    fn of_words<T: AsRef<str>>(documents: &[T], is_kept: impl Fn(&str) -> bool) -> Self {
        let mut index = Self {
            lengths: Vec::with_capacity(documents.len()),
            found: HashMap::new(),
        };
        let mut buffer = String::new();
        for (document, text) in documents.iter().enumerate() {
            let mut length = 0;
            for_each_word(text.as_ref(), MAX_DOCUMENT_WORDS, |word| {
                length += 1;
                if is_kept(word) {
                    index.add(lower(word, &mut buffer), document);
                }
            });
            index.lengths.push(length);
        }
        index
    }

    fn add(&mut self, word: &str, document: usize) {
        if !self.found.contains_key(word) {
            self.found.insert(word.to_owned(), Vec::new());
        }
        let Some(found) = self.found.get_mut(word) else { return };
        match found.last_mut() {
            Some((last, count)) if *last == document => *count += 1,
            _ => found.push((document, 1)),
        }
    }

    fn rank_by(&self, query: &Query, limit: usize) -> Vec<(usize, f32)> {
        let mean = self.mean_length();
        let mut scores = vec![0.0_f32; self.lengths.len()];
        for found in query.words.iter().filter_map(|word| self.found.get(word)) {
            let weight = self.weight(found.len());
            for (document, count) in found {
                let length = self.lengths.get(*document).copied().unwrap_or_default();
                if let Some(score) = scores.get_mut(*document) {
                    *score += weight * saturated(*count, length, mean);
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

    /// Returns the weight of a word that `having` documents have: the fewer, the higher it is.
    #[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
    fn weight(&self, having: usize) -> f32 {
        let (having, all) = (having as f32, self.lengths.len() as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }

    #[expect(clippy::cast_precision_loss, reason = "the lengths are small")]
    fn mean_length(&self) -> f32 {
        let total: usize = self.lengths.iter().sum();
        // A document without words has no score, so any other mean will do then.
        (total as f32 / self.lengths.len() as f32).max(f32::MIN_POSITIVE)
    }
}

/// Returns how much a word counts that a document of this length has `count` times.
#[expect(clippy::cast_precision_loss, reason = "the numbers are small")]
fn saturated(count: usize, length: usize, mean_length: f32) -> f32 {
    let length = K1 * (1.0 - B + B * (length as f32 / mean_length));
    count as f32 * (K1 + 1.0) / (count as f32 + length)
}

/// The words of a query.
struct Query {
    /// The words in lower case, sorted, each once.
    words: BTreeSet<String>,
    /// The [initials](initial) of the words.
    initials: u32,
}

impl Query {
    fn of(text: &str) -> Self {
        let mut words = BTreeSet::new();
        for_each_word(text, MAX_QUERY_WORDS, |word| {
            words.insert(lower(word, &mut String::new()).to_owned());
        });
        Self {
            initials: words.iter().fold(0, |initials, word| initials | initial(word)),
            words,
        }
    }

    /// Returns `false` for most words that are not in the query: those that begin with a letter with which none of its words does.
    fn may_have(&self, word: &str) -> bool {
        !word.is_ascii() || self.initials & initial(word) != 0
    }
}

/// Returns a bit for the first letter of a word, the same in upper and lower case if it is ASCII.
fn initial(word: &str) -> u32 {
    word.bytes().next().map_or(0, |byte| 1 << (byte & 31))
}

/// Calls `use_word` with each of the first `limit` words of `text`.
fn for_each_word<'a>(text: &'a str, limit: usize, mut use_word: impl FnMut(&'a str)) {
    let (mut start, mut number) = (0, 0);
    for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
        if c.is_alphanumeric() {
            continue;
        }
        if start < at {
            if number == limit {
                return;
            }
            number += 1;
            use_word(text.get(start..at).unwrap_or_default());
        }
        start = at + c.len_utf8();
    }
}

/// Returns a word in lower case, in `buffer`.
fn lower<'a>(word: &str, buffer: &'a mut String) -> &'a str {
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
    fn documents_that_share_words_come_best_first() {
        assert_eq!(positions(&TOOLS, "storm weather", 4), [2, 1]);
    }

    #[test]
    fn a_query_without_a_known_word_ranks_nothing() {
        assert_eq!(positions(&TOOLS, "zebra", 4), [0; 0]);
        assert_eq!(positions(&[], "weather", 4), [0; 0]);
        assert_eq!(positions(&["", "?!"], "", 4), [0; 0]);
    }

    #[test]
    fn at_most_limit_documents_are_returned() {
        assert_eq!(positions(&TOOLS, "storm weather", 1), [2]);
        assert_eq!(positions(&TOOLS, "weather", 0), [0; 0]);
    }

    #[test]
    fn equal_documents_keep_their_order() {
        assert_eq!(positions(&["a", "b x", "b x", "b x"], "B", 9), [1, 2, 3]);
    }

    #[test]
    fn case_and_punctuation_do_not_count() {
        assert_eq!(positions(&["Größe,Höhe", "Tiefe"], "(HÖHE)", 9), [0]);
        // Kelvin's sign is no ASCII, and its lower case is.
        assert_eq!(positions(&["\u{212a}", "Tiefe"], "k", 9), [0]);
    }

    #[test]
    fn repeating_a_word_of_the_query_changes_nothing() {
        assert_eq!(rank(&TOOLS, "city storm city", 9), rank(&TOOLS, "storm city", 9));
    }

    #[test]
    fn words_past_the_bound_are_ignored() {
        let long = format!("{} late", "early ".repeat(MAX_DOCUMENT_WORDS));
        assert_eq!(positions(&[&long, "other"], "late", 9), [0; 0]);
        assert_eq!(positions(&[&long, "other"], "early", 9), [0]);
    }

    proptest! {
        #[test]
        fn any_text_is_ranked(documents in prop::collection::vec("\\PC{0,30}", 0..6), query in "\\PC{0,30}") {
            let ranked = rank(&documents, &query, 3);
            prop_assert!(ranked.len() <= 3);
            prop_assert!(ranked.iter().all(|(position, score)| *position < documents.len() && *score > 0.0));
            prop_assert_eq!(ranked, Index::new(&documents).rank(&query, 3));
        }
    }
}
