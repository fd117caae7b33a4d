//! A snapshot of a run in progress, for display.

use art_core::pes::TodoItem;
use art_core::usage::{TokenUsage, ToolUsage};
use serde::Serialize;

use super::{Run, Stage};

/// Stage of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunStage {
    /// The model writes a plan.
    Planning,
    /// Steps of the plan are in progress.
    Execution,
    /// The model writes the answer.
    Synthesis,
    /// The run has ended.
    Finished,
}

/// A snapshot of a run in progress, for display.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView<'a> {
    /// Stage of the run.
    pub stage: RunStage,
    /// Title of the conversation, of at most ten words; empty before its first plan.
    pub title: &'a str,
    /// Intent of the person.
    pub intent: &'a str,
    /// The plan in words.
    pub plan: &'a str,
    /// The steps of the plan of this question, with their statuses.
    pub items: &'a [TodoItem],
    /// Number of model calls that have ended.
    pub llm_calls: u32,
    /// Number of tool calls that have ended.
    pub tool_calls: u32,
    /// Number of tokens that the model calls have used so far.
    pub tokens: TokenUsage,
    /// Resources that the tool calls used so far.
    pub usage: ToolUsage,
    /// Limits that the run has reached so far, in words.
    pub limits_hit: &'a [String],
}

impl Run {
    /// Returns a snapshot of the run.
    #[must_use]
    pub fn view(&self) -> RunView<'_> {
        RunView {
            stage: self.stage(),
            title: &self.state.title,
            intent: &self.state.intent,
            plan: &self.state.plan,
            items: self.own_items(),
            llm_calls: self.usage.llm_calls,
            tool_calls: self.usage.tool_calls,
            tokens: self.usage.tokens,
            usage: self.usage.tool_usage,
            limits_hit: &self.limits_hit,
        }
    }

    /// Returns the cost of the model calls so far whose price is known, in US dollars.
    #[must_use]
    pub fn known_cost(&self) -> f64 {
        self.usage.llm.cost_usd.unwrap_or_default()
    }

    /// Returns the stage of the run.
    #[must_use]
    pub const fn stage(&self) -> RunStage {
        match self.stage {
            Stage::Planning => RunStage::Planning,
            Stage::Execution => RunStage::Execution,
            Stage::Synthesis => RunStage::Synthesis,
            Stage::Finished(_) => RunStage::Finished,
        }
    }
}
