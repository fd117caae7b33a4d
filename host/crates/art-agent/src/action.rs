//! Actions: the model calls and batches of tool calls that a run waits for, and that its driver carries out.

use std::fmt;

use art_core::Timestamp;
use art_core::provider::ModelRequest;
use art_core::suspension::{Decision, SuspendedCall};
use art_core::tool::ParsedToolCall;
use serde::{Deserialize, Serialize};

use crate::event::RunEvent;

/// Number of an action within its run, from 1. A replay gives each action the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(pub u64);

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A model call to make, answered by [`ModelReplied`](crate::RunEvent::ModelReplied) or [`ModelFailed`](crate::RunEvent::ModelFailed).
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// Number of the action.
    pub id: ActionId,
    /// The plan item that makes the call; `None` for planning and synthesis.
    pub item_id: Option<String>,
    /// Number of the call within its phase or item, from 1.
    pub iteration: u32,
    /// Whether the reply may be the answer to the question. Such a reply is the answer unless it calls tools or is a plan.
    pub may_answer: bool,
    /// The request.
    pub request: Box<ModelRequest>,
}

/// A tool call to make, announced by [`ToolCalled`](crate::RunEvent::ToolCalled) and answered by
/// [`ToolEnded`](crate::RunEvent::ToolEnded).
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// Number of the action, which is the batch that contains the call.
    pub action: ActionId,
    /// The plan item that makes the call.
    pub item_id: String,
    /// The call. Names of the question's attachments in its arguments are already replaced by the contents.
    pub call: ParsedToolCall,
    /// Arguments that the driver still has to replace by files of earlier calls, which are in the store.
    pub files: Vec<FileArgument>,
    /// The approval of a person, if the call waited for one. The driver checks that the call is still the one that was approved.
    pub approval: Option<Box<Approval>>,
}

/// The approval of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The question that a person was asked.
    pub suspension: SuspendedCall,
    /// The person's decision.
    pub decision: Decision,
}

/// An argument of a call that takes the file of an earlier call: as text, or in base64 if the file is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArgument {
    /// Position of the argument, as a JSON pointer.
    pub pointer: String,
    /// Digest of the file, by which the store finds its bytes.
    pub digest: String,
}

impl ToolCall {
    /// Returns the event that announces the call. The driver adds the digests of the tool and the input, and any standing approval.
    #[must_use]
    pub fn called_event(&self, at: Timestamp) -> RunEvent {
        RunEvent::ToolCalled {
            at,
            action: self.action,
            item_id: self.item_id.clone(),
            call_id: self.call.call_id.clone(),
            tool_name: self.call.tool_name.clone(),
            tool_digest: None,
            input: String::new(),
            standing_approval: None,
        }
    }
}
