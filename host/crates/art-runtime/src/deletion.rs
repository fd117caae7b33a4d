//! Deletes a thread together with the changes of files that its runs staged, which would belong to nobody any more.

use std::path::{Path, PathBuf};

use art_staging::{ChangeSet, Staging};
use art_store::{Owner, Store};

use crate::error::RuntimeError;

/// Deletes a thread with everything that belongs to it, and drops the changes that its runs have staged in the folder `staging`.
/// Returns the paths of the dropped changes.
///
/// The changes go first, while the lease of the thread is held: if this process is killed in between, the thread is still there
/// and can be deleted again. After its runs are gone, nothing tells whose changes they were.
///
/// # Errors
/// Fails if there is no such thread, if a run is in progress in it, and if the folder or the store fails.
pub async fn delete_thread(
    store: &dyn Store,
    staging: Option<&Path>,
    thread_id: &str,
) -> Result<Vec<PathBuf>, RuntimeError> {
    let lease = store.acquire_lease(thread_id).await?;
    let dropped = match staging.filter(|folder| folder.exists()) {
        Some(folder) => drop_staged_changes(store, folder, thread_id).await,
        None => Ok(Vec::new()),
    };
    store.release_lease(&lease).await?;
    let dropped = dropped?;
    store.delete_thread(thread_id).await?;
    Ok(dropped)
}

async fn drop_staged_changes(store: &dyn Store, folder: &Path, thread_id: &str) -> Result<Vec<PathBuf>, RuntimeError> {
    let staging = Staging::open(folder)?;
    let mut dropped = Vec::new();
    for set in staging.list()? {
        if is_of_thread(store, &set, thread_id).await? {
            dropped.extend(staging.discard(&set, &[])?);
        }
    }
    Ok(dropped)
}

async fn is_of_thread(store: &dyn Store, set: &ChangeSet, thread_id: &str) -> Result<bool, RuntimeError> {
    let run = store.find_run(&set.origin.run, &Owner::Anyone).await?;
    Ok(run.is_some_and(|run| run.thread_id == thread_id))
}
