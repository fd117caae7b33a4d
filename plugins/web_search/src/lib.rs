//! `web_search`: searches the web through the service that the operator chose.

use art_sdk::http::Request;
use art_sdk::never_null;
use art_sdk::prelude::*;
use url::Url;

mod results;

#[cfg(test)]
mod tests;

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
    limits(fuel = 1_000_000_000, memory = "32 MiB", timeout = "30s")
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
        .send()?;
    let reply: Value = response.success()?.json().map_err(|error| {
        ToolError::config(format_args!(
            "the search service did not return JSON ({}): the operator has to enable its JSON format",
            error.message
        ))
    })?;
    let Some(mut results) = results::find(&reply) else {
        return Err(ToolError::config(
            "the search service returned JSON without a list of results with addresses",
        ));
    };
    results.truncate(input.limit);
    Ok(WebSearchOutput {
        count: results.len(),
        results,
    })
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
