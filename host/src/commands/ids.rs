//! Finds conversations (threads), runs and suspensions by what a person types: an identifier, a unique prefix of it, or `last`. A
//! suspension is a call of a run that waits or has waited for a decision of a person. What belongs to other people is not found,
//! as if it did not exist.

use art_store::{Owner, RunFilter, Store, SuspensionFilter, SuspensionRecord, SuspensionStatus, ThreadFilter};

use art_runtime::decisions::{MAX_PAGE, MAX_PAGE_BYTES};

use super::current_time;
use crate::error::CommandError;

/// The word that a person types for the newest conversation, run or suspension.
pub(super) const LAST: &str = "last";
/// Maximum number of identifiers in an error about an ambiguous prefix.
const MAX_LISTED_MATCHES: usize = 5;

/// Returns the identifier of the conversation that `typed` identifies. `last` is the one with the newest message.
///
/// # Errors
/// Fails if none matches, or several do.
pub(super) async fn resolve_thread(store: &dyn Store, owner: &Owner, typed: &str) -> Result<String, CommandError> {
    if store.find_thread(typed, owner).await?.is_some() {
        return Ok(typed.to_owned());
    }
    let filter = ThreadFilter {
        owner: owner.clone(),
        id_prefix: parse_prefix(typed)?,
        limit: Some(max_matches(typed)),
    };
    let threads = store.list_threads(filter).await?.into_iter();
    require_one_match("thread", typed, &threads.map(|thread| thread.id).collect::<Vec<_>>())
}

/// Returns the identifier of the run that `typed` identifies. `last` is the one that was started last.
///
/// # Errors
/// Fails if none matches, or several do.
pub(super) async fn resolve_run(store: &dyn Store, owner: &Owner, typed: &str) -> Result<String, CommandError> {
    if store.find_run(typed, owner).await?.is_some() {
        return Ok(typed.to_owned());
    }
    let filter = RunFilter {
        owner: owner.clone(),
        id_prefix: parse_prefix(typed)?,
        limit: Some(max_matches(typed)),
        ..RunFilter::default()
    };
    let runs = store.list_runs(filter).await?.into_iter();
    require_one_match("run", typed, &runs.map(|run| run.trace_id).collect::<Vec<_>>())
}

/// Returns the identifier of the run that `typed` identifies, for resuming it. An identifier or a prefix finds runs of every
/// status. `last` is the newest interrupted run, or else the run of the newest suspension that was decided or has expired.
///
/// # Errors
/// Fails if none matches, or several do.
pub(super) async fn resolve_run_to_resume(
    store: &dyn Store,
    owner: &Owner,
    typed: &str,
) -> Result<String, CommandError> {
    if typed != LAST {
        return resolve_run(store, owner, typed).await;
    }
    let filter = RunFilter {
        owner: owner.clone(),
        // Only interrupted runs: their state is `running`, but no process drives them.
        abandoned: true,
        limit: Some(1),
        ..RunFilter::default()
    };
    if let Some(run) = store.list_runs(filter).await?.into_iter().next() {
        return Ok(run.trace_id);
    }
    // A suspension stays pending after its decision, until the run has used the decision.
    let can_go_on = |record: &SuspensionRecord| {
        record.status == SuspensionStatus::Decided || record.call.has_expired(current_time())
    };
    let suspension = newest_pending(store, owner, can_go_on).await?;
    let not_found = || CommandError::Failed("no run was interrupted; `art runs list` shows all".to_owned());
    suspension.map(|record| record.trace_id).ok_or_else(not_found)
}

/// Returns the suspension that `typed` identifies. `last` is the newest pending one, see [`pending_filter`].
///
/// # Errors
/// Fails if none matches, or several do.
pub(super) async fn resolve_suspension(
    store: &dyn Store,
    owner: &Owner,
    typed: &str,
) -> Result<SuspensionRecord, CommandError> {
    if let Some(record) = store.find_suspension(typed, owner).await? {
        return Ok(record);
    }
    let mut records = match parse_prefix(typed)? {
        None => Vec::from_iter(newest_pending(store, owner, |_| true).await?),
        Some(prefix) => {
            let filter = SuspensionFilter {
                owner: owner.clone(),
                id_prefix: Some(prefix),
                limit: Some(max_matches(typed)),
                ..SuspensionFilter::default()
            };
            store.list_suspensions(filter).await?
        }
    };
    match records.len() {
        1 => Ok(records.remove(0)),
        0 if typed == LAST => Err(CommandError::Failed("nothing waits for a decision".to_owned())),
        0 => Err(CommandError::Failed(format!(
            "nothing that waits for a decision begins with `{typed}`; `art approve list` shows what waits"
        ))),
        _ => {
            let ids: Vec<_> = records.iter().map(|record| record.id().to_owned()).collect();
            Err(ambiguous_error("identifier", typed, &ids))
        }
    }
}

/// Returns the newest pending suspension for which `matches` holds. Reads in pages, since there may be many large suspensions.
/// The store returns the oldest first.
async fn newest_pending(
    store: &dyn Store,
    owner: &Owner,
    matches: impl Fn(&SuspensionRecord) -> bool,
) -> Result<Option<SuspensionRecord>, CommandError> {
    let (mut newest, mut last_id) = (None, None);
    loop {
        let page = store
            .list_suspensions(pending_filter(owner.clone(), last_id, MAX_PAGE))
            .await?;
        let Some(last) = page.last() else { return Ok(newest) };
        last_id = Some(last.id().to_owned());
        newest = page.into_iter().rev().find(&matches).or(newest);
    }
}

/// Returns the filter for a page of the pending suspensions: those that nobody has decided about, and those whose decision the
/// run has not used yet. The page has the first `limit` ones after the suspension with the identifier `after`.
pub(super) fn pending_filter(owner: Owner, after: Option<String>, limit: usize) -> SuspensionFilter {
    SuspensionFilter {
        owner,
        pending: true,
        after,
        limit: Some(limit),
        max_bytes: Some(MAX_PAGE_BYTES),
        ..SuspensionFilter::default()
    }
}

/// Returns `typed` as a prefix, or `None` for `last`. An empty prefix is refused, since it matches every identifier.
fn parse_prefix(typed: &str) -> Result<Option<String>, CommandError> {
    match typed {
        "" => Err(CommandError::Usage("the identifier is empty".to_owned())),
        LAST => Ok(None),
        typed => Ok(Some(typed.to_owned())),
    }
}

/// Returns how many matches to read: one for `last`, and otherwise one more than an error lists, to know whether there are more.
fn max_matches(typed: &str) -> usize {
    if typed == LAST { 1 } else { MAX_LISTED_MATCHES + 1 }
}

/// Returns the only identifier in `matches`, which are those that fit `typed`. Fails if there are none or several. `kind` is
/// `thread` or `run`.
fn require_one_match(kind: &str, typed: &str, matches: &[String]) -> Result<String, CommandError> {
    let subcommand = if kind == "run" { "runs" } else { kind };
    let not_found =
        |which: &str| CommandError::Failed(format!("there is no {kind} {which}; `art {subcommand} list` shows all"));
    match matches {
        [id] => Ok(id.clone()),
        [] if typed == LAST => Err(not_found("yet")),
        [] => Err(not_found(&format!("`{typed}`"))),
        _ => Err(ambiguous_error(kind, typed, matches)),
    }
}

/// Creates the error for a prefix that several identifiers have.
fn ambiguous_error(kind: &str, prefix: &str, ids: &[String]) -> CommandError {
    let mut examples: Vec<_> = ids
        .iter()
        .take(MAX_LISTED_MATCHES)
        .map(|id| format!("`{id}`"))
        .collect();
    if ids.len() > MAX_LISTED_MATCHES {
        examples.push("more".to_owned());
    }
    CommandError::Usage(format!(
        "several {kind}s begin with `{prefix}`: {}; type a longer prefix, or `last` for the newest",
        examples.join(", ")
    ))
}
