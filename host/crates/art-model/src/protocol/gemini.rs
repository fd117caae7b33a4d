//! The Gemini `generateContent` protocol.

mod reply;
mod request;
#[cfg(test)]
mod tests;
mod thinking;

use art_core::error::ModelError;
use art_core::stream::StreamEvent;
use serde_json::Value;

use super::reply::ReplyDecoder;
use super::{Codec, Decoder, KeyHeader, ProtocolCall, ProtocolRequest, model_names};

/// The codec of the `generateContent` protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gemini;

/// Name of this protocol in [`art_core::stream::ProviderState`], the data of a reply that later requests send back to the
/// provider. Only data with this name are sent.
const PROTOCOL_NAME: &str = "gemini";

impl Codec for Gemini {
    fn encode_request(&self, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
        Ok(ProtocolRequest {
            path: request::path(call.model_id, call.stream),
            body: request::body(call)?,
        })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ReplyDecoder::new(reply::Parser::default()))
    }

    fn decode_body(&self, body: &Value) -> Vec<StreamEvent> {
        ReplyDecoder::new(reply::Parser::default()).decode_body(body)
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Plain("x-goog-api-key")
    }

    fn models_path(&self) -> &'static str {
        // The list has pages of at most 1000 models.
        "models?pageSize=1000"
    }

    fn models(&self, body: &Value) -> Vec<String> {
        model_names(body)
    }
}
