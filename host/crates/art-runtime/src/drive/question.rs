//! A question and its settings.

use art_agent::PlanToRun;
use art_core::agent::{ExecutionOverrides, QueryAttachment};
use art_core::prompt::{AgentPersona, SystemPromptOverride};

use art_store::Owner;
use art_store::limits::MAX_NAME_BYTES;

use crate::error::RuntimeError;

/// A question, with its thread, attachments and settings.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Text of the question.
    pub query: String,
    /// Conversation to continue; `None` starts a new one.
    pub thread_id: Option<String>,
    /// A plan that was saved earlier, to carry out in place of one that the model writes. See
    /// [`read_plan`](crate::read_plan).
    pub plan: Option<PlanToRun>,
    /// Identifier of the person who asks, in a program that several persons use. A new conversation belongs to the person who
    /// starts it, and other persons cannot find it.
    pub user_id: Option<String>,
    /// Identifier of the person's session, which is passed to tools.
    pub session_id: Option<String>,
    /// Files of the question.
    pub attachments: Vec<QueryAttachment>,
    /// Settings of this question alone.
    pub settings: QuestionSettings,
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

    /// Asks as this person.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.user_id = Some(user_id.into());
        self
    }

    /// Asks in this session of the person.
    #[must_use]
    pub fn in_session(mut self, session_id: impl Into<String>) -> Self {
        self.session_id = Some(session_id.into());
        self
    }

    /// Creates a question that carries out a saved plan. Its text is the question of the plan with the values of the parameters.
    #[must_use]
    pub fn of_plan(plan_to_run: PlanToRun) -> Self {
        Self {
            query: plan_to_run.plan.with_values(&plan_to_run.values).question,
            plan: Some(plan_to_run),
            ..Self::default()
        }
    }

    /// Checks the length of the question and of the identifiers of the person and the session.
    ///
    /// # Errors
    /// Fails if the text or an identifier is too long, or if an identifier is empty.
    pub(crate) fn check(&self) -> Result<(), RuntimeError> {
        check_id("user", self.user_id.as_deref())?;
        check_id("session", self.session_id.as_deref())?;
        Self::check_text(&self.query)
    }

    /// Checks the length of a question.
    ///
    /// # Errors
    /// Fails if it has more than [`Question::MAX_CHARS`] characters.
    pub(crate) fn check_text(query: &str) -> Result<(), RuntimeError> {
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

/// Fails if an identifier is empty or too long for a store. `what` says in the error what is identified, such as `user`.
pub(super) fn check_id(what: &'static str, id: Option<&str>) -> Result<(), RuntimeError> {
    match id {
        Some(id) if id.is_empty() || id.len() > MAX_NAME_BYTES => {
            Err(RuntimeError::Identifier { what, bytes: id.len() })
        }
        _ => Ok(()),
    }
}

/// A run, and the owner in whose conversations it is looked up. A `UserRun` that is created from an identifier alone refers to a
/// run in a conversation without an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserRun {
    pub(crate) trace_id: String,
    pub(crate) owner: Owner,
}

impl From<&str> for UserRun {
    fn from(trace_id: &str) -> Self {
        Self {
            trace_id: trace_id.to_owned(),
            owner: Owner::User(None),
        }
    }
}

impl From<&String> for UserRun {
    fn from(trace_id: &String) -> Self {
        Self::from(trace_id.as_str())
    }
}

impl UserRun {
    /// Looks the run up for this person. Runs in conversations of other persons are not found.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.owner = Owner::User(Some(user_id.into()));
        self
    }

    /// Looks the run up in the conversations of this owner.
    #[must_use]
    pub fn of(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }
}

/// Settings of one question, which take precedence over those of its thread and the configuration.
#[derive(Clone, Debug, Default)]
pub struct QuestionSettings {
    /// Limits of the run.
    pub execution: ExecutionOverrides,
    /// The model, `PROVIDER[:MODEL]`.
    pub model: Option<String>,
    /// Name and guidance of the agent.
    pub persona: AgentPersona,
    /// System prompt, which follows those of the configuration and the thread.
    pub system_prompt: Option<SystemPromptOverride>,
    /// Whether a run with a single step and a single successful call is answered with the unchanged output of the tool.
    pub raw: bool,
    /// Whether a panic of the watcher becomes a panic of the run, for tests of watchers.
    pub strict_watcher: bool,
}
