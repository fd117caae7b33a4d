//! Ranks texts by their similarity to a query (BM25).

use std::collections::BTreeSet;
use std::fmt;

use bm25::{Embedder, EmbedderBuilder, Scorer, Tokenizer};

/// Maximum number of words of a document that are read.
const MAX_DOCUMENT_WORDS: usize = 2_000;

/// Maximum number of words of a query that are read.
const MAX_QUERY_WORDS: usize = 500;

/// An index of documents that ranks them for any number of queries.
///
/// A word is a run of letters and digits; case is ignored. There is no stemming and no list of stop words; a caller
/// may apply both to the documents and the queries. Repeating a word in a document raises its
/// weight; repeating a word in a query does not.
///
/// At most 2,000 words of a document and 500 of a query are read.
pub struct Ranker {
    embedder: Embedder<u64, Words>,
    scorer: Scorer<usize, u64>,
    documents: usize,
}

impl Ranker {
    /// Creates an index of `documents`. Results name each by its position, from 0.
    #[must_use]
    pub fn new<T: AsRef<str>>(documents: impl IntoIterator<Item = T>) -> Self {
        let documents: Vec<_> = documents.into_iter().collect();
        let corpus: Vec<_> = documents.iter().map(AsRef::as_ref).collect();
        let embedder = EmbedderBuilder::with_tokenizer_and_fit_to_corpus(Words, &corpus).build();
        let mut scorer = Scorer::new();
        for (position, document) in corpus.iter().enumerate() {
            scorer.upsert(&position, embedder.embed(document));
        }
        Self {
            embedder,
            scorer,
            documents: corpus.len(),
        }
    }

    /// Returns the positions and scores of at most `limit` documents that share a word with `query`, best first.
    /// Documents with equal scores keep their order. Scores are positive and can be compared within one index only.
    #[must_use]
    pub fn rank(&self, query: &str, limit: usize) -> Vec<(usize, f32)> {
        let distinct: BTreeSet<_> = words(query).take(MAX_QUERY_WORDS).collect();
        let query = self.embedder.embed(&Vec::from_iter(distinct).join(" "));
        let score = |position| Some((position, self.scorer.score(&position, &query)?));
        let mut ranked: Vec<_> = (0..self.documents)
            .filter_map(score)
            .filter(|(_, score)| *score > 0.0)
            .collect();
        // The sort is stable, so documents with equal scores keep their order.
        ranked.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        ranked.truncate(limit);
        ranked
    }
}

impl fmt::Debug for Ranker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranker")
            .field("documents", &self.documents)
            .finish_non_exhaustive()
    }
}

/// Returns the words of `text` in lower case.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Tokenizer for documents and for queries that are already cut.
struct Words;

impl Tokenizer for Words {
    fn tokenize(&self, text: &str) -> Vec<String> {
        words(text).take(MAX_DOCUMENT_WORDS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn positions(documents: &[&str], query: &str, limit: usize) -> Vec<usize> {
        let ranked = Ranker::new(documents).rank(query, limit);
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
        let ranker = Ranker::new(TOOLS);
        assert_eq!(ranker.rank("city storm city", 9), ranker.rank("storm city", 9));
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
            let ranked = Ranker::new(&documents).rank(&query, 3);
            prop_assert!(ranked.len() <= 3);
            prop_assert!(ranked.iter().all(|(position, score)| *position < documents.len() && *score > 0.0));
            prop_assert_eq!(ranked, Ranker::new(&documents).rank(&query, 3));
        }
    }
}
