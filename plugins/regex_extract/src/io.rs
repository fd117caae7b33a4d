//! The input and the output of the tool.

use art_sdk::{args, never_null, output, promise, schemars, serde_json, serde_json::json};

use crate::kind::Kind;

/// A text and the pattern to find in it.
#[args]
pub(crate) struct RegexExtractInput {
    /// The text to search.
    pub(crate) text: String,
    /// What to find, by name, instead of a pattern.
    pub(crate) kind: Option<Kind>,
    /// The regular expression in the syntax of Rust's `regex`: as in Perl, but without look-around and back-references. For example `\d+` or `(?<user>\w+)@(?<host>[\w.]+)`. Slashes around it, as in `/\d+/`, are left out.
    pub(crate) pattern: Option<String>,
    /// The capture group whose text goes into `values`: its name or its number. Defaults to the whole match.
    pub(crate) group: Option<Group>,
    /// The only value to return: `count` for how many matches there are.
    pub(crate) only: Option<Only>,
    /// Whether to return equal texts only once.
    #[serde(default)]
    pub(crate) unique: bool,
    /// The maximum number of matches to return, 1 to 1000.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    pub(crate) limit: u32,
    /// Whether to ignore the difference between upper and lower case.
    #[serde(default)]
    pub(crate) case_insensitive: bool,
    /// Whether `^` and `$` match at the start and end of every line, not only of the whole text.
    #[serde(default)]
    pub(crate) multi_line: bool,
}

fn default_limit() -> u32 {
    100
}

/// A value of the output that `only` can name.
#[args]
#[derive(Clone, Copy)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Only {
    Count,
}

/// A capture group by number or by name.
#[args]
#[serde(untagged)]
#[schemars(transform = list_group_types)]
pub(crate) enum Group {
    /// The number of the group; 0 is the whole match.
    Index(usize),
    /// The name of the group.
    Name(String),
}

/// Replaces the `anyOf`, which holds the schemas of both variants, by one list of their types: this is easier to read.
fn list_group_types(schema: &mut schemars::Schema) {
    schema.remove("anyOf");
    schema.insert("type".to_owned(), serde_json::json!(["string", "integer"]));
}

/// The matches.
#[output]
#[derive(Default)]
#[schemars(transform = add_promises)]
pub(crate) struct RegexExtractOutput {
    /// The matched texts in order, or the texts of `group`; a match without this group is omitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) values: Option<Vec<String>>,
    /// The number of all matches if `only` is `count`, otherwise of the returned ones, which are at most `limit`.
    pub(crate) count: usize,
    /// Whether there are more matches than `limit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncated: Option<bool>,
    /// The matches of `pattern`, at most `limit`, in order; they do not overlap. Absent if a `kind` is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<Vec<Match>>,
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

/// Adds to the schema that no property is null, and a promise, which says what the output contains for certain values of the
/// input: the output has `values` and `truncated` if the input has no `only`. Here `null` stands for an absent `only`.
fn add_promises(schema: &mut schemars::Schema) {
    never_null(schema);
    promise(
        schema,
        json!({"only": [null]}),
        json!({"required": ["values", "truncated"]}),
    );
}
