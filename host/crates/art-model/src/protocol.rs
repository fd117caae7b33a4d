//! The protocols of the providers: encoding of requests and decoding of replies. Whatever the protocol, a reply becomes the same
//! kinds of events, and an invalid reply becomes an error event, never a panic (contract M29).
//!
//! A [`Codec`] knows one protocol and does no I/O. It encodes a call as a [`ProtocolRequest`]. For a streamed reply,
//! [`ReplyReader`] splits the bytes into server-sent events, and the [`Decoder`] of the protocol converts each of these into
//! events of the reply. [`Codec::decode_body`] decodes a reply that does not stream. Memory is bounded by the number of
//! received bytes.
//!
//! A conversation consists of turns, which `turns.rs` creates from the prompt. Some providers attach opaque data to a
//! reply, such as signed thoughts. The reply becomes a turn of the model, and later requests must contain the data with that
//! turn.

mod anthropic;
mod calls;
mod chat;
pub(crate) mod fault;
mod gemini;
mod params;
mod reader;
mod reply;
mod responses;
#[cfg(test)]
mod tests;
mod turn_state;
mod turns;
pub(crate) mod usage;
mod without_function_calls;

use std::fmt::Debug;
use std::sync::Arc;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{Media, ModelRequest};
use art_core::stream::StreamEvent;
use art_core::tool::ToolSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::reader::ReplyReader;
pub(crate) use self::without_function_calls::without_function_calls;
use crate::sse::SseEvent;

/// A protocol. Its serialised name is the value of the configuration key `api`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// OpenAI Chat Completions, which most providers support.
    OpenaiChat,
    /// OpenAI Responses.
    OpenaiResponses,
    /// Anthropic Messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
}

/// Returns the codec of `protocol`. Only Chat Completions has variants: its codec uses the variant of `provider`.
pub(crate) fn codec(protocol: Protocol, provider: &str) -> Arc<dyn Codec> {
    match protocol {
        Protocol::OpenaiChat => Arc::new(chat::Chat(chat::Variant::for_provider(provider))),
        Protocol::OpenaiResponses => Arc::new(responses::Responses),
        Protocol::Anthropic => Arc::new(anthropic::Anthropic),
        Protocol::Gemini => Arc::new(gemini::Gemini),
    }
}

/// Decodes a recorded stream of `provider`, in `chunks` of any size. Returns the events that a call would yield, without times
/// and without costs from price tables; the last one is `End` or `Error`.
///
/// ```
/// use art_core::stream::StreamEvent;
/// use art_model::{Protocol, replay};
///
/// let chunks: [&[u8]; 2] = [br#"data: {"choices":[{"delta":{"content":"4"#, b"2\"},\"finish_reason\":\"stop\"}]}\n\n"];
/// let events = replay(Protocol::OpenaiChat, "openai", chunks);
/// assert_eq!(events.first(), Some(&StreamEvent::Token("42".to_owned())));
/// assert_eq!(events.last(), Some(&StreamEvent::End));
/// ```
#[must_use]
pub fn replay<'a>(protocol: Protocol, provider: &str, chunks: impl IntoIterator<Item = &'a [u8]>) -> Vec<StreamEvent> {
    let mut reader = ReplyReader::new(&*codec(protocol, provider));
    let mut out = Vec::new();
    for chunk in chunks {
        reader.push(chunk, &mut out);
    }
    reader.finish(&mut out);
    out
}

/// A model call to encode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolCall<'a> {
    /// Name of the model at the provider.
    pub(crate) model_id: &'a str,
    /// The request to the model.
    pub(crate) request: &'a ModelRequest,
    /// Whether the reply should stream.
    pub(crate) stream: bool,
    /// Whether the model can read pictures. If it cannot, all files in `request.media` are omitted.
    pub(crate) vision: bool,
    /// Maximum number of tokens of the reply, if the request does not set it.
    pub(crate) max_tokens: Option<u64>,
}

/// An encoded request, without host and headers.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProtocolRequest {
    /// Path and query, relative to the base URL, without a leading `/`.
    pub(crate) path: String,
    /// JSON body.
    pub(crate) body: Value,
}

/// The header that carries the API key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The key alone, in the header with this lower-case name.
    Plain(&'static str),
}

/// Encodes requests and decodes replies of one protocol.
pub(crate) trait Codec: Send + Sync + Debug {
    /// Encodes `call` as a request of this protocol.
    ///
    /// # Errors
    /// Fails with [`art_core::error::ModelErrorCode::Unknown`] if the input schema of a tool is not a JSON object.
    fn encode_request(&self, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError>;

    /// Creates a decoder for one streamed reply.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Decodes a reply that did not stream. Returns the same events as for a streamed reply: the last ones are `Metadata` and
    /// `End`, or `Error`.
    fn decode_body(&self, body: &Value) -> Vec<StreamEvent>;

    /// Returns the header that carries the API key.
    fn key_header(&self) -> KeyHeader;

    /// Returns the headers that every request has besides the API key, such as the version of the protocol.
    fn headers(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Returns the path of the list of models. Requesting the list uses no tokens.
    fn models_path(&self) -> &'static str;

    /// Returns the names of the models in the list `body`; none if `body` is not such a list.
    fn models(&self, body: &Value) -> Vec<String>;
}

/// Decodes the server-sent events of one streamed reply. Nothing follows `End` or `Error`.
pub(crate) trait Decoder: Send + Debug {
    /// Decodes one server-sent event and adds the events of the reply to `out`.
    fn decode_event(&mut self, event: &SseEvent, out: &mut Vec<StreamEvent>);

    /// Ends the stream, unless it has ended. Adds the remaining events up to `End` if the reply is complete, and an `Error` with
    /// the code [`art_core::error::ModelErrorCode::NetworkError`] otherwise.
    fn finish(&mut self, out: &mut Vec<StreamEvent>);
}

/// Name of the JSON schema of a reply, for providers that require a name.
const REPLY_SCHEMA_NAME: &str = "reply";

/// User turn that is inserted before a conversation that begins with a turn of the model, because some providers require a user
/// turn first.
const OPENING_TURN: &str = "Begin.";

/// Returns the names of the models in the list `body` of any provider, without the prefix `models/` of Gemini.
fn model_names(body: &Value) -> Vec<String> {
    let list_paths = ["/data", "/models", ""];
    let list = list_paths.iter().find_map(|path| body.pointer(path)?.as_array());
    list.into_iter().flatten().filter_map(model_name).collect()
}

/// Returns the name of an entry of a list of models.
fn model_name(model: &Value) -> Option<String> {
    let id = ["id", "name"].iter().find_map(|field| model.get(field)?.as_str())?;
    Some(id.strip_prefix("models/").unwrap_or(id).to_owned())
}

/// Returns the input schema of a tool without `$schema`, which some providers refuse.
fn input_schema(tool: &ToolSchema) -> Result<Value, ModelError> {
    let Value::Object(mut schema) = Value::clone(&tool.input_schema) else {
        return Err(ModelError {
            code: ModelErrorCode::Unknown,
            message: format!(
                "the input schema of tool `{}` is not a JSON object; correct the tool",
                tool.name
            ),
            retry_after_ms: None,
            request_not_read: false,
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
