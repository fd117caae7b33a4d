//! `art chat`: a conversation at a terminal, or one question per line from a pipe.

mod commands;
mod input;
mod screen;
mod session;

use art_runtime::Runtime;
use art_runtime::reload::{FolderWatch, Reload};
use tokio::runtime::Runtime as Executor;

use super::interrupt::{AfterInterrupt, Interrupts};
use super::{approve, attachment, ids, load_config, open_runtime, report, run};
use crate::cli::{ChatArgs, GlobalOptions};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;
use crate::tokio_runtime::new_executor;
use commands::{ChatLine, ThreadAction};
use input::{Input, InputEvent};
use screen::Screen;
use session::{Request, Session};

/// Printed after Ctrl-C at the prompt.
const HOW_TO_LEAVE: &str = "to leave, press Ctrl-D or type /exit";

/// Holds a conversation and reports its errors, in JSON output as one line each. Returns the exit code.
pub(super) fn chat(global: &GlobalOptions, args: &ChatArgs) -> Exit {
    let exit = open_chat(global).map(|(chat, input)| chat.run(input, args.thread.clone()));
    exit.unwrap_or_else(|error| {
        Screen::new(global.json).print_error(&error);
        error.exit_code()
    })
}

fn open_chat(global: &GlobalOptions) -> Result<(Chat, Input), CommandError> {
    let config = load_config(global)?;
    let input = Input::open(global.json, config.chat_history(global.user.as_deref()))?;
    let interrupts = Interrupts::listen(match input.is_interactive() {
        true => AfterInterrupt::Continue,
        false => AfterInterrupt::End,
    })?;
    let executor = new_executor()?;
    let runtime = executor.block_on(open_runtime(global, config))?;
    let watch = watch_plugins(&runtime, global);
    let chat = Chat {
        _watch: watch,
        screen: Screen::new(global.json),
        is_interactive: input.is_interactive(),
        executor,
        interrupts,
        session: Session::new(runtime, global.user.clone()),
        worst_exit: Exit::Success,
    };
    Ok((chat, input))
}

/// Watches the plugins folder, so that changed tools are loaded again during the chat. Returns `None` if the folder cannot be
/// watched; the chat then goes on with the tools as they were at its start.
fn watch_plugins(runtime: &Runtime, global: &GlobalOptions) -> Option<FolderWatch> {
    let screen = Screen::new(global.json);
    let on_reload = move |name: &str, reload: &Reload| screen.note(&reload_message(name, reload));
    let watch = runtime.toolbox.watch(on_reload);
    watch.unwrap_or_else(|error| {
        tracing::info!(%error, "tools are not replaced while the chat goes on");
        None
    })
}

/// Returns a message about what happened to the component `name` whose file has changed.
fn reload_message(name: &str, reload: &Reload) -> String {
    match reload {
        Reload::NeedsApproval { tool } => {
            format!("`{name}.wasm` has changed: its tool is not called until `art grant approve {tool}` approves it")
        }
        Reload::Removed => format!("`{name}.wasm` is gone, and its tool with it"),
        Reload::Refused(reason) => format!("`{name}.wasm` has changed and is refused: {reason}"),
        // Only `Loaded` is left, since unchanged files are not reported.
        _ => format!("`{name}.wasm` was loaded again"),
    }
}

struct Chat {
    /// Loads changed tools again until the chat ends.
    _watch: Option<FolderWatch>,
    screen: Screen,
    /// Whether a person types the lines at a terminal.
    is_interactive: bool,
    executor: Executor,
    interrupts: Interrupts,
    session: Session,
    /// The worst exit code so far.
    worst_exit: Exit,
}

impl Chat {
    /// Runs the conversation to its end and closes the runtime.
    fn run(mut self, input: Input, thread: Option<String>) -> Exit {
        let result = self.begin(thread).and_then(|()| self.execute_lines(input));
        if let Err(error) = &result {
            self.report_error(error);
        }
        self.executor.block_on(self.session.runtime.close());
        // Do not wait for an abandoned DNS lookup.
        self.executor.shutdown_background();
        // A person has already seen the errors, so leaving the chat is a success. Leaving by a signal is not.
        let user_left = self.is_interactive && result.is_ok() && !self.interrupts.exit_requested();
        if user_left { Exit::Success } else { self.worst_exit }
    }

    /// Switches to the conversation `thread` if it is given, and prints the greeting.
    fn begin(&mut self, thread: Option<String>) -> Result<(), CommandError> {
        if let Some(id) = thread {
            self.executor.block_on(self.session.switch_thread(&id))?;
        }
        let greeting = self.screen.print_greeting(&self.session, self.is_interactive);
        self.executor.block_on(greeting)
    }

    /// Executes lines until the user leaves or the input ends. An error in a line is reported, and reading continues.
    ///
    /// # Errors
    /// Fails if no more lines can be read.
    fn execute_lines(&mut self, mut input: Input) -> Result<(), CommandError> {
        loop {
            let line = match input.next()? {
                InputEvent::Line(line) => ChatLine::parse(&line),
                InputEvent::Unreadable(reason) => ChatLine::Invalid(reason),
                InputEvent::Interrupted => {
                    self.screen.note(HOW_TO_LEAVE);
                    continue;
                }
                InputEvent::End => return Ok(()),
            };
            if line == ChatLine::Exit {
                return Ok(());
            }
            if let Err(error) = self.execute(line) {
                self.report_error(&error);
            }
            if self.interrupts.exit_requested() {
                self.worst_exit = Exit::Cancelled;
                return Ok(());
            }
            // Without stdout nobody would see an answer.
            if render::stdout_error().is_some() {
                return Ok(());
            }
        }
    }

    fn report_error(&mut self, error: &CommandError) {
        self.screen.print_error(error);
        self.worst_exit = self.worst_exit.worse(error.exit_code());
    }

    fn execute(&mut self, line: ChatLine) -> Result<(), CommandError> {
        let (screen, session) = (self.screen, &mut self.session);
        match line {
            ChatLine::Empty | ChatLine::Exit => {}
            ChatLine::Ask(query) => return self.carry_out(Request::Ask(query)),
            ChatLine::Thread(action) => return self.handle_thread_command(action),
            ChatLine::Resume(typed) => return self.resume(typed.as_deref()),
            ChatLine::Help => screen.print(&screen::help()),
            ChatLine::Tools => screen.print(&screen::tools(&session.runtime)),
            ChatLine::Model(name) => {
                if let Some(name) = name {
                    session.runtime.use_model(&name)?;
                    report::warn_of_unknown_price(&session.runtime)?;
                }
                screen.print(&report::model_line(&session.runtime.model_info()?));
            }
            ChatLine::Cost => screen.print(&screen::usage(session)),
            ChatLine::Attach { path, keep } => {
                let name = session.attach(&path, keep)?;
                report::warn_of_large_attachments(&session.runtime, session.attachments.last());
                let later = if keep { ", and later ones may use it" } else { "" };
                screen.print(&format!("`{name}` will be sent with the next question{later}"));
            }
            ChatLine::Detach => screen.print(&screen::removed_attachments(&session.detach())),
            ChatLine::History => {
                let messages = self.executor.block_on(session.messages())?;
                screen.print(&screen::history(&messages));
            }
            ChatLine::Invalid(reason) => return Err(CommandError::Usage(reason)),
        }
        Ok(())
    }

    fn handle_thread_command(&mut self, action: ThreadAction) -> Result<(), CommandError> {
        match action {
            ThreadAction::Show => {}
            ThreadAction::New => self.session.leave_thread(),
            ThreadAction::Switch(id) => self.executor.block_on(self.session.switch_thread(&id))?,
        }
        let thread = self.session.thread();
        self.screen
            .print(thread.unwrap_or("none yet; the next question starts one"));
        for run in self.executor.block_on(self.session.interrupted_runs())? {
            let note = report::interrupted_run_line(&run, "/resume");
            self.screen
                .note(&format!("{note}; a question in this conversation ends it"));
        }
        Ok(())
    }

    /// Resumes the interrupted run that `typed` identifies, or else the newest one of this conversation. The conversation of the
    /// run becomes the current one.
    fn resume(&mut self, typed: Option<&str>) -> Result<(), CommandError> {
        let run = self.executor.block_on(self.session.find_run_to_resume(typed))?;
        self.carry_out(Request::Resume(run))
    }

    /// Asks a question or resumes a run. At a terminal, also asks the person for the decisions that the run waits for, and Ctrl-C
    /// cancels the run without ending the conversation.
    fn carry_out(&mut self, mut request: Request) -> Result<(), CommandError> {
        // The run that is to be resumed because the person has decided. Another process may already have resumed it.
        let mut decided_run: Option<String> = None;
        loop {
            let registration = self.interrupts.register_run();
            let cancel = registration.cancel.clone();
            let running = self.screen.carry_out_and_show(&mut self.session, request, cancel);
            let answer = self.executor.block_on(running);
            drop(registration);
            let answer = match (answer, &decided_run) {
                (Err(error), Some(run)) if approve::note_if_resumed_elsewhere(run, &error) => return Ok(()),
                (answer, _) => answer?,
            };
            let is_to_resume = self.is_interactive
                && !answer.waits_for.is_empty()
                && approve::decide_at_terminal(
                    self.executor.handle(),
                    &self.session.runtime,
                    self.session.user(),
                    &self.interrupts,
                    &answer.waits_for,
                );
            if !is_to_resume {
                self.screen.note_how_to_decide(&answer);
                self.worst_exit = self.worst_exit.worse(run::exit_code(&answer));
                return Ok(());
            }
            let run = answer.trace_id;
            decided_run = Some(run.clone());
            request = Request::Resume(run);
        }
    }
}
