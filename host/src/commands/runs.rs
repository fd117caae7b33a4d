//! `art runs`: lists, shows, resumes, cancels, replays, exports and verifies runs, and saves their files.
//!
//! The journal of a run is the list of its events in the store. The log of a run is its journal as a table for people.

mod exported;
mod log;
mod produced;
mod replay;
mod save;
mod verify;

use std::collections::BTreeSet;

use art_core::JsonObject;
use art_core::agent::ExecutionMetadata;
use art_runtime::compose::open_store_read_only;
use art_runtime::{UserRun, read_journal};
use art_store::{RunFilter, RunRecord, Store};
use serde::{Deserialize as _, Serialize};
use serde_json::json;

use super::{ids, load_config, open_runtime, run};
use crate::cli::{GlobalOptions, RunsCommand};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, table, units};
use crate::tokio_runtime::new_executor;
use crate::usage_summary::UsageSummary;

pub(super) fn runs(global: &GlobalOptions, command: &RunsCommand) -> Result<Exit, CommandError> {
    match command {
        RunsCommand::Resume { id } => {
            let resume = run::Request::Resume(id.clone());
            return run::open_and_carry_out(global, load_config(global)?, resume);
        }
        RunsCommand::Cancel { id } => return cancel(global, id),
        RunsCommand::Replay { run } => return replay::replay(global, run),
        RunsCommand::Export { id, file, force } => return exported::export(global, id, file, *force),
        RunsCommand::Verify { run } => return verify::verify(global, run),
        _ => {}
    }
    let store = open_store_read_only(&load_config(global)?)?;
    new_executor()?.block_on(async {
        match command {
            RunsCommand::List { thread, limit } => {
                let thread_id = match thread {
                    Some(typed) => Some(ids::resolve_thread(store.as_ref(), &global.owner(), typed).await?),
                    None => None,
                };
                let filter = RunFilter {
                    owner: global.owner(),
                    thread_id,
                    limit: Some(*limit),
                    ..RunFilter::default()
                };
                list(global, store.as_ref(), filter).await
            }
            // Handled before the store was opened.
            RunsCommand::Resume { .. }
            | RunsCommand::Cancel { .. }
            | RunsCommand::Replay { .. }
            | RunsCommand::Export { .. }
            | RunsCommand::Verify { .. } => Ok(Exit::Success),
            RunsCommand::Show { id, logs, cost } => {
                let options = ShowOptions {
                    logs: *logs,
                    costs: *cost,
                };
                show(global, store.as_ref(), id, options).await
            }
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

fn cancel(global: &GlobalOptions, id: &str) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    new_executor()?.block_on(async {
        let runtime = open_runtime(global, config).await?;
        let id = ids::resolve_run(runtime.store.as_ref(), &global.owner(), id).await?;
        let cancelled = runtime.cancel(UserRun::from(&id).of(global.owner())).await;
        runtime.close().await;
        cancelled?;
        if global.json {
            render::json(&json!({"cancelled": id}));
        } else {
            render::note(&format!("run `{id}` is cancelled"));
        }
        Ok(Exit::Success)
    })
}

async fn list(global: &GlobalOptions, store: &dyn Store, filter: RunFilter) -> Result<Exit, CommandError> {
    let interrupted_ids = interrupted_run_ids(store).await?;
    let runs = store.list_runs(filter).await?.into_iter();
    let runs: Vec<_> = runs.map(|run| ListedRun::new(run, &interrupted_ids)).collect();
    if global.json {
        render::json(&runs);
        return Ok(Exit::Success);
    }
    let mut rows = vec![
        ["run", "status", "begun", "took", "question"]
            .map(str::to_owned)
            .to_vec(),
    ];
    rows.extend(runs.iter().map(|listed| {
        let run = &listed.run;
        vec![
            run.trace_id.clone(),
            listed.status().to_owned(),
            units::ago(run.started),
            duration_text(run),
            run.query.clone(),
        ]
    }));
    render::print(&table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}

/// A run, and whether it was interrupted: its host stopped before the run ended.
#[derive(Serialize)]
struct ListedRun {
    #[serde(flatten)]
    run: RunRecord,
    interrupted: bool,
}

impl ListedRun {
    /// Creates the entry of a run. `interrupted_ids` are the identifiers of all interrupted runs.
    fn new(run: RunRecord, interrupted_ids: &BTreeSet<String>) -> Self {
        Self {
            interrupted: interrupted_ids.contains(&run.trace_id),
            run,
        }
    }

    const fn status(&self) -> &'static str {
        if self.interrupted {
            "interrupted"
        } else {
            self.run.status.name()
        }
    }
}

/// Returns the identifiers of the unfinished runs on which no host works.
async fn interrupted_run_ids(store: &dyn Store) -> Result<BTreeSet<String>, CommandError> {
    let filter = RunFilter {
        abandoned: true,
        ..RunFilter::default()
    };
    let runs = store.list_runs(filter).await?.into_iter();
    Ok(runs.map(|run| run.trace_id).collect())
}

/// Returns the duration of the run as text, or `-` if it has not ended.
fn duration_text(run: &RunRecord) -> String {
    run.ended.map_or_else(
        || "-".to_owned(),
        |ended| units::micros(ended.saturating_sub(run.started).saturating_mul(1_000)),
    )
}

/// Returns the run that `typed` identifies.
async fn find_run(global: &GlobalOptions, store: &dyn Store, typed: &str) -> Result<RunRecord, CommandError> {
    let id = ids::resolve_run(store, &global.owner(), typed).await?;
    let unknown = || CommandError::Failed(format!("there is no run `{id}`; `art runs list` shows all"));
    store.get_run(&id).await?.ok_or_else(unknown)
}

/// What `art runs show` shows in addition to the log of the run.
#[derive(Clone, Copy)]
struct ShowOptions {
    /// What the tools logged and wrote to stdout and stderr.
    logs: bool,
    /// What each step used.
    costs: bool,
}

async fn show(global: &GlobalOptions, store: &dyn Store, id: &str, options: ShowOptions) -> Result<Exit, CommandError> {
    let run = find_run(global, store, id).await?;
    let journal = read_journal(store, &run).await?;
    let listed = ListedRun::new(run, &interrupted_run_ids(store).await?);
    let files = produced::files(&journal);
    let call_logs = if options.logs {
        produced::read_logs(store, &listed.run, &journal).await?
    } else {
        Vec::new()
    };
    // JSON output without costs does not use the log. An error is therefore returned only below, where the log is used.
    let log = log::Log::read(&journal).map_err(|reason| {
        let id = &listed.run.trace_id;
        CommandError::Failed(format!("the log of run `{id}` cannot be shown: {reason}"))
    });
    if global.json {
        let mut output = JsonObject::new();
        let mut add_key = |name: &str, value| drop(output.insert(name.to_owned(), value));
        add_key("run", json!(listed));
        add_key(
            "journal",
            json!(
                journal
                    .iter()
                    .map(produced::entry_to_json)
                    .collect::<Result<Vec<_>, _>>()?
            ),
        );
        add_key("files", json!(files));
        if options.logs {
            add_key("logs", json!(call_logs));
        }
        if options.costs {
            add_key("costs", json!(log?.costs()));
        }
        render::json(&output);
        return Ok(Exit::Success);
    }
    show_log(&listed, &log?, options);
    produced::show(&files, &call_logs);
    Ok(Exit::Success)
}

fn show_log(listed: &ListedRun, log: &log::Log<'_>, options: ShowOptions) {
    let run = &listed.run;
    render::print(&format!("question  {}", run.query));
    render::print(&format!("status    {}", listed.status()));
    render::print(&format!("took      {}", duration_text(run)));
    if let Some(usage) = final_usage(run) {
        render::print(&format!("used      {}", usage.to_line()));
    }
    if listed.interrupted {
        let hint = format!("its host stopped; `art runs resume {}` goes on with it", run.trace_id);
        render::note(&hint);
    }
    render::print("");
    render::print(&log.lines(run.started).join("\n"));
    if options.costs {
        render::print(&format!("\n{}", log.costs().lines().join("\n")));
    }
}

/// Returns the model calls, tokens, tool calls and cost of the run, if it has ended.
fn final_usage(run: &RunRecord) -> Option<UsageSummary> {
    let metadata = ExecutionMetadata::deserialize(run.summary.get("metadata")?).ok()?;
    Some(UsageSummary::from(&metadata))
}
