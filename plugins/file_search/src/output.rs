//! The output of the tool.

use art_sdk::{output, promise, schemars, serde_json::json};

/// What was found.
#[output]
#[derive(Default)]
#[schemars(transform = add_promises)]
pub(crate) struct FileSearchOutput {
    /// The files with a match, in the order of their paths.
    pub(crate) files: Vec<MatchingFile>,
    /// The lines with a match. Absent with `files_only`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<Vec<MatchingLine>>,
    /// How many lines match, in the files that are listed.
    pub(crate) count: u64,
    /// How many files were searched.
    pub(crate) searched: usize,
    /// Whether a limit was reached, so that there may be more.
    pub(crate) truncated: bool,
    /// What was left out, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// A file with a match.
#[output]
pub(crate) struct MatchingFile {
    /// The path of the file.
    pub(crate) path: String,
    /// How many of its lines match.
    pub(crate) count: u64,
}

/// A line with a match.
#[output]
pub(crate) struct MatchingLine {
    /// The path of the file.
    pub(crate) path: String,
    /// The number of the line, counted from 1.
    pub(crate) line: u64,
    /// The line.
    pub(crate) text: String,
    /// The lines before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) before: Vec<String>,
    /// The lines after it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) after: Vec<String>,
}

/// Adds to the schema that no property is null, and that `matches` is present unless only files are asked for.
fn add_promises(schema: &mut schemars::Schema) {
    art_sdk::never_null(schema);
    promise(schema, json!({"files_only": [false]}), json!({"required": ["matches"]}));
}
