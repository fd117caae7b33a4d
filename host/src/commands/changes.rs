//! `art changes`: shows staged changes of files, and commits or drops them. A staged change is what a tool wrote to a file. It is
//! kept aside, in a change set for each call, until a person commits it to the file or drops it.

use std::path::{Path, PathBuf};

use art_core::text::printable;
use art_runtime::compose::open_store_read_only;
use art_runtime::config::Config;
use art_staging::{Change, ChangeSet, Staging, StagingError};
use art_store::Owner;
use serde_json::{Value, json};

use super::approve::is_attended;
use super::grant::confirm;
use super::ids::LAST;
use super::load_config;
use crate::cli::{ChangesCommand, GlobalOptions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::tokio_runtime::new_executor;

pub(super) fn changes(global: &GlobalOptions, command: &ChangesCommand) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let staging = open_staging(&config)?;
    let own_sets = filter_own(global, &config, staging.list()?)?;
    match command {
        ChangesCommand::List => list(global, &own_sets),
        ChangesCommand::Show {
            run_or_set: None,
            files,
        } => show(global, &staging, &own_sets, files),
        ChangesCommand::Show {
            run_or_set: Some(typed),
            files,
        } => show(global, &staging, &find(own_sets, typed)?, files),
        ChangesCommand::Commit { run_or_set, files } => {
            let commit =
                |set: &ChangeSet, paths: &[PathBuf]| staging.commit(set, paths).map(|committed| committed.paths);
            act_on_each(global, "committed", &find(own_sets, run_or_set)?, files, commit)
        }
        ChangesCommand::Drop { run_or_set, files } => {
            let discard = |set: &ChangeSet, paths: &[PathBuf]| staging.discard(set, paths);
            act_on_each(global, "dropped", &find(own_sets, run_or_set)?, files, discard)
        }
    }
}

fn open_staging(config: &Config) -> Result<Staging, CommandError> {
    match config.staging() {
        Some(path) => Ok(Staging::open(&path)?),
        None => Err(CommandError::Usage(
            "without a database there is no folder for changes".to_owned(),
        )),
    }
}

/// Returns the change sets of the person's runs. Those of deleted runs are returned only if the command names no user.
fn filter_own(global: &GlobalOptions, config: &Config, sets: Vec<ChangeSet>) -> Result<Vec<ChangeSet>, CommandError> {
    let (store, executor) = (open_store_read_only(config)?, new_executor()?);
    let mut own = Vec::new();
    for set in sets {
        let run = executor.block_on(store.find_run(&set.origin.run, &Owner::Anyone))?;
        let is_own = match run {
            Some(run) => executor
                .block_on(store.find_thread(&run.thread_id, &global.owner()))?
                .is_some(),
            None => global.user.is_none(),
        };
        own.extend(is_own.then_some(set));
    }
    Ok(own)
}

/// Returns the change sets that `typed` identifies: a run, a change set, or `last` for the run that staged changes last. A unique
/// prefix of an identifier is enough.
fn find(sets: Vec<ChangeSet>, typed: &str) -> Result<Vec<ChangeSet>, CommandError> {
    let last_run = sets.last().filter(|_| typed == LAST).map(|set| set.origin.run.clone());
    Ok(Staging::find_in(sets, last_run.as_deref().unwrap_or(typed))?)
}

fn list(global: &GlobalOptions, sets: &[ChangeSet]) -> Result<Exit, CommandError> {
    if global.json {
        let sets: Vec<_> = sets.iter().map(to_json).collect();
        render::json(&sets);
        return Ok(Exit::Success);
    }
    if sets.is_empty() {
        render::note("no changes wait");
    }
    for set in sets {
        render::print(&summary(set).join("\n"));
    }
    Ok(Exit::Success)
}

fn show(
    global: &GlobalOptions,
    staging: &Staging,
    sets: &[ChangeSet],
    files: &[PathBuf],
) -> Result<Exit, CommandError> {
    check_files(sets, files)?;
    let mut shown = Vec::new();
    for set in sets {
        for change in set.changes.iter().filter(|change| is_selected(set, change, files)) {
            shown.push((set, change, staging.diff(set, change)?));
        }
    }
    if global.json {
        let changes = shown
            .iter()
            .map(|(set, change, diff)| change_to_json(set, change, Some(diff)));
        render::json(&changes.collect::<Vec<_>>());
    } else if shown.is_empty() {
        render::note("no changes wait");
    } else {
        shown.iter().for_each(|(.., diff)| render::print(diff.trim_end()));
    }
    Ok(Exit::Success)
}

/// Commits or drops the changes of the files, or all changes if no files are given. `act` does so for one change set, and
/// `done` is the word for it in the output: `committed` or `dropped`.
fn act_on_each(
    global: &GlobalOptions,
    done: &str,
    sets: &[ChangeSet],
    files: &[PathBuf],
    act: impl Fn(&ChangeSet, &[PathBuf]) -> Result<Vec<PathBuf>, StagingError>,
) -> Result<Exit, CommandError> {
    check_files(sets, files)?;
    let mut paths = Vec::new();
    let result = sets.iter().try_for_each(|set| {
        let is_in_set = |file: &&PathBuf| set.changes.iter().any(|change| is_at(set, change, file));
        let files_of_set: Vec<_> = files.iter().filter(is_in_set).cloned().collect();
        if files.is_empty() || !files_of_set.is_empty() {
            paths.extend(act(set, &files_of_set)?);
        }
        Ok::<_, StagingError>(())
    });
    // What was done before an error stays done, so it is printed too.
    if result.is_ok() || !paths.is_empty() {
        print_paths(global, done, &paths);
    }
    result?;
    Ok(Exit::Success)
}

fn print_paths(global: &GlobalOptions, done: &str, paths: &[PathBuf]) {
    if global.json {
        render::json(&json!({ done: paths }));
    } else {
        let lines = paths.iter().map(|path| format!("{done} {}", display_path(path)));
        render::print(&lines.collect::<Vec<_>>().join("\n"));
    }
}

/// Fails if a file is in none of the change sets.
fn check_files(sets: &[ChangeSet], files: &[PathBuf]) -> Result<(), CommandError> {
    let is_known = |file: &&PathBuf| {
        sets.iter()
            .any(|set| set.changes.iter().any(|change| is_at(set, change, file)))
    };
    match files.iter().find(|file| !is_known(file)) {
        None => Ok(()),
        Some(file) => Err(CommandError::Usage(format!(
            "`{}` is in none of the selected change sets (hint: `art changes list` shows all)",
            display_path(file)
        ))),
    }
}

/// Returns whether `file` is the path of the change: the path within the granted directory, or the full path.
fn is_at(set: &ChangeSet, change: &Change, file: &Path) -> bool {
    change.path == file || set.full_path(change) == file
}

fn is_selected(set: &ChangeSet, change: &Change, files: &[PathBuf]) -> bool {
    files.is_empty() || files.iter().any(|file| is_at(set, change, file))
}

/// Tells the person, after a run has ended, which of its changes wait to be committed. At a terminal, shows them and asks whether
/// to commit them. Without a terminal, prints only their number and the commands for them; with JSON output, prints nothing.
pub(super) fn offer_to_commit(global: &GlobalOptions, config: &Config, run: &str) -> Result<(), CommandError> {
    let staging = open_staging(config)?;
    let sets: Vec<_> = staging
        .list()?
        .into_iter()
        .filter(|set| set.origin.run == run)
        .collect();
    if sets.is_empty() {
        return Ok(());
    }
    let count: usize = sets.iter().map(|set| set.changes.len()).sum();
    let (changes, them) = match count {
        1 => ("1 change waits".to_owned(), "it"),
        _ => (format!("{count} changes wait"), "them"),
    };
    let hint = format!(
        "`art changes show {run}` shows {them}, `art changes commit {run}` writes {them} to the files and \
         `art changes drop {run}` discards {them}"
    );
    if !is_attended(global) {
        if !global.json {
            render::note(&format!("{changes}: {hint}"));
        }
        return Ok(());
    }
    for set in &sets {
        for change in &set.changes {
            render::note(staging.diff(set, change)?.trim_end());
        }
    }
    if confirm(&format!("{changes}; commit what is shown above?"))? {
        for set in &sets {
            staging.commit(set, &[])?;
            render::note(&format!("committed what is in {}", display_path(&set.directory)));
        }
    } else {
        render::note(&format!("not committed: {hint}"));
    }
    Ok(())
}

/// Returns a change set in lines: the tool and the run that made it, and its changes.
fn summary(set: &ChangeSet) -> Vec<String> {
    let head = format!("{}  {}  run {}", set.id, printable(&set.origin.tool), set.origin.run);
    let changes = set.changes.iter();
    let changes = changes.map(|change| format!("  {} {}", change.verb(), display_path(&set.full_path(change))));
    std::iter::once(head).chain(changes).collect()
}

fn display_path(path: &Path) -> String {
    printable(&path.display().to_string().replace(['\n', '\r'], "?"))
}

fn to_json(set: &ChangeSet) -> Value {
    let changes = set.changes.iter().map(|change| change_to_json(set, change, None));
    json!({
        "id": set.id,
        "run": set.origin.run,
        "call": set.origin.call,
        "tool": set.origin.tool,
        "created": set.created,
        "changes": changes.collect::<Vec<_>>(),
    })
}

fn change_to_json(set: &ChangeSet, change: &Change, diff: Option<&str>) -> Value {
    let mut json = json!({"set": set.id, "path": set.full_path(change), "change": change.verb()});
    if let (Some(object), Some(diff)) = (json.as_object_mut(), diff) {
        object.insert("diff".to_owned(), Value::from(diff));
    }
    json
}
