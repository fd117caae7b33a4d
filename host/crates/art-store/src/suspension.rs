//! Calls that wait for the decision of a person, as the store keeps them.

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
    /// The question. Its identifier is unique in the store.
    pub call: SuspendedCall,
}

/// A decision that the run of the suspension takes: see [`Commit::settled`](crate::Commit::settled).
#[derive(Clone, Debug, PartialEq)]
pub struct Settled {
    /// Identifier of the suspension.
    pub suspension_id: String,
    /// The decision.
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
    /// The question.
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
    /// Somebody has decided, and the run has not taken the decision yet.
    Decided,
    /// The run has taken the decision, or has ended after the decision was made.
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
    /// Only suspensions after the one with this identifier in the list. That one must belong to the owner, and may have any
    /// status.
    pub after: Option<String>,
    /// Maximum number of entries; `None`, 0 and more than [`MAX_LIST`](crate::limits::MAX_LIST) mean
    /// [`MAX_LIST`](crate::limits::MAX_LIST).
    pub limit: Option<usize>,
    /// Maximum size of the questions and decisions together, as JSON text in bytes; the first entry is listed even if it is
    /// larger. `None` means no limit.
    pub max_bytes: Option<usize>,
}

/// Limits the total size of the entries of a list.
pub(crate) struct Page {
    remaining_bytes: usize,
    is_empty: bool,
}

impl Page {
    pub(crate) fn of(filter: &SuspensionFilter) -> Self {
        Self {
            remaining_bytes: filter.max_bytes.unwrap_or(usize::MAX),
            is_empty: true,
        }
    }

    /// Counts an entry of this size, and returns whether it is still part of the list. The first entry always is.
    pub(crate) fn accepts(&mut self, bytes: usize) -> bool {
        let rest = self.remaining_bytes.checked_sub(bytes);
        let is_first = std::mem::replace(&mut self.is_empty, false);
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

    /// Returns whether the suspension is open, or decided and its run has not taken the decision yet.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        matches!(self.status, SuspensionStatus::Open | SuspensionStatus::Decided)
    }

    /// Refuses a decision if the suspension is not open, if a person decides too late, or if the expiry comes too early.
    pub(crate) fn check_decision(&self, by: &DecidedBy, now: Timestamp) -> Result<(), StoreError> {
        let suspension_id = self.id().to_owned();
        let is_over = self.call.has_expired(now);
        match (self.status, by) {
            (SuspensionStatus::Open, DecidedBy::Person { .. }) if is_over => {
                Err(StoreError::SuspensionExpired { suspension_id })
            }
            (SuspensionStatus::Open, DecidedBy::Expiry) if !is_over => {
                Err(StoreError::SuspensionNotExpired { suspension_id })
            }
            (SuspensionStatus::Open, _) => Ok(()),
            (SuspensionStatus::Decided | SuspensionStatus::Settled, _) => {
                Err(StoreError::AlreadyDecided { suspension_id })
            }
            (SuspensionStatus::Closed, _) => Err(StoreError::SuspensionClosed { suspension_id }),
        }
    }

    /// Refuses to settle a suspension that is not decided, or with another decision than the stored one.
    pub(crate) fn check_settle(&self, decision: &Decision) -> Result<(), StoreError> {
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
    /// Returns the status of a suspension. `is_finished` means that the run has taken the decision or has ended.
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
    /// Returns whether a suspension has the run, the thread, the prefix and the status of the filter.
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

/// Checks a new suspension, and returns the text of its question.
pub(crate) fn encode_new(new: &NewSuspension) -> Result<String, StoreError> {
    check::name("suspension identifier", &new.call.suspension_id)?;
    encode("a suspended call", &new.call.suspension_id, &new.call)
}

/// Returns the text of a decision.
pub(crate) fn encode_decision(suspension_id: &str, decision: &Decision) -> Result<String, StoreError> {
    encode("a decision", suspension_id, decision)
}

/// Returns the error of a suspension that does not exist, at least not for the person who asks.
pub(crate) fn unknown(suspension_id: &str) -> StoreError {
    StoreError::NoSuspension {
        suspension_id: check::truncate_id(suspension_id),
    }
}
