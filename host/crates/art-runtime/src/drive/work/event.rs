//! The events of actions in progress.

use std::sync::Arc;

use art_agent::{ActionId, RunEvent};
use art_core::stream::{Phase, StepContext, StreamEvent};
use art_tools::CallProgress;

use crate::drive::answer::CallCost;

/// An event of an action in progress.
pub(in crate::drive) enum WorkEvent {
    /// A piece of a model's reply.
    Piece {
        /// The model call.
        call: Arc<ModelCall>,
        /// The piece.
        event: Box<StreamEvent>,
    },
    /// Progress of a tool call.
    ToolProgress(CallProgress),
    /// The action ended: its event for the journal, and the costs of its tool calls.
    Ended(Box<RunEvent>, Vec<CallCost>),
}

/// Identifies a model call.
pub(in crate::drive) struct ModelCall {
    pub(in crate::drive) id: ActionId,
    pub(in crate::drive) phase: Phase,
    pub(in crate::drive) may_answer: bool,
    pub(in crate::drive) step: Option<StepContext>,
}
