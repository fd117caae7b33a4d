//! The Anthropic Messages protocol.

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

/// The codec of the Messages protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Anthropic;

/// Name of the protocol in [`art_core::stream::ProviderState`], the data that a provider expects back with a turn of the model.
/// Data of other protocols are not sent.
const PROTOCOL_NAME: &str = "anthropic";

impl Codec for Anthropic {
    fn encode_request(&self, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
        let body = request::body(call)?;
        Ok(ProtocolRequest {
            path: "messages".to_owned(),
            body,
        })
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ReplyDecoder::new(reply::Parser::default()))
    }

    fn decode_body(&self, body: &Value) -> Vec<StreamEvent> {
        ReplyDecoder::new(reply::Parser::default()).decode_body(body)
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Plain("x-api-key")
    }

    fn headers(&self) -> Vec<(&'static str, String)> {
        vec![("anthropic-version", "2023-06-01".to_owned())]
    }

    fn models_path(&self) -> &'static str {
        // The list has pages of at most 1000 models.
        "models?limit=1000"
    }

    fn models(&self, body: &Value) -> Vec<String> {
        model_names(body)
    }
}
