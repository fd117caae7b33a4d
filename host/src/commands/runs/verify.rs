//! `art runs verify`: checks that the journal of a run is as it was written. The digest of each entry is computed from the entry
//! and the digest of the entry before it. The digest of the last entry is the head of the journal.

use art_runtime::compose::open_store_read_only;
use art_runtime::read_journal;
use serde_json::json;

use super::{exported, find_run};
use crate::cli::GlobalOptions;
use crate::commands::load_config;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::tokio_runtime::new_executor;

/// Checks the digests of a run from the store or from a file.
pub(super) fn verify(global: &GlobalOptions, typed: &str) -> Result<Exit, CommandError> {
    // Reading a journal from a file or from the store also verifies its digests.
    let (run, event_count) = match exported::as_file_path(typed) {
        Some(file) => {
            let recording = exported::read(file)?;
            (recording.run, recording.entries.len())
        }
        None => {
            let store = open_store_read_only(&load_config(global)?)?;
            new_executor()?.block_on(async {
                let run = find_run(global, store.as_ref(), typed).await?;
                let event_count = read_journal(store.as_ref(), &run).await?.len();
                Ok::<_, CommandError>((run, event_count))
            })?
        }
    };
    if run.head.is_empty() {
        return Err(CommandError::Failed(
            "an earlier version wrote the database, without digests; asking any question migrates it".to_owned(),
        ));
    }
    if global.json {
        render::json(&json!({"traceId": run.trace_id, "events": event_count, "head": run.head}));
    } else {
        let id = &run.trace_id;
        render::print(&format!(
            "the {event_count} events of run {id} are as they were written"
        ));
        render::note(&format!("digest {}", run.head));
    }
    Ok(Exit::Success)
}
