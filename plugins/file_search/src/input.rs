//! The input of the tool.

use art_sdk::args;

/// What to find, and where.
#[args]
pub(crate) struct FileSearchInput {
    /// The path of the directory (folder) whose files to search, or of one file.
    pub(crate) path: String,
    /// The text to find: a word, a phrase, or a regular expression if `pattern` is set.
    pub(crate) text: String,
    /// Whether `text` is a regular expression, such as `TODO|FIXME` or `fn \w+\(`.
    #[serde(default)]
    pub(crate) pattern: bool,
    /// Whether to find whole words only: `budget`, but not `budgets`.
    #[serde(default)]
    pub(crate) whole_words: bool,
    /// Whether capital and small letters differ. If omitted, they differ if `text` has a capital letter.
    pub(crate) case_sensitive: Option<bool>,
    /// Which files to search, by their names: `*.md`, `*.{c,h}`, `src/**`, or `!*.log` for all others.
    pub(crate) glob: Option<String>,
    /// Whether to return only the name of each file and the number of its matching lines.
    #[serde(default)]
    pub(crate) files_only: bool,
    /// How many lines to show before and after each match.
    #[serde(default)]
    #[schemars(range(max = 10))]
    pub(crate) context: usize,
    /// Whether to search hidden files, and those that `.gitignore` and `.ignore` exclude.
    #[serde(default)]
    pub(crate) hidden: bool,
    /// The maximum number of matching lines, or of files with `files_only`.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: usize,
}

fn default_limit() -> usize {
    100
}
