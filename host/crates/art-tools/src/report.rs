//! The report of a call: its result, the resources that it used, its log and its files.

use std::sync::Arc;
use std::time::Duration;

use art_core::capability::GrantUse;
use art_core::error::ToolErrorCode;
use art_core::intake::Intake;
use art_core::outcome::{Attachment, CallLog, EndingKind};
use art_core::suspension::SuspendedCall;
use art_core::text::truncate;
use art_core::tool::{ParsedToolCall, ToolResult};
use art_core::usage::ToolUsage;

/// Maximum length of a tool's name in a message, in characters.
const MAX_TOOL_NAME_CHARS: usize = 200;

/// The report of one call.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReport {
    /// Result for the model and the journal. Its `callId` and `toolName` are those of the request.
    pub result: ToolResult,
    /// Resources that the call used, such as fuel, memory and time; zero if it never ran.
    pub usage: ToolUsage,
    /// How the call ended.
    pub ending: EndingKind,
    /// Digest of the code of the tool, if the call ran and the tool has one.
    pub digest: Option<Arc<str>>,
    /// Log of the call, within its limits.
    pub log: CallLog,
    /// What the call took in from outside, so that it can be run again.
    pub intake: Intake,
    /// Which of its grants the call used.
    pub uses: Vec<GrantUse>,
    /// The files that `result.metadata.attachments` describes, in the same order.
    pub attachments: Arc<[Attachment]>,
    /// The question to a person, if the call ended as suspended. Its identifier is that in the metadata of the result.
    pub suspension: Option<Box<SuspendedCall>>,
    /// The question to a person whether to give a missing grant. Only set if the call was not run for lack of this grant.
    pub grant_question: Option<Box<SuspendedCall>>,
    /// Time from the request to the end, including time in the queue.
    pub duration: Duration,
}

impl ToolReport {
    /// Creates a report with a result. All else is empty or zero.
    pub(crate) fn new(result: ToolResult, ending: EndingKind) -> Self {
        Self {
            result,
            usage: ToolUsage::default(),
            ending,
            digest: None,
            log: CallLog::default(),
            intake: Intake::default(),
            uses: Vec::new(),
            attachments: Arc::default(),
            suspension: None,
            grant_question: None,
            duration: Duration::ZERO,
        }
    }

    /// Creates the report of a failed call. `message` is for the model.
    pub(crate) fn error(call: &ParsedToolCall, ending: EndingKind, code: ToolErrorCode, message: String) -> Self {
        let mut result = ToolResult::error(call, code, message);
        result.metadata.retryable = code.is_retryable();
        Self::new(result, ending)
    }

    /// Creates the report of a call that did not run. `message` is for the model.
    #[must_use]
    pub fn not_run(call: &ParsedToolCall, code: ToolErrorCode, message: String) -> Self {
        Self::error(call, EndingKind::NotRun, code, message).marked_not_run()
    }

    /// Marks the call as not run in the metadata of its result, and leaves the ending unchanged.
    pub(crate) fn marked_not_run(mut self) -> Self {
        self.result.metadata.not_run = true;
        self
    }
}

/// Returns the message `Tool "NAME" TEXT`. The name is shortened, because a model may have invented it.
pub(crate) fn about_tool(tool_name: &str, text: &str) -> String {
    format!("Tool \"{}\" {text}", truncate(tool_name, MAX_TOOL_NAME_CHARS))
}
