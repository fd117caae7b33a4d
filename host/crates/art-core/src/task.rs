//! What a prompt was made from, for models that read data and not prose. It stays in memory: no journal and no wire has it.

use serde_json::Value;

use crate::tool::{Source, ToolResult, ToolSchema};

/// What a model is asked to do, as data.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Plan the steps that answer a question.
    Plan(PlanTask),
    /// Carry out one step of a plan.
    Step(StepTask),
    /// Write the answer.
    Answer(AnswerTask),
}

/// A question to plan for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanTask {
    /// The question.
    pub query: String,
    /// Files that come with it, and files that tools left.
    pub files: Vec<TaskFile>,
    /// Every tool that may be called, with its examples.
    pub tools: Vec<ToolSchema>,
    /// All steps that earlier questions of the conversation left, oldest first.
    pub earlier: Vec<TaskStep>,
}

/// A step to carry out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepTask {
    /// What is to be done.
    pub description: String,
    /// The tools that it may call, with their examples.
    pub tools: Vec<ToolSchema>,
    /// Files that come with the question, and files that tools left.
    pub files: Vec<TaskFile>,
    /// The steps whose results it may use, oldest first.
    pub earlier: Vec<TaskStep>,
    /// Results of the calls that the step made already.
    pub results: Vec<ToolResult>,
}

/// A question whose plan was carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTask {
    /// The question.
    pub query: String,
    /// The plan in words, as the model wrote it.
    pub plan: String,
    /// The steps of this question, in the order of the plan.
    pub steps: Vec<TaskStep>,
}

/// A step and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStep {
    /// Identifier, unique in the plan.
    pub id: String,
    /// What was to be done.
    pub description: String,
    /// How it ended.
    pub outcome: StepOutcome,
}

/// How a step ended.
#[derive(Clone, Debug, PartialEq)]
pub enum StepOutcome {
    /// It is done.
    Completed {
        /// Its result; of what was drawn for a person, only that it was.
        result: Value,
        /// Where the result came from.
        sources: Vec<Source>,
    },
    /// It failed, for this reason.
    Failed(String),
    /// It was not finished, for this reason.
    Unfinished(String),
}

impl TaskStep {
    /// The result of the step, when it is done.
    #[must_use]
    pub const fn result(&self) -> Option<&Value> {
        match &self.outcome {
            StepOutcome::Completed { result, .. } => Some(result),
            StepOutcome::Failed(_) | StepOutcome::Unfinished(_) => None,
        }
    }
}

/// A file that a call can take as `attachment:NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFile {
    /// File name, unique in the run.
    pub name: String,
    /// For example `text/csv`.
    pub media_type: String,
    /// The first 64 KiB of a text; empty for any other file.
    pub beginning: String,
}
