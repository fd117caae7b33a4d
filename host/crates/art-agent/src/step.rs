//! What a driver has to do next.

use std::fmt;

use art_core::provider::ModelRequest;
use art_core::tool::ParsedToolCall;
use serde::{Deserialize, Serialize};

use crate::report::RunReport;

/// Number of a step within its run, from 1. A replay gives each step the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(pub u64);

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Something to do. It stays open, with the same number, until an event answers it.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Ask the model; answered by `ModelReplied` or `ModelFailed`.
    CallModel {
        /// The step.
        id: StepId,
        /// The todo item that asks; none for planning and synthesis.
        item_id: Option<String>,
        /// Which call of its phase or item it is, from 1.
        iteration: u32,
        /// What is asked.
        request: Box<ModelRequest>,
    },
    /// Call tools, in any order or all at once; answered by `ToolsReturned`.
    CallTools {
        /// The step.
        id: StepId,
        /// The todo item that asks.
        item_id: String,
        /// The calls, in whose arguments the names of the question's attachments are replaced by their contents.
        calls: Vec<ParsedToolCall>,
        /// Arguments into which the driver puts files of earlier calls, whose bytes are in the store.
        files: Vec<FilePlace>,
    },
    /// Nothing more to do.
    Finish(Box<RunReport>),
}

/// An argument of a call that takes a file which an earlier call left: as text, or in base64 when the file is not text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The call.
    pub call_id: String,
    /// Where in its arguments, as a JSON pointer.
    pub pointer: String,
    /// The digest under which the store has the bytes.
    pub digest: String,
}

impl Step {
    /// Number of the step; the end has none.
    #[must_use]
    pub const fn id(&self) -> Option<StepId> {
        match self {
            Self::CallModel { id, .. } | Self::CallTools { id, .. } => Some(*id),
            Self::Finish(_) => None,
        }
    }
}
