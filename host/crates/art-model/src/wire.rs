//! The protocols of the providers: how requests are written and replies are read (M29).
//!
//! A protocol does no I/O. It writes a [`WireRequest`]; a streamed reply is passed to a [`Decoder`] event by event, and
//! one that does not stream to [`Wire::whole`]. Whatever a provider sends becomes events. Nothing panics, and memory is
//! bounded by the bytes that were received.

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

/// The protocols, as `api` names them in the configuration.
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

/// Returns the protocol `api` in the variant of a provider, or the usual variant for an unknown provider.
pub(crate) fn dialect(api: Api, provider: &str) -> Arc<dyn Wire> {
    match api {
        Api::OpenaiChat => Arc::new(chat::Chat(chat::Profile::of(provider))),
        Api::OpenaiResponses => Arc::new(responses::Responses),
        Api::Anthropic => Arc::new(anthropic::Anthropic),
        Api::Gemini => Arc::new(gemini::Gemini),
    }
}

/// Decodes a recorded reply of the service of `provider`, in `chunks` of any size. Returns the events of a real call
/// without times and costs; the last one is `End` or `Error`.
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

/// A call, as a protocol writes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireCall<'a> {
    /// Model of the provider.
    pub(crate) model_id: &'a str,
    /// What is asked.
    pub(crate) request: &'a ModelRequest,
    /// Whether the reply is to stream.
    pub(crate) stream: bool,
    /// Whether the model has vision. Otherwise `request.media` is left out.
    pub(crate) vision: bool,
    /// Most tokens of the reply, if the request does not set it.
    pub(crate) max_tokens: Option<u64>,
}

/// A request without host, key and transport.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WireRequest {
    /// Path and query, relative to the base URL, without a leading `/`.
    pub(crate) path: String,
    /// JSON.
    pub(crate) body: Value,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The key alone, in the header of this name in lower case.
    Plain(&'static str),
}

/// A protocol.
pub(crate) trait Wire: Send + Sync + Debug {
    /// Writes the request for `call`.
    ///
    /// # Errors
    /// [`art_core::error::ModelErrorCode::Unknown`] for a prompt that the protocol cannot express, with the part that
    /// cannot be.
    fn request(&self, call: &WireCall<'_>) -> Result<WireRequest, ModelError>;

    /// Creates a decoder for one streamed reply.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Decodes a reply that did not stream. Returns the events of a streamed one, with `Metadata` and `End` (or
    /// `Error`) last.
    fn whole(&self, body: &Value) -> Vec<StreamEvent>;

    /// Returns the header that carries the key.
    fn key_header(&self) -> KeyHeader;

    /// Returns the headers of every request, such as the version of the protocol.
    fn headers(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the path of the list of models, which costs no tokens.
    fn models_path(&self) -> &'static str;

    /// Returns the identifiers in a list of models; none if `body` is not one.
    fn models(&self, body: &Value) -> Vec<String>;
}

/// Decodes one streamed reply. After `End` or `Error` it adds nothing.
pub(crate) trait Decoder: Send + Debug {
    /// Decodes one event and adds the result to `out`.
    fn event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>);

    /// Ends the stream. Adds `Metadata` and `End` if the reply was complete, else an `Error` with the code
    /// [`art_core::error::ModelErrorCode::NetworkError`].
    fn finish(&mut self, out: &mut Vec<StreamEvent>);
}

/// The user turn that is put before a conversation which the model begins, because some providers want the first turn
/// to be the user's.
const OPENING: &str = "Begin.";

/// Returns the identifiers in a list of models of any provider. Gemini puts `models/` before them.
fn models(body: &Value) -> Vec<String> {
    let lists = ["/data", "/models", ""];
    let list = lists.iter().find_map(|path| body.pointer(path)?.as_array());
    let id = |model: &Value| {
        let id = ["id", "name"].iter().find_map(|name| model.get(name)?.as_str())?;
        Some(id.strip_prefix("models/").unwrap_or(id).to_owned())
    };
    list.into_iter().flatten().filter_map(id).collect()
}

/// Returns the input schema of a tool, without the parts that providers refuse.
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
