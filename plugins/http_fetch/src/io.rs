//! The input and the output of the tool.

use art_sdk::{args, never_null, output, serde_json};

/// A page, and the part of it to return.
#[args]
pub(crate) struct HttpFetchInput {
    /// The address (URL) of the page, site, API or file: `https://example.com/news`.
    pub(crate) url: String,
    /// `GET`, or `HEAD` to see only whether the page exists, its type and when it changed.
    #[serde(default)]
    pub(crate) method: Method,
    /// The only part to return, for a question that asks for one: the `title`, the `headings`, the `links`, or the `text`.
    pub(crate) only: Option<Part>,
    /// The maximum length of the text, in characters.
    #[serde(default = "default_max_chars")]
    #[schemars(range(min = 1, max = 200_000))]
    pub(crate) max_chars: usize,
    /// The number of characters to skip, to go on where a text was cut.
    #[serde(default)]
    pub(crate) skip_chars: usize,
    /// The `etag` of an earlier answer: nothing is returned if the page is still the same.
    pub(crate) etag: Option<String>,
    /// The `last_modified` of an earlier answer: nothing is returned if the page has not changed since.
    pub(crate) last_modified: Option<String>,
}

fn default_max_chars() -> usize {
    20_000
}

/// An HTTP method.
#[args]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
#[serde(rename_all = "UPPERCASE")]
pub(crate) enum Method {
    #[default]
    Get,
    Head,
}

impl Method {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
        }
    }
}

/// A part of a page.
#[args]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    Title,
    Headings,
    Links,
    Text,
}

/// What an address returned.
#[output]
#[derive(Default)]
// `never_null` declares in the schema that a field that may be absent is never null.
#[schemars(transform = never_null)]
pub(crate) struct HttpFetchOutput {
    /// The status, such as 200.
    pub(crate) status: u16,
    /// The address of the page, after redirects within its site.
    pub(crate) url: String,
    /// The type of the content, such as `text/html`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_type: Option<String>,
    /// The title of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
    /// What the page says about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The language of the page, such as `en`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) language: Option<String>,
    /// The headings, in the order of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) headings: Option<Vec<Heading>>,
    /// The readable text of a page, without menus and scripts, or the text of another file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The content of a JSON file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) json: Option<serde_json::Value>,
    /// The links of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) links: Option<Vec<Link>>,
    /// Identifies this version, for `etag` of a later call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    /// When the page changed last, for `last_modified` of a later call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_modified: Option<String>,
    /// Whether the page is still the one of the `etag` or `last_modified` that was given.
    pub(crate) not_modified: bool,
    /// The address on another site to which the page has moved. It was not followed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) redirect: Option<String>,
    /// Whether there is more than what is returned.
    pub(crate) truncated: bool,
    /// What the caller should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// A heading of a page.
#[output]
#[derive(Clone, PartialEq)]
pub(crate) struct Heading {
    /// Its level, from 1.
    pub(crate) level: u8,
    /// Its text.
    pub(crate) text: String,
}

/// A link of a page.
#[output]
#[derive(Clone, PartialEq)]
pub(crate) struct Link {
    /// Its text.
    pub(crate) text: String,
    /// Where it leads.
    pub(crate) url: String,
}
