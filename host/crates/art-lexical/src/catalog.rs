//! The example questions of a set of tools, as patterns with slots for the values, and a search for the examples that are nearest to a question.

use std::sync::OnceLock;

use art_core::rank::rank;
use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::pattern::{Pattern, learn_patterns};
use crate::token::tokenise;
use crate::words::is_content_word;
use crate::{CompileSchema, Validator};

/// Maximum number of patterns. Each part of a question is aligned with all of them.
const MAX_PATTERNS: usize = 8_192;

/// Everything that the examples of a set of tools teach.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) tools: Vec<Tool>,
    compile_schema: CompileSchema,
    pub(crate) patterns: Vec<Pattern>,
    /// For each pattern, the stems of the content words of its question, as one text.
    content_words: Vec<String>,
}

/// A tool and the validator of its arguments, compiled when a question first fits the tool; `None` if the schema was refused.
pub(crate) type Tool = (ToolSchema, OnceLock<Option<Box<dyn Validator>>>);

impl Catalog {
    pub(crate) fn new(tools: &[ToolSchema], compile_schema: CompileSchema) -> Self {
        let numbered = tools.iter().enumerate();
        let all = numbered.flat_map(|(tool_index, schema)| learn_patterns(tool_index, schema));
        let patterns = all.take(MAX_PATTERNS).collect_vec();
        let stems_of = |pattern: &Pattern| content_stems(&pattern.question);
        Self {
            tools: tools.iter().map(|tool| (tool.clone(), OnceLock::new())).collect(),
            compile_schema,
            content_words: patterns.iter().map(stems_of).collect(),
            patterns,
        }
    }

    /// Returns whether the schema of the tool at `tool_index` allows `arguments`.
    pub(crate) fn allows(&self, tool_index: usize, arguments: &Value) -> bool {
        self.tools.get(tool_index).is_some_and(|(tool, validator)| {
            let validator = validator.get_or_init(|| (self.compile_schema)(&tool.input_schema));
            validator.as_ref().is_some_and(|compiled| compiled.is_valid(arguments))
        })
    }

    /// Returns the questions of examples that share a word with `text`: the nearest first, one for each tool, at most `limit`.
    pub(crate) fn nearest_questions(&self, text: &str, limit: usize) -> Vec<&str> {
        let ranked = rank(&self.content_words, &content_stems(text), self.patterns.len());
        let ranked = ranked.iter().filter_map(|(position, _)| self.patterns.get(*position));
        let nearest = ranked.unique_by(|pattern| pattern.tool_index).take(limit);
        nearest.map(|pattern| pattern.question.as_str()).collect()
    }
}

/// Returns the stems of the words with content in a text, joined by blanks.
fn content_stems(text: &str) -> String {
    let words = tokenise(text, &[]).into_iter().filter(is_content_word);
    words.map(|word| word.stem).join(" ")
}
