//! A snapshot of a run for display while it is in progress.

use std::collections::BTreeSet;

use art_core::pes::TodoItem;
use art_core::usage::{TokenUsage, Usage};
use serde::Serialize;

use super::{Run, Stage};

/// The stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStage {
    /// A plan is being made.
    Planning,
    /// Items are being worked on.
    Execution,
    /// The answer is being written.
    Synthesis,
    /// There is an answer.
    Finished,
}

/// A snapshot of a run for display while it is in progress.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView<'a> {
    /// The stage.
    pub stage: RunStage,
    /// At most ten words; empty until there is a plan.
    pub title: &'a str,
    /// What the person wants.
    pub intent: &'a str,
    /// The plan in words.
    pub plan: &'a str,
    /// The plan as items with their status.
    pub items: &'a [TodoItem],
    /// Identifiers of the items that had ended before this run: they belong to earlier questions.
    pub earlier: &'a BTreeSet<String>,
    /// Model calls answered so far.
    pub llm_calls: u32,
    /// Tool calls answered so far.
    pub tool_calls: u32,
    /// Tokens so far.
    pub tokens: TokenUsage,
    /// What the tools used so far.
    pub usage: Usage,
    /// Limits hit so far, in words.
    pub limits_hit: &'a [String],
}

impl RunView<'_> {
    /// Returns the items of this question.
    pub fn own_items(&self) -> impl Iterator<Item = &TodoItem> {
        self.items.iter().filter(|item| !self.earlier.contains(&item.id))
    }
}

impl Run {
    /// Returns a snapshot for display.
    #[must_use]
    pub fn view(&self) -> RunView<'_> {
        RunView {
            stage: self.stage(),
            title: &self.state.title,
            intent: &self.state.intent,
            plan: &self.state.plan,
            items: &self.state.todo_list,
            earlier: &self.earlier,
            llm_calls: self.usage.llm_calls,
            tool_calls: self.usage.tool_calls,
            tokens: self.usage.tokens,
            usage: self.usage.usage,
            limits_hit: &self.limits_hit,
        }
    }

    /// Returns the stage.
    #[must_use]
    pub const fn stage(&self) -> RunStage {
        match self.stage {
            Stage::Planning { .. } => RunStage::Planning,
            Stage::Execution => RunStage::Execution,
            Stage::Synthesis { .. } => RunStage::Synthesis,
            Stage::Finished(_) => RunStage::Finished,
        }
    }
}
