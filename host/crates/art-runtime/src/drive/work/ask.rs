//! A model that is asked: its pieces as they arrive, and in the end what the journal keeps of it.

use std::sync::Arc;

use art_agent::{ActionId, RunEvent};
use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::ModelRequest;
use art_core::stream::{ModelReply, StreamEvent};
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};

use super::progress::{ModelCall, Progress};
use crate::drive::clock::now;
use crate::runtime::Runtime;

/// A call of a model that goes on.
struct Asking {
    call: Arc<ModelCall>,
    /// None once the reply has ended.
    events: Option<BoxStream<'static, StreamEvent>>,
    reply: ModelReply,
    failure: Option<ModelError>,
}

/// Gives every piece of the reply, its end among them, and then what the journal keeps of it, exactly once. Never fails:
/// what went wrong is an event as well. The model is asked for its next piece only when this stream is.
pub(super) fn ask(host: &Runtime, action: ActionId, request: ModelRequest) -> BoxStream<'static, Progress> {
    let call = ModelCall {
        id: action,
        phase: request.phase,
        step: request.step.clone(),
    };
    let asking = Asking {
        call: Arc::new(call),
        events: Some(host.engine.call(&host.model, request)),
        reply: ModelReply::default(),
        failure: None,
    };
    stream::unfold(Some(asking), async |asking| Some(advance(asking?).await)).boxed()
}

/// What comes next, and the call that goes on after it.
async fn advance(mut asking: Asking) -> (Progress, Option<Asking>) {
    let Some(events) = &mut asking.events else {
        let reply = asking.failure.map_or(Ok(asking.reply), Err);
        return (ended(asking.call.id, reply), None);
    };
    let event = events.next().await.unwrap_or_else(|| StreamEvent::Error(broken_off()));
    if matches!(event, StreamEvent::End | StreamEvent::Error(_)) {
        asking.events = None;
    }
    asking.failure = asking.reply.push(event.clone()).err();
    let (call, event) = (Arc::clone(&asking.call), Box::new(event));
    (Progress::Piece { call, event }, Some(asking))
}

fn ended(action: ActionId, reply: Result<ModelReply, ModelError>) -> Progress {
    let at = now();
    let event = match reply {
        Ok(reply) => RunEvent::ModelReplied { at, action, reply },
        Err(error) => RunEvent::ModelFailed { at, action, error },
    };
    Progress::Ended(Box::new(event), Vec::new())
}

fn broken_off() -> ModelError {
    ModelError {
        code: ModelErrorCode::InvalidResponse,
        message: "the reply of the model stopped before its end; ask again".to_owned(),
        retry_after_ms: None,
    }
}
