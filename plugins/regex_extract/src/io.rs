//! The input and the output of the tool.

use art_sdk::{args, output, schemars, serde_json};

/// A text and the pattern to find in it.
#[args]
pub(crate) struct RegexExtractInput {
    /// The text to search.
    pub(crate) text: String,
    /// The regular expression in the syntax of Rust's `regex`: as in Perl, but without look-around and back-references. For example `\d+` or `(?<user>\w+)@(?<host>[\w.]+)`.
    pub(crate) pattern: String,
    /// The capture group whose text goes into `values`: its name or its number. Defaults to the whole match.
    pub(crate) group: Option<Group>,
    /// The maximum number of matches to return, 1 to 1000.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: u32,
    /// Whether to ignore the difference between upper and lower case.
    #[serde(default)]
    pub(crate) case_insensitive: bool,
    /// Whether `^` and `$` match at the start and end of every line, not only of the whole text.
    #[serde(default)]
    pub(crate) multi_line: bool,
}

fn hundred() -> u32 {
    100
}

/// A capture group by number or by name.
#[args]
#[serde(untagged)]
#[schemars(transform = name_or_number)]
pub(crate) enum Group {
    /// The number of the group; 0 is the whole match.
    Index(usize),
    /// The name of the group.
    Name(String),
}

/// Replaces two alternatives by one `type` list, which is easier to read.
fn name_or_number(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("type".to_owned(), serde_json::json!(["string", "integer"]));
}

/// The matches.
#[output]
pub(crate) struct RegexExtractOutput {
    /// The matched texts in order, or the texts of `group`; a match without this group is omitted.
    pub(crate) values: Vec<String>,
    /// How many matches are in `matches`.
    pub(crate) count: usize,
    /// Whether there are more matches than `limit`.
    pub(crate) truncated: bool,
    /// Every match, in order; matches do not overlap.
    pub(crate) matches: Vec<Match>,
}

/// One match.
#[output]
pub(crate) struct Match {
    /// The matched text.
    pub(crate) text: String,
    /// The number of characters before the match.
    pub(crate) start: usize,
    /// The number of characters before the end of the match.
    pub(crate) end: usize,
    /// The capture groups that matched.
    pub(crate) groups: Vec<Capture>,
}

/// The match of a capture group.
#[output]
pub(crate) struct Capture {
    /// The number of the group, from 1.
    pub(crate) index: usize,
    /// The name of the group, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The text that the group matched.
    pub(crate) text: String,
    /// The number of characters before this text.
    pub(crate) start: usize,
    /// The number of characters before the end of this text.
    pub(crate) end: usize,
}
