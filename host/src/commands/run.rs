//! `art run`: answers one question.

use std::path::{Path, PathBuf};

use art_core::agent::QueryAttachment;
use art_lexical::LexicalModel;
use art_runtime::config::Config;
use art_runtime::{Answer, CallSettings, Question, Runtime, Unwatched};
use tokio_util::sync::CancellationToken;

use super::interrupt::{AfterInterrupt, Interrupts};
use super::{attachment, config, ids, kept, open, piped, report};
use crate::cli::{Global, RunArgs};
use crate::error::CommandError;
use crate::executor::executor;
use crate::exit::Exit;
use crate::render;
use crate::render::display::Display;

pub(super) fn run(global: &Global, args: &RunArgs) -> Result<Exit, CommandError> {
    let question = match &args.plan {
        Some(file) => kept::question(file, args)?,
        None => Question {
            query: args.query().ok_or_else(|| empty_question("run"))?,
            thread_id: args.thread.clone(),
            attachments: attachments(&args.attach)?,
            ..Question::default()
        },
    };
    if args.check {
        return kept::check(global, config(global)?, question);
    }
    let settings = CallSettings {
        raw: args.raw,
        ..CallSettings::default()
    };
    open_and_ask(global, config(global)?, Question { settings, ..question })
}

pub(super) fn empty_question(command: &str) -> CommandError {
    CommandError::Usage(format!(
        "the question is empty (hint: `art {command} \"What is 2+2?\"`)"
    ))
}

/// Reads the attached files and stdin. With `-` as a file, stdin is required.
pub(super) fn attachments(paths: &[PathBuf]) -> Result<Vec<QueryAttachment>, CommandError> {
    let (stdin, files): (Vec<_>, Vec<_>) = paths.iter().cloned().partition(|path| path == Path::new("-"));
    let mut attachments = attachment::read_all(&files)?;
    let piped = match stdin.as_slice() {
        [] => piped::read_if_piped()?,
        _ => Some(piped::read_to_end()?),
    };
    if let Some(piped) = piped {
        attachment::add(&mut attachments, piped)?;
    }
    Ok(attachments)
}

/// Opens the runtime, asks the question, and shows the result as text or JSON.
pub(super) fn open_and_ask(global: &Global, config: Config, question: Question) -> Result<Exit, CommandError> {
    let interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let executor = executor()?;
    let exit = executor.block_on(async {
        let runtime = open(global, config).await?;
        let question = with_full_thread_id(&runtime, question).await?;
        if kept::refuses(global, &runtime, &question).await? {
            return Ok(Exit::PlanFault);
        }
        report::warn_of_cost(&runtime)?;
        report::warn_of_size(&runtime, &question.attachments);
        let run = interrupts.register_run();
        let answer = if global.json {
            let answer = runtime
                .ask_watched(question, run.cancel.clone(), &mut Unwatched)
                .await?;
            render::json(&report::to_json(&runtime, &answer));
            answer
        } else {
            report::introduce(&runtime).await?;
            ask_and_display(&runtime, question, run.cancel.clone()).await?
        };
        let exit = exit_of(&runtime, &answer);
        runtime.close().await;
        Ok(exit)
    });
    // Do not wait for an abandoned DNS lookup.
    executor.shutdown_background();
    exit
}

/// Returns the question with the full identifier of its conversation.
pub(super) async fn with_full_thread_id(runtime: &Runtime, mut question: Question) -> Result<Question, CommandError> {
    if let Some(typed) = &question.thread_id {
        question.thread_id = Some(ids::resolve_thread(runtime.store.as_ref(), typed).await?);
    }
    Ok(question)
}

/// Returns the exit code of a run.
pub(super) fn exit_of(runtime: &Runtime, answer: &Answer) -> Exit {
    let embedded = runtime.model.provider_name == LexicalModel::PROVIDER;
    Exit::for_answer(answer, embedded)
}

/// Asks the question, and shows the plan, the answer and the cost as text.
async fn ask_and_display(
    runtime: &Runtime,
    question: Question,
    cancel: CancellationToken,
) -> Result<Answer, CommandError> {
    let mut display = Display::new();
    let result = runtime.ask_watched(question, cancel, &mut display).await;
    let result = result.map_err(CommandError::from);
    if let Some(answer) = report::show_answer(display, &result) {
        report::show_cost(answer);
        report::show_ending(runtime, answer);
        render::note(&format!("run {} of thread {}", answer.trace_id, answer.thread_id));
    }
    result
}
