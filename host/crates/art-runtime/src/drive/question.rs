//! What is asked.

use art_core::agent::{ExecutionOverrides, QueryAttachment};
use art_core::prompt::{AgentPersona, SystemPromptOverride};

use crate::error::RuntimeError;

/// A question and where it belongs.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// The question.
    pub query: String,
    /// Conversation to continue; none begins one.
    pub thread_id: Option<String>,
    /// Files that come with it.
    pub attachments: Vec<QueryAttachment>,
    /// What is set for this question alone.
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
    /// Characters that a question may have. What is longer belongs into an attachment, which only tools read whole.
    pub const MAX_CHARS: usize = 8_000;

    /// Asks in the conversation `thread_id`, which the [`Answer`](super::Answer) to an earlier question names.
    #[must_use]
    pub fn in_thread(mut self, thread_id: impl Into<String>) -> Self {
        self.thread_id = Some(thread_id.into());
        self
    }

    /// Refuses a question that is too long for any model to plan in time.
    ///
    /// # Errors
    /// When it has more than [`Question::MAX_CHARS`] characters.
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

/// What a question sets for itself, over what its thread and the configuration say.
#[derive(Clone, Debug, Default)]
pub struct CallSettings {
    /// How hard the run may try.
    pub execution: ExecutionOverrides,
    /// Who the agent is.
    pub persona: AgentPersona,
    /// Joined after those of the thread and the configuration.
    pub system_prompt: Option<SystemPromptOverride>,
    /// The panic of a watcher is the panic of the run, for tests of watchers.
    pub strict_watcher: bool,
}
