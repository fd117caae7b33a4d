//! Tool calls that wait until a person decides about them, and the decisions.
//!
//! A call that waits is suspended. Its suspension contains the question, and is bound to one thread and its owner
//! (contract P67). What a thread waits for can be looked up at any time (contract P73). A question may have a time
//! limit (contract Q4). After this time the question has expired, and the call counts as rejected, or as approved if the
//! operator configured that. A question may also be about grants: rights that the tool lacks, such as to read a file. If a
//! person approves, the tool gets the grants.
//!
//! A decision takes effect in two steps. First it is stored, which succeeds once for each suspension. Then the run applies it:
//! the process that drives the run, or one that resumes it later, commits the event of the decision and marks the decision as
//! settled in one transaction. So no decision is lost, and none takes effect twice.

use std::sync::Arc;

use art_agent::{Approval, Run, RunEvent};
use art_core::hitl::{Feedback, HitlContext};
use art_core::suspension::{DecidedBy, Decision, ExpiryAction, SuspensionCause};
use art_store::{
    FailPoint, NewSuspension, Owner, Store, StoreError, SuspensionFilter, SuspensionRecord, SuspensionStatus,
};
use serde::Serialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::drive::clock::now;
use crate::drive::{Answer, UserRun, Watcher};
use crate::error::{RuntimeError, in_one_line};
use crate::runtime::Runtime;

/// Maximum number of suspensions that [`Runtime::suspensions`] returns at once.
pub const MAX_PAGE: usize = 100;
/// Maximum total size of the suspensions that [`Runtime::suspensions`] returns at once, as JSON text in bytes.
pub const MAX_PAGE_BYTES: usize = 8 << 20;

/// A suspension, and the owner for whom it is looked up. A text that is converted into this type is the identifier of a
/// suspension in a conversation without an owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserSuspension {
    id: String,
    owner: Owner,
}

impl From<&str> for UserSuspension {
    fn from(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            owner: Owner::User(None),
        }
    }
}

impl From<&String> for UserSuspension {
    fn from(id: &String) -> Self {
        Self::from(id.as_str())
    }
}

impl UserSuspension {
    /// Sets the person who decides. The suspension is looked up only in the conversations of this person.
    #[must_use]
    pub fn of_user(mut self, user_id: impl Into<String>) -> Self {
        self.owner = Owner::User(Some(user_id.into()));
        self
    }

    /// Sets the owner who decides. The suspension is looked up only in the conversations of this owner.
    #[must_use]
    pub fn of(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    fn decided_by(&self) -> DecidedBy {
        let user_id = match &self.owner {
            Owner::User(user_id) => user_id.clone(),
            Owner::Anyone => None,
        };
        DecidedBy::Person { user_id }
    }
}

/// The call about which a conversation waits for a decision (contract P73).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SuspendedState {
    /// Identifier of the suspension, which a decision names.
    pub suspension_id: String,
    /// The plan item that makes the call.
    pub item_id: String,
    /// Name of the tool.
    pub tool_name: String,
    /// Arguments of the call.
    pub tool_input: Value,
}

impl Runtime {
    /// Returns one page of the calls of this owner that wait for a decision, or whose runs have not applied the decision yet,
    /// oldest first. A page has at most [`MAX_PAGE`] calls with at most [`MAX_PAGE_BYTES`] together, or a single call that is
    /// larger. The page begins after the suspension `after`, which is the last one of the previous page. After the last page,
    /// the result is empty.
    ///
    /// # Errors
    /// Fails with [`StoreError::UnknownSuspension`] if the owner has no suspension `after`, or if the store cannot be read.
    pub async fn suspensions(
        &self,
        owner: Owner,
        after: Option<String>,
    ) -> Result<Vec<SuspensionRecord>, RuntimeError> {
        let filter = SuspensionFilter {
            owner,
            pending: true,
            after,
            limit: Some(MAX_PAGE),
            max_bytes: Some(MAX_PAGE_BYTES),
            ..SuspensionFilter::default()
        };
        Ok(self.store.list_suspensions(filter).await?)
    }

    /// Returns the oldest call of a conversation that waits for a decision, or whose run has not applied the decision yet.
    /// Returns `None` if there is no such call (contracts P73, A40).
    ///
    /// # Errors
    /// Fails if the person has no such conversation, or the store cannot be read.
    pub async fn check_for_suspended_state(
        &self,
        thread_id: &str,
        owner: Owner,
    ) -> Result<Option<SuspendedState>, RuntimeError> {
        self.find_thread(thread_id, &owner).await?;
        let oldest = find_oldest_pending(self.store.as_ref(), thread_id).await?;
        Ok(oldest.map(|record| SuspendedState {
            suspension_id: record.call.suspension_id,
            item_id: record.item_id,
            tool_name: record.call.call.tool_name,
            tool_input: record.call.call.arguments,
        }))
    }

    /// Stores the decision about a call that waits. The run applies the decision when it is resumed: see
    /// [`resume`](Self::resume). If several callers decide about the same call, exactly one succeeds. Grants that the decision
    /// approves are made by the run and not here. So no grant is made for a decision that was not stored, and none is lost if
    /// this process is killed.
    ///
    /// # Errors
    /// Fails with [`StoreError::UnknownSuspension`] if the person has no such suspension, with [`StoreError::AlreadyDecided`],
    /// [`StoreError::SuspensionExpired`] or [`StoreError::SuspensionClosed`] if there is nothing left to decide, and with
    /// [`RuntimeError::Decision`] if the answer or the changed arguments are not valid or the tool was replaced meanwhile.
    pub async fn decide(
        &self,
        suspension: impl Into<UserSuspension>,
        feedback: Feedback,
    ) -> Result<SuspensionRecord, RuntimeError> {
        let suspension = suspension.into();
        let UserSuspension { id, owner } = &suspension;
        let found = self.store.find_suspension(id, owner).await?;
        let record = found.ok_or_else(|| no_suspension(id))?;
        let feedback = match record.status {
            SuspensionStatus::Open => self.check_feedback(&record, feedback)?,
            // The store refuses the decision and says why.
            _ => feedback,
        };
        self.check_grantable(&record, &feedback)?;
        let by = suspension.decided_by();
        // Tests of crashes stop the process at fail points.
        FailPoint::BeforeDecision.reach();
        let decided = self.store.decide(id, owner, Decision { feedback, by }).await?;
        FailPoint::AfterDecision.reach();
        Ok(decided)
    }

    /// Decides about a waiting call of a conversation, and resumes the run of the call (contract P67). If that run
    /// still waits for another decision, the answer says so.
    ///
    /// # Errors
    /// Same as [`decide`](Self::decide) and [`resume`](Self::resume). If the suspension belongs to another conversation, fails as
    /// if there were no such suspension.
    pub async fn resume_execution(
        &self,
        thread_id: &str,
        suspension: impl Into<UserSuspension>,
        feedback: Feedback,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, RuntimeError> {
        let suspension = suspension.into();
        let found = self.store.find_suspension(&suspension.id, &suspension.owner).await?;
        if found.is_none_or(|record| record.thread_id != thread_id) {
            return Err(no_suspension(&suspension.id));
        }
        let owner = suspension.owner.clone();
        let trace_id = self.decide(suspension, feedback).await?.trace_id;
        self.resume(UserRun { trace_id, owner }, cancel, watcher).await
    }

    /// Fails if the decision approves grants that cannot be made. The decision is not stored then, so the person can still
    /// decide otherwise.
    fn check_grantable(&self, record: &SuspensionRecord, feedback: &Feedback) -> Result<(), RuntimeError> {
        // The reloader changes the grants of the tools in the plugins folder.
        let (SuspensionCause::Grant { denials }, Some(reloader), true) =
            (&record.call.cause, self.toolbox.reloader(), feedback.approved)
        else {
            return Ok(());
        };
        let proposed = reloader.propose_grants(&record.call.call.tool_name, denials);
        proposed.map(drop).map_err(|error| RuntimeError::Decision {
            suspension_id: record.call.suspension_id.clone(),
            problem: in_one_line(&error),
        })
    }

    /// Returns `feedback` with defaults filled in. Fails with [`RuntimeError::Decision`] if it does not fit the
    /// question, or if it approves a call whose tool was removed or replaced.
    fn check_feedback(&self, record: &SuspensionRecord, feedback: Feedback) -> Result<Feedback, RuntimeError> {
        let call = &record.call;
        let refusal = |problem: String| RuntimeError::Decision {
            suspension_id: call.suspension_id.clone(),
            problem,
        };
        let (registry, name) = (self.tools.registry(), call.call.tool_name.as_str());
        let schema = registry.schema(name);
        let is_same_tool = schema.is_some() && registry.digest(name).as_deref() == call.tool_digest.as_deref();
        if feedback.approved && call.runs_on_approval && !is_same_tool {
            let problem = format!(
                "the tool `{}` was removed or replaced by another version since the question was asked; reject the call, or \
                 cancel the run",
                call.call.tool_name
            );
            return Err(refusal(problem));
        }
        let checked = self.tools.check_feedback(call, feedback);
        checked.map_err(|errors| refusal(errors.to_string()))
    }
}

fn no_suspension(id: &str) -> RuntimeError {
    let suspension_id = art_core::text::truncate(id, 100);
    StoreError::UnknownSuspension { suspension_id }.into()
}

/// Returns the oldest suspension of a thread that is pending: nobody has decided about it, or the run has not applied the
/// decision.
async fn find_oldest_pending(store: &dyn Store, thread_id: &str) -> Result<Option<SuspensionRecord>, StoreError> {
    let filter = SuspensionFilter {
        thread_id: Some(thread_id.to_owned()),
        pending: true,
        limit: Some(1),
        ..SuspensionFilter::default()
    };
    Ok(store.list_suspensions(filter).await?.pop())
}

/// Refuses a new run in a conversation that waits for a decision about a call.
///
/// # Errors
/// Fails with [`RuntimeError::ThreadWaits`] if the conversation waits. Also fails if the store cannot be read.
pub(crate) async fn refuse_if_waiting(runtime: &Runtime, thread_id: &str) -> Result<(), RuntimeError> {
    let Some(record) = find_oldest_pending(runtime.store.as_ref(), thread_id).await? else {
        return Ok(());
    };
    Err(RuntimeError::ThreadWaits {
        thread_id: record.thread_id,
        trace_id: record.trace_id,
        suspension_id: record.call.suspension_id,
        tool: record.call.call.tool_name,
    })
}

/// Returns the decisions that a run can apply now, each with the identifier of its suspension. They are the decisions that people
/// made, and the default decisions of expired questions, which this function stores first.
///
/// # Errors
/// Fails if the store cannot be read or written.
pub(crate) async fn load_ready_decisions(
    store: &dyn Store,
    trace_id: &str,
) -> Result<Vec<(String, Decision)>, StoreError> {
    let filter = SuspensionFilter {
        trace_id: Some(trace_id.to_owned()),
        pending: true,
        ..SuspensionFilter::default()
    };
    let mut decided = Vec::new();
    for mut record in store.list_suspensions(filter).await? {
        if record.status == SuspensionStatus::Open && record.call.has_expired(now()) {
            record = store_default_decision(store, record).await?;
        }
        decided.extend(record.decision.map(|decision| (record.call.suspension_id, decision)));
    }
    Ok(decided)
}

/// Stores the default decision of an expired question. If a person has decided in the meantime, returns the person's decision.
async fn store_default_decision(store: &dyn Store, record: SuspensionRecord) -> Result<SuspensionRecord, StoreError> {
    let approved = record.call.on_expiry == ExpiryAction::Approve;
    let decision = Decision {
        feedback: Feedback::new(approved, now()),
        by: DecidedBy::Expiry,
    };
    match store.decide(record.id(), &Owner::Anyone, decision).await {
        Err(StoreError::AlreadyDecided { .. }) => {
            let decided = store.find_suspension(record.id(), &Owner::Anyone).await?;
            Ok(decided.unwrap_or(record))
        }
        // The question has not expired by the clock of the store, so a person can still decide.
        Err(StoreError::SuspensionNotExpired { .. }) => Ok(record),
        decided => decided,
    }
}

/// Returns the event by which a run applies a decision.
pub(crate) fn decided_event(suspension_id: &str, decision: &Decision) -> RunEvent {
    RunEvent::CallDecided {
        at: now(),
        suspension_id: suspension_id.to_owned(),
        decision: Box::new(decision.clone()),
    }
}

/// Returns the decision in the form that the tool of an approved call receives (contract C18), or `None` if it was not
/// the tool that asked but the host.
pub(crate) fn hitl_context(approval: &Approval) -> Option<HitlContext> {
    let Approval { suspension, decision } = approval;
    (suspension.cause == SuspensionCause::Tool).then(|| suspension.hitl_context(&decision.feedback))
}

/// Makes the grants that a person approved for a call, unless they exist already. A question that expired grants nothing, even
/// if it counts as approved.
///
/// # Errors
/// Fails with the reason why the grants are not made. The call may have what it needs all the same.
pub(crate) async fn make_grants(runtime: &Runtime, approval: &Approval) -> Result<(), String> {
    let Approval { suspension, decision } = approval;
    let is_by_person = matches!(decision.by, DecidedBy::Person { .. });
    let (SuspensionCause::Grant { denials }, Some(reloader), true) =
        (&suspension.cause, runtime.toolbox.reloader(), is_by_person)
    else {
        return Ok(());
    };
    let (reloader, tool, denials) = (Arc::clone(reloader), suspension.call.tool_name.clone(), denials.clone());
    let made = tokio::task::spawn_blocking(move || reloader.grant(&tool, &denials)).await;
    match made {
        Ok(made) => made.map_err(|error| in_one_line(&error)),
        Err(panic) => {
            tracing::error!(%panic, "a grant that was approved is not made");
            Err("the host panicked".to_owned())
        }
    }
}

/// Returns the suspensions of a run with these identifiers, in the form in which the store adds them.
pub(crate) fn new_suspensions(run: &Run, ids: &[String]) -> Vec<NewSuspension> {
    let open = run.suspensions().into_iter();
    let with_ids = open.filter(|open| ids.contains(&open.suspension.suspension_id));
    with_ids
        .map(|open| NewSuspension {
            item_id: open.item_id.to_owned(),
            call: open.suspension.clone(),
        })
        .collect()
}

/// Returns the suspensions about which a run waits for a decision.
pub(crate) fn open_suspensions(run: &Run) -> Vec<SuspensionRecord> {
    let open = run.suspensions().into_iter().map(|open| SuspensionRecord {
        trace_id: run.trace_id().to_owned(),
        thread_id: run.started_with().props.thread_id.clone(),
        item_id: open.item_id.to_owned(),
        since: open.since,
        call: open.suspension.clone(),
        decision: None,
        status: SuspensionStatus::Open,
    });
    open.collect()
}
