//! The OpenAI Responses protocol. Nothing is stored at the provider: each request contains the whole conversation.

mod reply;
mod request;
#[cfg(test)]
mod tests;

use art_core::error::ModelError;
use art_core::stream::StreamEvent;
use serde_json::Value;

use super::reply::ReplyDecoder;
use super::{Codec, Decoder, KeyHeader, ProtocolCall, ProtocolRequest, model_names};

/// The codec of the Responses protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responses;

/// Name of this protocol in [`art_core::stream::ProviderState`], the data of a reply that later requests send back to the
/// provider. Only data with this name are sent.
const PROTOCOL_NAME: &str = "openai-responses";

impl Codec for Responses {
    fn encode_request(&self, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
        request::encode(call)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ReplyDecoder::new(reply::Parser::default()))
    }

    fn decode_body(&self, body: &Value) -> Vec<StreamEvent> {
        ReplyDecoder::new(reply::Parser::default()).decode_body(body)
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    fn models_path(&self) -> &'static str {
        "models"
    }

    fn models(&self, body: &Value) -> Vec<String> {
        model_names(body)
    }
}
