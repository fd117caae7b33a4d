//! What every model is (C43, C68, C70), and how its stream becomes a reply.

use std::fmt::Debug;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{ModelReply, StreamEvent};
use futures_util::stream::{BoxStream, Stream};
use futures_util::{StreamExt, pin_mut};

use crate::fault::error;

/// A model: it reads a prompt and streams a reply (C38, C70).
///
/// A stream ends with [`StreamEvent::End`] or [`StreamEvent::Error`] and gives nothing after it. Dropping the stream gives
/// the call up.
pub trait Model: Send + Sync + Debug {
    /// Provider and model (C68).
    fn config(&self) -> &RuntimeProviderConfig;

    /// What the model cannot do, in one line for the person who starts a run; none when there is nothing to warn of.
    fn notice(&self) -> Option<String> {
        None
    }

    /// What the model can do (C43).
    fn capabilities(&self) -> &[ModelCapability];

    /// Tokens that a prompt and its reply may have together; none when it is not known or does not matter.
    fn context_tokens(&self) -> Option<u64> {
        None
    }

    /// Answers `request`, piece by piece. The stream is its own: it may outlive the model.
    fn stream(&self, request: ModelRequest) -> BoxStream<'static, StreamEvent>;

    /// The model is not used again (C70).
    fn shutdown(&self) {}
}

/// The whole reply of `model` to `request`: the fold of its stream.
///
/// # Errors
/// As [`collect`].
pub async fn reply(model: &dyn Model, request: ModelRequest) -> Result<ModelReply, ModelError> {
    collect(model.stream(request)).await
}

/// The whole reply that a stream of events is.
///
/// # Errors
/// The error that the stream ends with; [`ModelErrorCode::InvalidResponse`] when it stops before its end.
pub async fn collect(events: impl Stream<Item = StreamEvent>) -> Result<ModelReply, ModelError> {
    pin_mut!(events);
    let mut reply = ModelReply::default();
    while let Some(event) = events.next().await {
        if event == StreamEvent::End {
            return Ok(reply);
        }
        reply.push(event)?;
    }
    let message = "the model's stream stopped before its end";
    Err(error(ModelErrorCode::InvalidResponse, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[derive(Debug)]
    struct Scripted(RuntimeProviderConfig, Vec<StreamEvent>);

    impl Scripted {
        fn new(events: Vec<StreamEvent>) -> Self {
            let config = RuntimeProviderConfig::new("scripted", "m");
            Self(config, events)
        }
    }

    impl Model for Scripted {
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

    fn fold(events: Vec<StreamEvent>) -> Result<ModelReply, ModelError> {
        let prompt = art_core::prompt::ArtStandardPrompt::default();
        let request = ModelRequest::new(prompt, art_core::stream::Phase::Planning);
        futures_util::FutureExt::now_or_never(reply(&Scripted::new(events), request)).unwrap()
    }

    #[test]
    fn a_reply_is_the_fold_of_its_stream() {
        let events = vec![
            StreamEvent::Token("a".into()),
            StreamEvent::Token("b".into()),
            StreamEvent::End,
        ];
        assert_eq!(fold(events).unwrap().text, "ab");
    }

    #[test]
    fn a_stream_that_stops_early_is_an_invalid_response() {
        let error = fold(vec![StreamEvent::Token("a".into())]).unwrap_err();
        assert_eq!(error.code, ModelErrorCode::InvalidResponse);
    }

    #[test]
    fn an_error_in_the_stream_is_the_error_of_the_reply() {
        let cause = ModelError {
            code: ModelErrorCode::Timeout,
            message: "late".into(),
            retry_after_ms: None,
        };
        assert_eq!(fold(vec![StreamEvent::Error(cause.clone())]).unwrap_err(), cause);
    }
}
