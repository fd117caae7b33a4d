//! The dialects of the providers: how a request is written and how its reply is read (C23 to C26, C39, C85, M29 to M35).
//!
//! A dialect does no I/O. What it writes is a [`WireRequest`]; what comes back is given to a [`Decoder`] event by event, or
//! to [`Wire::whole`] when the reply does not stream. Whatever a provider sends gives events, never a panic, and never an
//! allocation that its own bytes do not account for.

mod anthropic;
mod calls;
mod chat;
pub(crate) mod fault;
mod gemini;
mod in_text;
mod params;
mod places;
mod reader;
mod reply;
mod responses;
#[cfg(test)]
mod tests;
mod think;
mod turns;
pub(crate) mod usage;

use std::fmt::Debug;
use std::sync::Arc;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{Media, ModelRequest};
use art_core::stream::StreamEvent;
use art_core::tool::ToolSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::in_text::in_text;
pub(crate) use self::reader::Reader;
use crate::sse::SseEvent;

/// The dialects there are, as `api` names them in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Api {
    /// Chat completions of OpenAI, which most providers speak.
    OpenaiChat,
    /// Responses of OpenAI.
    OpenaiResponses,
    /// Messages of Anthropic.
    Anthropic,
    /// Generated content of Gemini.
    Gemini,
}

/// The dialect `api` as the provider of that name speaks it; of an unknown provider as everyone does.
pub(crate) fn dialect(api: Api, provider: &str) -> Arc<dyn Wire> {
    match api {
        Api::OpenaiChat => Arc::new(chat::Chat(chat::Profile::of(provider))),
        Api::OpenaiResponses => Arc::new(responses::Responses),
        Api::Anthropic => Arc::new(anthropic::Anthropic),
        Api::Gemini => Arc::new(gemini::Gemini),
    }
}

/// Decodes a streamed reply that was recorded: what the service of `provider` sent, in `chunks` of any size. The events are
/// those of a call that is made now, without its times and costs; the last one is `End` or `Error`.
///
/// ```
/// use art_core::stream::StreamEvent;
/// use art_model::{Api, replay};
///
/// let chunks: [&[u8]; 2] = [br#"data: {"choices":[{"delta":{"content":"4"#, b"2\"},\"finish_reason\":\"stop\"}]}\n\n"];
/// let events = replay(Api::OpenaiChat, "openai", chunks);
/// assert_eq!(events.first(), Some(&StreamEvent::Token("42".to_owned())));
/// assert_eq!(events.last(), Some(&StreamEvent::End));
/// ```
#[must_use]
pub fn replay<'a>(api: Api, provider: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    let mut reader = Reader::new(&*dialect(api, provider));
    let mut out = Vec::new();
    for chunk in chunks {
        reader.push(chunk, &mut out);
    }
    reader.finish(&mut out);
    out
}

/// What a dialect has to know of a call beyond the request itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireCall<'a> {
    /// Model of the provider.
    pub(crate) model_id: &'a str,
    /// What is asked.
    pub(crate) request: &'a ModelRequest,
    /// Whether the reply is to stream.
    pub(crate) stream: bool,
    /// Whether the model looks at pictures; without it `request.media` is left out.
    pub(crate) vision: bool,
    /// Tokens that a reply may have when the request does not say.
    pub(crate) max_tokens: Option<u64>,
}

/// A request without its host, its key and its transport.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WireRequest {
    /// Below the base URL, without a leading `/`; it may have a query.
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Value,
}

/// How a key travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The key alone in a header of that name, in lower case.
    Plain(&'static str),
}

/// One dialect.
pub(crate) trait Wire: Send + Sync + Debug {
    /// The request for `call`.
    ///
    /// # Errors
    /// [`art_core::error::ModelErrorCode::InvalidResponse`] is never given here; a prompt that the dialect cannot say is
    /// [`art_core::error::ModelErrorCode::Unknown`] with what cannot be said.
    fn request(&self, call: &WireCall<'_>) -> Result<WireRequest, ModelError>;

    /// Reads one streamed reply.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Reads a reply that did not stream: the same events as a stream of it, `Metadata` and `End` (or `Error`) last.
    fn whole(&self, body: &Value) -> Vec<StreamEvent>;

    /// How the key travels.
    fn key_header(&self) -> KeyHeader;

    /// Headers that every request of the dialect carries, such as its version.
    fn headers(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Path below the base URL that lists the models, without spending tokens.
    fn models_path(&self) -> &'static str;

    /// The identifiers in a list of models; empty when it is not one.
    fn models(&self, body: &Value) -> Vec<String>;
}

/// Reads one streamed reply. After it gave `End` or `Error` it gives nothing.
pub(crate) trait Decoder: Send + Debug {
    /// Takes one event and adds what it means to `out`.
    fn event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>);

    /// The bytes ended. Gives `Metadata` and `End` when the reply was whole, else an `Error` of the code
    /// [`art_core::error::ModelErrorCode::NetworkError`] that says that the stream broke off.
    fn finish(&mut self, out: &mut Vec<StreamEvent>);
}

/// What the user is taken to have said before a conversation that the model begins: some providers want the first turn to
/// be the user's.
const OPENING: &str = "Begin.";

/// The identifiers in a list of models, in any of its forms; Gemini puts `models/` before them.
fn models(body: &Value) -> Vec<String> {
    let lists = ["/data", "/models", ""];
    let list = lists.iter().find_map(|path| body.pointer(path)?.as_array());
    let id = |model: &Value| {
        let id = ["id", "name"].iter().find_map(|name| model.get(name)?.as_str())?;
        Some(id.strip_prefix("models/").unwrap_or(id).to_owned())
    };
    list.into_iter().flatten().filter_map(id).collect()
}

/// The input schema of a tool, without what providers stumble over.
fn schema_of(tool: &ToolSchema) -> Result<Value, ModelError> {
    let Value::Object(mut schema) = tool.input_schema.clone() else {
        return Err(ModelError {
            code: ModelErrorCode::Unknown,
            message: format!(
                "the input schema of tool `{}` is not a JSON object; correct the tool",
                tool.name
            ),
            retry_after_ms: None,
        });
    };
    schema.shift_remove("$schema");
    Ok(schema.into())
}

fn is_image(file: &Media) -> bool {
    file.media_type.starts_with("image/")
}

fn data_url(file: &Media) -> String {
    format!("data:{};base64,{}", file.media_type, file.base64)
}
