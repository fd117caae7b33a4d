//! The examples of a tool. An example is a call of the tool; its description is a question that this call answers. An index of
//! these questions finds the examples that are most similar to the question of a person.

use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::rank::Index;
use crate::shared::Shared;
use crate::tool::ToolExample;

/// The examples of a tool. Clones share the list and its index, which is built when it is first needed. JSON contains only the list.
#[derive(Clone, Debug, Default)]
pub struct Examples {
    list: Shared<Vec<ToolExample>>,
    index: Arc<OnceLock<Index>>,
}

impl Examples {
    /// Returns whether both are clones that share one list. This is cheaper than a comparison.
    #[must_use]
    pub fn is_clone_of(&self, other: &Self) -> bool {
        self.list.is_clone_of(&other.list)
    }

    /// Returns the examples by the similarity of their questions to `query`, most similar first. Those that share no word with
    /// `query` come last, in their original order.
    pub fn by_similarity(&self, query: &str) -> impl Iterator<Item = &ToolExample> {
        let ranked = self.index().rank(query, self.list.len());
        let similar: Vec<usize> = ranked.into_iter().map(|(position, _)| position).collect();
        let mut has_shared_word = vec![false; self.list.len()];
        for position in &similar {
            if let Some(flag) = has_shared_word.get_mut(*position) {
                *flag = true;
            }
        }
        let others = has_shared_word
            .into_iter()
            .enumerate()
            .filter(|(_, shares_word)| !shares_word);
        let order = similar.into_iter().chain(others.map(|(position, _)| position));
        order.filter_map(|position| self.list.get(position))
    }

    fn index(&self) -> &Index {
        self.index.get_or_init(|| {
            let questions = self.list.iter().map(|example| example.description.as_deref());
            Index::new(&questions.map(Option::unwrap_or_default).collect::<Vec<&str>>())
        })
    }
}

impl From<Vec<ToolExample>> for Examples {
    fn from(list: Vec<ToolExample>) -> Self {
        Self {
            list: list.into(),
            index: Arc::default(),
        }
    }
}

impl Deref for Examples {
    type Target = Vec<ToolExample>;

    fn deref(&self) -> &Vec<ToolExample> {
        &self.list
    }
}

impl DerefMut for Examples {
    fn deref_mut(&mut self) -> &mut Vec<ToolExample> {
        self.index = Arc::default();
        &mut self.list
    }
}

impl PartialEq for Examples {
    fn eq(&self, other: &Self) -> bool {
        self.list == other.list
    }
}

impl Serialize for Examples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.list.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Examples {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn questions(examples: &Examples, query: &str) -> Vec<String> {
        let ordered = examples.by_similarity(query);
        ordered.filter_map(|example| example.description.clone()).collect()
    }

    #[test]
    fn examples_that_share_a_word_come_first_and_the_others_follow_in_their_order() {
        let list = json!([
            {"input": {}, "description": "add"}, {"input": {}}, {"input": {}, "description": "the root"},
            {"input": {}, "description": "the mean"}
        ]);
        let mut examples: Examples = serde_json::from_value(list).unwrap();
        assert_eq!(questions(&examples, "a mean root"), ["the root", "the mean", "add"]);
        examples.push(serde_json::from_value(json!({"input": {}, "description": "a mean root"})).unwrap());
        assert_eq!(
            questions(&examples, "a mean root"),
            ["a mean root", "the root", "the mean", "add"]
        );
        assert_eq!(
            questions(&examples, "?"),
            ["add", "the root", "the mean", "a mean root"]
        );
    }
}
