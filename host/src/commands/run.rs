//! `art run`: a question in, an answer out.

use std::path::Path;

use art_core::agent::QueryAttachment;
use art_model::EmbeddedModel;
use tokio_util::sync::CancellationToken;

use super::interrupt::{AfterInterrupt, Interrupts};
use super::{attachment, config, ids, open, piped, report, runtime};
use crate::cli::{Global, RunArgs};
use crate::compose::Host;
use crate::config::Config;
use crate::drive::{self, Answered, Question};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::display::Display;
use crate::render::{self, plan};

pub(super) fn run(global: &Global, args: &RunArgs) -> Result<Exit, CommandError> {
    let empty = || CommandError::Usage("the question is empty (hint: `art run \"What is 2+2?\"`)".to_owned());
    let query = args.query().ok_or_else(empty)?;
    let question = Question {
        query,
        thread_id: args.thread.clone(),
        attachments: attachments(args)?,
        ..Question::default()
    };
    open_and_ask(global, config(global)?, question)
}

/// The files of the question, and what was piped to it; `-` asks for that.
fn attachments(args: &RunArgs) -> Result<Vec<QueryAttachment>, CommandError> {
    let (stdin, files): (Vec<_>, Vec<_>) = args.attach.iter().cloned().partition(|path| path == Path::new("-"));
    let mut attachments = attachment::read_all(&files)?;
    let piped = match stdin.as_slice() {
        [] => piped::what_is_there()?,
        _ => Some(piped::all()?),
    };
    if let Some(piped) = piped {
        attachment::add(&mut attachments, piped)?;
    }
    Ok(attachments)
}

/// Opens the host, asks, and shows the plan, the answer and the cost.
pub(super) fn open_and_ask(global: &Global, config: Config, question: Question) -> Result<Exit, CommandError> {
    let interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let runtime = runtime()?;
    let exit = runtime.block_on(async {
        let host = open(global, config).await?;
        let question = in_thread(&host, question).await?;
        report::warn_of_cost(&host)?;
        report::warn_of_size(&host, &question.attachments);
        let run = interrupts.begin();
        let answered = if global.json {
            let answered = drive::answer(&host, question, run.cancel.clone(), plan::watcher(true).as_mut()).await?;
            render::json(&report::to_json(&host, &answered));
            answered
        } else {
            report::introduce(&host)?;
            show(&host, question, run.cancel.clone()).await?
        };
        let exit = exit_of(&host, &answered);
        host.close().await;
        Ok(exit)
    });
    // A look-up of a host that nobody waits for any more must not hold the process.
    runtime.shutdown_background();
    exit
}

/// The question with the whole identifier of its conversation.
async fn in_thread(host: &Host, mut question: Question) -> Result<Question, CommandError> {
    if let Some(typed) = &question.thread_id {
        question.thread_id = Some(ids::thread(host.store.as_ref(), typed).await?);
    }
    Ok(question)
}

/// The exit code of a run.
pub(super) fn exit_of(host: &Host, answered: &Answered) -> Exit {
    let embedded = host.model.provider_name == EmbeddedModel::PROVIDER;
    Exit::of(answered, embedded)
}

async fn show(host: &Host, question: Question, cancel: CancellationToken) -> Result<Answered, CommandError> {
    let mut display = Display::new();
    let asked = drive::answer(host, question, cancel, &mut display).await;
    if let Some(answered) = report::show_answer(display, &asked) {
        report::show_cost(answered);
        report::show_ending(host, answered);
        render::note(&format!("run {} of thread {}", answered.trace_id, answered.thread_id));
    }
    asked
}
