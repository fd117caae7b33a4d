//! The trait of all models, which stream a reply, describe themselves and can be shut down (contract C70). The functions
//! of this module collect such a stream into one reply.

use std::fmt::Debug;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ContextWindow, ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{ModelReply, StreamEvent};
use futures_util::stream::{BoxStream, Stream};
use futures_util::{StreamExt, pin_mut};
use tokio::time::Instant;

use crate::fault::error;

/// A model, which reads a prompt and streams a reply (contract C70).
///
/// A stream ends with [`StreamEvent::End`] or [`StreamEvent::Error`] and yields nothing after it. Dropping the stream
/// cancels the call.
pub trait Model: Send + Sync + Debug {
    /// Returns the names of the provider and the model.
    fn config(&self) -> &RuntimeProviderConfig;

    /// Returns one line about what the model can and cannot do, to be shown when a run starts.
    fn notice(&self) -> Option<String> {
        None
    }

    /// Returns the capabilities of the model.
    fn capabilities(&self) -> &[ModelCapability];

    /// Returns the context window of the model.
    fn context(&self) -> ContextWindow {
        ContextWindow::Unbounded
    }

    /// Returns whether the model plans and answers, but cannot carry out a step of a plan. Its plans already contain the tool
    /// calls of each step.
    fn plans_only(&self) -> bool {
        false
    }

    /// Answers `request` piece by piece. The stream borrows nothing and may outlive the model.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent>;

    /// Same as [`stream`](Self::stream), for a call that has to have an answer by `answer_by`. A model that does not wait for a
    /// server need not implement this.
    fn stream_with_deadline(&self, request: ModelRequest, answer_by: Instant) -> BoxStream<'static, StreamEvent> {
        let _ = answer_by;
        self.stream(request)
    }

    /// Notifies the model that no further call follows (contract C70). Open streams may still be read.
    fn shutdown(&self) {}
}

/// Returns the whole reply of `model` to `request`.
///
/// # Errors
/// Same as [`collect`].
pub async fn reply(model: &dyn Model, request: ModelRequest) -> Result<ModelReply, ModelError> {
    collect(model.stream(request)).await
}

/// Collects a stream of events into a reply.
///
/// # Errors
/// Fails with the error that the stream ends with, or with [`ModelErrorCode::InvalidResponse`] if the stream stops without an
/// end.
pub async fn collect(events: impl Stream<Item = StreamEvent>) -> Result<ModelReply, ModelError> {
    pin_mut!(events);
    let mut reply = ModelReply::default();
    while let Some(event) = events.next().await {
        if event == StreamEvent::End {
            return Ok(reply);
        }
        reply.push(event)?;
    }
    let message = "the model's stream stopped before the end of the reply";
    Err(error(ModelErrorCode::InvalidResponse, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    /// A model that sends these events for every request.
    #[derive(Debug)]
    struct OneReplyModel(RuntimeProviderConfig, Vec<StreamEvent>);

    impl OneReplyModel {
        fn new(events: Vec<StreamEvent>) -> Self {
            let config = RuntimeProviderConfig::new("scripted", "m");
            Self(config, events)
        }
    }

    impl Model for OneReplyModel {
        fn config(&self) -> &RuntimeProviderConfig {
            &self.0
        }

        fn capabilities(&self) -> &[ModelCapability] {
            &[]
        }

        fn stream(&self, _: ModelRequest) -> BoxStream<'static, StreamEvent> {
            stream::iter(self.1.clone()).boxed()
        }
    }

    fn collect_reply(events: Vec<StreamEvent>) -> Result<ModelReply, ModelError> {
        let prompt = art_core::prompt::ArtStandardPrompt::default();
        let request = ModelRequest::new(prompt, art_core::stream::Phase::Planning);
        futures_util::FutureExt::now_or_never(reply(&OneReplyModel::new(events), request)).unwrap()
    }

    #[test]
    fn a_reply_joins_the_tokens_of_its_stream() {
        let events = vec![
            StreamEvent::Token("a".into()),
            StreamEvent::Token("b".into()),
            StreamEvent::End,
        ];
        assert_eq!(collect_reply(events).unwrap().text, "ab");
    }

    #[test]
    fn a_stream_that_stops_early_is_an_invalid_response() {
        let error = collect_reply(vec![StreamEvent::Token("a".into())]).unwrap_err();
        assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    }

    #[test]
    fn an_error_in_the_stream_is_the_error_of_the_reply() {
        let cause = ModelError {
            code: ModelErrorCode::Timeout,
            message: "late".into(),
            retry_after_ms: None,
            request_not_read: false,
        };
        assert_eq!(
            collect_reply(vec![StreamEvent::Error(cause.clone())]).unwrap_err(),
            cause
        );
    }
}
