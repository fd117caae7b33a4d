//! Maps errors of providers to the codes of C82.

use art_core::error::{ModelError, ModelErrorCode};
use serde_json::Value;

#[cfg(test)]
mod tests;

/// Characters of a provider's message that an error repeats.
const MAX_WORDS: usize = 200;

/// Returns the error in `body`, which came with the HTTP status `status`, or in a stream without one. A used-up quota
/// is [`ModelErrorCode::Unknown`], because waiting does not help; any other limit is [`ModelErrorCode::RateLimited`].
pub(crate) fn error_of_body(status: Option<u16>, body: &Value) -> ModelError {
    let said = Said::read(status, body);
    let words = clean(&said.message);
    let told = if words.is_empty() {
        said.status.map_or_else(
            || "no reason given".to_owned(),
            |status| format!("HTTP status {status}"),
        )
    } else {
        words
    };
    let (code, sentence) = said.kind().told();
    ModelError {
        code,
        message: format!("{sentence}: {told}"),
        retry_after_ms: retry_after(body),
    }
}

/// Whether a service refuses a request because of its tools, by the words of its message.
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
    let said = Said::read(Some(status), body);
    // An invalid call of the model is not about the tools of the request.
    let failed = said.codes.contains("tool_use_failed");
    if failed || !matches!(status, 400 | 404 | 422) || !matches!(said.kind(), Kind::Other | Kind::Missing) {
        return false;
    }
    let param = ["/error/param", "/param"]
        .iter()
        .find_map(|path| body.pointer(path)?.as_str());
    let text: String = said.message.chars().take(2000).collect();
    let text = format!("{} {text}", param.unwrap_or_default()).to_lowercase();
    let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let in_words = words.windows(2).any(|pair| WORDS.iter().any(|words| pair == words));
    // A missing field or model may have such a name.
    in_words || status != 404 && words.iter().any(|word| FIELDS.contains(word))
}

/// Returns the error in an event or body of any protocol, if it is one.
pub(super) fn of_reply(body: &Value) -> Option<ModelError> {
    let says = |error: &Value| !matches!(error, Value::Null | Value::Bool(false)) && error.as_str() != Some("");
    let present = |path: &str| body.pointer(path).is_some_and(says);
    let named = body.get("type").and_then(Value::as_str);
    let is_error = present("/error")
        || present("/response/error")
        || matches!(named, Some("error" | "response.failed"))
        || body.get(0).is_some_and(|first| first.get("error").is_some());
    is_error
        .then(|| error_of_body(None, body))
        .or_else(|| interrupted(body))
}

/// Returns the error of a reply that the provider reports as unfinished, which looks complete otherwise.
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

/// Returns the error of a part of a reply. Without a reason it counts as a failure of the provider.
fn failure(part: &Value, word: &str) -> ModelError {
    let said = Said::read(None, part);
    let (code, sentence) = match said.kind() {
        Kind::Other => Kind::Down.told(),
        kind => kind.told(),
    };
    let told = if said.message.is_empty() { word } else { &said.message };
    ModelError {
        code,
        message: format!("{sentence} before the reply was whole: {}", clean(told)),
        retry_after_ms: None,
    }
}

/// Creates the error of a reply that cannot be read.
pub(super) fn unreadable(what: &str) -> ModelError {
    ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: format!("the provider's reply cannot be read: {}", clean(what)),
        retry_after_ms: None,
    }
}

/// Creates the error of a reply that broke off.
pub(super) fn broke_off() -> ModelError {
    ModelError {
        code: ModelErrorCode::NetworkError,
        message: "the stream broke off before the reply was whole; ask again".to_owned(),
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
    /// Returns its code and its meaning in words.
    const fn told(self) -> (ModelErrorCode, &'static str) {
        use ModelErrorCode as Code;
        match self {
            Self::Quota => (
                Code::Unknown,
                "the quota at the provider is used up; add credit or choose another model",
            ),
            Self::Context => (Code::ContextLengthExceeded, "the prompt is longer than the model takes"),
            Self::Key => (
                Code::AuthenticationError,
                "the provider did not accept the key; check it and its rights",
            ),
            Self::Missing => (
                Code::ModelNotFound,
                "the provider does not have the model; check its name",
            ),
            Self::Rate => (Code::RateLimited, "the provider takes no more requests for now"),
            Self::Down => (Code::NetworkError, "the provider failed"),
            Self::Form => (
                Code::InvalidResponse,
                "the model did not keep to the form that it was asked for",
            ),
            Self::Other => (Code::Unknown, "the provider refused the request"),
        }
    }
}

/// A provider's error in one form.
struct Said {
    status: Option<u16>,
    /// Codes and types, in lower case, with blanks between.
    codes: String,
    message: String,
}

/// Words in codes and types with their kinds. The first match wins.
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

/// Words in messages that say more than the code.
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

impl Said {
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
        // An invalid request fails again, whatever its code says.
        let at_fault = matches!(self.status, Some(400..=407 | 409..=428));
        let coded = named(CODES, &self.codes).filter(|kind| !(at_fault && *kind == Kind::Down));
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

/// Returns the first [`MAX_WORDS`] characters, without control characters and anything that looks like a key.
fn clean(text: &str) -> String {
    let plain = |c: char| if c.is_control() { ' ' } else { c };
    let short: String = text.chars().take(MAX_WORDS).map(plain).collect();
    let words: Vec<&str> = short
        .split_whitespace()
        .map(|word| if is_secret(word) { "[removed]" } else { word })
        .collect();
    words.join(" ")
}

/// Whether a word contains a key: it has a usual prefix of keys, or is a URL with a key.
fn is_secret(word: &str) -> bool {
    const MARKS: &[&str] = &["sk-", "sk_", "gsk_", "xai-", "pk-", "AIza", "key=", "Bearer", "eyJ"];
    let starts = |word: &str| {
        MARKS
            .iter()
            .any(|mark| word.starts_with(mark) && word.len() > mark.len() + 4)
    };
    word.split(['\'', '"', '`', '(', '?', '&', ':', '=', ',']).any(starts) || word.contains("key=")
}

/// Returns the delay that Gemini asks for in the details of an error, such as `34.5s`. Zero does not count, as in
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
