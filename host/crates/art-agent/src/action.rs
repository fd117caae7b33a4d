//! Actions: what a run waits for, and what its driver carries out. An action is either one model call or one batch of tool calls:
//! the calls of one reply, or the planned calls of one item, which is a step of the plan. The driver is the program around the
//! run, which makes the calls. One event of the run announces a call before it is made, and another one answers the call when it
//! has ended.

use std::fmt;

use art_core::Timestamp;
use art_core::provider::ModelRequest;
use art_core::suspension::{Decision, SuspendedCall};
use art_core::tool::ParsedToolCall;
use serde::{Deserialize, Serialize};

use crate::event::RunEvent;

/// Number of an action within its run, from 1. When a journal is replayed, each action gets the same number again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ActionId(pub u64);

impl fmt::Display for ActionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A model call to make, announced by [`ModelAsked`](crate::RunEvent::ModelAsked) and answered by
/// [`ModelReplied`](crate::RunEvent::ModelReplied) or [`ModelFailed`](crate::RunEvent::ModelFailed).
#[derive(Clone, Debug, PartialEq)]
pub struct ModelCall {
    /// Number of this action.
    pub id: ActionId,
    /// The plan item that makes the call; `None` for planning and synthesis.
    pub item_id: Option<String>,
    /// Number of this model call among those of its item, from 1. In planning, one more than the number of times that the planner
    /// was asked to correct a faulty plan.
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
    /// Number of the action, which is the batch of tool calls that this call belongs to.
    pub action: ActionId,
    /// The plan item that makes the call.
    pub item_id: String,
    /// The call. The contents of attachments of the question already stand in its arguments in place of their names.
    pub call: ParsedToolCall,
    /// Arguments that name files of earlier calls or earlier questions. The driver replaces each name by the content of the file,
    /// which is in the store.
    pub files: Vec<FileArgument>,
    /// The approval of a person, if the call waited for it. The driver checks that the call is still the one that was approved.
    pub approval: Option<Box<Approval>>,
}

/// A person's approval of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Approval {
    /// The suspended call, with the question that the person was asked.
    pub suspension: SuspendedCall,
    /// The person's decision.
    pub decision: Decision,
}

/// An argument of a call that names a file of an earlier call or an earlier question. Its value becomes the content of the file:
/// the text, or base64 if the file is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileArgument {
    /// Position of the argument, as a JSON pointer.
    pub pointer: String,
    /// Digest of the file, by which the store finds its bytes.
    pub digest: String,
}

impl ToolCall {
    /// Returns the event that announces the call. Three of its fields are still empty, and the driver fills them in:
    /// `tool_digest`, the digest of the tool's code; `input`, the digest of the input; and `standing_approval`, if a person
    /// allowed such calls in advance.
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
