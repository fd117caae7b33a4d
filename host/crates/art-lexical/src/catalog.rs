//! The patterns of a set of tools, and what comparing them shows about their words.

use std::sync::OnceLock;

use art_core::rank::rank;
use art_core::tool::ToolSchema;
use itertools::Itertools;
use serde_json::Value;

use crate::grammar::Grammar;
use crate::pattern::{Pattern, patterns};
use crate::token::{Token, tokens};
use crate::words::{is_functional, is_plain};
use crate::{CompileSchema, Validator};

/// Maximum number of patterns that one question is aligned with; of more, those with the nearest words.
const MAX_ALIGNED: usize = 4_096;

/// Everything that the examples of a set of tools teach.
#[derive(Debug)]
pub(crate) struct Catalog {
    pub(crate) tools: Vec<Tool>,
    compile: CompileSchema,
    patterns: Vec<Pattern>,
    /// What comparing the examples of each tool teaches.
    pub(crate) grammars: Vec<Grammar>,
    /// The content of the question of each pattern.
    contents: Vec<String>,
}

/// A tool and the validator of its arguments, compiled when a question first fits; `None` if the schema was refused.
pub(crate) type Tool = (ToolSchema, OnceLock<Option<Box<dyn Validator>>>);

impl Catalog {
    /// Learns from the examples of `tools`.
    pub(crate) fn new(tools: &[ToolSchema], compile: CompileSchema) -> Self {
        let all = tools.iter().enumerate().map(|(tool, schema)| patterns(tool, schema));
        let all = all.collect_vec();
        let mut grammars = all.iter().map(|patterns| Grammar::learn(patterns)).collect_vec();
        let synonyms = grammars.iter().flat_map(Grammar::same_words).cloned().collect();
        grammars.iter_mut().for_each(|grammar| grammar.adopt(&synonyms));
        let mut patterns = all.into_iter().flatten().collect_vec();
        for pattern in &mut patterns {
            let rests = (0..pattern.items.len()).filter_map(|at| pattern.items.get(at..));
            pattern.ways = rests
                .filter_map(|rest| Some(grammars.get(pattern.tool)?.ways(rest)))
                .collect();
        }
        let tools = tools.iter().map(|tool| (tool.clone(), OnceLock::new()));
        let contents = patterns.iter().map(|pattern| content(&pattern.ask)).collect();
        Self {
            tools: tools.collect(),
            compile,
            patterns,
            grammars,
            contents,
        }
    }

    /// Returns whether an example of a tool has a word with that stem.
    pub(crate) fn knows(&self, stem: &str) -> bool {
        self.grammars.iter().any(|grammar| grammar.knows(stem))
    }

    /// Returns whether a question for a tool may lack the word with that stem.
    pub(crate) fn may_lack(&self, tool: usize, stem: &str) -> bool {
        self.grammars.get(tool).is_some_and(|grammar| grammar.may_lack(stem))
    }

    /// Returns whether the schema of a tool allows `arguments`.
    pub(crate) fn allows(&self, tool: usize, arguments: &Value) -> bool {
        let tool = self.tools.get(tool);
        let validator = tool.and_then(|(tool, validator)| {
            let validator = validator.get_or_init(|| (self.compile)(&tool.input_schema));
            validator.as_ref()
        });
        validator.is_some_and(|validator| validator.is_valid(arguments))
    }

    /// Returns whether no pattern of another tool has all `words` that have content, and there are such words.
    pub(crate) fn is_distinctive(&self, words: &[&str], tool: usize) -> bool {
        let words = words.iter().filter(|word| !is_functional(word)).collect_vec();
        let has = |pattern: &Pattern, word: &str| pattern.words().any(|other| other == word);
        let has_all = |pattern: &Pattern| words.iter().all(|word| has(pattern, word));
        let mut others = self.patterns.iter().filter(|pattern| pattern.tool != tool);
        !words.is_empty() && !others.any(has_all)
    }

    /// Returns the patterns to align with `text`.
    pub(crate) fn candidates(&self, text: &str) -> Vec<&Pattern> {
        if self.patterns.len() <= MAX_ALIGNED {
            return self.patterns.iter().collect();
        }
        self.ranked(text, MAX_ALIGNED).collect()
    }

    /// Returns questions of examples that share a word with `text`, the nearest first, one for each tool.
    pub(crate) fn nearest(&self, text: &str, limit: usize) -> Vec<&str> {
        let ranked = self.ranked(text, self.patterns.len());
        let nearest = ranked.unique_by(|pattern| pattern.tool);
        nearest.take(limit).map(|pattern| pattern.ask.as_str()).collect()
    }

    fn ranked(&self, text: &str, limit: usize) -> impl Iterator<Item = &Pattern> {
        let ranked = rank(&self.contents, &content(text), limit).into_iter();
        ranked.filter_map(|(position, _)| self.patterns.get(position))
    }
}

/// The stems of the words of a text that name something, joined by blanks.
fn content(text: &str) -> String {
    let tokens = tokens(text, &[]);
    tokens.iter().filter(|token| is_plain(token)).map(Token::word).join(" ")
}
