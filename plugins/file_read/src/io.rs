//! The input and the output of the tool.

use art_sdk::{args, output, promise, schemars, serde_json::json};

/// A file or a directory, and the part of it to return.
#[args]
pub(crate) struct FileReadInput {
    /// The path of the file to read, or of the directory or folder to list: `~/notes/a.txt`, `/var/log/app.log` or `~/notes`.
    pub(crate) path: String,
    /// The first line to return, counted from 1. For files.
    #[schemars(range(min = 1))]
    pub(crate) from_line: Option<u64>,
    /// The last line to return. For files.
    #[schemars(range(min = 1))]
    pub(crate) to_line: Option<u64>,
    /// How many lines to return from the end, instead of `from_line` and `to_line`: the last or latest lines of a log.
    #[schemars(range(min = 1))]
    pub(crate) last_lines: Option<u64>,
    /// The order of the entries of a directory: `name`, `newest` or `oldest` by the time of the last change, `largest` or `smallest`.
    #[serde(default)]
    pub(crate) sort: Sort,
    /// How many entries of a directory to return: 3 for the three newest files. Defaults to 1000, which is the most.
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: Option<u32>,
    /// Whether to list files only, and no directories inside the directory.
    #[serde(default)]
    pub(crate) files_only: bool,
}

/// The order of the entries of a directory.
#[args]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Sort {
    #[default]
    Name,
    Newest,
    Oldest,
    Largest,
    Smallest,
}

/// What is at a path.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    Other,
}

/// The text of a file, or the entries of a directory.
#[output]
#[schemars(transform = add_promises)]
pub(crate) struct FileReadOutput {
    /// Whether `path` is a file or a directory.
    pub(crate) kind: Kind,
    /// The text of the file, or of the lines that were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The number of the first line in `text`; 0 if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) first_line: Option<u64>,
    /// The number of the last line in `text`; 0 if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_line: Option<u64>,
    /// How many lines the file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) line_count: Option<u64>,
    /// The size of the file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// When the file was changed last, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<String>,
    /// The encoding of the file: `utf-8`, `utf-16le` or `utf-16be`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) encoding: Option<&'static str>,
    /// The entries of the directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entries: Option<Vec<Entry>>,
    /// How many entries the directory has; with `files_only`, how many files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) entry_count: Option<usize>,
    /// Whether there is more than what is returned.
    pub(crate) truncated: bool,
    /// What the caller should know: how to read the rest, or that bytes were not text.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

impl FileReadOutput {
    /// Creates an output of this kind whose other fields are empty.
    pub(crate) const fn empty(kind: Kind) -> Self {
        Self {
            kind,
            text: None,
            first_line: None,
            last_line: None,
            line_count: None,
            size: None,
            modified: None,
            encoding: None,
            entries: None,
            entry_count: None,
            truncated: false,
            notes: Vec::new(),
        }
    }
}

/// An entry of a directory.
#[output]
pub(crate) struct Entry {
    /// The name in the directory.
    pub(crate) name: String,
    /// The path, to be used as `path`.
    pub(crate) path: String,
    /// What it is.
    pub(crate) kind: Kind,
    /// The size of a file in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// When it was changed last, in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<String>,
}

/// Adds promises to the schema: no property is null, and the output of a call with `files_only` or with `sort` other than `name`
/// has entries. Such a call fails for a file, so its output is always that of a directory.
fn add_promises(schema: &mut schemars::Schema) {
    art_sdk::never_null(schema);
    let has_entries = || json!({"required": ["entries", "entry_count"]});
    promise(schema, json!({"files_only": [true]}), has_entries());
    promise(
        schema,
        json!({"sort": ["newest", "oldest", "largest", "smallest"]}),
        has_entries(),
    );
}
