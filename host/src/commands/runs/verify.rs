//! `art runs verify`: checks the digests of a journal.

use art_runtime::compose::open_store_read_only;
use art_runtime::read_journal;
use serde_json::json;

use super::{exported, find_run};
use crate::cli::Global;
use crate::commands::load_config;
use crate::error::CommandError;
use crate::executor::new_executor;
use crate::exit::Exit;
use crate::render;

/// Checks the chain of digests of a run from the store or a file.
pub(super) fn verify(global: &Global, typed: &str) -> Result<Exit, CommandError> {
    // Both ways of reading a journal verify it.
    let (run, events) = match exported::file_path(typed) {
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
            "an earlier version wrote the database, without digests; any question migrates it".to_owned(),
        ));
    }
    if global.json {
        render::json(&json!({"traceId": run.trace_id, "events": events, "head": run.head}));
    } else {
        let id = &run.trace_id;
        render::answer(&format!("the {events} events of run {id} are as they were written"));
        render::note(&format!("digest {}", run.head));
    }
    Ok(Exit::Success)
}
