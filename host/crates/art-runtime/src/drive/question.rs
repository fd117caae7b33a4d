//! A question and its settings.

use art_agent::PlanToRun;
use art_core::agent::{ExecutionOverrides, QueryAttachment};
use art_core::prompt::{AgentPersona, SystemPromptOverride};

use crate::error::RuntimeError;

/// A question, with its thread, attachments and settings.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Text of the question.
    pub query: String,
    /// Conversation to continue; none starts a new one.
    pub thread_id: Option<String>,
    /// A kept plan to carry out in place of one that the model writes. See [`read_plan`](crate::read_plan).
    pub plan: Option<PlanToRun>,
    /// Files of the question.
    pub attachments: Vec<QueryAttachment>,
    /// Settings of this question alone.
    pub settings: CallSettings,
}

impl From<&str> for Question {
    fn from(query: &str) -> Self {
        Self::from(query.to_owned())
    }
}

impl From<String> for Question {
    fn from(query: String) -> Self {
        Self {
            query,
            ..Self::default()
        }
    }
}

impl Question {
    /// Maximum length of a question in characters. Longer text belongs in an attachment, which tools can read whole.
    pub const MAX_CHARS: usize = 8_000;

    /// Continues the conversation `thread_id`, which the [`Answer`](super::Answer) to an earlier question names.
    #[must_use]
    pub fn in_thread(mut self, thread_id: impl Into<String>) -> Self {
        self.thread_id = Some(thread_id.into());
        self
    }

    /// Returns the question of a kept plan with these values of its parameters.
    #[must_use]
    pub fn of_plan(plan: PlanToRun) -> Self {
        Self {
            query: plan.plan.with_values(&plan.values).question,
            plan: Some(plan),
            ..Self::default()
        }
    }

    /// Checks the length of a question.
    ///
    /// # Errors
    /// Fails if it has more than [`Question::MAX_CHARS`] characters.
    pub(crate) fn check(query: &str) -> Result<(), RuntimeError> {
        let chars = query.chars().count();
        if chars <= Self::MAX_CHARS {
            return Ok(());
        }
        Err(RuntimeError::QuestionTooLong {
            chars,
            most: Self::MAX_CHARS,
        })
    }
}

/// Settings of one question, which take precedence over those of its thread and the configuration.
#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// Limits of the run.
    pub execution: ExecutionOverrides,
    /// Name and guidance of the agent.
    pub persona: AgentPersona,
    /// System prompt, which follows those of the configuration and the thread.
    pub system_prompt: Option<SystemPromptOverride>,
    /// Whether the output of the only call of the only step is the answer, as the tool gave it.
    pub raw: bool,
    /// Whether a panic of the watcher becomes a panic of the run, for tests of watchers.
    pub strict_watcher: bool,
}
