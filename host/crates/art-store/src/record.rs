//! Records and filters of the store, beside the types of `art-core`.

use art_core::Timestamp;
use art_core::agent::{RunStatus, ThreadConfig};
use art_core::conversation::MessageRole;
use art_core::observation::ObservationType;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A thread to be created.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewThread {
    /// Identifier, unique in the store; the host makes it.
    pub id: String,
    /// Owner; absent for a host with one user.
    pub user_id: Option<String>,
    /// Its settings.
    pub config: ThreadConfig,
}

/// A conversation with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Thread {
    /// Identifier.
    pub id: String,
    /// Owner. The host compares it before it returns anything of the thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// When it was created.
    pub created: Timestamp,
    /// When a message, an observation, a run, its state or its settings were last written.
    pub updated: Timestamp,
    /// Its settings.
    pub config: ThreadConfig,
}

/// Which threads to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ThreadFilter {
    /// Only those of this person.
    pub user_id: Option<String>,
    /// Only those whose identifier starts with this.
    pub id_prefix: Option<String>,
    /// Maximum number of entries; absent, 0 or more than [`MAX_LIST`](crate::limits::MAX_LIST) means
    /// [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// Which messages to list (C51).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageOptions {
    /// Maximum number of messages, the most recent ones (M6); absent, 0 or more than
    /// [`MAX_LIST`](crate::limits::MAX_LIST) means [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
    /// Only those strictly earlier.
    pub before: Option<Timestamp>,
    /// Only those strictly later.
    pub after: Option<Timestamp>,
    /// Only those roles; empty means all. Applied before `limit`, so that internal messages do not push out the
    /// conversation.
    pub roles: Vec<MessageRole>,
}

/// Which observations to list. All conditions hold together (M7).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservationFilter {
    /// Only those types; empty means all.
    pub types: Vec<ObservationType>,
    /// Only those strictly earlier.
    pub before: Option<Timestamp>,
    /// Only those strictly later.
    pub after: Option<Timestamp>,
    /// Only those with a higher sequence, to read on where a reader stopped.
    pub after_sequence: Option<u64>,
    /// Only those of this run.
    pub trace_id: Option<String>,
    /// Maximum number of observations, the first ones; absent, 0 or more than [`MAX_LIST`](crate::limits::MAX_LIST)
    /// means [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// A run that begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewRun {
    /// Identifier, unique in the store; the host makes it.
    pub trace_id: String,
    /// Conversation.
    pub thread_id: String,
    /// The question; cut to [`MAX_QUERY_CHARS`](crate::limits::MAX_QUERY_CHARS).
    pub query: String,
    /// The model that answers.
    pub model: Option<String>,
}

/// Status of a run: running, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "`RunStatus` explains the endings")]
pub enum RunState {
    /// A host is working on it, or stopped without ending it.
    Running,
    Success,
    Partial,
    Error,
    /// Waits for a person; may run again.
    Suspended,
    Cancelled,
}

impl RunState {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Running,
        Self::Success,
        Self::Partial,
        Self::Error,
        Self::Suspended,
        Self::Cancelled,
    ];

    /// Returns the name on the wire and in the database.
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

    /// Returns whether the run has ended for good.
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
    /// Conversation.
    pub thread_id: String,
    /// The question, cut short.
    pub query: String,
    /// The stage of the run.
    pub status: RunState,
    /// When it began.
    pub started: Timestamp,
    /// When it ended or was suspended; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The model that answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Summary for listings, which need not read the journal then; null until the run ends.
    pub summary: Value,
    /// Sequence of the last journal entry; 0 before the first.
    pub last_sequence: u64,
}

/// Which runs to list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only those of this thread.
    pub thread_id: Option<String>,
    /// Only those whose identifier starts with this.
    pub id_prefix: Option<String>,
    /// Only those with this status; `Running` finds runs that a crash left open.
    pub status: Option<RunState>,
    /// Maximum number of entries; absent, 0 or more than [`MAX_LIST`](crate::limits::MAX_LIST) means
    /// [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
}

/// One entry of a run's journal. Never changed after it was stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalEntry {
    /// Position in the run, from 1, without gaps.
    pub sequence: u64,
    /// When it was stored.
    pub timestamp: Timestamp,
    /// Kind of the payload, in the host's words.
    pub kind: String,
    /// Payload.
    pub payload: Value,
}
