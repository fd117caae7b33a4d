//! The embedded model: no network, no key, the same reply to the same prompt.

mod attachment;
mod class;
mod execute;
mod expression;
mod fill;
mod follow;
mod lexicon;
mod measure;
mod plan;
mod prompt;
mod reading;
mod refer;
mod route;
mod scan;
mod schema;
mod split;
mod synthesize;
mod token;
mod typo;
mod words;

use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{LlmMetadata, Phase, StopReason, StreamEvent};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use crate::model::Model;

/// Routes the words of a query to tools and fills their arguments.
#[derive(Clone, Debug)]
pub struct EmbeddedModel {
    config: RuntimeProviderConfig,
}

impl EmbeddedModel {
    /// Name of the provider.
    pub const PROVIDER: &'static str = "embedded";
    /// Name of the model.
    pub const MODEL: &'static str = "lexical";

    /// The model under the names of `config`.
    #[must_use]
    pub const fn new(config: RuntimeProviderConfig) -> Self {
        Self { config }
    }
}

impl Model for EmbeddedModel {
    fn config(&self) -> &RuntimeProviderConfig {
        &self.config
    }

    fn notice(&self) -> Option<String> {
        Some(
            "embedded model: routes words to tools and fills arguments; it cannot chat, reason or write prose"
                .to_owned(),
        )
    }

    fn capabilities(&self) -> &[ModelCapability] {
        // Planning and steps ask for reasoning; it takes these calls, in its own way.
        &[
            ModelCapability::Text,
            ModelCapability::Streaming,
            ModelCapability::ToolUse,
            ModelCapability::Reasoning,
        ]
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent> {
        let (text, unanswered) = match request.phase {
            Phase::Planning => (plan::reply(&request), Vec::new()),
            Phase::Execution => (execute::reply(&request), Vec::new()),
            Phase::Synthesis => synthesize::reply(&request),
        };
        let metadata = StreamEvent::Metadata(metadata(&request, &text));
        let lines = text
            .split_inclusive('\n')
            .map(|line| StreamEvent::Token(line.to_owned()));
        let unanswered = (!unanswered.is_empty()).then_some(StreamEvent::Unanswered(unanswered));
        let end = unanswered.into_iter().chain([metadata, StreamEvent::End]);
        let events: Vec<StreamEvent> = lines.chain(end).collect();
        stream::iter(events).boxed()
    }
}

/// What a call cost. The model has no tokens of its own, so words stand for them.
fn metadata(request: &ModelRequest, text: &str) -> LlmMetadata {
    let words = |text: &str| u64::try_from(text.split_whitespace().count()).unwrap_or(u64::MAX);
    let read = request
        .prompt
        .0
        .iter()
        .map(|message| words(message.content_text()))
        .sum();
    LlmMetadata {
        input_tokens: Some(read),
        output_tokens: Some(words(text)),
        stop_reason: Some(StopReason::Stop),
        ..LlmMetadata::default()
    }
}
