//! What every model is (C43, C68, C70).

use std::fmt::Debug;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::{ModelCapability, ModelRequest, RuntimeProviderConfig};
use art_core::stream::{ModelReply, StreamEvent};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

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

    /// Answers `request`, piece by piece.
    fn stream(&self, request: ModelRequest) -> BoxStream<'_, StreamEvent>;
}

/// The whole reply of `model` to `request`: the fold of its stream.
///
/// # Errors
/// The error that the stream ends with; [`ModelErrorCode::InvalidResponse`] when it stops before its end.
pub async fn reply(model: &dyn Model, request: ModelRequest) -> Result<ModelReply, ModelError> {
    let mut reply = ModelReply::default();
    let mut events = model.stream(request);
    while let Some(event) = events.next().await {
        if event == StreamEvent::End {
            return Ok(reply);
        }
        reply.push(event)?;
    }
    Err(ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: format!(
            "the stream of model `{}` stopped before its end",
            model.config().model_id
        ),
        retry_after_ms: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream;

    #[derive(Debug)]
    struct Scripted(RuntimeProviderConfig, Vec<StreamEvent>);

    impl Scripted {
        fn new(events: Vec<StreamEvent>) -> Self {
            let config = RuntimeProviderConfig {
                provider_name: "scripted".into(),
                model_id: "m".into(),
            };
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

        fn stream(&self, _: ModelRequest) -> BoxStream<'_, StreamEvent> {
            stream::iter(self.1.clone()).boxed()
        }
    }

    fn fold(events: Vec<StreamEvent>) -> Result<ModelReply, ModelError> {
        let request = ModelRequest {
            prompt: art_core::prompt::ArtStandardPrompt::default(),
            tools: Vec::new(),
            phase: art_core::stream::Phase::Planning,
            step: None,
            required_capabilities: Vec::new(),
            params: art_core::JsonObject::new(),
        };
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
