//! `art runs replay`: runs a recorded run again, from the store or from a file that `art runs export` wrote, and compares
//! everything with the record. For a tool call that cannot be run again, it uses the recorded result.

use std::path::Path;

use art_runtime::compose::{Toolbox, open_sandbox, open_store_read_only};
use art_runtime::config::Config;
use art_runtime::{Recording, Replay};

use super::exported;
use crate::cli::GlobalOptions;
use crate::commands::{check_plugins_folder, ids, load_config};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::render::compiling::CompilationDisplay;
use crate::tokio_runtime::new_executor;

pub(super) fn replay(global: &GlobalOptions, typed: &str) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let replay = match exported::as_file_path(typed) {
        Some(file) => replay_file(&config, file)?,
        None => replay_stored(global, &config, typed)?,
    };
    if global.json {
        render::json(&replay);
    } else {
        describe(&replay).iter().for_each(|line| render::print(line));
    }
    Ok(if replay.is_identical() {
        Exit::Success
    } else {
        Exit::Failure
    })
}

/// Replays a run from the store with the components of the plugins folder.
fn replay_stored(global: &GlobalOptions, config: &Config, typed: &str) -> Result<Replay, CommandError> {
    check_plugins_folder(config)?;
    let store = open_store_read_only(config)?;
    let display = CompilationDisplay::new(global.json);
    let toolbox = Toolbox::load(config, Vec::new(), &|compiled| display.show(compiled))?;
    new_executor()?.block_on(async {
        let id = ids::resolve_run(store.as_ref(), &global.owner(), typed).await?;
        let recording = Recording::read(store.as_ref(), &id).await?;
        Ok(recording.replay(&toolbox.plugins()).await?)
    })
}

/// Replays the run in a file with the components in the file.
fn replay_file(config: &Config, file: &Path) -> Result<Replay, CommandError> {
    let recording = exported::read(file)?;
    let (plugins, refused_components) = recording.load_components(&open_sandbox(config)?)?;
    for refused in &refused_components {
        render::note(&format!("refused {refused}"));
    }
    Ok(new_executor()?.block_on(recording.replay(&plugins))?)
}

/// Returns what a replay found, in lines for people.
fn describe(replay: &Replay) -> Vec<String> {
    let Replay { trace_id, events, .. } = replay;
    let mut lines = vec![match &replay.difference {
        None if replay.ended => format!("run {trace_id} is identical in all {events} events"),
        None => format!("run {trace_id} has not ended; it is identical in the {events} events so far"),
        Some(difference) => format!("run {trace_id} differs at {difference}"),
    }];
    let (calls, fuel_compared) = (replay.calls_run, replay.fuel_compared);
    lines.push(format!(
        "tool calls run again: {calls}; fuel compared in {fuel_compared} of them"
    ));
    if !replay.skipped.is_empty() {
        lines.push(format!("tool calls taken as recorded: {}", replay.skipped.len()));
    }
    for call in &replay.skipped {
        lines.push(format!("  event {}, tool `{}`: {}", call.event, call.tool, call.reason));
    }
    let (requests, changed) = (replay.requests, replay.requests_changed);
    lines.push(format!(
        "requests to models: {requests}, worded differently today: {changed}"
    ));
    lines
}

#[cfg(test)]
mod tests {
    use art_runtime::{Difference, SkipReason, SkippedCall};

    use super::*;

    /// Returns a replay without a difference, whose run has ended.
    fn identical_replay() -> Replay {
        Replay {
            trace_id: "r".to_owned(),
            events: 12,
            ended: true,
            calls_run: 2,
            fuel_compared: 2,
            requests: 3,
            ..Replay::default()
        }
    }

    #[test]
    fn an_identical_replay_says_what_was_compared() {
        assert_eq!(
            describe(&identical_replay()),
            [
                "run r is identical in all 12 events",
                "tool calls run again: 2; fuel compared in 2 of them",
                "requests to models: 3, worded differently today: 0",
            ]
        );
    }

    #[test]
    fn a_replay_of_an_unfinished_run_says_that_it_has_not_ended() {
        let unfinished = Replay {
            ended: false,
            ..identical_replay()
        };
        let first_line = &describe(&unfinished)[0];
        assert_eq!(
            first_line,
            "run r has not ended; it is identical in the 12 events so far"
        );
    }

    #[test]
    fn the_first_difference_and_the_calls_that_were_not_run_again_are_named() {
        let differing = Replay {
            difference: Some(Difference {
                event: 9,
                step: Some("a".to_owned()),
                tool: Some("calculator".to_owned()),
                what: "fuel".to_owned(),
                recorded: "1".to_owned(),
                found: "2".to_owned(),
            }),
            skipped: vec![SkippedCall {
                event: 4,
                step: None,
                tool: "clock".to_owned(),
                reason: SkipReason::Native,
            }],
            ..identical_replay()
        };
        let lines = describe(&differing);
        assert_eq!(
            lines[0],
            "run r differs at event 9, step `a`, tool `calculator`: fuel differs: recorded 1, found 2"
        );
        assert_eq!(lines[2], "tool calls taken as recorded: 1");
        assert_eq!(lines[3], "  event 4, tool `clock`: its tool is no component");
    }
}
