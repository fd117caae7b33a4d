//! `art approve`: shows calls that wait for the decision of a person, and stores decisions. A call that waits is recorded as a
//! suspension. A decision may come with a standing approval, which approves later calls of the same tool as well.

mod as_text;
mod ask;
mod preview;
mod standing;

use std::slice;

use art_core::hitl::Feedback;
use art_core::text::shorten;
use art_runtime::compose::open_store_read_only;
use art_runtime::config::Config;
use art_runtime::{Answer, Runtime, RuntimeError, UserSuspension};
use art_store::{Owner, Store, StoreError, SuspensionRecord, SuspensionStatus};
use art_tools::form::Entry;
use art_tools::{StandingApproval, parse_entry};
use serde_json::Value;

use super::run::{Request, carry_out_in_runtime};
use super::{current_time, ids, load_config};
use crate::cli::{ApproveCommand, GlobalOptions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, suggestions, table, units};
use crate::tokio_runtime::new_executor;

pub(super) use ask::{decide_at_terminal, is_attended};

/// Maximum length of a question in the list, in characters.
const MAX_LISTED_CHARS: usize = 40;

/// A decision, and the standing approval that the person wants in addition.
type DecisionAndStandingApproval = (Feedback, Option<StandingApproval>);

pub(super) fn approve(global: &GlobalOptions, command: &ApproveCommand) -> Result<Exit, CommandError> {
    match command {
        ApproveCommand::List { limit, after } => list(global, *limit, after.as_deref()),
        ApproveCommand::Show { id } => show(global, id),
        ApproveCommand::Yes {
            ids,
            value,
            args,
            always,
            later,
        } => decide(global, ids, *later, |record| {
            let mut feedback = Feedback::new(true, current_time());
            feedback.value = value
                .as_deref()
                .map(|text| parse_answer(record, text))
                .transpose()?
                .flatten();
            feedback.modified_args = args.as_deref().map(parse_arguments).transpose()?;
            Ok((feedback, always.create_standing_approval(global, record)?))
        }),
        ApproveCommand::No { ids, reason, later } => decide(global, ids, *later, |_| {
            let mut feedback = Feedback::new(false, current_time());
            feedback.reason.clone_from(reason);
            Ok((feedback, None))
        }),
        ApproveCommand::Rules { limit } => standing::list(global, *limit),
        ApproveCommand::Forget { id } => standing::forget(global, id),
        ApproveCommand::Preview { rules, runs } => preview::preview(global, rules.as_deref(), *runs),
    }
}

fn list(global: &GlobalOptions, limit: usize, after: Option<&str>) -> Result<Exit, CommandError> {
    let (store, owner) = (open_store_read_only(&load_config(global)?)?, global.owner());
    let (waiting, has_more) = new_executor()?.block_on(load_waiting(store.as_ref(), &owner, limit, after))?;
    if global.json {
        render::json(&suggestions::complete_waiting(&waiting));
        return Ok(Exit::Success);
    }
    let Some(last) = waiting.last() else {
        render::note("nothing waits for a decision");
        return Ok(Exit::Success);
    };
    let header = ["decision", "tool", "since", "until", "question"];
    let mut rows = vec![header.map(str::to_owned).to_vec()];
    rows.extend(waiting.iter().map(table_row));
    render::print(&table::lines(&rows).join("\n"));
    if has_more {
        let id = last.id();
        render::note(&format!("more wait: `art approve list --after {id}` lists them"));
    }
    Ok(Exit::Success)
}

/// Returns at most `limit` waiting calls, and whether there are more. A call whose decision is stored still waits until its run
/// has used the decision. If `after` is given, begins after the suspension that it identifies.
async fn load_waiting(
    store: &dyn Store,
    owner: &Owner,
    limit: usize,
    after: Option<&str>,
) -> Result<(Vec<SuspensionRecord>, bool), CommandError> {
    let after = match after {
        Some(typed) => Some(ids::resolve_suspension(store, owner, typed).await?.id().to_owned()),
        None => None,
    };
    let page = store
        .list_suspensions(ids::pending_filter(owner.clone(), after, limit))
        .await?;
    let Some(last) = page.last() else {
        return Ok((page, false));
    };
    let next = ids::pending_filter(owner.clone(), Some(last.id().to_owned()), 1);
    let has_more = !store.list_suspensions(next).await?.is_empty();
    Ok((page, has_more))
}

fn table_row(record: &SuspensionRecord) -> Vec<String> {
    let call = &record.call;
    let until = match record.status {
        SuspensionStatus::Decided => "decided".to_owned(),
        _ => call.expires.map_or_else(|| "-".to_owned(), units::from_now),
    };
    let question = call.form.prompt.split_whitespace().collect::<Vec<_>>().join(" ");
    vec![
        record.id().to_owned(),
        call.call.tool_name.clone(),
        units::ago(record.since),
        until,
        shorten(&question, MAX_LISTED_CHARS).into_owned(),
    ]
}

fn show(global: &GlobalOptions, id: &str) -> Result<Exit, CommandError> {
    let store = open_store_read_only(&load_config(global)?)?;
    let record = new_executor()?.block_on(ids::resolve_suspension(store.as_ref(), &global.owner(), id))?;
    if global.json {
        render::json(&suggestions::complete_waiting(&[record]).first());
    } else {
        render::print(&as_text::details(&record));
    }
    Ok(Exit::Success)
}

/// Decides about calls of one run, and resumes the run unless `later` is set. `make_decision` makes the decision about one call
/// out of the options of the command line. All decisions are made before the first is stored. The store may still refuse one,
/// for example because somebody else was faster. The decisions that were stored before that one remain valid.
fn decide(
    global: &GlobalOptions,
    ids: &[String],
    later: bool,
    make_decision: impl Fn(&SuspensionRecord) -> Result<DecisionAndStandingApproval, CommandError>,
) -> Result<Exit, CommandError> {
    let config = load_config(global)?;
    let executor = new_executor()?;
    let owner = global.owner();
    let records = executor.block_on(find_suspensions_of_one_run(&config, &owner, ids))?;
    let decisions: Vec<_> = records.iter().map(&make_decision).collect::<Result<_, _>>()?;
    let Some(trace_id) = records.first().map(|record| record.trace_id.clone()) else {
        return Ok(Exit::Success);
    };
    let resume = Request::Resume(trace_id.clone());
    let runtime = executor.block_on(resume.open_runtime(global, config))?;
    let mut decided = Vec::new();
    for (record, (feedback, standing_approval)) in records.iter().zip(decisions) {
        match executor.block_on(runtime.decide(suspension_key(record, &owner), feedback)) {
            Ok(record) => decided.push(record),
            Err(error) => {
                note_decided(&decided);
                executor.block_on(runtime.close());
                return Err(error.into());
            }
        }
        standing_approval
            .into_iter()
            .for_each(|approval| standing::store(&runtime, approval));
    }
    if !later {
        return carry_out_in_runtime(global, executor, runtime, resume, Some(trace_id));
    }
    executor.block_on(runtime.close());
    match (global.json, decided.as_slice()) {
        (true, [record]) => render::json(&suggestions::complete_waiting(slice::from_ref(record)).first()),
        (true, records) => render::json(&suggestions::complete_waiting(records)),
        (false, _) => render::note(&format!("decided; `art runs resume {trace_id}` goes on with the run")),
    }
    Ok(Exit::Success)
}

/// Returns the suspensions with these identifiers, each once. Fails if they are not all of one run.
async fn find_suspensions_of_one_run(
    config: &Config,
    owner: &Owner,
    ids: &[String],
) -> Result<Vec<SuspensionRecord>, CommandError> {
    let store = open_store_read_only(config)?;
    let mut records: Vec<SuspensionRecord> = Vec::new();
    for id in ids {
        let record = ids::resolve_suspension(store.as_ref(), owner, id).await?;
        if let Some(other) = records.iter().find(|other| other.trace_id != record.trace_id) {
            let (one, two) = (other.id(), record.id());
            return Err(CommandError::Usage(format!(
                "`{one}` and `{two}` are of different runs: decide about each run in a command of its own"
            )));
        }
        if records.iter().all(|other| other.id() != record.id()) {
            records.push(record);
        }
    }
    Ok(records)
}

/// Prints which calls were decided before a decision about another call was refused.
fn note_decided(decided: &[SuspensionRecord]) {
    for record in decided {
        render::note(&format!("`{}` is decided", record.id()));
    }
}

/// Converts what a person typed into an answer to the question of the tool. Returns `None` if the person typed nothing.
fn parse_answer(record: &SuspensionRecord, text: &str) -> Result<Option<Value>, CommandError> {
    match parse_entry(&record.call.form, text).map_err(CommandError::Usage)? {
        Entry::Value(value) => Ok(Some(value)),
        Entry::Nothing => Ok(None),
        Entry::File(path) => super::attachment::file_answer(&path).map(Some),
    }
}

fn parse_arguments(text: &str) -> Result<Value, CommandError> {
    art_core::json::parse(text).map_err(|error| CommandError::Usage(format!("the arguments are no JSON: {error}")))
}

/// Returns whether `error` means that another process continues the run, or has continued it to its end. If so, prints that.
pub(super) fn note_if_resumed_elsewhere(trace_id: &str, error: &CommandError) -> bool {
    let is_elsewhere = matches!(
        error,
        CommandError::Runtime(RuntimeError::CannotResume { .. } | RuntimeError::Store(StoreError::ThreadBusy { .. }))
    );
    if is_elsewhere {
        render::note(&format!(
            "another process goes on with the run; `art runs show {trace_id}` has its log"
        ));
    }
    is_elsewhere
}

/// Prints how to decide about the calls for which a run waits.
pub(super) fn note_how_to_decide(answer: &Answer) {
    for record in &answer.waits_for {
        render::note(&as_text::how_to_decide(record));
    }
    if let [_, _, ..] = answer.waits_for.as_slice() {
        let ids: Vec<_> = answer.waits_for.iter().map(SuspensionRecord::id).collect();
        render::note(&format!("all at once: `art approve yes {}`", ids.join(" ")));
    }
}

/// Returns whether a call no longer waits, because somebody decided about it or it no longer exists.
async fn no_longer_waits(runtime: &Runtime, owner: &Owner, id: &str) -> bool {
    let found = runtime.store.find_suspension(id, owner).await;
    found.is_ok_and(|record| record.is_none_or(|record| record.status != SuspensionStatus::Open))
}

/// Returns the key by which the runtime finds the suspension for this person.
fn suspension_key(record: &SuspensionRecord, owner: &Owner) -> UserSuspension {
    UserSuspension::from(record.id()).of(owner.clone())
}
