//! Identifiers as people type them: whole, their beginning where no other one begins so, or `last`.

use art_store::{RunFilter, Store, ThreadFilter};

use crate::error::CommandError;

/// Stands for the newest one.
const LAST: &str = "last";
/// Maximum number of names in an error about an ambiguous identifier.
const NAMED: usize = 5;

/// Returns the conversation that `typed` means; the last one is the one that was written to last.
///
/// # Errors
/// Fails if it means none or several.
pub(super) async fn thread(store: &dyn Store, typed: &str) -> Result<String, CommandError> {
    if store.get_thread(typed).await?.is_some() {
        return Ok(typed.to_owned());
    }
    let filter = ThreadFilter {
        id_prefix: prefix(typed)?,
        limit: Some(most(typed)),
        ..ThreadFilter::default()
    };
    let threads = store.list_threads(filter).await?.into_iter();
    one("thread", typed, threads.map(|thread| thread.id).collect())
}

/// Returns the run that `typed` means; the last one is the one that was begun last.
///
/// # Errors
/// Fails if it means none or several.
pub(super) async fn run(store: &dyn Store, typed: &str) -> Result<String, CommandError> {
    if store.get_run(typed).await?.is_some() {
        return Ok(typed.to_owned());
    }
    let filter = RunFilter {
        id_prefix: prefix(typed)?,
        limit: Some(most(typed)),
        ..RunFilter::default()
    };
    let runs = store.list_runs(filter).await?.into_iter();
    one("run", typed, runs.map(|run| run.trace_id).collect())
}

/// Returns the prefix; none for the newest. An empty prefix is refused, since every identifier starts with it.
fn prefix(typed: &str) -> Result<Option<String>, CommandError> {
    match typed {
        "" => Err(CommandError::Usage("the identifier is empty".to_owned())),
        LAST => Ok(None),
        typed => Ok(Some(typed.to_owned())),
    }
}

fn most(typed: &str) -> usize {
    if typed == LAST { 1 } else { NAMED + 1 }
}

fn one(what: &str, typed: &str, found: Vec<String>) -> Result<String, CommandError> {
    let verb = if what == "run" { "runs" } else { what };
    let unknown =
        |typed: &str| CommandError::Failed(format!("there is no {what} {typed}; `art {verb} list` shows all"));
    match <[String; 1]>::try_from(found) {
        Ok([id]) => Ok(id),
        Err(none) if none.is_empty() && typed == LAST => Err(unknown("yet")),
        Err(none) if none.is_empty() => Err(unknown(&format!("`{typed}`"))),
        Err(several) => Err(ambiguous(what, typed, &several)),
    }
}

fn ambiguous(what: &str, typed: &str, found: &[String]) -> CommandError {
    let mut named: Vec<_> = found.iter().take(NAMED).map(|id| format!("`{id}`")).collect();
    if found.len() > NAMED {
        named.push("more".to_owned());
    }
    CommandError::Usage(format!(
        "several {what}s begin with `{typed}`: {}; type more of one, or `last` for the newest",
        named.join(", ")
    ))
}
