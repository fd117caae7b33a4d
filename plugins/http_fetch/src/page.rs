//! The readable parts of a page: its title, headings, links and text. The tree of its elements is walked without recursion, since
//! the nesting of a page is not limited.

use ego_tree::iter::Edge;
use scraper::node::Node;
use scraper::{ElementRef, Html, Selector};
use url::Url;

use crate::io::{Heading, Link};

/// Maximum number of headings, and of links.
const MAX_ITEMS: usize = 500;
/// Maximum length of a heading, a title and the text of a link, in characters.
const MAX_LINE_CHARS: usize = 300;
/// Maximum length of the address of a link that is returned, in bytes.
const MAX_URL_BYTES: usize = 2000;

/// Elements whose text is left out, such as scripts, menus and forms.
const HIDDEN_ELEMENTS: [&str; 16] = [
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "nav", "footer", "aside", "form",
    "button", "select", "head", "dialog",
];
/// Elements that begin and end a line.
const BLOCK_ELEMENTS: [&str; 27] = [
    "address",
    "article",
    "blockquote",
    "br",
    "dd",
    "details",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "header",
    "hr",
    "li",
    "main",
    "ol",
    "p",
    "pre",
    "section",
    "summary",
    "table",
    "tbody",
    "thead",
    "tr",
    "ul",
    "caption",
];

/// Returns the title, or `None` if there is none.
pub(crate) fn title(document: &Html) -> Option<String> {
    let selector = Selector::parse("title").ok()?;
    let title = one_line(document.select(&selector).next()?);
    (!title.is_empty()).then_some(title)
}

/// Returns the headings that are not empty.
pub(crate) fn headings(document: &Html) -> Vec<Heading> {
    let Ok(selector) = Selector::parse("h1, h2, h3, h4, h5, h6") else {
        return Vec::new();
    };
    let heading = |element: ElementRef<'_>| Heading {
        level: heading_level(element.value().name()).unwrap_or(1),
        text: one_line(element),
    };
    let headings = document.select(&selector).map(heading);
    headings
        .filter(|heading| !heading.text.is_empty())
        .take(MAX_ITEMS)
        .collect()
}

/// Returns the links to `http` and `https` addresses, each address once, and whether there are more than `MAX_ITEMS`. `base` is
/// the address of the page, against which relative addresses in the document are resolved.
pub(crate) fn links(document: &Html, base: &Url) -> (Vec<Link>, bool) {
    let Ok(selector) = Selector::parse("a[href]") else {
        return (Vec::new(), false);
    };
    let mut seen_urls = std::collections::BTreeSet::new();
    let mut links = document.select(&selector).filter_map(|element| {
        let mut url = base.join(element.value().attr("href")?.trim()).ok()?;
        url.set_fragment(None);
        let is_included = matches!(url.scheme(), "http" | "https") && url.as_str().len() <= MAX_URL_BYTES;
        (is_included && seen_urls.insert(url.to_string())).then(|| Link {
            text: one_line(element),
            url: url.to_string(),
        })
    });
    let found = links.by_ref().take(MAX_ITEMS).collect();
    let has_more = links.next().is_some();
    (found, has_more)
}

/// Returns the text of the main part of a page.
pub(crate) fn text(document: &Html) -> String {
    let main = ["main", "article", "[role=main]", "body"].into_iter().find_map(|name| {
        let selector = Selector::parse(name).ok()?;
        let mut found = document.select(&selector);
        let first = found.next()?;
        // If there are several articles, none of them is the main part.
        (name != "article" || found.next().is_none()).then_some(first)
    });
    main.map(readable_text).unwrap_or_default()
}

/// Returns the readable text of a document. The document is parsed as HTML even if it is plain text, and only its first 20,000
/// characters are read.
pub(crate) fn text_of_html(html: &str) -> String {
    let html: String = html.chars().take(20_000).collect();
    text(&Html::parse_document(&html))
}

/// Returns the text of an element on one line, cut to the maximum length.
fn one_line(element: ElementRef<'_>) -> String {
    // More characters are read than are returned, since white space in the source is shortened below.
    let text: String = element.text().flat_map(str::chars).take(10 * MAX_LINE_CHARS).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    text.chars().take(MAX_LINE_CHARS).collect()
}

fn heading_level(name: &str) -> Option<u8> {
    match name.as_bytes() {
        [b'h', digit @ b'1'..=b'6'] => Some(digit - b'0'),
        _ => None,
    }
}

/// Returns the text of an element as a person would read it: a line for each block, `#` before headings, `-` before items of
/// lists, `|` between the cells of a table.
fn readable_text(root: ElementRef<'_>) -> String {
    let mut lines = Lines::default();
    // The identifier of the hidden element that contains the current node, if there is one.
    let mut enclosing_hidden_id = None;
    // Number of `pre` elements around the current node, in which white space is kept.
    let mut pre_depth = 0_usize;
    for edge in root.traverse() {
        let (node, is_opening) = match edge {
            Edge::Open(node) => (node, true),
            Edge::Close(node) => (node, false),
        };
        match node.value() {
            // What a hidden element contains is skipped, up to the end of this element itself.
            _ if enclosing_hidden_id.is_some_and(|id| id != node.id()) => {}
            Node::Element(element) => {
                let name = element.name();
                let is_hidden =
                    node.id() != root.id() && (HIDDEN_ELEMENTS.contains(&name) || has_hidden_attribute(element));
                match (is_hidden, is_opening) {
                    (true, true) => enclosing_hidden_id = Some(node.id()),
                    (true, false) => enclosing_hidden_id = None,
                    (false, _) => lines.handle_element(name, is_opening),
                }
                if name == "pre" && !is_hidden {
                    pre_depth = if is_opening {
                        pre_depth + 1
                    } else {
                        pre_depth.saturating_sub(1)
                    };
                }
            }
            Node::Text(text) if is_opening && pre_depth > 0 => lines.add_verbatim(text),
            Node::Text(text) if is_opening => lines.add_words(text),
            _ => {}
        }
    }
    lines.finish()
}

fn has_hidden_attribute(element: &scraper::node::Element) -> bool {
    element.attr("hidden").is_some() || element.attr("aria-hidden") == Some("true")
}

/// The readable text of a page while it is built.
#[derive(Default)]
struct Lines {
    /// The lines that have ended.
    text: String,
    /// The line that has not ended yet.
    line: String,
    /// Whether `line` has text from a `pre` that is not only white space.
    has_verbatim_text: bool,
    /// Whether to put a space before the next word, unless the line is empty.
    space_pending: bool,
}

impl Lines {
    /// Handles the beginning or the end of an element.
    fn handle_element(&mut self, name: &str, is_opening: bool) {
        if let Some(level) = heading_level(name) {
            self.end_line();
            if is_opening {
                self.add_blank_line();
                self.line.push_str(&"#".repeat(level.into()));
                self.space_pending = true;
            }
        } else if name == "td" || name == "th" {
            if is_opening && !self.line.is_empty() {
                self.line.push_str(" |");
            }
            self.space_pending = true;
        } else if BLOCK_ELEMENTS.contains(&name) {
            if is_opening && name != "li" && self.line == "-" {
                // A paragraph in a list item begins on the line of the item.
                return;
            }
            self.end_line();
            if name == "p" || name == "table" || name == "pre" {
                self.add_blank_line();
            }
            if name == "li" && is_opening {
                self.line.push('-');
                self.space_pending = true;
            }
        }
    }

    /// Adds text, with each run of white space replaced by one space.
    fn add_words(&mut self, text: &str) {
        self.space_pending |= text.starts_with(char::is_whitespace);
        for word in text.split_whitespace() {
            if self.space_pending && !self.line.is_empty() {
                self.line.push(' ');
            }
            self.line.push_str(word);
            self.space_pending = true;
        }
        if !text.trim().is_empty() {
            self.space_pending = text.ends_with(char::is_whitespace);
        }
    }

    /// Adds text with its white space and line breaks.
    fn add_verbatim(&mut self, text: &str) {
        for (index, line) in text.split('\n').enumerate() {
            if index > 0 {
                self.text.push_str(self.line.trim_end());
                self.text.push('\n');
                self.line.clear();
                self.has_verbatim_text = false;
            }
            self.line.push_str(line);
            self.has_verbatim_text |= !line.trim().is_empty();
        }
    }

    /// Ends the current line. Drops it if it is empty, or if it contains only the marks of a heading, an item or a cell. A line
    /// from a `pre` may consist of the same characters and is kept.
    fn end_line(&mut self) {
        self.space_pending = false;
        let line = self.line.trim_end();
        if self.has_verbatim_text || !line.trim_start_matches(['#', '-', '|', ' ']).is_empty() {
            self.text.push_str(line);
            self.text.push('\n');
        }
        self.line.clear();
        self.has_verbatim_text = false;
    }

    /// Adds a blank line, except at the beginning of the text or after another blank line.
    fn add_blank_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push('\n');
        }
    }

    fn finish(mut self) -> String {
        self.end_line();
        self.text.trim().to_owned()
    }
}
