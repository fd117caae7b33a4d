//! `art runs`: lists and shows runs, and saves their files.

mod produced;
mod save;

use art_core::agent::ExecutionMetadata;
use art_runtime::compose::open_store_read_only;
use art_store::{JournalEntry, RunFilter, RunRecord, Store};
use serde::Deserialize as _;
use serde_json::json;

use super::{config, ids};
use crate::cli::{Global, RunsCommand};
use crate::error::CommandError;
use crate::executor::executor;
use crate::exit::Exit;
use crate::render::{self, table, units};
use crate::usage_summary::UsageSummary;

pub(super) fn runs(global: &Global, command: &RunsCommand) -> Result<Exit, CommandError> {
    let store = open_store_read_only(&config(global)?)?;
    executor()?.block_on(async {
        match command {
            RunsCommand::List { thread, limit } => {
                let thread_id = match thread {
                    Some(typed) => Some(ids::resolve_thread(store.as_ref(), typed).await?),
                    None => None,
                };
                let filter = RunFilter {
                    thread_id,
                    limit: Some(*limit),
                    ..RunFilter::default()
                };
                list(global, store.as_ref(), filter).await
            }
            RunsCommand::Show { id, logs } => show(global, store.as_ref(), id, *logs).await,
            RunsCommand::Save { id, name, to, force } => {
                let destination = save::Destination {
                    path: to.as_deref(),
                    force: *force,
                };
                save::save(global, store.as_ref(), id, name, &destination).await
            }
        }
    })
}

async fn list(global: &Global, store: &dyn Store, filter: RunFilter) -> Result<Exit, CommandError> {
    let runs = store.list_runs(filter).await?;
    if global.json {
        render::json(&runs);
        return Ok(Exit::Success);
    }
    let mut rows = vec![
        ["run", "status", "begun", "took", "question"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(runs.iter().map(|run| {
        let status = run.status.name().to_owned();
        vec![
            run.trace_id.clone(),
            status,
            units::ago(run.started),
            duration(run),
            run.query.clone(),
        ]
    }));
    render::answer(&table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}

/// Returns the duration of the run as text, or `-` if it has not ended.
fn duration(run: &RunRecord) -> String {
    run.ended.map_or_else(
        || "-".to_owned(),
        |ended| units::micros(ended.saturating_sub(run.started) * 1_000),
    )
}

/// Returns the run that `typed` identifies.
async fn find_run(store: &dyn Store, typed: &str) -> Result<RunRecord, CommandError> {
    let id = ids::resolve_run(store, typed).await?;
    let unknown = || CommandError::Failed(format!("there is no run `{id}`; `art runs list` shows all"));
    store.get_run(&id).await?.ok_or_else(unknown)
}

async fn show(global: &Global, store: &dyn Store, id: &str, logs: bool) -> Result<Exit, CommandError> {
    let run = find_run(store, id).await?;
    let journal = store.read_journal(&run.trace_id).await?;
    let files = produced::files(&journal);
    let call_logs = if logs {
        produced::logs(store, &run, &journal).await?
    } else {
        Vec::new()
    };
    if global.json {
        let mut output = json!({"run": run, "journal": journal, "files": files});
        if let (Some(map), true) = (output.as_object_mut(), logs) {
            map.insert("logs".to_owned(), json!(call_logs));
        }
        render::json(&output);
        return Ok(Exit::Success);
    }
    show_journal(&run, &journal);
    produced::show(&files, &call_logs);
    Ok(Exit::Success)
}

fn show_journal(run: &RunRecord, journal: &[JournalEntry]) {
    render::answer(&format!("question  {}", run.query));
    render::answer(&format!("status    {}", run.status.name()));
    render::answer(&format!("took      {}", duration(run)));
    if let Some(usage) = usage(run) {
        render::answer(&format!("used      {}", usage.to_line()));
    }
    render::answer("");
    let mut rows = vec![["no", "after", "event", "what"].map(str::to_owned).to_vec()];
    rows.extend(journal.iter().map(|entry| row(run, entry)));
    render::answer(&table::lines(&rows).join("\n"));
}

/// Returns the resources that the run used, if it has ended.
fn usage(run: &RunRecord) -> Option<UsageSummary> {
    let metadata = ExecutionMetadata::deserialize(run.summary.get("metadata")?).ok()?;
    Some(UsageSummary::from(&metadata))
}

fn row(run: &RunRecord, entry: &JournalEntry) -> Vec<String> {
    let after = units::micros(entry.timestamp.saturating_sub(run.started) * 1_000);
    vec![
        entry.sequence.to_string(),
        after,
        entry.kind.clone(),
        art_core::text::truncate(&summary(entry), 100),
    ]
}

/// Returns the most informative text of a journal entry.
fn summary(entry: &JournalEntry) -> String {
    let text = |pointer: &str| {
        entry
            .payload
            .pointer(pointer)
            .and_then(|value| value.as_str())
            .map(str::to_owned)
    };
    let results = entry.payload.get("results").and_then(|results| results.as_array());
    match results {
        Some(results) => results.iter().map(result_line).collect::<Vec<_>>().join("; "),
        None => text("/reply/text")
            .or_else(|| text("/error/message"))
            .or_else(|| text("/start/props/query"))
            .unwrap_or_default(),
    }
}

fn result_line(result: &serde_json::Value) -> String {
    let name = result
        .get("toolName")
        .and_then(|name| name.as_str())
        .unwrap_or_default();
    let text = result
        .get("error")
        .or_else(|| result.get("output"))
        .cloned()
        .unwrap_or_default();
    format!("{name}: {text}")
}
