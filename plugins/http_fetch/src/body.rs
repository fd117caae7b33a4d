//! The body of a response: a page, JSON, another text, or something else.

use art_sdk::http::{MAX_RESPONSE_BYTES, Response};
use art_sdk::prelude::*;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use scraper::{Html, Selector};
use url::Url;

use crate::io::{HttpFetchInput, HttpFetchOutput, Part};
use crate::page;

/// Maximum size of JSON that is returned as a value, in bytes.
const MAX_JSON_BYTES: usize = 256 << 10;
/// Maximum length of the text that one call returns, in characters.
const MAX_TEXT_CHARS: usize = 200_000;
/// Maximum number of tags of a page that are read. Each costs about 10,000 fuel and 300 bytes of memory, so that more of them could
/// exceed the limits of the call.
const MAX_TAGS: usize = 60_000;
/// Maximum length of the value of an attribute that is returned, in characters.
const MAX_ATTRIBUTE_CHARS: usize = 1000;

/// Writes the content of the body into the output.
pub(crate) fn add_content(
    input: &HttpFetchInput,
    url: &Url,
    response: &Response,
    output: &mut HttpFetchOutput,
) -> Result<()> {
    if let Some(coding) = response
        .header("content-encoding")
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
    {
        return Err(ToolError::io(format_args!(
            "`{url}` is compressed with `{coding}` and cannot be read"
        )));
    }
    let mut media_type = media_type(response);
    if media_type.is_empty() && looks_like_html(response.bytes()) {
        "text/html".clone_into(&mut media_type);
    }
    let is_json = media_type == "application/json" || media_type.ends_with("+json");
    let is_text = media_type.starts_with("text/") || is_text_format(&media_type);
    match media_type.as_str() {
        "text/html" | "application/xhtml+xml" => write_html(input, url, &text_of(response, output), output),
        // The beginning of JSON is no JSON.
        _ if is_json && !response.is_truncated() => write_json(input, &text_of(response, output), output),
        _ if is_json || is_text => write_text(input, &text_of(response, output), output),
        // Content without a type counts as text, unless it has a NUL byte.
        "" if !response.bytes().contains(&0) => write_text(input, &text_of(response, output), output),
        _ => output.notes.push(format!(
            "the content has {} of the type `{media_type}`, which is no text",
            size_of_body(response)
        )),
    }
    Ok(())
}

/// Returns the size of the body for a note.
fn size_of_body(response: &Response) -> String {
    if response.is_truncated() {
        format!("more than {MAX_RESPONSE_BYTES} bytes")
    } else {
        format!("{} bytes", response.bytes().len())
    }
}

/// Returns the decoded body. If it is only the beginning of what the server sent, the output says so.
fn text_of(response: &Response, output: &mut HttpFetchOutput) -> String {
    let mut text = decode(response);
    if response.is_truncated() {
        output.truncated = true;
        output.notes.push(format!(
            "the content has {}: only its beginning was read, and no call can read the rest",
            size_of_body(response)
        ));
        // The cut may be inside a character.
        text.truncate(text.trim_end_matches(char::REPLACEMENT_CHARACTER).len());
    }
    text
}

/// Returns the type of the content in lower case, without parameters.
fn media_type(response: &Response) -> String {
    let header = response.header("content-type").unwrap_or_default();
    header.split(';').next().unwrap_or_default().trim().to_lowercase()
}

/// Returns whether content without a type begins as a page does.
fn looks_like_html(bytes: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(bytes.get(..512).unwrap_or(bytes)).to_lowercase();
    let beginning = beginning.trim_start_matches('\u{feff}').trim_start();
    ["<!doctype html", "<html", "<head", "<body", "<title"]
        .iter()
        .any(|tag| beginning.starts_with(tag))
}

/// Returns whether a media type that does not begin with `text/` is that of a text format.
fn is_text_format(media_type: &str) -> bool {
    let names = [
        "application/xml",
        "application/javascript",
        "application/yaml",
        "application/toml",
        "application/x-ndjson",
    ];
    names.contains(&media_type) || media_type.ends_with("+xml")
}

/// Decodes the body with the encoding that its byte order mark, its header or the page itself names, or else as UTF-8.
fn decode(response: &Response) -> String {
    let bytes = response.bytes();
    let from_header = response
        .header("content-type")
        .and_then(|header| charset(header.as_bytes()));
    let encoding = from_header.or_else(|| encoding_in_page(response)).unwrap_or(UTF_8);
    // A byte order mark takes precedence over `encoding`.
    encoding.decode(bytes).0.into_owned()
}

/// Returns the encoding that a page names: in its XML declaration, or in an element `meta`. The HTML standard requires that this
/// is in the first 1024 bytes, but many pages have it later.
fn encoding_in_page(response: &Response) -> Option<&'static Encoding> {
    const MAX_HEAD_BYTES: usize = 64 << 10;
    let bytes = response.bytes();
    let media_type = media_type(response);
    if !(media_type.is_empty() || media_type.contains("html") || media_type.contains("xml")) {
        return None;
    }
    let head = String::from_utf8_lossy(bytes.get(..MAX_HEAD_BYTES).unwrap_or(bytes)).to_lowercase();
    let declaration = head
        .trim_start()
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"));
    let in_declaration = declaration.and_then(|(attributes, _)| label_after(attributes, "encoding="));
    let tags = head.split("<meta").skip(1).filter_map(|rest| rest.split('>').next());
    let named = in_declaration.or_else(|| tags.filter_map(|tag| label_after(tag, "charset=")).next());
    // A text in UTF-16 could not be read up to here: as the HTML standard says, it is in UTF-8.
    named.map(|encoding| {
        if [UTF_16LE, UTF_16BE].contains(&encoding) {
            UTF_8
        } else {
            encoding
        }
    })
}

/// Returns the encoding whose name follows `charset=` in `text`, if there is one.
fn charset(text: &[u8]) -> Option<&'static Encoding> {
    label_after(&String::from_utf8_lossy(text).to_lowercase(), "charset=")
}

/// Returns the encoding whose name follows `key` in a text in lower case, if there is one.
fn label_after(text: &str, key: &str) -> Option<&'static Encoding> {
    let (_, rest) = text.split_once(key)?;
    let rest = rest.trim_start_matches(['"', '\'']);
    let end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && !"-_:.".contains(c))
        .unwrap_or(rest.len());
    Encoding::for_label(rest.get(..end)?.as_bytes())
}

/// Writes the parts of a page that `input.only` names into the output: by default all parts except the links. The language is
/// always written.
fn write_html(input: &HttpFetchInput, url: &Url, text: &str, output: &mut HttpFetchOutput) {
    let beginning = beginning_of_html(text);
    if beginning.len() < text.len() {
        output.truncated = true;
        output.notes.push(format!(
            "the page has more than {MAX_TAGS} tags: only its beginning was read, and no call can read the rest"
        ));
    }
    let document = Html::parse_document(beginning);
    let wants = |part| input.only.is_none_or(|only| only == part);
    output.language = attribute(&document, "html", "lang");
    if wants(Part::Title) {
        output.title = page::title(&document);
        output.description = attribute(&document, "meta[name=description]", "content");
    }
    if wants(Part::Headings) {
        output.headings = Some(page::headings(&document));
    }
    if input.only == Some(Part::Links) {
        let (links, has_more) = page::links(&document, url);
        output.truncated |= has_more;
        output.links = Some(links);
    }
    if wants(Part::Text) {
        write_text(input, &page::text(&document), output);
    }
}

/// Returns a page, or if it has more than `MAX_TAGS` tags, its beginning.
fn beginning_of_html(text: &str) -> &str {
    let end = text.match_indices('<').nth(MAX_TAGS).map(|(at, _)| at);
    end.and_then(|end| text.get(..end)).unwrap_or(text)
}

/// Returns an attribute of the first element that `selector` finds, or `None` if it is missing or empty. Cuts a long value.
fn attribute(document: &Html, selector: &str, name: &str) -> Option<String> {
    let selector = Selector::parse(selector).ok()?;
    let value = document.select(&selector).next()?.value().attr(name)?.trim();
    (!value.is_empty()).then(|| value.chars().take(MAX_ATTRIBUTE_CHARS).collect())
}

/// Writes JSON into the output: as a value if it is valid and not too long, and as text otherwise.
fn write_json(input: &HttpFetchInput, text: &str, output: &mut HttpFetchOutput) {
    // JSON that is too long is not parsed: as a value, it may need more memory than a call has.
    if text.len() > MAX_JSON_BYTES {
        output
            .notes
            .push(format!("the JSON has {} bytes and is returned as text", text.len()));
        return write_text(input, text, output);
    }
    match art_sdk::json::parse(text) {
        Ok(value) => output.json = Some(value),
        Err(error) => {
            output.notes.push(format!(
                "the content is no valid JSON ({error}) and is returned as text"
            ));
            write_text(input, text, output);
        }
    }
}

/// Writes the part of a text after `skip_chars`, up to `max_chars` characters, into the output.
fn write_text(input: &HttpFetchInput, text: &str, output: &mut HttpFetchOutput) {
    let mut rest = text.chars().skip(input.skip_chars);
    let part: String = rest.by_ref().take(input.max_chars.min(MAX_TEXT_CHARS)).collect();
    let remaining = rest.count();
    if remaining > 0 {
        output.truncated = true;
        let next = input.skip_chars + part.chars().count();
        output.notes.push(format!(
            "{remaining} further characters are not shown: set `skip_chars` to {next} to read on"
        ));
    }
    output.text = Some(part);
}
