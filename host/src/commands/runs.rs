//! `art runs`: lists, shows, resumes, cancels, replays, exports and verifies runs, and saves their files.

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
use art_runtime::{RunOf, read_journal};
use art_store::{RunFilter, RunRecord, Store};
use serde::{Deserialize as _, Serialize};
use serde_json::json;

use super::{ids, load_config, open, run};
use crate::cli::{Global, RunsCommand};
use crate::error::CommandError;
use crate::executor::new_executor;
use crate::exit::Exit;
use crate::render::{self, table, units};
use crate::usage_summary::UsageSummary;

pub(super) fn runs(global: &Global, command: &RunsCommand) -> Result<Exit, CommandError> {
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
            // Handled above.
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

fn cancel(global: &Global, id: &str) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    new_executor()?.block_on(async {
        let runtime = open(global, config).await?;
        let id = ids::resolve_run(runtime.store.as_ref(), &global.owner(), id).await?;
        let cancelled = runtime.cancel(RunOf::from(&id).of(global.owner())).await;
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

async fn list(global: &Global, store: &dyn Store, filter: RunFilter) -> Result<Exit, CommandError> {
    let interrupted = interrupted_runs(store).await?;
    let runs = store.list_runs(filter).await?.into_iter();
    let runs: Vec<_> = runs.map(|run| ListedRun::new(run, &interrupted)).collect();
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
            duration(run),
            run.query.clone(),
        ]
    }));
    render::answer(&table::lines(&rows).join("\n"));
    Ok(Exit::Success)
}

/// A run, and whether its host stopped before the end of the run.
#[derive(Serialize)]
struct ListedRun {
    #[serde(flatten)]
    run: RunRecord,
    interrupted: bool,
}

impl ListedRun {
    /// Creates the entry of a run, given the identifiers of all interrupted runs.
    fn new(run: RunRecord, interrupted: &BTreeSet<String>) -> Self {
        Self {
            interrupted: interrupted.contains(&run.trace_id),
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
async fn interrupted_runs(store: &dyn Store) -> Result<BTreeSet<String>, CommandError> {
    let filter = RunFilter {
        abandoned: true,
        ..RunFilter::default()
    };
    let runs = store.list_runs(filter).await?.into_iter();
    Ok(runs.map(|run| run.trace_id).collect())
}

/// Returns the duration of the run as text, or `-` if it has not ended.
fn duration(run: &RunRecord) -> String {
    run.ended.map_or_else(
        || "-".to_owned(),
        |ended| units::micros(ended.saturating_sub(run.started) * 1_000),
    )
}

/// Returns the run that `typed` identifies.
async fn find_run(global: &Global, store: &dyn Store, typed: &str) -> Result<RunRecord, CommandError> {
    let id = ids::resolve_run(store, &global.owner(), typed).await?;
    let unknown = || CommandError::Failed(format!("there is no run `{id}`; `art runs list` shows all"));
    store.get_run(&id).await?.ok_or_else(unknown)
}

/// What `art runs show` shows besides the events.
#[derive(Clone, Copy)]
struct ShowOptions {
    logs: bool,
    costs: bool,
}

async fn show(global: &Global, store: &dyn Store, id: &str, options: ShowOptions) -> Result<Exit, CommandError> {
    let run = find_run(global, store, id).await?;
    let journal = read_journal(store, &run).await?;
    let listed = ListedRun::new(run, &interrupted_runs(store).await?);
    let files = produced::files(&journal);
    let call_logs = if options.logs {
        produced::read_logs(store, &listed.run, &journal).await?
    } else {
        Vec::new()
    };
    let log = log::Log::read(&journal).map_err(|reason| {
        let id = &listed.run.trace_id;
        CommandError::Failed(format!("the log of run `{id}` cannot be shown: {reason}"))
    });
    if global.json {
        let mut output = JsonObject::new();
        let mut add = |name: &str, value| drop(output.insert(name.to_owned(), value));
        add("run", json!(listed));
        add(
            "journal",
            json!(
                journal
                    .iter()
                    .map(produced::entry_to_json)
                    .collect::<Result<Vec<_>, _>>()?
            ),
        );
        add("files", json!(files));
        if options.logs {
            add("logs", json!(call_logs));
        }
        if options.costs {
            add("costs", json!(log?.costs()));
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
    render::answer(&format!("question  {}", run.query));
    render::answer(&format!("status    {}", listed.status()));
    render::answer(&format!("took      {}", duration(run)));
    if let Some(usage) = usage(run) {
        render::answer(&format!("used      {}", usage.to_line()));
    }
    if listed.interrupted {
        let hint = format!("its host stopped; `art runs resume {}` goes on with it", run.trace_id);
        render::note(&hint);
    }
    render::answer("");
    render::answer(&log.lines(run.started).join("\n"));
    if options.costs {
        render::answer(&format!("\n{}", log.costs().lines().join("\n")));
    }
}

/// Returns the resources that the run used, if it has ended.
fn usage(run: &RunRecord) -> Option<UsageSummary> {
    let metadata = ExecutionMetadata::deserialize(run.summary.get("metadata")?).ok()?;
    Some(UsageSummary::from(&metadata))
}
