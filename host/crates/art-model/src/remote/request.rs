//! Prepares the HTTP requests to a provider, and interprets its error replies.

use std::borrow::Cow;
use std::time::SystemTime;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ModelCapability, ModelRequest};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Url};
use serde_json::Value;
use tokio::time::Instant;

use super::address::correction;
use crate::fault::{error, not_configured};
use crate::http::{HttpRequest, HttpResponse};
use crate::protocol::fault::{self, error_from_body, refuses_tools};
use crate::protocol::{KeyHeader, ProtocolCall, without_function_calls};
use crate::provider::RemoteProvider;
use crate::retry::requested_delay;

/// A request that is ready to be sent.
pub(super) struct PreparedRequest {
    pub(super) http_request: HttpRequest,
    /// Number of characters of the body, without files. The size of a file is unrelated to its number of tokens.
    pub(super) characters: usize,
    /// Whether the request offers tools as function calls. If not, at most the text of the prompt describes them.
    pub(super) has_tools: bool,
}

/// Prepares the request to a model. If the model does not support function calls, the request offers no tools, and the calls of
/// earlier turns become text. `answer_by` is when all attempts of the call are over.
pub(super) fn prepare(
    remote: &RemoteProvider,
    model_id: &str,
    request: &ModelRequest,
    answer_by: Option<Instant>,
) -> Result<PreparedRequest, ModelError> {
    let capabilities = remote.capabilities.for_model(model_id);
    let vision = capabilities.contains(&ModelCapability::Vision);
    let request = if capabilities.contains(&ModelCapability::ToolUse) {
        Cow::Borrowed(request)
    } else {
        Cow::Owned(without_function_calls(request))
    };
    let request = request.as_ref();
    let encoded = remote.codec.encode_request(&ProtocolCall {
        model_id,
        request,
        stream: remote.stream,
        vision,
        max_tokens: remote.max_output_tokens,
    })?;
    let body = serde_json::to_string(&encoded.body)
        .map_err(|cause| error(ModelErrorCode::Unknown, format!("cannot write the request: {cause}")))?;
    // A protocol omits files that its provider does not accept.
    let sent_files = request.media.iter().filter(|file| body.contains(&file.base64));
    let file_characters = sent_files.map(|file| file.base64.len()).sum();
    let characters = body.chars().count().saturating_sub(file_characters);
    let mut headers = headers(remote)?;
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if remote.stream {
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    }
    let url = url(remote, &encoded.path)?;
    let http_request = HttpRequest {
        method: Method::POST,
        url,
        headers,
        body: body.into_bytes(),
        only_total_timeout: !remote.stream,
        answer_by,
    };
    Ok(PreparedRequest {
        http_request,
        characters,
        has_tools: !request.tools.is_empty(),
    })
}

/// Creates the request for the list of models that the provider has.
pub(super) fn list_request(remote: &RemoteProvider) -> Result<HttpRequest, ModelError> {
    get_request(remote, remote.codec.models_path())
}

/// Creates a GET request for `path`.
pub(super) fn get_request(remote: &RemoteProvider, path: &str) -> Result<HttpRequest, ModelError> {
    Ok(HttpRequest {
        method: Method::GET,
        url: url(remote, path)?,
        headers: headers(remote)?,
        body: Vec::new(),
        only_total_timeout: false,
        answer_by: None,
    })
}

/// Returns the headers of every request, with the key.
fn headers(remote: &RemoteProvider) -> Result<HeaderMap, ModelError> {
    let mut headers = remote.headers.clone();
    for (name, value) in remote.codec.headers() {
        headers.insert(header_name(name)?, header_value(&value)?);
    }
    if let Some(key) = remote.key.expose() {
        let (name, text) = match remote.codec.key_header() {
            KeyHeader::Bearer => (AUTHORIZATION, format!("Bearer {key}")),
            KeyHeader::Plain(name) => (header_name(name)?, key.to_owned()),
        };
        let mut value = header_value(&text)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn header_name(name: &str) -> Result<HeaderName, ModelError> {
    HeaderName::from_bytes(name.as_bytes()).map_err(|cause| {
        error(
            ModelErrorCode::Unknown,
            format!("`{name}` is not a valid header name: {cause}"),
        )
    })
}

fn header_value(value: &str) -> Result<HeaderValue, ModelError> {
    // The error does not show the value, which may be the key.
    HeaderValue::from_str(value).map_err(|_cause| not_configured("a header has a character that is not allowed"))
}

fn url(remote: &RemoteProvider, path: &str) -> Result<Url, ModelError> {
    let base = remote.base_url.as_str().trim_end_matches('/');
    Url::parse(&format!("{base}/{path}")).map_err(|cause| {
        not_configured(format!(
            "`base_url` of provider `{}` cannot be used: {cause}",
            remote.name
        ))
    })
}

/// A reply that reports an error instead of fulfilling the request.
pub(super) struct ErrorReply {
    pub(super) error: ModelError,
    /// Whether the provider refused the tools of the request.
    pub(super) refuses_tools: bool,
}

/// Reads a reply with an error status or a redirect.
pub(super) async fn read_error_reply(remote: &RemoteProvider, response: &mut HttpResponse) -> ErrorReply {
    if (300..400).contains(&response.status) {
        let error = not_configured(format!(
            "`{}` answered with a redirect (HTTP status {}); redirects are not followed; correct `base_url`",
            response.host(),
            response.status
        ));
        return ErrorReply {
            error,
            refuses_tools: false,
        };
    }
    let body = response.read_error_body().await;
    let text = String::from_utf8_lossy(&body);
    let text = remote.redactor.redact(&text);
    // A body that is not JSON is usually a page of a proxy, which is less informative than the status.
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let mut error = match is_wrong_address(remote, response.status, &body) {
        true => wrong_address_error(remote, response, &body),
        false => error_from_body(Some(response.status), &body),
    };
    if let Some(wait) = requested_delay(&response.headers, SystemTime::now()) {
        error.retry_after_ms = u64::try_from(wait.as_millis()).ok();
    }
    ErrorReply {
        error,
        refuses_tools: refuses_tools(response.status, &body),
    }
}

/// Creates the error of a reply that is a web page.
pub(super) fn web_page_error(remote: &RemoteProvider, response: &HttpResponse) -> ModelError {
    let message = format!(
        "`{}` answered with a web page; {}",
        response.host(),
        correction(&remote.base_url)
    );
    error(ModelErrorCode::InvalidResponse, message)
}

/// Returns whether a reply says that the server has nothing at the address of the request. The built-in address of a provider is right.
pub(super) fn is_wrong_address(remote: &RemoteProvider, status: u16, body: &Value) -> bool {
    remote.defaults_at_built_in_address().is_none() && fault::is_wrong_address(status, body)
}

/// Creates the error of a server that has nothing at the address of a request.
pub(super) fn wrong_address_error(remote: &RemoteProvider, response: &HttpResponse, body: &Value) -> ModelError {
    let said = match fault::message(body) {
        message if message.is_empty() => message,
        message => format!(": {message}"),
    };
    not_configured(format!(
        "`{}` has nothing at `{}` (HTTP status {}{said}); {}",
        response.host(),
        response.path(),
        response.status,
        correction(&remote.base_url)
    ))
}

/// Adds the model and hints to an error, and redacts secrets.
pub(super) fn explain_error(remote: &RemoteProvider, model_id: &str, error: &ModelError) -> ModelError {
    let hint = match error.code {
        ModelErrorCode::AuthenticationError => match remote.key.secret {
            Some(_) => format!(" (the key is from {})", remote.key.source),
            None => " (the request had no key; set `api_key_env` or `api_key_file`)".to_owned(),
        },
        ModelErrorCode::ModelNotFound => " (`art doctor` shows similar names)".to_owned(),
        _ => String::new(),
    };
    let message = remote.redactor.clean_line(&error.message);
    ModelError {
        message: format!("`{}:{model_id}`: {}{hint}", remote.name, message.trim_end_matches('.')),
        ..error.clone()
    }
}
