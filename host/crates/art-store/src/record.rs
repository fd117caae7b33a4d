//! What a store keeps about threads and runs, and about what tool calls, plan steps and answers used. Also the filters of its
//! lists. Suspensions have a module of their own; messages and observations are in `art-core`.

use art_core::Timestamp;
use art_core::agent::{RunStatus, ThreadConfig};
use art_core::conversation::MessageRole;
use art_core::observation::ObservationType;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The values of a new thread.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewThread {
    /// Identifier, chosen by the host and unique in the store.
    pub id: String,
    /// Owner, or `None` on a host with a single user.
    pub user_id: Option<String>,
    /// Settings.
    pub config: ThreadConfig,
}

/// A conversation with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Identifier.
    pub id: String,
    /// Owner, which never changes. The host looks up the threads of a person with [`Owner`], so that nobody reads the threads of
    /// others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// Time of creation.
    pub created: Timestamp,
    /// Time of the last write to its messages, observations, runs, state or settings.
    pub updated: Timestamp,
    /// Settings.
    pub config: ThreadConfig,
}

/// A condition on the owner of threads: a read finds only threads that meet it. For the read, threads of other owners do not
/// exist (contract B23).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Owner {
    /// All threads, for the host itself.
    #[default]
    Anyone,
    /// The threads of this user, or the threads without an owner for `None`.
    User(Option<String>),
}

impl Owner {
    /// Creates the condition for threads of this user, or for threads without an owner if `user_id` is `None`.
    #[must_use]
    pub fn user(user_id: Option<&str>) -> Self {
        Self::User(user_id.map(str::to_owned))
    }

    /// Returns whether a thread of this user meets the condition. `None` is a thread without an owner.
    #[must_use]
    pub fn includes(&self, user_id: Option<&str>) -> bool {
        match self {
            Self::Anyone => true,
            Self::User(user) => user.as_deref() == user_id,
        }
    }
}

/// A filter for a list of threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// Only threads of this owner.
    pub owner: Owner,
    /// Only entries whose identifier has this prefix.
    pub id_prefix: Option<String>,
    /// Maximum number of entries; `None`, 0 and more than
    /// [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// A filter for a list of messages (contract C51).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Only messages of a thread of this owner.
    pub owner: Owner,
    /// Maximum number of messages. If there are more, the most recent ones are returned (contract M6). `None`, 0 and
    /// more than [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
    /// Only entries before this time.
    pub before: Option<Timestamp>,
    /// Only entries after this time.
    pub after: Option<Timestamp>,
    /// Only messages with these roles; empty means all. Messages with other roles do not count for `limit`.
    pub roles: Vec<MessageRole>,
}

/// A filter for a list of observations. An observation has to meet all conditions (contract M7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationFilter {
    /// Only observations of a thread of this owner.
    pub owner: Owner,
    /// Only observations of these types; empty means all.
    pub types: Vec<ObservationType>,
    /// Only entries before this time.
    pub before: Option<Timestamp>,
    /// Only entries after this time.
    pub after: Option<Timestamp>,
    /// Only observations with a sequence above this one, to continue after the last observation that was read.
    pub after_sequence: Option<u64>,
    /// Only observations of this run.
    pub trace_id: Option<String>,
    /// Maximum number of observations. If there are more, the first ones are returned. `None`, 0 and more than
    /// [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// The values of a new run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Identifier, chosen by the host and unique in the store.
    pub trace_id: String,
    /// Thread of the run.
    pub thread_id: String,
    /// The question; truncated to [`MAX_QUERY_CHARS`](crate::limits::MAX_QUERY_CHARS).
    pub query: String,
    /// Name of the model.
    pub model: Option<String>,
}

/// State of a run: running, suspended, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "`RunStatus` documents how a run ends")]
pub enum RunState {
    /// A host is working on it, or a host stopped without ending it.
    Running,
    Success,
    Partial,
    Error,
    /// Waits for a person, and can be resumed.
    Suspended,
    Cancelled,
}

impl RunState {
    /// All states.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Success,
        Self::Partial,
        Self::Error,
        Self::Suspended,
        Self::Cancelled,
    ];

    /// Returns the name in JSON and in the database.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Error => "error",
            Self::Suspended => "suspended",
            Self::Cancelled => "cancelled",
        }
    }

    /// Returns whether the run has ended and cannot be resumed.
    #[must_use]
    pub const fn is_final(self) -> bool {
        !matches!(self, Self::Running | Self::Suspended)
    }
}

impl From<RunStatus> for RunState {
    fn from(status: RunStatus) -> Self {
        match status {
            RunStatus::Success => Self::Success,
            RunStatus::Partial => Self::Partial,
            RunStatus::Error => Self::Error,
            RunStatus::Suspended => Self::Suspended,
            RunStatus::Cancelled => Self::Cancelled,
        }
    }
}

/// A run in its current state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Identifier.
    pub trace_id: String,
    /// Thread of the run.
    pub thread_id: String,
    /// The question, truncated.
    pub query: String,
    /// State.
    pub status: RunState,
    /// Time at which the run began.
    pub started: Timestamp,
    /// Time at which the run ended or was suspended, or `None` while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// Name of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Summary for listings, so that they do not have to read the journal; null until the run ends or is suspended.
    pub summary: Value,
    /// Sequence of the last journal entry, or 0 if there is none.
    pub last_sequence: u64,
    /// Digest of the last journal entry. It stands for the whole journal, since each digest is computed with the one before it.
    /// For an empty journal it is computed from the identifier of the run. Empty if the database is open for reading only and
    /// has one of the formats 1 to 4, which have no digests.
    pub head: String,
}

/// Resources that a tool call used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallRecord {
    /// Digest of the tool. Another version of the tool has another digest.
    pub tool_digest: String,
    /// Usage of the call.
    pub usage: ToolUsage,
}

/// How many model calls and tokens a model took to carry out one step of a plan, or to write one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRecord {
    /// The model, such as `openai:gpt-5`.
    pub model: String,
    /// Whether it was a step or an answer.
    pub work: ModelWork,
    /// Model calls and tokens.
    pub usage: ModelUsage,
}

/// A filter for a list of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only runs of threads of this owner.
    pub owner: Owner,
    /// Only runs of this thread.
    pub thread_id: Option<String>,
    /// Only entries whose identifier has this prefix.
    pub id_prefix: Option<String>,
    /// Only runs in this state. `Running` includes runs that a crash interrupted.
    pub status: Option<RunState>,
    /// Only runs that are running although nobody holds the lease of their thread, so that a host may recover them.
    pub abandoned: bool,
    /// Maximum number of entries; `None`, 0 and more than
    /// [`MAX_LIST`](crate::limits::MAX_LIST) mean [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// An entry of the journal of a run. Entries are never changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    /// Position in the journal, from 1 and without gaps.
    pub sequence: u64,
    /// Time at which it was stored.
    pub timestamp: Timestamp,
    /// Kind of the payload; the host defines the kinds.
    pub kind: String,
    /// Payload, as the JSON text that was written.
    pub payload: String,
    /// Digest of this entry and, through the digest before it, of all earlier ones.
    pub digest: String,
}
