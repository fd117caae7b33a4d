//! Asks a person at the terminal about calls that wait.

mod all;
mod always;

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::time::Duration;

use art_core::hitl::{Feedback, InputType};
use art_core::suspension::SuspensionCause;
use art_runtime::error::in_one_line;
use art_runtime::{Runtime, RuntimeError};
use art_store::{Owner, StoreError, SuspensionRecord};
use art_tools::StandingApproval;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, QueueSelector, Termios, tcflush, tcgetattr, tcsetattr};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::super::interrupt::Interrupts;
use super::{no_longer_waits, parse_arguments, shown, standing, suspension_key};
use crate::cli::Global;
use crate::render;

/// Interval at which the store is read while the person thinks, because somebody else may decide.
const STORE_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum length of a line that is typed, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns whether a person can be asked: stdin and stderr are at a terminal, and the output is not JSON.
pub(in crate::commands) fn is_attended(global: &Global) -> bool {
    !global.json && stdin().is_terminal() && stderr().is_terminal()
}

/// The result of a question.
enum Outcome {
    /// The call is decided, here or elsewhere.
    Decided,
    /// The person decides later.
    Later,
}

/// Asks the person about each of the calls. Returns whether to resume the run: if a call was decided, unless Ctrl-C kept a later call
/// from being asked about. `later` and Ctrl-D leave a call undecided, and Ctrl-C this call and all further ones. Blocks the thread
/// while the person thinks, which is harmless because a run that waits holds no lease.
pub(in crate::commands) fn decide_at_terminal(
    executor: &Handle,
    runtime: &Runtime,
    user: Option<&str>,
    interrupts: &Interrupts,
    waiting: &[SuspensionRecord],
) -> bool {
    let interruptible = interrupts.register_question();
    let questions = waiting.iter().map(|record| Question {
        executor,
        runtime,
        user,
        cancel: &interruptible.cancel,
        record,
    });
    let questions: Vec<_> = questions.collect();
    let mut any_decided = match all::decide(&questions) {
        all::Outcome::Decided => return true,
        all::Outcome::Later => return false,
        all::Outcome::OneByOne => false,
    };
    for (n, question) in questions.iter().enumerate() {
        if interruptible.cancel.is_cancelled() {
            return false;
        }
        if waiting.len() > 1 {
            render::note(&format!("decision {} of {}", n + 1, waiting.len()));
        }
        any_decided |= matches!(question.ask(), Outcome::Decided);
    }
    any_decided
}

struct Question<'a> {
    executor: &'a Handle,
    runtime: &'a Runtime,
    /// The person at the terminal; nobody in particular if absent.
    user: Option<&'a str>,
    /// Is cancelled by Ctrl-C.
    cancel: &'a CancellationToken,
    record: &'a SuspensionRecord,
}

impl Question<'_> {
    fn ask(&self) -> Outcome {
        if self.is_decided() {
            return Outcome::Decided;
        }
        if let Some(outcome) = self.decide_by_standing_approval() {
            return outcome;
        }
        drop_earlier_input();
        render::note(&shown::question(self.record));
        let mut new_arguments: Option<Value> = None;
        loop {
            match self.handle_entry(&mut new_arguments) {
                Ok(()) => {}
                Err(outcome) => return outcome,
            }
        }
    }

    /// Returns whether somebody has decided.
    fn is_decided(&self) -> bool {
        let owner = Owner::user(self.user);
        self.executor
            .block_on(no_longer_waits(self.runtime, &owner, self.record.id()))
    }

    /// Reads one entry of the person and carries it out. `new_arguments` are those that the person has typed in place of the call's.
    /// Fails with the outcome if the entry ends the question.
    fn handle_entry(&self, new_arguments: &mut Option<Value>) -> Result<(), Outcome> {
        let mut standing_approval = None;
        let typed = self.read(&self.choices())?;
        let feedback = match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => self.read_approval(new_arguments.clone())?,
            "n" | "no" => self.read_rejection()?,
            "a" | "always" if self.may_approve_later_calls() && new_arguments.is_some() => {
                render::note("`always` is about the arguments of the question: answer `yes` to the changed ones");
                return Ok(());
            }
            "a" | "always" if self.may_approve_later_calls() => {
                standing_approval = self.choose_standing_approval()?;
                if standing_approval.is_none() {
                    return Ok(());
                }
                self.read_approval(None)?
            }
            "e" | "edit" if !self.may_edit() => {
                render::note("the arguments of this call cannot be changed");
                return Ok(());
            }
            "e" | "edit" => {
                if let Some(arguments) = self.read_new_arguments()? {
                    *new_arguments = Some(arguments);
                }
                return Ok(());
            }
            "d" | "details" => {
                render::note(&shown::details(self.record));
                return Ok(());
            }
            "l" | "later" => return Err(Outcome::Later),
            _ => return Ok(()),
        };
        match self.decide(feedback, standing_approval) {
            Ok(outcome) => Err(outcome),
            Err(problem) => {
                *new_arguments = None;
                render::note(&shown::problem(&problem));
                Ok(())
            }
        }
    }

    /// Returns the prompt with the choices that this question has.
    fn choices(&self) -> String {
        let edit = if self.may_edit() { ", edit" } else { "" };
        let always = if self.may_approve_later_calls() { ", always" } else { "" };
        format!("yes, no{edit}{always}, details or later? ")
    }

    /// Returns whether the person may change the arguments.
    fn may_edit(&self) -> bool {
        let call = &self.record.call;
        call.form.allow_modify_args || matches!(call.cause, SuspensionCause::Rule { .. })
    }

    /// Stores the decision, and then the standing approval. Fails with what is wrong with the decision, so that the person can decide
    /// again.
    fn decide(&self, feedback: Feedback, standing_approval: Option<StandingApproval>) -> Result<Outcome, String> {
        let key = suspension_key(self.record, &Owner::user(self.user));
        let decided = self.executor.block_on(self.runtime.decide(key, feedback));
        match decided {
            Ok(_) => {
                standing_approval
                    .into_iter()
                    .for_each(|approval| standing::keep(self.runtime, approval));
                Ok(Outcome::Decided)
            }
            Err(RuntimeError::Decision { problem, .. }) => Err(problem),
            Err(
                error @ RuntimeError::Store(StoreError::AlreadyDecided { .. } | StoreError::SuspensionExpired { .. }),
            ) => {
                render::note(&in_one_line(&error));
                Ok(Outcome::Decided)
            }
            Err(error) => {
                render::note(&format!("error: {}", in_one_line(&error)));
                Ok(Outcome::Later)
            }
        }
    }

    /// Returns an approval. Reads the answer if the question needs one.
    fn read_approval(&self, new_arguments: Option<Value>) -> Result<Feedback, Outcome> {
        let form = &self.record.call.form;
        let mut feedback = Feedback::new(true, shown::now());
        feedback.modified_args = new_arguments;
        if matches!(form.input_type, InputType::Confirm) {
            return Ok(feedback);
        }
        loop {
            let prompt = format!("answer ({}): ", shown::input_name(form.input_type));
            let text = self.read_answer(&prompt, form.sensitive)?;
            match super::parse_answer(self.record, &text) {
                Ok(value) => {
                    feedback.value = value;
                    return Ok(feedback);
                }
                Err(error) => render::note(&in_one_line(&error)),
            }
        }
    }

    fn read_rejection(&self) -> Result<Feedback, Outcome> {
        let mut feedback = Feedback::new(false, shown::now());
        let reason = self.read("why (may be empty)? ")?;
        feedback.reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        Ok(feedback)
    }

    /// Returns the new arguments that the person typed, or `None` if they are no JSON.
    fn read_new_arguments(&self) -> Result<Option<Value>, Outcome> {
        let current = self.record.call.call.arguments.to_string();
        render::note(&format!("  | {current}"));
        let text = self.read("arguments, as JSON on one line: ")?;
        match parse_arguments(text.trim()) {
            Ok(arguments) => {
                render::note("changed; `yes` approves the call with these arguments");
                Ok(Some(arguments))
            }
            Err(error) => {
                render::note(&in_one_line(&error));
                Ok(None)
            }
        }
    }

    /// Reads an answer, without showing it if it is sensitive.
    fn read_answer(&self, prompt: &str, sensitive: bool) -> Result<String, Outcome> {
        let hidden = sensitive.then(HiddenInput::begin);
        let typed = self.read(prompt);
        if hidden.is_some() && typed.is_ok() {
            render::note("");
        }
        typed
    }

    /// Reads a line. Fails with the outcome if the person leaves the question, or somebody else decides meanwhile.
    fn read(&self, prompt: &str) -> Result<String, Outcome> {
        let mut err = stderr().lock();
        // There is no other channel to report an error.
        drop(err.write_all(prompt.as_bytes()).and_then(|()| err.flush()));
        drop(err);
        while !wait_for_input() {
            if self.cancel.is_cancelled() {
                return Err(leave_question());
            }
            if self.is_decided() {
                render::note("\nit was decided elsewhere");
                return Err(Outcome::Decided);
            }
        }
        let mut line = String::new();
        let read = std::io::Read::take(stdin().lock(), MAX_LINE_BYTES).read_line(&mut line);
        match read {
            Ok(0) | Err(_) => Err(leave_question()),
            Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}

/// Ends the line of the prompt at which the person pressed Ctrl-C or Ctrl-D. Leaves the question undecided.
fn leave_question() -> Outcome {
    render::note("");
    Outcome::Later
}

/// Drops what was typed before a question was shown, because it is no answer to the question.
fn drop_earlier_input() {
    if let Err(error) = tcflush(stdin(), QueueSelector::IFlush) {
        tracing::debug!(%error, "earlier input cannot be dropped");
    }
}

/// Hides what is typed on the terminal until this value is dropped.
struct HiddenInput {
    /// The earlier settings, which are restored on drop. `None` if they could not be read.
    before: Option<Termios>,
}

impl HiddenInput {
    fn begin() -> Self {
        let before = tcgetattr(stdin()).ok();
        if let Some(mut hidden) = before.clone() {
            hidden.local_modes.remove(LocalModes::ECHO);
            if let Err(error) = tcsetattr(stdin(), OptionalActions::Flush, &hidden) {
                tracing::warn!(%error, "what is typed cannot be hidden");
            }
        }
        Self { before }
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(before) = &self.before
            && let Err(error) = tcsetattr(stdin(), OptionalActions::Drain, before)
        {
            tracing::warn!(%error, "the terminal does not show again what is typed");
        }
    }
}

/// Waits for input, at most for [`STORE_POLL_INTERVAL`]. Returns whether there is input or the input has ended.
fn wait_for_input() -> bool {
    let stdin = stdin();
    let mut descriptors = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec::try_from(STORE_POLL_INTERVAL).ok();
    // A signal interrupts the wait, and is no input.
    !matches!(poll(&mut descriptors, timeout.as_ref()), Ok(0) | Err(Errno::INTR))
}
