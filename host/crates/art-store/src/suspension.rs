//! Suspensions: tool calls that wait for the decision of a person, as the store keeps them.
//!
//! A suspension is open until somebody decides: a person in time, or else the host when the time is over. The run uses the stored
//! decision with one of its next commits, and the suspension is settled. If the run ends before a decision, the suspension is
//! closed.

use art_core::Timestamp;
use art_core::suspension::{DecidedBy, Decision, SuspendedCall};
use serde::{Deserialize, Serialize};

use crate::check::{self, encode};
use crate::error::StoreError;
use crate::record::Owner;

/// A call that begins to wait for a decision.
#[derive(Clone, Debug, PartialEq)]
pub struct NewSuspension {
    /// The plan item that makes the call.
    pub item_id: String,
    /// The call, with the question to the person. Its suspension identifier is unique in the store.
    pub call: SuspendedCall,
}

/// A stored decision that the run of the suspension uses: see [`Commit::used_decisions`](crate::Commit::used_decisions).
#[derive(Clone, Debug, PartialEq)]
pub struct UsedDecision {
    /// Identifier of the suspension.
    pub suspension_id: String,
    /// The decision, which must equal the stored one.
    pub decision: Decision,
}

/// A call that waits for a decision, or waited for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SuspensionRecord {
    /// Run of the call.
    pub trace_id: String,
    /// Thread of the run.
    pub thread_id: String,
    /// The plan item that makes the call.
    pub item_id: String,
    /// Time since which the call waits.
    pub since: Timestamp,
    /// The call, with the question to the person.
    pub call: SuspendedCall,
    /// The decision, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// Status.
    pub status: SuspensionStatus,
}

/// The progress of a suspension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SuspensionStatus {
    /// Nobody has decided.
    Open,
    /// The decision is stored, and the run has not used it yet.
    Decided,
    /// The run has used the decision, or has ended after the decision was stored.
    Settled,
    /// The run ended without a decision.
    Closed,
}

/// A filter for a list of suspensions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuspensionFilter {
    /// Only suspensions in threads of this owner.
    pub owner: Owner,
    /// Only suspensions in this thread.
    pub thread_id: Option<String>,
    /// Only suspensions of this run.
    pub trace_id: Option<String>,
    /// Only suspensions whose identifier has this prefix.
    pub id_prefix: Option<String>,
    /// Only suspensions that are open or decided.
    pub pending: bool,
    /// Only suspensions that come in the list after the one with this identifier, such as the last one of the previous page. That
    /// one must be in a thread of the owner, but need not meet the other conditions of the filter.
    pub after: Option<String>,
    /// Maximum number of entries; `None`, 0 and more than [`MAX_LIST`](crate::limits::MAX_LIST) mean
    /// [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
    /// Maximum size of all listed calls and decisions together, as JSON text in bytes; the first entry is listed even if it is
    /// larger. `None` means no limit.
    pub max_bytes: Option<usize>,
}

/// Ends a list before its entries exceed a total size.
pub(crate) struct ByteLimit {
    remaining_bytes: usize,
    /// Whether no entry was counted yet.
    is_list_empty: bool,
}

impl ByteLimit {
    pub(crate) fn of(filter: &SuspensionFilter) -> Self {
        Self {
            remaining_bytes: filter.max_bytes.unwrap_or(usize::MAX),
            is_list_empty: true,
        }
    }

    /// Counts an entry of this size, and returns whether it is still part of the list. The first entry always is.
    pub(crate) fn accepts(&mut self, bytes: usize) -> bool {
        let rest = self.remaining_bytes.checked_sub(bytes);
        let is_first = std::mem::replace(&mut self.is_list_empty, false);
        self.remaining_bytes = rest.unwrap_or_default();
        is_first || rest.is_some()
    }
}

impl SuspensionRecord {
    /// Returns the identifier of the suspension.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.call.suspension_id
    }

    /// Returns whether the suspension is open or decided, so that its run still waits or still has to use the decision.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        matches!(self.status, SuspensionStatus::Open | SuspensionStatus::Decided)
    }

    /// Refuses to store a decision if the suspension is not open, if a person decides after the suspension has expired, or if the
    /// host decides in place of the person before it has expired.
    pub(crate) fn check_decision(&self, by: &DecidedBy, now: Timestamp) -> Result<(), StoreError> {
        let suspension_id = self.id().to_owned();
        let has_expired = self.call.has_expired(now);
        match (self.status, by) {
            (SuspensionStatus::Open, DecidedBy::Person { .. }) if has_expired => {
                Err(StoreError::SuspensionExpired { suspension_id })
            }
            (SuspensionStatus::Open, DecidedBy::Expiry) if !has_expired => {
                Err(StoreError::SuspensionNotExpired { suspension_id })
            }
            (SuspensionStatus::Open, _) => Ok(()),
            (SuspensionStatus::Decided | SuspensionStatus::Settled, _) => {
                Err(StoreError::AlreadyDecided { suspension_id })
            }
            (SuspensionStatus::Closed, _) => Err(StoreError::SuspensionClosed { suspension_id }),
        }
    }

    /// Refuses to let the run use `decision` if no decision is stored, if `decision` differs from the stored one, or if the
    /// suspension is settled.
    pub(crate) fn check_use(&self, decision: &Decision) -> Result<(), StoreError> {
        if self.status == SuspensionStatus::Open {
            return Err(StoreError::NotDecided {
                suspension_id: self.id().to_owned(),
            });
        }
        if self.is_pending() && self.decision.as_ref() == Some(decision) {
            return Ok(());
        }
        Err(StoreError::AlreadyDecided {
            suspension_id: self.id().to_owned(),
        })
    }
}

impl SuspensionStatus {
    /// Returns the status of a suspension. `is_finished` means that the run has used the decision or has ended.
    pub(crate) const fn of(is_decided: bool, is_finished: bool) -> Self {
        match (is_decided, is_finished) {
            (false, false) => Self::Open,
            (true, false) => Self::Decided,
            (true, true) => Self::Settled,
            (false, true) => Self::Closed,
        }
    }
}

impl SuspensionFilter {
    /// Returns whether a suspension has the run, the thread, the prefix and the status of the filter. Does not check the other
    /// conditions: the owner, `after` and the limits.
    pub(crate) fn matches(&self, record: &SuspensionRecord) -> bool {
        self.thread_id.as_ref().is_none_or(|id| *id == record.thread_id)
            && self.trace_id.as_ref().is_none_or(|id| *id == record.trace_id)
            && self
                .id_prefix
                .as_ref()
                .is_none_or(|prefix| record.id().starts_with(prefix))
            && (!self.pending || record.is_pending())
    }
}

/// Checks a new suspension, and returns its call as JSON text.
pub(crate) fn encode_new(new: &NewSuspension) -> Result<String, StoreError> {
    check::name("suspension identifier", &new.call.suspension_id)?;
    encode("a suspended call", &new.call.suspension_id, &new.call)
}

/// Returns a decision as JSON text.
pub(crate) fn encode_decision(suspension_id: &str, decision: &Decision) -> Result<String, StoreError> {
    encode("a decision", suspension_id, decision)
}

/// Returns the error for a suspension that does not exist, or that is not in a thread of the person who asks.
pub(crate) fn unknown_suspension_error(suspension_id: &str) -> StoreError {
    StoreError::UnknownSuspension {
        suspension_id: check::truncate_id(suspension_id),
    }
}
