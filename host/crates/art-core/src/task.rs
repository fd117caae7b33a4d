//! The data from which a prompt was written. The built-in lexical model, which compares the words of a question with those of the
//! tools' examples, reads this data instead of the prompt. The data stays in memory: neither the journal of a run nor JSON for
//! other processes contains it.

use serde_json::Value;

use crate::tool::{Source, ToolSchema};

/// The task of a model call, as data.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Plan the steps that answer a question.
    Plan(PlanTask),
    /// Write the answer.
    Answer(AnswerTask),
}

/// The task of writing a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlanTask {
    /// The question.
    pub query: String,
    /// Files of the question, and files that tools produced.
    pub files: Vec<TaskFile>,
    /// All tools that may be called, with their examples.
    pub tools: Vec<ToolSchema>,
    /// The steps of earlier questions of the conversation, oldest first, and then the steps of an earlier plan for this question
    /// that was not finished. The steps of earlier questions have names such as `q1.step_1`, which no step of the new plan has.
    pub earlier: Vec<TaskStep>,
}

/// The task of writing the answer after the plan was carried out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerTask {
    /// The question.
    pub query: String,
    /// The plan in words, as the model wrote it.
    pub plan: String,
    /// The steps of this question, in the order of the plan.
    pub steps: Vec<TaskStep>,
}

/// A step and its outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct TaskStep {
    /// Identifier by which the plan refers to the step, unique in the task.
    pub id: String,
    /// Description of the step.
    pub description: String,
    /// Its outcome.
    pub outcome: StepOutcome,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepOutcome {
    /// The step is completed.
    Completed {
        /// The output of each successful call, if several calls of the step have outputs. Otherwise one value, the result of the
        /// step. The output of a display tool is replaced by `{"displayed": true}`.
        results: Vec<Value>,
        /// Sources of the results.
        sources: Vec<Source>,
    },
    /// The step failed, for this reason.
    Failed(String),
    /// The step was not finished, for this reason.
    Unfinished(String),
}

impl TaskStep {
    /// Returns the last result of a completed step, or `None` for any other step. A reference to the step in a plan stands for
    /// this value.
    #[must_use]
    pub fn result(&self) -> Option<&Value> {
        match &self.outcome {
            StepOutcome::Completed { results, .. } => results.last(),
            StepOutcome::Failed(_) | StepOutcome::Unfinished(_) => None,
        }
    }
}

/// A file that a tool call can take as an argument, which is written `attachment:NAME`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskFile {
    /// File name, unique in the run.
    pub name: String,
    /// Media type, for example `text/csv`.
    pub media_type: String,
    /// The first 64 KiB of a text; empty for any other file.
    pub beginning: String,
}
