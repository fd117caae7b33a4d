//! Converts the errors of all providers, which differ in form and in their codes, into model errors with one of a few codes
//! (contract C82).

use art_core::error::{ModelError, ModelErrorCode};
use art_core::text::byte_prefix;
use serde_json::Value;

#[cfg(test)]
mod tests;

/// Maximum length of the part of a provider's message that a model error quotes, in characters.
const MAX_MESSAGE_CHARS: usize = 200;
/// Maximum number of bytes at the beginning of a provider's message that are searched for known words.
const MAX_SEARCHED_BYTES: usize = 2000;
/// Maximum number of details of an error that are read.
const MAX_DETAILS: usize = 16;

/// Returns the error that the provider reports in `body`. `status` is the HTTP status, or `None` for an error inside a reply. A
/// used-up quota has the code [`ModelErrorCode::Unknown`], because waiting does not help; a rate limit has
/// [`ModelErrorCode::RateLimited`].
pub(crate) fn error_from_body(status: Option<u16>, body: &Value) -> ModelError {
    let provider_error = ProviderError::read(status, body);
    let message = clean(&provider_error.message);
    let detail = if message.is_empty() {
        provider_error.status.map_or_else(
            || "no reason given".to_owned(),
            |status| format!("HTTP status {status}"),
        )
    } else {
        message
    };
    let (code, sentence) = provider_error.kind().code_and_text();
    ModelError {
        code,
        message: format!("{sentence}: {detail}"),
        retry_after_ms: retry_after_ms(body),
        request_not_read: status.is_some_and(refuses_before_model_reads),
    }
}

/// Returns whether a provider that answers with this HTTP status has refused the request before a model read it. With 408
/// (timeout) or 499 (connection closed by the caller), a model may have read it.
fn refuses_before_model_reads(status: u16) -> bool {
    (400..500).contains(&status) && !matches!(status, 408 | 499)
}

/// Returns the message of the error in `body` in short, or an empty text.
pub(crate) fn message(body: &Value) -> String {
    clean(&ProviderError::read(None, body).message)
}

/// Returns whether a reply with this HTTP status says that a server has nothing at the address of a request: 404 or 405 without a word
/// about a model. Such a reply comes from a wrong `base_url`.
pub(crate) fn is_wrong_address(status: u16, body: &Value) -> bool {
    let provider_error = ProviderError::read(Some(status), body);
    let message = byte_prefix(&provider_error.message, MAX_SEARCHED_BYTES).to_lowercase();
    // A path, which the server may repeat, says nothing about models.
    let is_about_model = |word: &str| word.contains("model") && !word.starts_with('/') && !word.contains("://");
    let words = message.split_whitespace().chain(provider_error.codes.split(' '));
    matches!(status, 404 | 405) && !words.into_iter().any(is_about_model)
        || provider_error.kind() == ErrorKind::WrongAddress
}

/// Returns whether a provider refused a request because the request has tools, judging by the words of the error in `body`.
pub(crate) fn refuses_tools(status: u16, body: &Value) -> bool {
    let provider_error = ProviderError::read(Some(status), body);
    let may_concern_tools = matches!(provider_error.kind(), ErrorKind::Other | ErrorKind::ModelNotFound);
    if !matches!(status, 400 | 404 | 422) || !may_concern_tools {
        return false;
    }
    // This code means that the model made an invalid call, not that the tools of the request are a problem.
    if provider_error.codes.contains("tool_use_failed") {
        return false;
    }
    let param = ["/error/param", "/param"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str());
    let message = byte_prefix(&provider_error.message, MAX_SEARCHED_BYTES);
    let text = format!("{} {message}", param.unwrap_or_default()).to_lowercase();
    // With 404, `tools` or `functions` may be part of the name of the missing model.
    let match_field_names = status != 404;
    mentions_tools(&text, match_field_names)
}

/// Returns whether `text` mentions function calls or, if `match_field_names` is set, the name of a field of a request that holds
/// tools. `text` is in lower case.
fn mentions_tools(text: &str, match_field_names: bool) -> bool {
    const FIELDS: [&str; 3] = ["tools", "tool_choice", "functions"];
    const PHRASES: [[&str; 2]; 6] = [
        ["tool", "choice"],
        ["tool", "use"],
        ["tool", "calls"],
        ["tool", "calling"],
        ["function", "calls"],
        ["function", "calling"],
    ];
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let has_phrase = words.windows(2).any(|pair| PHRASES.iter().any(|phrase| pair == phrase));
    has_phrase || match_field_names && words.iter().any(|word| FIELDS.contains(word))
}

/// Returns the error that an event or a body of any protocol reports, if it reports one.
pub(super) fn error_in_reply(body: &Value) -> Option<ModelError> {
    let is_set = |error: &Value| !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("");
    let has_error = |path: &str| body.pointer(path).is_some_and(is_set);
    let event_type = body.get("type").and_then(Value::as_str);
    if has_error("/error")
        || has_error("/response/error")
        || matches!(event_type, Some("error" | "response.failed"))
        || body.pointer("/0/error").is_some()
    {
        return Some(error_from_body(None, body));
    }
    error_of_unfinished_choice(body).or_else(|| error_of_unfinished_response(body))
}

/// Returns the error of a reply in the Chat Completions protocol if the provider reports that it did not finish the first choice,
/// which has index 0.
fn error_of_unfinished_choice(body: &Value) -> Option<ModelError> {
    let is_first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    let choice = body.get("choices")?.as_array()?.iter().find(is_first)?;
    let reason = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
    let has_error = choice.get("error").is_some_and(Value::is_object);
    (has_error || matches!(reason, "error" | "insufficient_system_resource")).then(|| unfinished_reply(choice, reason))
}

/// Returns the error of a reply in the Responses protocol that the provider reports as cancelled or failed.
fn error_of_unfinished_response(body: &Value) -> Option<ModelError> {
    let event_type = body.get("type").and_then(Value::as_str).unwrap_or_default();
    let response = body.get("response").unwrap_or(body);
    let status = match response.get("status").and_then(Value::as_str) {
        None if event_type == "response.cancelled" => "cancelled",
        status => status.unwrap_or_default(),
    };
    let is_response = event_type.starts_with("response.") || response.get("output").is_some_and(Value::is_array);
    (is_response && matches!(status, "cancelled" | "failed")).then(|| unfinished_reply(&Value::Null, status))
}

/// Creates the error of a reply that the provider did not finish. The error is read from `part` of the reply; `default_message`
/// is used if it has no message. An error of no known kind counts as a failure of the provider.
fn unfinished_reply(part: &Value, default_message: &str) -> ModelError {
    let provider_error = ProviderError::read(None, part);
    let (code, sentence) = match provider_error.kind() {
        ErrorKind::Other => ErrorKind::Unavailable.code_and_text(),
        kind => kind.code_and_text(),
    };
    let detail = if provider_error.message.is_empty() {
        default_message
    } else {
        &provider_error.message
    };
    ModelError {
        code,
        message: format!("{sentence} before the reply was complete: {}", clean(detail)),
        retry_after_ms: None,
        request_not_read: false,
    }
}

/// Creates the error of a reply that cannot be read.
pub(super) fn unreadable_reply(reason: &str) -> ModelError {
    ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: format!("the provider's reply cannot be read: {}", clean(reason)),
        retry_after_ms: None,
        request_not_read: false,
    }
}

/// Creates the error of a stream that ended before its reply was complete.
pub(super) fn interrupted_stream() -> ModelError {
    ModelError {
        code: ModelErrorCode::NetworkError,
        message: "the stream was interrupted before the reply was complete; try again".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    }
}

/// A kind of error that providers report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ErrorKind {
    /// The quota is used up.
    Quota,
    /// The prompt is longer than the context of the model.
    ContextLength,
    /// The API key was not accepted.
    Authentication,
    ModelNotFound,
    /// The server has nothing at the address of the request.
    WrongAddress,
    RateLimit,
    /// The provider failed or is overloaded.
    Unavailable,
    /// The model did not follow the requested reply format.
    ReplyFormat,
    Other,
}

impl ErrorKind {
    /// Returns the error code and its description.
    const fn code_and_text(self) -> (ModelErrorCode, &'static str) {
        use ModelErrorCode as Code;
        match self {
            Self::Quota => (
                Code::Unknown,
                "the quota at the provider is used up; add credit or choose another model",
            ),
            Self::ContextLength => (Code::ContextLengthExceeded, "the prompt is too long for the model"),
            Self::Authentication => (
                Code::AuthenticationError,
                "the provider did not accept the key; check it and its rights",
            ),
            Self::ModelNotFound => (
                Code::ModelNotFound,
                "the provider does not have the model; check its name",
            ),
            Self::WrongAddress => (
                Code::ProviderNotConfigured,
                "the server has nothing at this address; correct `base_url`",
            ),
            Self::RateLimit => (Code::RateLimited, "the provider accepts no more requests for now"),
            Self::Unavailable => (Code::NetworkError, "the provider failed"),
            Self::ReplyFormat => (
                Code::InvalidResponse,
                "the model did not follow the requested reply format",
            ),
            Self::Other => (Code::Unknown, "the provider refused the request"),
        }
    }
}

/// A provider's error in a common form.
struct ProviderError {
    /// HTTP status of the error. Some providers send it only in the body, in the field `code`.
    status: Option<u16>,
    /// Codes and types, in lower case, separated by spaces.
    codes: String,
    message: String,
}

/// Substrings of codes and types, each with the kind of error that it shows. The first match is used.
const CODES: &[(&str, ErrorKind)] = &[
    ("insufficient_quota", ErrorKind::Quota),
    ("billing", ErrorKind::Quota),
    ("insufficient_balance", ErrorKind::Quota),
    ("rate_limit", ErrorKind::RateLimit),
    ("resource_exhausted", ErrorKind::RateLimit),
    ("too_many_requests", ErrorKind::RateLimit),
    ("context_length", ErrorKind::ContextLength),
    ("request_too_large", ErrorKind::ContextLength),
    ("authentication", ErrorKind::Authentication),
    ("invalid_api_key", ErrorKind::Authentication),
    ("api_key_invalid", ErrorKind::Authentication),
    ("permission", ErrorKind::Authentication),
    ("unauthenticated", ErrorKind::Authentication),
    ("model_not_found", ErrorKind::ModelNotFound),
    ("unknown_url", ErrorKind::WrongAddress),
    ("not_found", ErrorKind::ModelNotFound),
    ("json_validate_failed", ErrorKind::ReplyFormat),
    ("overloaded", ErrorKind::Unavailable),
    ("server_error", ErrorKind::Unavailable),
    ("api_error", ErrorKind::Unavailable),
    ("unavailable", ErrorKind::Unavailable),
    ("internal", ErrorKind::Unavailable),
    ("timeout", ErrorKind::Unavailable),
    ("deadline_exceeded", ErrorKind::Unavailable),
];

/// Substrings of messages, each with the kind of error that it shows. The first match is used. A code that shows a quota, a rate
/// limit or the context length takes precedence over a message; a message takes precedence over any other code.
const MESSAGES: &[(&str, ErrorKind)] = &[
    ("credit balance is too low", ErrorKind::Quota),
    ("insufficient balance", ErrorKind::Quota),
    ("insufficient credits", ErrorKind::Quota),
    // A request with more tokens than this has the status 413 of one that is too long.
    ("tokens per minute", ErrorKind::RateLimit),
    ("context length", ErrorKind::ContextLength),
    ("context window", ErrorKind::ContextLength),
    ("context size", ErrorKind::ContextLength),
    ("prompt is too long", ErrorKind::ContextLength),
    ("input is too long", ErrorKind::ContextLength),
    ("input token count", ErrorKind::ContextLength),
    ("not a valid model", ErrorKind::ModelNotFound),
    ("invalid url (", ErrorKind::WrongAddress),
    ("unexpected endpoint", ErrorKind::WrongAddress),
    ("unknown request url", ErrorKind::WrongAddress),
    ("api key not valid", ErrorKind::Authentication),
    ("api key expired", ErrorKind::Authentication),
];

impl ProviderError {
    /// Reads the error in `body`: the body of an HTTP response with the status `status`, or an event or a part of a reply, for
    /// which `status` is `None`. Some bodies are a list whose first item has the error.
    fn read(status: Option<u16>, body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let nested = ["/error", "/response/error"].iter().find_map(|path| body.pointer(path));
        let error = nested.filter(|error| !error.is_null()).unwrap_or(body);
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let status_in_body = error
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok());
        let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice);
        let reasons = details
            .unwrap_or_default()
            .iter()
            .take(MAX_DETAILS)
            .filter_map(|detail| detail.get("reason")?.as_str());
        let codes: Vec<&str> = [text("code"), text("type"), text("status")]
            .into_iter()
            .chain(reasons)
            .collect();
        let message = ["message", "detail", "error"]
            .iter()
            .map(|name| text(name))
            .find(|text| !text.is_empty());
        Self {
            status: status
                .filter(|status| *status >= 400)
                .or(status_in_body.filter(|code| (400..600).contains(code))),
            codes: codes.join(" ").to_lowercase(),
            message: message.or(error.as_str()).unwrap_or_default().to_owned(),
        }
    }

    fn kind(&self) -> ErrorKind {
        let message = byte_prefix(&self.message, MAX_SEARCHED_BYTES).to_lowercase();
        let lookup = |table: &[(&str, ErrorKind)], text: &str| {
            let found = table.iter().find(|(words, _)| text.contains(words));
            found.map(|(_, kind)| *kind)
        };
        // After a client error, the same request would fail again, so a code such as `api_error` does not mean that the provider
        // is down. 408 (timeout) and 429 (rate limit) do not count as client errors, because they are temporary.
        let client_error = matches!(self.status, Some(400..=407 | 409..=428 | 430..=497));
        let kind_of_code = lookup(CODES, &self.codes).filter(|kind| !(client_error && *kind == ErrorKind::Unavailable));
        if let Some(kind @ (ErrorKind::Quota | ErrorKind::RateLimit | ErrorKind::ContextLength)) = kind_of_code {
            return kind;
        }
        lookup(MESSAGES, &message)
            .or(kind_of_code)
            .unwrap_or_else(|| self.kind_of_status())
    }

    fn kind_of_status(&self) -> ErrorKind {
        match self.status {
            Some(401 | 403) => ErrorKind::Authentication,
            Some(402) => ErrorKind::Quota,
            Some(404) => ErrorKind::ModelNotFound,
            Some(413) => ErrorKind::ContextLength,
            Some(429) => ErrorKind::RateLimit,
            Some(408 | 500..) => ErrorKind::Unavailable,
            _ => ErrorKind::Other,
        }
    }
}

/// Returns the first [`MAX_MESSAGE_CHARS`] characters without control characters, and with `[removed]` in place of API keys.
fn clean(text: &str) -> String {
    let without_control = |c: char| if c.is_control() { ' ' } else { c };
    let short: String = text.chars().take(MAX_MESSAGE_CHARS).map(without_control).collect();
    let mut follows_bearer = false;
    let words = short.split_whitespace().map(|word| {
        let is_key = looks_like_a_key(word) || (follows_bearer && looks_like_a_token(word));
        let bare_word = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        follows_bearer = bare_word.to_ascii_lowercase().ends_with("bearer");
        if is_key { "[removed]" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Returns whether the word after `Bearer` seems to be a token and not a word of a sentence: it has at least 16 bytes, or 8 and a
/// digit.
fn looks_like_a_token(word: &str) -> bool {
    word.len() >= 16 || (word.len() >= 8 && word.contains(|c: char| c.is_ascii_digit()))
}

/// Returns whether a word seems to contain an API key: one of its parts begins with a common prefix of keys and is longer than
/// the prefix by at least 5 bytes, or the word contains `key=`.
fn looks_like_a_key(word: &str) -> bool {
    const KEY_PREFIXES: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "pk-", "AIza", "Bearer", "eyJ"];
    let starts_with_prefix = |word: &str| {
        KEY_PREFIXES
            .iter()
            .any(|prefix| word.starts_with(prefix) && word.len() > prefix.len() + 4)
    };
    word.split(['\'', '"', '`', '(', '?', '&', ':', '=', ','])
        .any(starts_with_prefix)
        || word.contains("key=")
}

/// Returns how long to wait before a retry, in milliseconds. Gemini requests this delay in the details of an error, for example
/// as `34.5s`. A delay of zero is ignored, as in the header `retry-after`.
fn retry_after_ms(body: &Value) -> Option<u64> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    let text = details
        .iter()
        .take(MAX_DETAILS)
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = text.strip_suffix('s')?.parse().ok()?;
    let delay = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(delay.as_millis()).ok().filter(|delay_ms| *delay_ms > 0)
}
