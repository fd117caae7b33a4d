//! Responses of OpenAI. Nothing is stored at the provider: each request has the whole conversation.

mod reply;
mod request;
#[cfg(test)]
mod tests;

use art_core::error::ModelError;
use art_core::stream::StreamEvent;
use serde_json::Value;

use super::reply::Stream;
use super::{Decoder, KeyHeader, Wire, WireCall, WireRequest, models};

/// The protocol.
#[derive(Clone, Copy, Debug)]
pub(super) struct Responses;

/// Name of the protocol in a [`art_core::stream::ProviderState`].
const NAME: &str = "openai-responses";

impl Wire for Responses {
    fn request(&self, call: &WireCall<'_>) -> Result<WireRequest, ModelError> {
        request::request(call)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Stream::new(reply::Reading::default()))
    }

    fn whole(&self, body: &Value) -> Vec<StreamEvent> {
        Stream::new(reply::Reading::default()).whole(body)
    }

    fn key_header(&self) -> KeyHeader {
        KeyHeader::Bearer
    }

    fn models_path(&self) -> &'static str {
        "models"
    }

    fn models(&self, body: &Value) -> Vec<String> {
        models(body)
    }
}
