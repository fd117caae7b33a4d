//! What comes of a question.

use std::fmt;

use art_agent::{RunFile, RunReport};
use art_core::agent::RunStatus;
use art_core::pes::TodoItem;
use art_core::usage::Usage;
use art_tools::CallEnding;

/// What one tool call cost, for the table at the end.
#[derive(Clone, Debug, PartialEq)]
pub struct CallCost {
    /// The step of the plan.
    pub item_id: String,
    /// The tool.
    pub tool: String,
    /// How the call ended.
    pub ending: CallEnding,
    /// What it used.
    pub usage: Usage,
}

/// The answer to a question, and the run that led to it. As a text it is what a person reads.
#[derive(Debug)]
pub struct Answer {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    pub trace_id: String,
    /// The answer and how the run ended.
    pub report: RunReport,
    /// The tool calls in the order in which they ended.
    pub calls: Vec<CallCost>,
    /// How often the watcher panicked. It hears nothing after the first time, so this is 0 or 1.
    pub watcher_panics: u32,
}

impl Answer {
    /// Returns what a person reads: the answer, or why there is none.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.report.response.response.content
    }

    /// Returns how the run ended. Only [`RunStatus::Success`] and [`RunStatus::Partial`] have an answer.
    #[must_use]
    pub const fn status(&self) -> RunStatus {
        self.report.response.metadata.status
    }

    /// Returns the steps of the plan for this question, with their results and errors.
    pub fn steps(&self) -> impl Iterator<Item = &TodoItem> {
        self.report.own_items()
    }

    /// Returns the files that the tools left; their bytes are in the store.
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
