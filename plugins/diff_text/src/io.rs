//! The input and the output of the tool.

use art_sdk::{args, output};

/// Two versions of a text.
#[args]
pub(crate) struct DiffTextInput {
    /// The old, first or original text.
    pub(crate) before: String,
    /// The new, second or changed text.
    pub(crate) after: String,
    /// How many unchanged lines to show around each change, 0 to 100. Only for `lines`.
    #[serde(default = "three")]
    #[schemars(range(max = 100))]
    pub(crate) context: u32,
    /// The parts to compare: `lines` for files, code and lists, `words` for sentences and drafts, `chars` for single words, codes and spelling.
    #[serde(default)]
    pub(crate) mode: Mode,
}

fn three() -> u32 {
    3
}

/// The parts that are compared.
#[args]
#[output]
#[derive(Clone, Copy, Default, PartialEq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Mode {
    #[default]
    Lines,
    Words,
    Chars,
}

/// The difference.
#[output]
pub(crate) struct DiffTextOutput {
    /// For lines a unified diff: `-` before a removed and `+` before an added line. For words and characters the whole text with `[-removed-]` and `{+added+}` in it. Empty when the texts are equal.
    pub(crate) diff: String,
    /// Whether the texts are equal.
    pub(crate) identical: bool,
    /// How many lines, words or characters only the new text has. White space between words counts as a word.
    pub(crate) inserted: usize,
    /// How many lines, words or characters only the old text has.
    pub(crate) deleted: usize,
    /// How many lines, words or characters both texts have.
    pub(crate) equal: usize,
    /// How similar the texts are: 1 when equal, 0 when they have nothing in common.
    pub(crate) ratio: f64,
}
