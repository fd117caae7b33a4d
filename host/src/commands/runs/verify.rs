//! `art runs verify`: checks that the log of a run is as it was written. Each entry has a digest of itself and of the entry
//! before it; the digest of the last entry is the head of the log.

use art_runtime::compose::open_store_read_only;
use art_runtime::read_journal;
use serde_json::json;

use super::{exported, find_run};
use crate::cli::GlobalOptions;
use crate::commands::load_config;
use crate::error::CommandError;
use crate::executor::new_executor;
use crate::exit::Exit;
use crate::render;

/// Checks the digests of a run from the store or from a file.
pub(super) fn verify(global: &GlobalOptions, typed: &str) -> Result<Exit, CommandError> {
    // Reading a journal from a file or from the store also verifies its digests.
    let (run, events) = match exported::as_file_path(typed) {
        Some(file) => {
            let recording = exported::read(file)?;
            (recording.run, recording.entries.len())
        }
        None => {
            let store = open_store_read_only(&load_config(global)?)?;
            new_executor()?.block_on(async {
                let run = find_run(global, store.as_ref(), typed).await?;
                let events = read_journal(store.as_ref(), &run).await?.len();
                Ok::<_, CommandError>((run, events))
            })?
        }
    };
    if run.head.is_empty() {
        return Err(CommandError::Failed(
            "an earlier version wrote the database, without digests; asking any question migrates it".to_owned(),
        ));
    }
    if global.json {
        render::json(&json!({"traceId": run.trace_id, "events": events, "head": run.head}));
    } else {
        let id = &run.trace_id;
        render::print(&format!("the {events} events of run {id} are as they were written"));
        render::note(&format!("digest {}", run.head));
    }
    Ok(Exit::Success)
}
