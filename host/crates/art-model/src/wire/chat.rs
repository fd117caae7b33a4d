//! Chat completions, in the variants of several providers.

mod kept;
mod reply;
mod request;
#[cfg(test)]
mod tests;

use art_core::error::ModelError;
use art_core::stream::StreamEvent;
use serde_json::Value;

use super::reply::Stream;
use super::{Decoder, KeyHeader, Wire, WireCall, WireRequest, models};

/// The variants of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Profile {
    OpenAi,
    OpenRouter,
    DeepSeek,
    Groq,
    Mistral,
    Ollama,
    /// Any other provider.
    Compatible,
}

impl Profile {
    /// The profile of the provider with that name.
    pub(super) fn of(provider: &str) -> Self {
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

    /// Whether models may write their thoughts into the text, between `<think>` and `</think>`.
    const fn thinks_in_text(self) -> bool {
        !matches!(self, Self::OpenAi)
    }

    /// Whether the provider wants `reasoning_content` back with a turn that calls tools.
    const fn wants_thoughts(self) -> bool {
        matches!(self, Self::DeepSeek | Self::Compatible)
    }

    /// Whether it reports the cost of a call. The caller trusts it only at the provider's own address.
    const fn says_its_cost(self) -> bool {
        matches!(self, Self::OpenRouter)
    }

    /// Whether the usage of a stream has to be requested. Mistral always sends it, and refuses unknown fields.
    const fn gives_usage_on_demand(self) -> bool {
        !matches!(self, Self::Mistral)
    }
}

/// The protocol in the variant of one provider.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chat(pub(super) Profile);

/// Name of the protocol in a [`art_core::stream::ProviderState`].
const NAME: &str = "openai-chat";

impl Wire for Chat {
    fn request(&self, call: &WireCall<'_>) -> Result<WireRequest, ModelError> {
        request::request(self.0, call)
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::new(Stream::new(reply::Reading::new(self.0)))
    }

    fn whole(&self, body: &Value) -> Vec<StreamEvent> {
        Stream::new(reply::Reading::new(self.0)).whole(body)
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
