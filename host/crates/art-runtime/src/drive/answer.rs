//! The answer to a question.

use std::fmt;
use std::sync::Arc;

use art_agent::{RunFile, RunReport, RunStart};
use art_core::agent::RunStatus;
use art_core::pes::TodoItem;
use art_core::provider::RuntimeProviderConfig;
use art_core::usage::ToolUsage;
use art_store::SuspensionRecord;
use art_tools::{EndingKind, ToolReport};

/// The resources that one tool call used, for tables of the calls of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct CallUsage {
    /// Identifier of the step of the plan.
    pub item_id: String,
    /// Name of the tool.
    pub tool: String,
    /// How the call ended.
    pub ending: EndingKind,
    /// The fuel, memory and time that the call used.
    pub usage: ToolUsage,
    /// Digest of the code of the tool. `None` if the call did not run, or if the tool has no digest, like a function of this
    /// program.
    pub tool_digest: Option<Arc<str>>,
}

/// The answer to a question, and the report of its run. `Display` writes the text of the answer.
#[derive(Debug)]
pub struct Answer {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run.
    pub trace_id: String,
    /// The model that answered.
    pub model: RuntimeProviderConfig,
    /// Report of the run.
    pub report: RunReport,
    /// The tool calls in the order in which they ended.
    pub calls: Vec<CallUsage>,
    /// The calls that wait for a decision, if the run is suspended. See [`Runtime::decide`](crate::Runtime::decide).
    pub waits_for: Vec<SuspensionRecord>,
    /// The report of a direct call, one that a person made without a model, if it ended in this process: see
    /// [`Runtime::call_tool`](crate::Runtime::call_tool).
    pub direct_call_report: Option<Box<ToolReport>>,
    /// Number of panics of the watcher: 0 or 1, because the watcher is not called again after a panic.
    pub watcher_panics: u32,
}

impl Answer {
    /// Returns the text for a person: the answer, or why there is none.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.report.response.response.content
    }

    /// Returns how the run ended. Only [`RunStatus::Success`] and [`RunStatus::Partial`] have an answer.
    #[must_use]
    pub const fn status(&self) -> RunStatus {
        self.report.response.metadata.status
    }

    /// Returns whether the run made only a tool call that a person requested, and asked no model.
    #[must_use]
    pub fn is_direct_call(&self) -> bool {
        self.model.provider_name == RunStart::NO_MODEL
    }

    /// Returns the steps of the plan for this question, with their results and errors.
    pub fn steps(&self) -> impl Iterator<Item = &TodoItem> {
        self.report.items.iter()
    }

    /// Returns the files that the tools produced. Their content is in the store.
    #[must_use]
    pub fn files(&self) -> &[RunFile] {
        &self.report.files
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}
