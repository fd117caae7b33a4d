//! Maps errors of providers to error codes (C82).

use art_core::error::{ModelError, ModelErrorCode};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// Maximum length of a provider's message in an error, in characters.
const MAX_MESSAGE: usize = 200;

/// Returns the error in `body`. `status` is the HTTP status, or `None` for an error in a stream. A used-up quota is
/// [`ModelErrorCode::Unknown`], because waiting does not help; any other limit is [`ModelErrorCode::RateLimited`].
pub(crate) fn error_of_body(status: Option<u16>, body: &Value) -> ModelError {
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
        retry_after_ms: retry_after(body),
    }
}

/// Returns whether a service refused a request because of its tools, judging by the words of its message.
pub(crate) fn names_tools(status: u16, body: &Value) -> bool {
    const FIELDS: [&str; 3] = ["tools", "tool_choice", "functions"];
    const WORDS: [[&str; 2]; 6] = [
        ["tool", "choice"],
        ["tool", "use"],
        ["tool", "calls"],
        ["tool", "calling"],
        ["function", "calls"],
        ["function", "calling"],
    ];
    let provider_error = ProviderError::read(Some(status), body);
    // This code means an invalid call of the model, not a problem with the tools of the request.
    let failed = provider_error.codes.contains("tool_use_failed");
    if failed || !matches!(status, 400 | 404 | 422) || !matches!(provider_error.kind(), Kind::Other | Kind::Missing) {
        return false;
    }
    let param = ["/error/param", "/param"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str());
    let text: String = provider_error.message.chars().take(2000).collect();
    let text = format!("{} {text}", param.unwrap_or_default()).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let in_words = words.windows(2).any(|pair| WORDS.iter().any(|words| pair == words));
    // With 404, the word may be part of the name of the missing model.
    in_words || status != 404 && words.iter().any(|word| FIELDS.contains(word))
}

/// Returns the error in an event or body of any protocol, if it is one.
pub(super) fn of_reply(body: &Value) -> Option<ModelError> {
    let is_set = |error: &Value| !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("");
    let present = |path: &str| body.pointer(path).is_some_and(is_set);
    let named = body.get("type").and_then(Value::as_str);
    let is_error = present("/error")
        || present("/response/error")
        || matches!(named, Some("error" | "response.failed"))
        || body.get(0).is_some_and(|first| first.get("error").is_some());
    is_error
        .then(|| error_of_body(None, body))
        .or_else(|| interrupted(body))
}

/// Returns the error of a reply that the provider reports as unfinished. Apart from the report, it looks complete.
fn interrupted(body: &Value) -> Option<ModelError> {
    let choices = body.get("choices").and_then(Value::as_array);
    let first = |choice: &&Value| choice.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
    if let Some(choice) = choices.and_then(|choices| choices.iter().find(first)) {
        let word = choice.get("finish_reason").and_then(Value::as_str).unwrap_or_default();
        let failed = choice.get("error").is_some_and(Value::is_object);
        return (failed || matches!(word, "error" | "insufficient_system_resource")).then(|| failure(choice, word));
    }
    let named = body.get("type").and_then(Value::as_str).unwrap_or_default();
    let response = body.get("response").unwrap_or(body);
    let status = match response.get("status").and_then(Value::as_str) {
        None if named == "response.cancelled" => "cancelled",
        status => status.unwrap_or_default(),
    };
    let is_response = named.starts_with("response.") || response.get("output").is_some_and(Value::is_array);
    (is_response && matches!(status, "cancelled" | "failed")).then(|| failure(&Value::Null, status))
}

/// Returns the error in a part of a reply. Without a reason it counts as a failure of the provider.
fn failure(part: &Value, word: &str) -> ModelError {
    let provider_error = ProviderError::read(None, part);
    let (code, sentence) = match provider_error.kind() {
        Kind::Other => Kind::Down.code_and_text(),
        kind => kind.code_and_text(),
    };
    let detail = if provider_error.message.is_empty() {
        word
    } else {
        &provider_error.message
    };
    ModelError {
        code,
        message: format!("{sentence} before the reply was complete: {}", clean(detail)),
        retry_after_ms: None,
    }
}

/// Creates the error of a reply that cannot be read.
pub(super) fn unreadable(reason: &str) -> ModelError {
    ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: format!("the provider's reply cannot be read: {}", clean(reason)),
        retry_after_ms: None,
    }
}

/// Creates the error of an interrupted reply.
pub(super) fn interrupted_stream() -> ModelError {
    ModelError {
        code: ModelErrorCode::NetworkError,
        message: "the stream was interrupted before the reply was complete; try again".to_owned(),
        retry_after_ms: None,
    }
}

/// A kind of error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Quota,
    Context,
    Key,
    Missing,
    Rate,
    Down,
    Form,
    Other,
}

impl Kind {
    /// Returns the error code and its description.
    const fn code_and_text(self) -> (ModelErrorCode, &'static str) {
        use ModelErrorCode as Code;
        match self {
            Self::Quota => (
                Code::Unknown,
                "the quota at the provider is used up; add credit or choose another model",
            ),
            Self::Context => (Code::ContextLengthExceeded, "the prompt is too long for the model"),
            Self::Key => (
                Code::AuthenticationError,
                "the provider did not accept the key; check it and its rights",
            ),
            Self::Missing => (
                Code::ModelNotFound,
                "the provider does not have the model; check its name",
            ),
            Self::Rate => (Code::RateLimited, "the provider accepts no more requests for now"),
            Self::Down => (Code::NetworkError, "the provider failed"),
            Self::Form => (
                Code::InvalidResponse,
                "the model did not follow the requested reply format",
            ),
            Self::Other => (Code::Unknown, "the provider refused the request"),
        }
    }
}

/// A provider's error in a common form.
struct ProviderError {
    status: Option<u16>,
    /// Codes and types, in lower case, separated by spaces.
    codes: String,
    message: String,
}

/// Substrings of codes and types, with their kinds. The first match is used.
const CODES: &[(&str, Kind)] = &[
    ("insufficient_quota", Kind::Quota),
    ("billing", Kind::Quota),
    ("insufficient_balance", Kind::Quota),
    ("rate_limit", Kind::Rate),
    ("resource_exhausted", Kind::Rate),
    ("too_many_requests", Kind::Rate),
    ("context_length", Kind::Context),
    ("request_too_large", Kind::Context),
    ("authentication", Kind::Key),
    ("invalid_api_key", Kind::Key),
    ("api_key_invalid", Kind::Key),
    ("permission", Kind::Key),
    ("unauthenticated", Kind::Key),
    ("model_not_found", Kind::Missing),
    ("not_found", Kind::Missing),
    ("json_validate_failed", Kind::Form),
    ("overloaded", Kind::Down),
    ("server_error", Kind::Down),
    ("api_error", Kind::Down),
    ("unavailable", Kind::Down),
    ("internal", Kind::Down),
    ("timeout", Kind::Down),
    ("deadline_exceeded", Kind::Down),
];

/// Substrings of messages that are more specific than the code.
const MESSAGES: &[(&str, Kind)] = &[
    ("credit balance is too low", Kind::Quota),
    ("insufficient balance", Kind::Quota),
    ("insufficient credits", Kind::Quota),
    ("context length", Kind::Context),
    ("context window", Kind::Context),
    ("context size", Kind::Context),
    ("prompt is too long", Kind::Context),
    ("input is too long", Kind::Context),
    ("input token count", Kind::Context),
    ("not a valid model", Kind::Missing),
    ("api key not valid", Kind::Key),
    ("api key expired", Kind::Key),
];

impl ProviderError {
    fn read(status: Option<u16>, body: &Value) -> Self {
        let body = body.get(0).unwrap_or(body);
        let nested = ["/error", "/response/error"].iter().find_map(|path| body.pointer(path));
        let error = nested.filter(|error| !error.is_null()).unwrap_or(body);
        let text = |name: &str| error.get(name).and_then(Value::as_str).unwrap_or_default();
        let inner = error
            .get("code")
            .and_then(Value::as_u64)
            .and_then(|code| u16::try_from(code).ok());
        let details = error.get("details").and_then(Value::as_array).map(Vec::as_slice);
        let reasons = details
            .unwrap_or_default()
            .iter()
            .take(16)
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
                .or(inner.filter(|code| (400..600).contains(code))),
            codes: codes.join(" ").to_lowercase(),
            message: message.or(error.as_str()).unwrap_or_default().to_owned(),
        }
    }

    fn kind(&self) -> Kind {
        let message = self
            .message
            .get(..2000.min(self.message.len()))
            .unwrap_or(&self.message)
            .to_lowercase();
        let named = |table: &[(&str, Kind)], text: &str| {
            let found = table.iter().find(|(words, _)| text.contains(words));
            found.map(|(_, kind)| *kind)
        };
        // A client error fails again, so its code cannot mean that the provider is down.
        let client_error = matches!(self.status, Some(400..=407 | 409..=428));
        let coded = named(CODES, &self.codes).filter(|kind| !(client_error && *kind == Kind::Down));
        if let Some(kind @ (Kind::Quota | Kind::Rate | Kind::Context)) = coded {
            return kind;
        }
        named(MESSAGES, &message).or(coded).unwrap_or_else(|| self.by_status())
    }

    fn by_status(&self) -> Kind {
        match self.status {
            Some(401 | 403) => Kind::Key,
            Some(402) => Kind::Quota,
            Some(404) => Kind::Missing,
            Some(413) => Kind::Context,
            Some(429) => Kind::Rate,
            Some(408 | 500..) => Kind::Down,
            _ => Kind::Other,
        }
    }
}

/// Returns the first [`MAX_MESSAGE`] characters without control characters and with keys removed.
fn clean(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let short: String = text.chars().take(MAX_MESSAGE).map(plain).collect();
    let words: Vec<&str> = short
        .split_whitespace()
        .map(|word| if is_secret(word) { "[removed]" } else { word })
        .collect();
    words.join(" ")
}

/// Returns whether a word contains a key: a common prefix of keys, or a URL with a key.
fn is_secret(word: &str) -> bool {
    const MARKS: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "pk-", "AIza", "key=", "Bearer", "eyJ"];
    let starts = |word: &str| {
        MARKS
            .iter()
            .any(|mark| word.starts_with(mark) && word.len() > mark.len() + 4)
    };
    word.split(['\'', '"', '`', '(', '?', '&', ':', '=', ',']).any(starts) || word.contains("key=")
}

/// Returns the delay that Gemini requests in the details of an error, such as `34.5s`, in milliseconds. Zero is ignored, as in
/// headers.
fn retry_after(body: &Value) -> Option<u64> {
    let body = body.get(0).unwrap_or(body);
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details
        .iter()
        .take(16)
        .find_map(|detail| detail.get("retryDelay")?.as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let waits = std::time::Duration::try_from_secs_f64(seconds).ok()?;
    u64::try_from(waits.as_millis()).ok().filter(|wait| *wait > 0)
}
