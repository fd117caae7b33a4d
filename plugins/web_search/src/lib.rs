//! `web_search`: searches the web through the service that the operator chose.

use std::borrow::Cow;

use art_sdk::http::{MAX_RESPONSE_BYTES, Request, Response};
use art_sdk::prelude::*;
use art_sdk::{never_null, serde_json};
use url::Url;

mod prefix;
mod results;

#[cfg(test)]
mod tests;

/// Size of the beginning of a reply in which results are looked for first, in bytes. Reading a reply of 5 MiB as a whole takes
/// most of the fuel and the memory of a call.
const BEGINNING_BYTES: usize = 1 << 20;

/// A search.
#[args]
struct WebSearchInput {
    /// What to search for, in a few words.
    query: String,
    /// The maximum number of results.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

fn default_limit() -> usize {
    10
}

/// What was found.
#[output]
#[schemars(transform = never_null)]
struct WebSearchOutput {
    /// The results, best first.
    results: Vec<SearchResult>,
    /// How many results there are here.
    count: usize,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

/// A page that was found.
#[output]
#[derive(Clone, PartialEq)]
struct SearchResult {
    /// The title of the page.
    title: String,
    /// The address of the page.
    url: String,
    /// A few words of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<String>,
}

/// Searches the web for pages about something, and returns their titles, addresses and a few words of each. Use it to find, look
/// up or research something on the internet, for news, documentation or facts that may have changed. To read a page that was
/// found, use `http_fetch`.
#[tool(
    example(
        ask = "Search the web for \"rust wasm components\"",
        ask = "Search the internet for \"rust wasm components\"",
        ask = "Search online for \"rust wasm components\"",
        ask = "Web search for \"rust wasm components\"",
        ask = "Look up \"rust wasm components\" on the web",
        ask = "Find pages about \"rust wasm components\" on the web",
        ask = "Google \"rust wasm components\"",
        input = r#"{"query":"rust wasm components"}"#
    ),
    example(
        ask = "Search the web for weather",
        ask = "Search the internet for weather",
        ask = "Look up weather on the web",
        input = r#"{"query":"weather"}"#
    ),
    example(
        ask = "Search the web for \"rust wasm components\" and show the first 3 results",
        ask = "Show the first 3 web results for \"rust wasm components\"",
        ask = "Find 3 pages about \"rust wasm components\" on the web",
        input = r#"{"query":"rust wasm components","limit":3}"#
    ),
    risk = "low",
    capabilities(
        http(any, methods("GET"), reason = "asks the search service of the operator"),
        env("SEARCH_URL", reason = "has the address of the search service"),
    ),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "30s")
)]
fn web_search(input: WebSearchInput) -> Result<WebSearchOutput> {
    if input.query.trim().is_empty() {
        return Err(ToolError::validation("`query` is empty: say what to search for"));
    }
    search(&std::env::var("SEARCH_URL").unwrap_or_default(), &input)
}

/// Searches with the service at this address.
fn search(service_address: &str, input: &WebSearchInput) -> Result<WebSearchOutput> {
    let url = search_address(service_address, &input.query)?;
    let response = Request::new("GET", url.as_str())
        .header("accept", "application/json")
        .header("user-agent", concat!("art-web-search/", env!("CARGO_PKG_VERSION")))
        .allow_truncated()
        .send()?
        .success()?;
    let mut results = match results_in_beginning(response.bytes(), input.limit) {
        Some(results) => results,
        None => results::find(&parse_reply(&response)?).ok_or_else(|| no_results_error(&response))?,
    };
    let mut notes = Vec::new();
    if response.is_truncated() && results.len() < input.limit {
        notes.push(format!(
            "the reply of the search service has more than {MAX_RESPONSE_BYTES} bytes: these are the results in its beginning"
        ));
    }
    results.truncate(input.limit);
    Ok(WebSearchOutput {
        count: results.len(),
        results,
        notes,
    })
}

/// Returns the results in the beginning of a long reply, or `None` if there are fewer than `limit`, or if the reply is not long.
fn results_in_beginning(reply: &[u8], limit: usize) -> Option<Vec<SearchResult>> {
    let beginning = prefix::close(reply.get(..BEGINNING_BYTES)?)?;
    let results = results::find(&serde_json::from_slice(&beginning).ok()?)?;
    (results.len() >= limit).then_some(results)
}

/// Parses the reply of the service, or the beginning of one that is too long.
fn parse_reply(response: &Response) -> Result<Value> {
    let text = if response.is_truncated() {
        prefix::close(response.bytes()).map(Cow::Owned)
    } else {
        None
    };
    let text = text.unwrap_or(Cow::Borrowed(response.bytes()));
    serde_json::from_slice(&text).map_err(|error| {
        // What was read is JSON without an end.
        if response.is_truncated() && error.is_eof() {
            return no_results_error(response);
        }
        ToolError::config(format_args!(
            "the search service did not return JSON ({error}): the operator has to enable its JSON format"
        ))
    })
}

/// Returns the error for a reply in which no results are found.
fn no_results_error(response: &Response) -> ToolError {
    if response.is_truncated() {
        return ToolError::config(format_args!(
            "the reply of the search service has more than {MAX_RESPONSE_BYTES} bytes, and its beginning has no results: the \
             operator has to choose a service with shorter replies, or ask it for fewer results in `SEARCH_URL`"
        ));
    }
    ToolError::config("the search service returned JSON without a list of results with addresses")
}

/// Returns the address of a search. Replaces `{query}` in the address of the service. To an address without `{query}`, adds `q`
/// and `format`, the parameters of SearXNG.
fn search_address(service_address: &str, query: &str) -> Result<Url> {
    let config_error = |problem: &str| {
        ToolError::config(format_args!(
            "{problem}: do not try again; the operator sets it with `art grant add web_search --http ADDRESS --env \
             SEARCH_URL=ADDRESS/search`"
        ))
    };
    if service_address.is_empty() {
        return Err(config_error("no search service is set up"));
    }
    let encoded: String = url::form_urlencoded::byte_serialize(query.as_bytes()).collect();
    let has_placeholder = service_address.contains("{query}");
    let mut url = Url::parse(&service_address.replace("{query}", &encoded))
        .map_err(|error| config_error(&format!("`SEARCH_URL` is no address ({error})")))?;
    if !has_placeholder {
        url.query_pairs_mut()
            .append_pair("q", query)
            .append_pair("format", "json");
    }
    Ok(url)
}
