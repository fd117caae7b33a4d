//! `regex_extract`: finds what matches a regular expression.

use art_sdk::prelude::*;

mod error;
mod extract;
mod io;

#[cfg(test)]
mod tests;

use io::{RegexExtractInput, RegexExtractOutput};

/// Finds every part of a text that matches a regular expression (regex pattern) and extracts it with its position and
/// capture groups. Use it to find, extract, match or count patterns such as email addresses, phone numbers, URLs, dates,
/// hashtags, codes or order numbers in a text or log. Returns the matched texts in `values`, and each match with its
/// character offsets and named groups.
#[tool(
    example(
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","pattern":"[\\w.]+@[\\w.]+\\w"}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false,"matches":[{"text":"ada@example.org","start":5,"end":20,"groups":[]},{"text":"bob@example.com","start":24,"end":39,"groups":[]}]}"#,
        description = "Extract all email addresses"
    ),
    example(
        input = r#"{"text":"due 2026-11-21","pattern":"(?<year>\\d{4})-(?<month>\\d{2})-\\d{2}","group":"month"}"#,
        output = r#"{"values":["11"],"count":1,"truncated":false,"matches":[{"text":"2026-11-21","start":4,"end":14,"groups":[{"index":1,"name":"year","text":"2026","start":4,"end":8},{"index":2,"name":"month","text":"11","start":9,"end":11}]}]}"#,
        description = "Extract one named group of a date"
    ),
    example(
        input = r#"{"text":"Error: disk full\nerror: no space","pattern":"^error: (.+)$","group":1,"case_insensitive":true,"multi_line":true,"limit":1}"#,
        output = r#"{"values":["disk full"],"count":1,"truncated":true,"matches":[{"text":"Error: disk full","start":0,"end":16,"groups":[{"index":1,"text":"disk full","start":7,"end":16}]}]}"#,
        description = "Find the first error message in a log"
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn regex_extract(input: RegexExtractInput) -> Result<RegexExtractOutput> {
    extract::extract(&input).map_err(ToolError::validation)
}
