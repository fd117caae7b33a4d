//! `diff_text`: compares two texts.

use art_sdk::prelude::*;

mod compare;
mod io;

#[cfg(test)]
mod tests;

use io::{DiffTextInput, DiffTextOutput};

/// Compares two texts and shows the difference: which lines, words or characters were added, removed or changed between
/// an old version and a new version. Use it for what changed, what is different between two files, drafts, lists or
/// configurations, whether two texts are the same, or how similar they are. Returns a unified diff, the numbers of
/// inserted, deleted and equal parts, and a similarity ratio from 0 to 1.
#[tool(
    example(
        input = r#"{"before":"one\ntwo\nthree\n","after":"one\n2\nthree\n"}"#,
        output = r#"{"diff":"--- before\n+++ after\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n","identical":false,"inserted":1,"deleted":1,"equal":2,"ratio":0.6667}"#,
        description = "What changed between these two versions?"
    ),
    example(
        input = r#"{"before":"the quick fox","after":"the slow fox","mode":"words"}"#,
        output = r#"{"diff":"the [-quick-]{+slow+} fox","identical":false,"inserted":1,"deleted":1,"equal":4,"ratio":0.8}"#,
        description = "Which words differ?"
    ),
    example(
        input = r#"{"before":"same","after":"same"}"#,
        output = r#"{"diff":"","identical":true,"inserted":0,"deleted":0,"equal":1,"ratio":1.0}"#,
        description = "Equal texts have an empty diff"
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn diff_text(input: DiffTextInput) -> Result<DiffTextOutput> {
    compare::compare(&input).map_err(ToolError::validation)
}
