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
        ask = "Extract all email addresses from this text",
        ask = "Extract the email addresses",
        ask = "List the email addresses",
        ask = "Find all email addresses",
        ask = "Find the email addresses in this file",
        ask = "List the email addresses in this text",
        ask = "What are the email addresses in this text?",
        ask = "Which email addresses are in this text?",
        ask = "List every email address in this text",
        ask = "What email addresses does this text have?",
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","pattern":"[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+"}"#,
        output = r#"{"values":["ada@example.org","bob@example.com"],"count":2,"truncated":false,"matches":[{"text":"ada@example.org","start":5,"end":20,"groups":[]},{"text":"bob@example.com","start":24,"end":39,"groups":[]}]}"#
    ),
    example(
        ask = r#"Extract the email addresses from "Mail ada@example.org or bob@example.com.""#,
        ask = r#"Which email addresses are in "Mail ada@example.org or bob@example.com."?"#,
        input = r#"{"text":"Mail ada@example.org or bob@example.com.","pattern":"[\\w.+-]+@[\\w-]+(?:\\.[\\w-]+)+"}"#
    ),
    example(
        ask = "Extract all URLs from this text",
        ask = "Extract the URLs",
        ask = "Find the URLs",
        ask = "List the URLs",
        ask = "Find the links",
        ask = "List the links",
        ask = "Extract the links",
        ask = "Which links are in this text?",
        ask = "Extract all URLs from this file",
        ask = "Find all links in this text",
        ask = "Extract the links from this file",
        ask = "Which URLs are in this text?",
        ask = "List the web addresses in this text",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","pattern":"https?://[^\\s<>\\\"]*[\\w/]"}"#
    ),
    example(
        ask = "Extract all dates from this text",
        ask = "Extract the dates",
        ask = "Find the dates",
        ask = "List the dates",
        ask = "Extract all dates from this file",
        ask = "Find all dates in this text",
        ask = "Find the dates in this file",
        ask = "List the dates in this text",
        ask = "Which dates are in this text?",
        ask = "Which dates are mentioned in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","pattern":"\\b\\d{4}-\\d{2}-\\d{2}\\b"}"#
    ),
    example(
        ask = "Extract all numbers from this text",
        ask = "Extract the numbers",
        ask = "Find the numbers",
        ask = "List the numbers",
        ask = "Extract all numbers from this file",
        ask = "Find all numbers in this text",
        ask = "Find the numbers in this file",
        ask = "Which numbers are in this text?",
        ask = "Which numbers are mentioned in this text?",
        ask = "List the numbers in this text",
        input = r#"{"text":"3 apples for 4.50","pattern":"-?\\d+(?:\\.\\d+)?"}"#,
        output = r#"{"values":["3","4.50"],"count":2,"truncated":false,"matches":[{"text":"3","start":0,"end":1,"groups":[]},{"text":"4.50","start":13,"end":17,"groups":[]}]}"#
    ),
    example(
        ask = r#"Extract all numbers from "3 apples for 4.50""#,
        ask = r#"Which numbers are in "3 apples for 4.50"?"#,
        ask = r#"Find the numbers in "3 apples for 4.50""#,
        input = r#"{"text":"3 apples for 4.50","pattern":"-?\\d+(?:\\.\\d+)?"}"#
    ),
    example(
        ask = "Extract all hashtags from this text",
        ask = "Extract the hashtags",
        ask = "Find the hashtags",
        ask = "List the hashtags",
        ask = "Extract all hashtags from this file",
        ask = "Find all hashtags in this text",
        ask = "List the hashtags in this file",
        ask = "Which hashtags are in this text?",
        input = r##"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","pattern":"#\\w+"}"##,
        output = r##"{"values":["#news","#art"],"count":2,"truncated":false,"matches":[{"text":"#news","start":58,"end":63,"groups":[]},{"text":"#art","start":64,"end":68,"groups":[]}]}"##
    ),
    example(
        ask = "Extract all phone numbers from this text",
        ask = "Extract the phone numbers",
        ask = "Find the phone numbers",
        ask = "List the phone numbers",
        ask = "Find the phone numbers in this text",
        ask = "List the phone numbers in this file",
        ask = "Which phone numbers are in this text?",
        input = r#"{"text":"See https://example.org on 2026-11-21, call +49 228 1234. #news #art","pattern":"\\+?\\d[\\d ()/-]{5,}\\d"}"#
    ),
    example(
        ask = "Extract all words in capitals from this text",
        ask = "Which words are in capital letters in this text?",
        input = r#"{"text":"NASA and ESA met","pattern":"\\b[A-Z]{2,}\\b"}"#
    ),
    example(
        ask = r#"Find all matches of `\d+` in this text"#,
        ask = r#"Extract everything that matches `\d+` from this text"#,
        ask = r#"Which parts of this text match `\d+`?"#,
        ask = r#"Search this text for `\d+`"#,
        ask = r#"Find the pattern `\d+` in this text"#,
        ask = r#"Match `\d+` against this text"#,
        ask = r#"Find `\d+` in this file"#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#
    ),
    example(
        ask = r#"Find all matches of `\d+` in "a1b22""#,
        ask = r#"What does `\d+` match in "a1b22"?"#,
        ask = r#"Extract `\d+` from "a1b22""#,
        ask = r#"Find the pattern `\d+` in "a1b22""#,
        ask = r#"Find `\d+` in the text "a1b22""#,
        ask = r#"Match `\d+` against "a1b22""#,
        ask = r#"Apply the regular expression `\d+` to "a1b22""#,
        ask = r#"How many times does `\d+` match in "a1b22"?"#,
        input = r#"{"text":"a1b22","pattern":"\\d+"}"#,
        output = r#"{"values":["1","22"],"count":2,"truncated":false,"matches":[{"text":"1","start":1,"end":2,"groups":[]},{"text":"22","start":3,"end":5,"groups":[]}]}"#
    ),
    example(
        ask = r#"Find the first match of `\d+` in "a1b22""#,
        input = r#"{"text":"a1b22","pattern":"\\d+","limit":1}"#
    ),
    example(
        ask = r#"Find the first 2 matches of `\d+` in "a1b22c333""#,
        input = r#"{"text":"a1b22c333","pattern":"\\d+","limit":2}"#
    ),
    example(
        ask = r#"Find `error` in "Error: disk full" in any letter case"#,
        ask = r#"Find `error` in "Error: disk full" ignoring case"#,
        input = r#"{"text":"Error: disk full","pattern":"error","case_insensitive":true}"#
    ),
    example(
        ask = r#"What is group `month` of `(?<year>\d{4})-(?<month>\d{2})` in "due 2026-11-21"?"#,
        input = r#"{"text":"due 2026-11-21","pattern":"(?<year>\\d{4})-(?<month>\\d{2})","group":"month"}"#,
        output = r#"{"values":["11"],"count":1,"truncated":false,"matches":[{"text":"2026-11","start":4,"end":11,"groups":[{"index":1,"name":"year","text":"2026","start":4,"end":8},{"index":2,"name":"month","text":"11","start":9,"end":11}]}]}"#
    ),
    example(
        ask = "Find the lines that begin with `^error.*$` in this text",
        input = r#"{"text":"error: disk full\nfine","pattern":"^error.*$","multi_line":true}"#
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "20s")
)]
fn regex_extract(input: RegexExtractInput) -> Result<RegexExtractOutput> {
    extract::extract(&input).map_err(ToolError::validation)
}
