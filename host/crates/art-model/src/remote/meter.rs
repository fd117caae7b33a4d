//! Measures the duration of one reply, and estimates its token counts if the provider does not report them.

use art_core::stream::{LlmMetadata, StreamEvent};
use tokio::time::Instant;

/// Assumed number of characters per token. English has slightly more, so estimates tend to be too high.
const CHARACTERS_PER_TOKEN: usize = 4;

/// Measures one reply.
#[derive(Debug)]
pub(super) struct Meter {
    started: Instant,
    first_token_ms: Option<u64>,
    input_characters: usize,
    output_characters: usize,
    /// Whether the meter has returned metadata, with counts and times.
    has_returned_metadata: bool,
}

impl Meter {
    pub(super) fn start() -> Self {
        Self {
            started: Instant::now(),
            first_token_ms: None,
            input_characters: 0,
            output_characters: 0,
            has_returned_metadata: false,
        }
    }

    /// Sets the number of characters of the request.
    pub(super) const fn set_input_characters(&mut self, characters: usize) {
        self.input_characters = characters;
    }

    /// Measures an event and returns it. Adds times to metadata, and estimates of the counts that the provider omitted.
    pub(super) fn measure(&mut self, event: StreamEvent) -> StreamEvent {
        match &event {
            StreamEvent::Token(text) | StreamEvent::Thinking(text) => self.count_output(text),
            StreamEvent::ToolCall(call) => {
                self.count_output(&call.function.name);
                self.count_output(&call.function.arguments);
            }
            StreamEvent::Metadata(metadata) => return StreamEvent::Metadata(self.complete(metadata.clone())),
            _ => {}
        }
        event
    }

    /// Returns metadata with estimated counts, or `None` if metadata was returned before.
    pub(super) fn metadata_if_missing(&mut self) -> Option<LlmMetadata> {
        (!self.has_returned_metadata).then(|| self.complete(LlmMetadata::default()))
    }

    fn count_output(&mut self, text: &str) {
        let now = self.elapsed_ms();
        self.first_token_ms.get_or_insert(now);
        self.output_characters = self.output_characters.saturating_add(text.chars().count());
    }

    /// Adds times, and estimates of the counts that the provider omitted.
    fn complete(&mut self, mut metadata: LlmMetadata) -> LlmMetadata {
        self.has_returned_metadata = true;
        // A count of zero for a request, or for a reply with text, means that the provider does not count.
        if metadata.input_tokens == Some(0) {
            metadata.input_tokens = None;
        }
        if metadata.output_tokens == Some(0) && self.output_characters > 0 {
            metadata.output_tokens = None;
        }
        metadata.estimated |= metadata.input_tokens.is_none() || metadata.output_tokens.is_none();
        metadata
            .input_tokens
            .get_or_insert(estimate_tokens(self.input_characters));
        metadata
            .output_tokens
            .get_or_insert(estimate_tokens(self.output_characters));
        metadata.time_to_first_token_ms = self.first_token_ms;
        metadata.total_generation_time_ms = Some(self.elapsed_ms());
        metadata
    }

    fn elapsed_ms(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

fn estimate_tokens(characters: usize) -> u64 {
    u64::try_from(characters.div_ceil(CHARACTERS_PER_TOKEN)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn token(text: &str) -> StreamEvent {
        StreamEvent::Token(text.to_owned())
    }

    #[tokio::test(start_paused = true)]
    async fn counts_of_zero_are_replaced_by_estimates() {
        let mut meter = Meter::start();
        meter.set_input_characters(40);
        meter.measure(token("eight ch"));
        let reported = LlmMetadata {
            input_tokens: Some(0),
            output_tokens: Some(0),
            ..LlmMetadata::default()
        };
        let counts = meter.complete(reported);
        assert_eq!(
            (counts.input_tokens, counts.output_tokens, counts.estimated),
            (Some(10), Some(2), true)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn times_are_measured_from_the_request() {
        let mut meter = Meter::start();
        tokio::time::advance(Duration::from_millis(300)).await;
        meter.measure(token("a"));
        tokio::time::advance(Duration::from_millis(200)).await;
        meter.measure(token("b"));
        let metadata = meter.metadata_if_missing().unwrap();
        assert_eq!(metadata.time_to_first_token_ms, Some(300));
        assert_eq!(metadata.total_generation_time_ms, Some(500));
    }

    #[tokio::test]
    async fn missing_counts_are_estimated_and_marked_as_estimates() {
        let mut meter = Meter::start();
        meter.set_input_characters(400);
        meter.measure(token("12345"));
        let metadata = meter.metadata_if_missing().unwrap();
        assert_eq!((metadata.input_tokens, metadata.output_tokens), (Some(100), Some(2)));
        assert!(metadata.estimated);
    }

    #[tokio::test]
    async fn counts_of_the_provider_are_used() {
        let mut meter = Meter::start();
        meter.set_input_characters(400);
        let metadata = LlmMetadata {
            input_tokens: Some(7),
            output_tokens: Some(0),
            ..LlmMetadata::default()
        };
        let StreamEvent::Metadata(metadata) = meter.measure(StreamEvent::Metadata(metadata)) else {
            unreachable!("`measure` returns metadata for metadata")
        };
        assert_eq!((metadata.input_tokens, metadata.output_tokens), (Some(7), Some(0)));
        assert!(!metadata.estimated && meter.metadata_if_missing().is_none());
    }
}
