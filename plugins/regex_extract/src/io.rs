//! What goes in and what comes out.

use art_sdk::{args, output, schemars, serde_json};

/// A text and what to find in it.
#[args]
pub(crate) struct RegexExtractInput {
    /// The text to search.
    pub(crate) text: String,
    /// The regular expression in the syntax of Rust's `regex`: as in Perl, but without look-around and back-references. For example `\d+` or `(?<user>\w+)@(?<host>[\w.]+)`.
    pub(crate) pattern: String,
    /// The capture group whose text goes into `values`: its name or its number. Left out, the whole match.
    pub(crate) group: Option<Group>,
    /// How many matches to return at most, 1 to 1000.
    #[serde(default = "hundred")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: u32,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    pub(crate) case_insensitive: bool,
    /// Whether `^` and `$` match at the start and end of every line instead of only those of the text.
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
    /// Its number; 0 is the whole match.
    Index(usize),
    /// Its name.
    Name(String),
}

/// One `type` list reads more easily than two alternatives.
fn name_or_number(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("type".to_owned(), serde_json::json!(["string", "integer"]));
}

/// What was found.
#[output]
pub(crate) struct RegexExtractOutput {
    /// The matched texts in order, or the texts of `group`; a match in which the group took no part is left out.
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
    /// How many characters of the text come before the match.
    pub(crate) start: usize,
    /// The same for its end.
    pub(crate) end: usize,
    /// The capture groups that took part.
    pub(crate) groups: Vec<Capture>,
}

/// What a capture group matched.
#[output]
pub(crate) struct Capture {
    /// The number of the group, from 1.
    pub(crate) index: usize,
    /// Its name, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    /// The text it matched.
    pub(crate) text: String,
    /// How many characters of the text come before it.
    pub(crate) start: usize,
    /// The same for its end.
    pub(crate) end: usize,
}
