//! Ranks texts by their similarity to a query (BM25).
//!
//! Of the documents only the words of the query are counted, because most documents are ranked once.

use std::collections::BTreeSet;

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
    let mut words = BTreeSet::new();
    for_each_word(query, MAX_QUERY_WORDS, |word| {
        words.insert(word.to_owned());
    });
    let words: Vec<String> = words.into_iter().collect();
    let counts: Vec<Counts> = documents
        .iter()
        .map(|document| Counts::of(document.as_ref(), &words))
        .collect();
    let weights: Vec<f32> = (0..words.len()).map(|word| weight(&counts, word)).collect();
    let mean = mean_length(&counts);
    let scores = counts.iter().map(|counts| counts.score(&weights, mean)).enumerate();
    let mut ranked: Vec<_> = scores.filter(|(_, score)| *score > 0.0).collect();
    // The sort is stable, so documents with equal scores keep their order.
    ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    ranked.truncate(limit);
    ranked
}

/// How often the words of a query are in a document.
struct Counts {
    /// Number of all words of the document.
    length: usize,
    /// The counts, in the order of the words.
    of_words: Vec<usize>,
}

impl Counts {
    fn of(document: &str, words: &[String]) -> Self {
        let (mut length, mut of_words) = (0, vec![0; words.len()]);
        for_each_word(document, MAX_DOCUMENT_WORDS, |word| {
            length += 1;
            let position = words.binary_search_by(|other| other.as_str().cmp(word));
            if let Some(count) = position.ok().and_then(|position| of_words.get_mut(position)) {
                *count += 1;
            }
        });
        Self { length, of_words }
    }

    #[expect(clippy::cast_precision_loss, reason = "the counts are small")]
    fn score(&self, weights: &[f32], mean_length: f32) -> f32 {
        let length = K1 * (1.0 - B + B * (self.length as f32 / mean_length));
        let saturated = |count: usize| count as f32 * (K1 + 1.0) / (count as f32 + length);
        let of_words = self.of_words.iter().zip(weights);
        of_words.map(|(count, weight)| weight * saturated(*count)).sum()
    }
}

/// Returns the weight of a word: the fewer documents have it, the higher it is.
#[expect(clippy::cast_precision_loss, reason = "the counts are small")]
fn weight(counts: &[Counts], word: usize) -> f32 {
    let has_word = |counts: &&Counts| counts.of_words.get(word).is_some_and(|count| *count > 0);
    let (with, all) = (counts.iter().filter(has_word).count() as f32, counts.len() as f32);
    (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
}

#[expect(clippy::cast_precision_loss, reason = "the lengths are small")]
fn mean_length(counts: &[Counts]) -> f32 {
    let total: usize = counts.iter().map(|counts| counts.length).sum();
    // A document without words has no score, so any other mean will do then.
    (total as f32 / counts.len() as f32).max(f32::MIN_POSITIVE)
}

/// Calls `use_word` with each of the first `limit` words of `text`, in lower case.
fn for_each_word(text: &str, limit: usize, mut use_word: impl FnMut(&str)) {
    let mut lower = String::new();
    let words = text
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty());
    for word in words.take(limit) {
        lower.clear();
        if word.is_ascii() {
            lower.push_str(word);
            lower.make_ascii_lowercase();
        } else {
            // The lower case of a letter may depend on its neighbours.
            lower.push_str(&word.to_lowercase());
        }
        use_word(&lower);
    }
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
            prop_assert_eq!(ranked, rank(&documents, &query, 3));
        }
    }
}
