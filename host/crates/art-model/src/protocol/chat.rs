//! The OpenAI Chat Completions protocol, in the variants of several providers.

mod reasoning;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use art_core::error::ModelError;
use art_core::stream::StreamEvent;
use serde_json::Value;

use super::reply::ReplyDecoder;
use super::{Codec, Decoder, KeyHeader, ProtocolCall, ProtocolRequest, model_names};

/// The variants of the protocol, because providers differ in the fields that they support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Variant {
    OpenAi,
    OpenRouter,
    DeepSeek,
    Groq,
    Mistral,
    Ollama,
    /// Any other provider. It is not known which fields its server supports.
    Compatible,
}

impl Variant {
    /// Returns the variant of a provider, by its name.
    pub(super) fn for_provider(provider: &str) -> Self {
        match provider.to_ascii_lowercase().as_str() {
            "openai" => Self::OpenAi,
            "openrouter" => Self::OpenRouter,
            "deepseek" => Self::DeepSeek,
            "groq" => Self::Groq,
            "mistral" => Self::Mistral,
            "ollama" => Self::Ollama,
            _ => Self::Compatible,
        }
    }

    /// Returns whether the text of replies may contain thoughts between `<think>` and `</think>`.
    const fn has_think_tags(self) -> bool {
        !matches!(self, Self::OpenAi)
    }

    /// Returns whether later requests send the `reasoning_content` of a reply with tool calls back to the provider.
    const fn expects_reasoning_content(self) -> bool {
        matches!(self, Self::DeepSeek | Self::Compatible)
    }

    /// Returns whether the provider reports the cost of a model call. `remote.rs` removes a reported cost if the request
    /// went to another address than the built-in one of the provider.
    const fn reports_cost(self) -> bool {
        matches!(self, Self::OpenRouter)
    }

    /// Returns whether the token usage of a stream must be requested. Mistral always sends it, and refuses unknown fields.
    const fn needs_usage_request(self) -> bool {
        !matches!(self, Self::Mistral)
    }
}

/// The codec of the protocol, in the variant of one provider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chat(pub(super) Variant);

/// Name of this protocol in [`art_core::stream::ProviderState`], the data of a reply that later requests send back to the
/// provider. Only data with this name are sent.
const PROTOCOL_NAME: &str = "openai-chat";

impl Codec for Chat {
    fn encode_request(&self, call: &ProtocolCall<'_>) -> Result<ProtocolRequest, ModelError> {
        request::encode(self.0, call)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(ReplyDecoder::new(reply::Parser::new(self.0)))
    }

    fn decode_body(&self, body: &Value) -> Vec<StreamEvent> {
        ReplyDecoder::new(reply::Parser::new(self.0)).decode_body(body)
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
