//! Sends the request, and follows redirects within one origin.

use art_sdk::http::{Request, Response, excerpt};
use art_sdk::prelude::*;
use url::Url;

use crate::io::{HttpFetchInput, HttpFetchOutput, Method};
use crate::{body, page};

/// Maximum number of redirects that are followed.
const MAX_REDIRECTS: usize = 5;

/// Fetches what `input` asks for.
pub(crate) fn run(input: &HttpFetchInput) -> Result<HttpFetchOutput> {
    let mut url = parse_address(&input.url)?;
    for _ in 0..=MAX_REDIRECTS {
        let response = request(input, &url).send()?;
        let Some(next) = redirect_target(&url, &response) else {
            return to_output(input, &url, &response);
        };
        if next.origin() != url.origin() {
            return Ok(moved_output(&url, &response, &next));
        }
        url = next;
    }
    Err(ToolError::io(format_args!(
        "`{}` redirects more than {MAX_REDIRECTS} times: the page cannot be reached",
        input.url
    )))
}

fn parse_address(text: &str) -> Result<Url> {
    let url = Url::parse(text.trim());
    match url {
        Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
        _ => Err(ToolError::validation(format_args!(
            "`url` is `{text}`, which is no address of a page: write it in full, as `https://example.com/page`"
        ))),
    }
}

fn request(input: &HttpFetchInput, url: &Url) -> Request {
    // Some sites refuse requests that do not say who sends them.
    let mut request = Request::new(input.method.name(), url.as_str())
        .allow_truncated()
        .header("user-agent", concat!("art-http-fetch/", env!("CARGO_PKG_VERSION")))
        .header("accept", "text/html, application/json, text/*;q=0.9, */*;q=0.5");
    let conditional_headers = [
        ("if-none-match", &input.etag),
        ("if-modified-since", &input.last_modified),
    ];
    for (name, value) in conditional_headers {
        if let Some(value) = value {
            request = request.header(name, value);
        }
    }
    request
}

/// Returns the address to which a response of `url` redirects, or `None` if it does not redirect or names no address.
fn redirect_target(url: &Url, response: &Response) -> Option<Url> {
    if !matches!(response.status(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    url.join(response.header("location")?).ok()
}

/// Returns an output that names the address `next` on another site (another scheme, host or port), to which a page has moved.
/// This address is not fetched, since the host lets a call send requests only to the site of its argument `url`.
fn moved_output(url: &Url, response: &Response, next: &Url) -> HttpFetchOutput {
    HttpFetchOutput {
        redirect: Some(next.to_string()),
        notes: vec![format!(
            "the page has moved to another site, which got no request: call again with `url` = `{next}` to read it"
        )],
        ..output_without_content(url, response)
    }
}

/// Returns an output with the address, the status and the headers of a response.
fn output_without_content(url: &Url, response: &Response) -> HttpFetchOutput {
    let header = |name| response.header(name).map(str::to_owned);
    HttpFetchOutput {
        status: response.status(),
        url: url.to_string(),
        content_type: header("content-type"),
        etag: header("etag"),
        last_modified: header("last-modified"),
        ..HttpFetchOutput::default()
    }
}

/// Converts a response that does not redirect to an output, or to an error if its status is neither a success nor 304.
fn to_output(input: &HttpFetchInput, url: &Url, response: &Response) -> Result<HttpFetchOutput> {
    let mut output = output_without_content(url, response);
    if response.status() == 304 {
        output.not_modified = true;
        return Ok(output);
    }
    if !(200..300).contains(&response.status()) {
        return Err(status_error(url, response));
    }
    if input.method == Method::Get {
        body::add_content(input, url, response, &mut output)?;
    }
    Ok(output)
}

/// Returns the error for a status that is not a success, with the beginning of the text of the page.
fn status_error(url: &Url, response: &Response) -> ToolError {
    // Only the code of this error and whether it is retryable are used; the message is written below.
    let error = match response.clone().success() {
        Err(error) => error,
        Ok(_) => ToolError::io("the server answered without success"),
    };
    let text = page::text_of_html(&String::from_utf8_lossy(response.bytes()));
    let meaning = match response.status() {
        404 | 410 => "the page does not exist: check the address",
        401 | 403 => "the site does not allow it",
        429 => "the site has had too many requests: try again later",
        _ => "the site could not answer",
    };
    ToolError {
        message: format!(
            "`{url}` has the status {}: {meaning}; the page says: {}",
            response.status(),
            excerpt(&text)
        ),
        ..error
    }
}
