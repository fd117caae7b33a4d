//! `http_fetch`: fetches a page as readable text, or JSON.

use art_sdk::prelude::*;

mod body;
mod fetch;
mod io;
mod page;

#[cfg(test)]
mod tests;

use io::{HttpFetchInput, HttpFetchOutput};

/// Fetches a web page, a site or an API by its address (URL), and returns its title, headings and readable text, its links, or its
/// JSON. Use it to read, open, download or summarise a page, to see what a website says, or to get data from an API. It does not
/// search; use `web_search` to find pages. It follows redirects within a site, and says where a page has moved otherwise.
#[tool(
    example(
        ask = "Fetch https://example.com/news",
        ask = "Fetch the page https://example.com/news",
        ask = "Read https://example.com/news",
        ask = "Read the page https://example.com/news",
        ask = "Open https://example.com/news",
        ask = "Get https://example.com/news",
        ask = "What does https://example.com/news say?",
        ask = "Show the page https://example.com/news",
        input = r#"{"url":"https://example.com/news"}"#
    ),
    example(
        ask = "Fetch https://example.com/news and tell me its headings",
        ask = "What are the headings of https://example.com/news?",
        ask = "List the headings of https://example.com/news",
        ask = "Show the headings of https://example.com/news",
        ask = "Headings of https://example.com/news",
        ask = "Which headings does https://example.com/news have?",
        input = r#"{"url":"https://example.com/news","only":"headings"}"#
    ),
    example(
        ask = "What is the title of https://example.com/news?",
        ask = "Title of https://example.com/news",
        ask = "Show the title of https://example.com/news",
        input = r#"{"url":"https://example.com/news","only":"title"}"#
    ),
    example(
        ask = "List the links of https://example.com/news",
        ask = "List the links on https://example.com/news",
        ask = "Which links are on https://example.com/news?",
        ask = "What does https://example.com/news link to?",
        ask = "Links of https://example.com/news",
        input = r#"{"url":"https://example.com/news","only":"links"}"#
    ),
    example(
        ask = "Show only the text of https://example.com/news",
        ask = "What is the text of https://example.com/news?",
        ask = "Text of https://example.com/news",
        input = r#"{"url":"https://example.com/news","only":"text"}"#
    ),
    example(
        ask = "Does https://example.com/news exist?",
        ask = "When was https://example.com/news last modified?",
        ask = "Check whether https://example.com/news is there",
        input = r#"{"url":"https://example.com/news","method":"HEAD"}"#
    ),
    risk = "low",
    capabilities(http("{args.url}", methods("GET", "HEAD"), reason = "fetches the page that a call names")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "30s")
)]
fn http_fetch(input: HttpFetchInput) -> Result<HttpFetchOutput> {
    fetch::run(&input)
}
