//! What comes of the steps under way.

use std::sync::Arc;

use art_agent::{ActionId, RunEvent};
use art_core::stream::{Phase, StepContext, StreamEvent};
use art_tools::CallProgress;

use crate::drive::answer::CallCost;

/// What comes of the steps under way.
pub(in crate::drive) enum WorkEvent {
    /// A piece of a reply.
    Piece {
        /// Whose.
        call: Arc<ModelCall>,
        /// The piece.
        event: Box<StreamEvent>,
    },
    /// How far a call of a tool is.
    Call(CallProgress),
    /// A step ended: what happened, and what its tool calls cost.
    Ended(Box<RunEvent>, Vec<CallCost>),
}

/// Which call of a model a piece belongs to.
pub(in crate::drive) struct ModelCall {
    pub(in crate::drive) id: ActionId,
    pub(in crate::drive) phase: Phase,
    pub(in crate::drive) step: Option<StepContext>,
}
