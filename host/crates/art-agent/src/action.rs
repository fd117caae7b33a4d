//! Actions: the model calls and tool calls that a run waits for, and that its driver carries out.

use std::fmt;

use art_core::provider::ModelRequest;
use art_core::tool::ParsedToolCall;
use serde::{Deserialize, Serialize};

/// Number of an action within its run, from 1. A replay gives each action the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(pub u64);

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A model call or a batch of tool calls to carry out. It stays open, with the same number, until an event answers it.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Call the model; answered by [`ModelReplied`](crate::RunEvent::ModelReplied) or
    /// [`ModelFailed`](crate::RunEvent::ModelFailed).
    CallModel {
        /// Number of the action.
        id: ActionId,
        /// The plan item that makes the call; `None` for planning and synthesis.
        item_id: Option<String>,
        /// Number of the call within its phase or item, from 1.
        iteration: u32,
        /// Whether the text of the reply is the answer to the question, unless the reply calls tools or is a plan.
        may_answer: bool,
        /// The request.
        request: Box<ModelRequest>,
    },
    /// Call tools, in any order or all at once; answered by [`ToolsReturned`](crate::RunEvent::ToolsReturned).
    CallTools {
        /// Number of the action.
        id: ActionId,
        /// The plan item that makes the calls.
        item_id: String,
        /// The calls. Names of the question's attachments in their arguments are already replaced by the contents.
        calls: Vec<ParsedToolCall>,
        /// Arguments that the driver still has to replace by files of earlier calls, which are in the store.
        files: Vec<FileArgument>,
    },
}

/// An argument of a call that takes the file of an earlier call: as text, or in base64 if the file is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArgument {
    /// The call.
    pub call_id: String,
    /// Position of the argument, as a JSON pointer.
    pub pointer: String,
    /// Digest of the file, by which the store finds its bytes.
    pub digest: String,
}

impl Action {
    /// Returns the number of the action.
    #[must_use]
    pub const fn id(&self) -> ActionId {
        match self {
            Self::CallModel { id, .. } | Self::CallTools { id, .. } => *id,
        }
    }
}
