//! The events of calls in progress.

use std::sync::Arc;

use art_agent::{ActionId, RunEvent};
use art_core::stream::{Phase, StepContext, StreamEvent};
use art_tools::{CallProgress, ToolReport};

/// An event of a call in progress.
pub(in crate::drive) enum WorkEvent {
    /// A piece of a model's reply.
    Piece {
        /// The model call.
        call: Arc<StreamingCall>,
        /// The piece.
        piece: Box<StreamEvent>,
    },
    /// A model call ended, with the event that the journal stores about the end.
    ModelEnded(Box<RunEvent>),
    /// Progress of a tool call.
    ToolProgress(CallProgress),
    /// A tool call ended.
    ToolEnded(Box<EndedToolCall>),
}

/// The properties of a model call that accompany each piece of its reply.
pub(in crate::drive) struct StreamingCall {
    pub(in crate::drive) id: ActionId,
    pub(in crate::drive) phase: Phase,
    /// Whether the text of the reply may be the answer to the question.
    pub(in crate::drive) may_answer: bool,
    /// Step of the plan; `None` in other phases than execution.
    pub(in crate::drive) step: Option<StepContext>,
}

/// A tool call that ended.
pub(in crate::drive) struct EndedToolCall {
    /// Number of the action to which this call belongs, which is a batch of tool calls.
    pub(in crate::drive) action: ActionId,
    /// The plan item that made the call.
    pub(in crate::drive) item_id: String,
    pub(in crate::drive) report: ToolReport,
}
