//! `art run`: answers one question. The other commands that ask a question or resume a run use the same functions.

use std::path::{Path, PathBuf};

use art_core::agent::{QueryAttachment, RunStatus};
use art_lexical::LexicalModel;
use art_runtime::compose::open_store_read_only;
use art_runtime::config::Config;
use art_runtime::{Answer, Question, QuestionSettings, Runtime, Unwatched, UserRun, Watcher};
use art_store::Owner;
use tokio::runtime::Runtime as Executor;
use tokio_util::sync::CancellationToken;

use super::interrupt::{AfterInterrupt, Interrupts};
use super::{
    approve, attachment, changes, ids, load_config, open_runtime, open_runtime_without_model, piped, report, saved_plan,
};
use crate::cli::{GlobalOptions, RunArgs};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::render::display::RunDisplay;
use crate::tokio_runtime::new_executor;

pub(super) fn run(global: &GlobalOptions, args: &RunArgs) -> Result<Exit, CommandError> {
    let question = match &args.plan {
        Some(file) => saved_plan::read_question(file, args)?,
        None => Question {
            query: args.query().ok_or_else(|| empty_question_error("run"))?,
            thread_id: args.thread.clone(),
            attachments: read_attachments(&args.attach)?,
            ..Question::default()
        },
    };
    let question = if args.keep {
        keep_attachments(question)
    } else {
        question
    };
    if args.check {
        return saved_plan::check(global, load_config(global)?, question);
    }
    let settings = QuestionSettings {
        raw: args.raw,
        ..QuestionSettings::default()
    };
    let question = Question { settings, ..question };
    open_and_carry_out(global, load_config(global)?, Request::Ask(Box::new(question)))
}

/// What a command asks of the runtime.
pub(super) enum Request {
    /// Asks a question.
    Ask(Box<Question>),
    /// Resumes the run that this text identifies: an identifier, a prefix of it, or `last`, as a person types it.
    Resume(String),
}

impl Request {
    /// Opens the runtime that the request needs. The runtime has no model if the request resumes a direct call, which is a run
    /// that makes one tool call instead of answering a question.
    pub(super) async fn open_runtime(&self, global: &GlobalOptions, config: Config) -> Result<Runtime, CommandError> {
        match self.resumes_direct_call(&global.owner(), &config).await? {
            true => open_runtime_without_model(global, config).await,
            false => open_runtime(global, config).await,
        }
    }

    /// Returns whether the request resumes a direct call. Such a run has no model.
    async fn resumes_direct_call(&self, owner: &Owner, config: &Config) -> Result<bool, CommandError> {
        let Self::Resume(typed) = self else {
            return Ok(false);
        };
        let store = open_store_read_only(config)?;
        let run = store
            .get_run(&ids::resolve_run_to_resume(store.as_ref(), owner, typed).await?)
            .await?;
        Ok(run.is_some_and(|run| run.model.is_none()))
    }
}

/// A request with full identifiers in place of what a person typed.
enum ResolvedRequest {
    Ask(Box<Question>),
    Resume(UserRun),
}

impl ResolvedRequest {
    async fn carry_out(
        self,
        runtime: &Runtime,
        cancel: CancellationToken,
        watcher: &mut dyn Watcher,
    ) -> Result<Answer, CommandError> {
        let answer = match self {
            Self::Ask(question) => runtime.ask_watched(*question, cancel, watcher).await,
            Self::Resume(run) => runtime.resume(run, cancel, watcher).await,
        };
        Ok(answer?)
    }
}

pub(super) fn empty_question_error(command: &str) -> CommandError {
    CommandError::Usage(format!(
        "the question is empty (hint: `art {command} \"What is 2+2?\"`)"
    ))
}

/// Lets later questions use the attachments of a question.
fn keep_attachments(mut question: Question) -> Question {
    question
        .attachments
        .iter_mut()
        .for_each(|attachment| attachment.keep = true);
    question
}

/// Reads the attached files and stdin. Stdin must have content if one of `paths` is `-`, and may be empty otherwise.
pub(super) fn read_attachments(paths: &[PathBuf]) -> Result<Vec<QueryAttachment>, CommandError> {
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

/// Opens the runtime for a request, and then does the same as [`carry_out_in_runtime`].
pub(super) fn open_and_carry_out(
    global: &GlobalOptions,
    config: Config,
    request: Request,
) -> Result<Exit, CommandError> {
    let executor = new_executor()?;
    let runtime = executor.block_on(request.open_runtime(global, config))?;
    carry_out_in_runtime(global, executor, runtime, request, None)
}

/// Carries out the request, shows the result as text or JSON, and closes the runtime. Asks a person at the terminal for the
/// decisions that the run waits for. If the request resumes a run because the person has just decided about its calls,
/// `decided_run` is that run. Another process may then have resumed it already, which is no error.
pub(super) fn carry_out_in_runtime(
    global: &GlobalOptions,
    executor: Executor,
    runtime: Runtime,
    request: Request,
    decided_run: Option<String>,
) -> Result<Exit, CommandError> {
    let interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let exit = carry_out_with_decisions(global, &executor, &runtime, (request, decided_run), &interrupts);
    executor.block_on(runtime.close());
    // Do not wait for the DNS lookup of a request that has timed out or was cancelled.
    executor.shutdown_background();
    exit
}

/// Does what [`carry_out_in_runtime`] says, but leaves the runtime open.
fn carry_out_with_decisions(
    global: &GlobalOptions,
    executor: &Executor,
    runtime: &Runtime,
    (request, mut decided_run): (Request, Option<String>),
    interrupts: &Interrupts,
) -> Result<Exit, CommandError> {
    let Some(mut request) = executor.block_on(resolve_request(global, runtime, request))? else {
        return Ok(Exit::PlanFault);
    };
    loop {
        let registration = interrupts.register_run();
        let cancel = registration.cancel.clone();
        let answer = executor.block_on(carry_out_and_show(global, runtime, request, cancel));
        drop(registration);
        let answer = match (answer, &decided_run) {
            (Err(error), Some(run)) if approve::note_if_resumed_elsewhere(run, &error) => return Ok(Exit::Success),
            (answer, _) => answer?,
        };
        if answer.waits_for.is_empty() {
            // Tools may have staged changes of files, which are not made until the person commits them.
            changes::offer_to_commit(global, &runtime.config, &answer.trace_id)?;
            return Ok(exit_code(&answer));
        }
        let decided = approve::is_attended(global)
            && approve::decide_at_terminal(
                executor.handle(),
                runtime,
                global.user.as_deref(),
                interrupts,
                &answer.waits_for,
            );
        if !decided {
            if !global.json {
                approve::note_how_to_decide(&answer);
            }
            return Ok(exit_code_of_waiting(&answer, interrupts));
        }
        decided_run = Some(answer.trace_id.clone());
        request = ResolvedRequest::Resume(UserRun::from(&answer.trace_id).of(global.owner()));
    }
}

/// Carries out the request, and shows what happens as text, or only the result as JSON.
async fn carry_out_and_show(
    global: &GlobalOptions,
    runtime: &Runtime,
    request: ResolvedRequest,
    cancel: CancellationToken,
) -> Result<Answer, CommandError> {
    if global.json {
        let answer = request.carry_out(runtime, cancel, &mut Unwatched).await?;
        render::json(&report::to_json(runtime, &answer));
        return Ok(answer);
    }
    if let ResolvedRequest::Ask(question) = &request {
        report::show_model_and_problems(runtime, &runtime.model_for(question).await?).await?;
        let thread = question.thread_id.as_deref();
        report::note_interrupted_runs(runtime, global.owner(), thread, "art runs resume").await?;
    }
    carry_out_as_text(runtime, request, cancel).await
}

/// Returns the request with full identifiers. Returns `None` if its question has a plan with faults, after showing the faults.
async fn resolve_request(
    global: &GlobalOptions,
    runtime: &Runtime,
    request: Request,
) -> Result<Option<ResolvedRequest>, CommandError> {
    let question = match request {
        Request::Resume(typed) => {
            let owner = global.owner();
            let run = ids::resolve_run_to_resume(runtime.store.as_ref(), &owner, &typed).await?;
            return Ok(Some(ResolvedRequest::Resume(UserRun::from(&run).of(owner))));
        }
        Request::Ask(question) => with_user_and_thread(global, runtime, *question).await?,
    };
    if saved_plan::report_faults(global, runtime, &question).await? {
        return Ok(None);
    }
    report::warn_of_unknown_price(runtime)?;
    report::warn_of_large_attachments(runtime, &question.attachments);
    Ok(Some(ResolvedRequest::Ask(Box::new(question))))
}

/// Returns the question as asked by the person of `--user`, with the full identifier of its conversation.
pub(super) async fn with_user_and_thread(
    global: &GlobalOptions,
    runtime: &Runtime,
    mut question: Question,
) -> Result<Question, CommandError> {
    question.user_id.clone_from(&global.user);
    if let Some(typed) = &question.thread_id {
        question.thread_id = Some(ids::resolve_thread(runtime.store.as_ref(), &global.owner(), typed).await?);
    }
    Ok(question)
}

/// Returns the exit code of a run that waits for a decision: [`Exit::Cancelled`] if a signal arrived while the person was asked,
/// and otherwise that of [`exit_code`].
pub(super) fn exit_code_of_waiting(answer: &Answer, interrupts: &Interrupts) -> Exit {
    match interrupts.exit_requested() {
        true => Exit::Cancelled,
        false => exit_code(answer),
    }
}

/// Returns the exit code of a run.
pub(super) fn exit_code(answer: &Answer) -> Exit {
    if answer.is_direct_call() && answer.status() == RunStatus::Error {
        return Exit::ToolError;
    }
    // The embedded model can answer only with tools.
    let uses_embedded_model = answer.model.provider_name == LexicalModel::PROVIDER;
    Exit::for_answer(answer, uses_embedded_model)
}

/// Carries out the request, and shows the progress, the answer and the cost as text.
async fn carry_out_as_text(
    runtime: &Runtime,
    request: ResolvedRequest,
    cancel: CancellationToken,
) -> Result<Answer, CommandError> {
    let mut display = RunDisplay::new();
    let result = request.carry_out(runtime, cancel, &mut display).await;
    if let Some(answer) = report::show_answer(display, &result) {
        report::show_cost(answer);
        report::show_closing_notes(answer);
        render::note(&format!("run {} of thread {}", answer.trace_id, answer.thread_id));
    }
    result
}
