//! The input and the output of the tool.

use art_sdk::{args, never_null, output, promise, schemars, serde_json::json};

/// Two versions of a text.
#[args]
pub(crate) struct DiffTextInput {
    /// The old, first or original text.
    pub(crate) before: String,
    /// The new, second or changed text.
    pub(crate) after: String,
    /// How many unchanged lines to show around each change, 0 to 100. Only for `lines`.
    #[serde(default = "default_context")]
    #[schemars(range(max = 100))]
    pub(crate) context: u32,
    /// The parts to compare: `lines` for files, code and lists, `words` for sentences and drafts, `chars` for single words, codes and spelling.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// The only value to return, for a question that asks for one. If omitted, the whole comparison is returned.
    pub(crate) only: Option<Only>,
}

/// A value that can be asked for.
#[args]
#[output]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Only {
    /// Which parts were added.
    Added,
    /// Which parts were removed.
    Removed,
    AddedCount,
    RemovedCount,
    ChangedCount,
    /// Whether the texts are equal: `yes` or `no`.
    IsSame,
    Similarity,
    Diff,
}

fn default_context() -> u32 {
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
#[derive(Default)]
#[schemars(transform = add_promises)]
pub(crate) struct DiffTextOutput {
    /// For lines a unified diff: `-` before a removed and `+` before an added line. For words and characters the whole text with `[-removed-]` and `{+added+}` in it. Empty when the texts are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) diff: Option<String>,
    /// The parts that only the new text has; neighbouring words are one part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) added: Option<Vec<String>>,
    /// The parts that only the old text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) removed: Option<Vec<String>>,
    /// How many parts were replaced, added or removed. White space between words is not counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) changed: Option<usize>,
    /// `yes` if the texts are equal, else `no`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same: Option<&'static str>,
    /// How similar the texts are, as a percentage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) similarity: Option<String>,
    /// Whether the texts are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) identical: Option<bool>,
    /// How many lines, words or characters only the new text has. White space between words counts as a word, unless `only` asks for this number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) inserted: Option<usize>,
    /// How many lines, words or characters only the old text has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) deleted: Option<usize>,
    /// How many lines, words or characters both texts have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) equal: Option<usize>,
    /// How similar the texts are: 1 when equal, 0 when they have nothing in common.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
}

/// Adds to the schema that no property is null, and which properties the output of a call has: the one that `only` asks for, or
/// all of the whole comparison if `only` is omitted (`null`).
fn add_promises(schema: &mut schemars::Schema) {
    never_null(schema);
    let whole_comparison = ["diff", "identical", "inserted", "deleted", "equal", "ratio"];
    promise(schema, json!({"only": [null]}), json!({"required": whole_comparison}));
    for (only, property) in [
        ("added", "added"),
        ("removed", "removed"),
        ("added_count", "inserted"),
        ("removed_count", "deleted"),
        ("changed_count", "changed"),
        ("is_same", "same"),
        ("similarity", "similarity"),
        ("diff", "diff"),
    ] {
        promise(schema, json!({"only": [only]}), json!({"required": [property]}));
    }
}
