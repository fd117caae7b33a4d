//! The words of a tool.

use super::super::schema::Tool;
use super::super::words;

/// The words of one tool, by how much they say.
#[derive(Debug)]
pub(super) struct Vocabulary {
    pub(super) name: Vec<String>,
    pub(super) first_sentence: Vec<String>,
    description: Vec<String>,
    parameters: Vec<String>,
    examples: Vec<String>,
}

impl Vocabulary {
    /// Reads `tool`.
    pub(super) fn new(tool: &Tool) -> Self {
        let first = tool.description.split(". ").next().unwrap_or_default();
        let mut parameters = Vec::new();
        for param in &tool.params {
            parameters.extend(param.name_stems.iter().cloned());
            parameters.extend(param.description_stems.iter().cloned());
            parameters.extend(
                param
                    .choices
                    .iter()
                    .flat_map(|choice| words::stems(&super::super::schema::text_of(&choice.value))),
            );
        }
        Self {
            name: words::stems(&tool.name),
            first_sentence: words::stems(art_core::text::prefix(first, 600)),
            description: words::stems(art_core::text::prefix(&tool.description, 2_000)),
            parameters,
            examples: tool.examples.iter().flat_map(|example| words::stems(example)).collect(),
        }
    }

    /// Words that say more are repeated, which is how BM25 knows that they do.
    pub(super) fn document(&self) -> String {
        let fields = [
            (&self.name, 4),
            (&self.first_sentence, 2),
            (&self.description, 1),
            (&self.parameters, 1),
            (&self.examples, 1),
        ];
        let words = fields
            .into_iter()
            .flat_map(|(words, times)| std::iter::repeat_n(words, times).flatten());
        words.map(String::as_str).collect::<Vec<_>>().join(" ")
    }

    /// How well the tool knows `stem`, from 0 to 1.
    pub(super) fn knows(&self, stem: &str) -> f32 {
        let strong = words::best_likeness(stem, self.name.iter().chain(&self.description));
        let weak = words::best_likeness(stem, self.parameters.iter().chain(&self.examples)) * 0.6;
        strong.max(weak)
    }
}
