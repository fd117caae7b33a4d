//! Finds the results in the reply of a search service, whose format is not known in advance.

use std::collections::VecDeque;

use art_sdk::serde_json::{Map, Value};

use crate::SearchResult;

/// Once [`find`] has visited or queued this many JSON values of the reply, it queues no further items of lists or fields of
/// objects.
const MAX_VALUES: usize = 10_000;
/// Maximum length of a title and a snippet, in characters. Longer ones are cut.
const MAX_CHARS: usize = 500;
/// Maximum length of an address, in bytes. A result with a longer one is left out, since a cut address leads elsewhere.
const MAX_URL_BYTES: usize = 2000;

/// Names of the field with the address in the replies of SearXNG, Brave, Google, Bing, Mojeek, Kagi and others.
const URL_FIELDS: [&str; 3] = ["url", "link", "href"];
/// Names of the field with the title.
const TITLE_FIELDS: [&str; 3] = ["title", "name", "heading"];
/// Names of the field with a few words of the page.
const SNIPPET_FIELDS: [&str; 6] = ["content", "snippet", "description", "desc", "body", "abstract"];

/// Searches the lists of the reply, outer ones before inner ones, and returns the pages of the first list that has any. If no
/// list has a page, returns an empty list if the reply has a list `results`, and `None` otherwise.
pub(crate) fn find(reply: &Value) -> Option<Vec<SearchResult>> {
    let mut values = VecDeque::from([reply]);
    let mut visited = 0;
    while let Some(value) = values.pop_front() {
        visited += 1;
        if let Value::Array(items) = value {
            let pages: Vec<_> = items.iter().filter_map(to_search_result).collect();
            if !pages.is_empty() {
                return Some(pages);
            }
        }
        if visited + values.len() < MAX_VALUES {
            match value {
                Value::Array(items) => values.extend(items.iter().take(MAX_VALUES)),
                Value::Object(fields) => values.extend(fields.values()),
                _ => {}
            }
        }
    }
    // An empty list of results is no error.
    reply
        .get("results")
        .filter(|results| results.is_array())
        .map(|_| Vec::new())
}

/// Returns the page that an item of a list describes. Returns `None` if the item has no title, or no `http` or `https` address,
/// or if its address is too long.
fn to_search_result(item: &Value) -> Option<SearchResult> {
    let fields = item.as_object()?;
    let url = URL_FIELDS.iter().find_map(|name| fields.get(*name)?.as_str())?.trim();
    let is_page = (url.starts_with("http://") || url.starts_with("https://")) && url.len() <= MAX_URL_BYTES;
    Some(SearchResult {
        title: first_text(fields, &TITLE_FIELDS)?,
        url: is_page.then(|| url.to_owned())?,
        snippet: first_text(fields, &SNIPPET_FIELDS),
    })
}

/// Returns the first of the named fields that is a text, on one line, without tags and cut to the maximum length. Returns `None`
/// if no such field is a text, or if nothing is left of the text.
fn first_text(fields: &Map<String, Value>, names: &[&str]) -> Option<String> {
    let found = names.iter().find_map(|name| fields.get(*name)?.as_str())?;
    let text = strip_tags(found);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(MAX_CHARS).collect();
    (!text.is_empty()).then_some(text)
}

/// Removes the tags that services use to highlight words, such as `<b>`.
fn strip_tags(text: &str) -> String {
    let mut plain = text.to_owned();
    for tag in ["b", "strong", "em", "mark", "span"] {
        plain = plain.replace(&format!("<{tag}>"), "").replace(&format!("</{tag}>"), "");
    }
    plain
}
