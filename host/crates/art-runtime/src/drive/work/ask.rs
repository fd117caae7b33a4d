//! Carries out a model call: passes on the pieces of the reply as they arrive, and collects them into the complete reply.

use std::sync::Arc;

use art_agent::{ModelCall, RunEvent};
use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::{ModelReply, PartialReply, StreamEvent};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::event::{StreamingCall, WorkEvent};
use crate::drive::clock::now;
use crate::runtime::Runtime;

/// A model call in progress.
struct CallInProgress {
    call: Arc<StreamingCall>,
    /// The pieces of the reply that are still to come; `None` once the reply has ended.
    pieces: Option<BoxStream<'static, StreamEvent>>,
    /// The reply so far.
    reply: ModelReply,
    /// How much of the reply has arrived, for the estimate of its tokens if the call fails.
    received: PartialReply,
    /// The error with which the call failed.
    failure: Option<ModelError>,
}

/// Calls the model. Returns a stream of all pieces of the reply, of which the last is the end or an error, and then exactly one
/// event for the journal: `ModelReplied` or `ModelFailed`. The model is polled for the next piece only when this stream is
/// polled.
pub(super) fn call_model(
    runtime: &Runtime,
    model: &RuntimeProviderConfig,
    call: ModelCall,
) -> BoxStream<'static, WorkEvent> {
    let ModelCall {
        id,
        may_answer,
        request,
        ..
    } = call;
    let streaming_call = StreamingCall {
        id,
        phase: request.phase,
        may_answer,
        step: request.step.clone(),
    };
    let in_progress = CallInProgress {
        call: Arc::new(streaming_call),
        pieces: Some(runtime.engine.call(model, *request)),
        reply: ModelReply::default(),
        received: PartialReply::default(),
        failure: None,
    };
    stream::unfold(Some(in_progress), async |in_progress| Some(advance(in_progress?).await)).boxed()
}

/// Returns the next event, and the call unless this was its last event.
async fn advance(mut in_progress: CallInProgress) -> (WorkEvent, Option<CallInProgress>) {
    let Some(pieces) = &mut in_progress.pieces else {
        return (end_event(in_progress), None);
    };
    let piece = pieces
        .next()
        .await
        .unwrap_or_else(|| StreamEvent::Error(incomplete_reply_error()));
    if matches!(piece, StreamEvent::End | StreamEvent::Error(_)) {
        in_progress.pieces = None;
    }
    in_progress.received.push(&piece);
    in_progress.failure = in_progress.reply.push(piece.clone()).err();
    let (call, piece) = (Arc::clone(&in_progress.call), Box::new(piece));
    (WorkEvent::Piece { call, piece }, Some(in_progress))
}

/// Returns the event that the journal stores about a call whose reply has ended.
fn end_event(ended: CallInProgress) -> WorkEvent {
    let (at, action) = (now(), ended.call.id);
    let event = match ended.failure {
        None => RunEvent::ModelReplied {
            at,
            action,
            reply: ended.reply,
        },
        Some(error) => RunEvent::ModelFailed {
            at,
            action,
            error,
            received: ended.received,
        },
    };
    WorkEvent::ModelEnded(Box::new(event))
}

fn incomplete_reply_error() -> ModelError {
    ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: "the reply of the model stopped before its end; ask again".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    }
}
