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

use super::super::current_time;
use super::super::interrupt::Interrupts;
use super::{as_text, no_longer_waits, parse_arguments, standing, suspension_key};
use crate::cli::GlobalOptions;
use crate::render;

/// Interval at which the store is read while the person thinks, because somebody else may decide.
const STORE_POLL_INTERVAL: Duration = Duration::from_millis(200);
/// Maximum length of a line that is typed, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns whether a person can be asked: stdin and stderr are at a terminal, and the output is not JSON.
pub(in crate::commands) fn is_attended(global: &GlobalOptions) -> bool {
    !global.json && stdin().is_terminal() && stderr().is_terminal()
}

/// How a question about one call ended.
enum QuestionOutcome {
    /// The call is decided, by this person or elsewhere.
    Decided,
    /// The question is left without a decision.
    Later,
}

/// Asks the person about each of the calls. Returns whether to resume the run, which is the case if at least one call was decided
/// and the person was asked about every call. The answer `later` and Ctrl-D leave one call undecided; Ctrl-C leaves this call
/// and all further ones undecided. Blocks the thread while the person thinks, which is harmless because a run that waits holds
/// no lease, that is, does not keep other processes from writing to the conversation.
pub(in crate::commands) fn decide_at_terminal(
    executor: &Handle,
    runtime: &Runtime,
    user: Option<&str>,
    interrupts: &Interrupts,
    waiting: &[SuspensionRecord],
) -> bool {
    let registration = interrupts.register_question();
    let questions = waiting.iter().map(|record| Question {
        executor,
        runtime,
        user,
        cancel: &registration.cancel,
        record,
    });
    let questions: Vec<_> = questions.collect();
    match all::ask_about_all(&questions) {
        all::TogetherOutcome::Decided => return true,
        all::TogetherOutcome::Later => return false,
        all::TogetherOutcome::OneByOne => {}
    }
    let mut any_decided = false;
    for (index, question) in questions.iter().enumerate() {
        if registration.cancel.is_cancelled() {
            return false;
        }
        if waiting.len() > 1 {
            render::note(&format!("decision {} of {}", index + 1, waiting.len()));
        }
        any_decided |= matches!(question.ask(), QuestionOutcome::Decided);
    }
    any_decided
}

/// A question to the person at the terminal about one call.
struct Question<'a> {
    executor: &'a Handle,
    runtime: &'a Runtime,
    /// The person at the terminal, as named by `--user`.
    user: Option<&'a str>,
    /// Is cancelled by Ctrl-C, which leaves the question.
    cancel: &'a CancellationToken,
    /// The call that waits.
    record: &'a SuspensionRecord,
}

impl Question<'_> {
    /// Asks until the question ends.
    fn ask(&self) -> QuestionOutcome {
        if self.is_decided() {
            return QuestionOutcome::Decided;
        }
        if let Some(outcome) = self.decide_by_standing_approval() {
            return outcome;
        }
        drop_earlier_input();
        render::note(&as_text::question(self.record));
        let mut new_arguments: Option<Value> = None;
        loop {
            // The error is no failure: it is how the question ended.
            match self.handle_line(&mut new_arguments) {
                Ok(()) => {}
                Err(outcome) => return outcome,
            }
        }
    }

    /// Returns whether the call no longer waits, because somebody has decided about it.
    fn is_decided(&self) -> bool {
        let owner = Owner::user(self.user);
        self.executor
            .block_on(no_longer_waits(self.runtime, &owner, self.record.id()))
    }

    /// Reads one line of the person and carries it out. `new_arguments` are the arguments that the person has typed in place of
    /// those of the call. Returns the outcome as an error if the question has ended, and `Ok` if it has to be asked again.
    fn handle_line(&self, new_arguments: &mut Option<Value>) -> Result<(), QuestionOutcome> {
        let mut standing_approval = None;
        let typed = self.read(&self.prompt())?;
        let feedback = match typed.trim().to_lowercase().as_str() {
            "y" | "yes" => self.read_approval(new_arguments.clone())?,
            "n" | "no" => self.read_rejection()?,
            "a" | "always" if self.may_approve_later_calls() && new_arguments.is_some() => {
                render::note("`always` needs unchanged arguments: answer `yes` to approve the changed ones");
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
                render::note(&as_text::details(self.record));
                return Ok(());
            }
            "l" | "later" => return Err(QuestionOutcome::Later),
            _ => return Ok(()),
        };
        match self.decide(feedback, standing_approval) {
            Ok(outcome) => Err(outcome),
            Err(problem) => {
                *new_arguments = None;
                render::note(&as_text::refused_decision(&problem));
                Ok(())
            }
        }
    }

    /// Returns the prompt: the words with which the person can answer this question.
    fn prompt(&self) -> String {
        let edit = if self.may_edit() { ", edit" } else { "" };
        let always = if self.may_approve_later_calls() { ", always" } else { "" };
        format!("yes, no{edit}{always}, details or later? ")
    }

    /// Returns whether the person may change the arguments.
    fn may_edit(&self) -> bool {
        let call = &self.record.call;
        call.form.allow_modify_args || matches!(call.cause, SuspensionCause::Rule { .. })
    }

    /// Stores the decision, and then the standing approval. The call also counts as decided if somebody else has decided about it
    /// or its time is over. If the decision cannot be stored, prints the error and leaves the call undecided.
    ///
    /// # Errors
    /// Fails with what is wrong with the decision, so that the person can decide again.
    fn decide(
        &self,
        feedback: Feedback,
        standing_approval: Option<StandingApproval>,
    ) -> Result<QuestionOutcome, String> {
        let key = suspension_key(self.record, &Owner::user(self.user));
        let decided = self.executor.block_on(self.runtime.decide(key, feedback));
        match decided {
            Ok(_) => {
                standing_approval
                    .into_iter()
                    .for_each(|approval| standing::store(self.runtime, approval));
                Ok(QuestionOutcome::Decided)
            }
            Err(RuntimeError::Decision { problem, .. }) => Err(problem),
            Err(
                error @ RuntimeError::Store(StoreError::AlreadyDecided { .. } | StoreError::SuspensionExpired { .. }),
            ) => {
                render::note(&in_one_line(&error));
                Ok(QuestionOutcome::Decided)
            }
            Err(error) => {
                render::note(&format!("error: {}", in_one_line(&error)));
                Ok(QuestionOutcome::Later)
            }
        }
    }

    /// Returns an approval. If the tool asks for an answer besides the approval, reads the answer.
    fn read_approval(&self, new_arguments: Option<Value>) -> Result<Feedback, QuestionOutcome> {
        let form = &self.record.call.form;
        let mut feedback = Feedback::new(true, current_time());
        feedback.modified_args = new_arguments;
        if matches!(form.input_type, InputType::Confirm) {
            return Ok(feedback);
        }
        loop {
            let prompt = format!("answer ({}): ", as_text::expected_answer(form.input_type));
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

    fn read_rejection(&self) -> Result<Feedback, QuestionOutcome> {
        let mut feedback = Feedback::new(false, current_time());
        let reason = self.read("why (may be empty)? ")?;
        feedback.reason = Some(reason.trim().to_owned()).filter(|reason| !reason.is_empty());
        Ok(feedback)
    }

    /// Returns the new arguments that the person typed, or `None` if they are no JSON.
    fn read_new_arguments(&self) -> Result<Option<Value>, QuestionOutcome> {
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
    fn read_answer(&self, prompt: &str, sensitive: bool) -> Result<String, QuestionOutcome> {
        let hidden = sensitive.then(HiddenInput::begin);
        let typed = self.read(prompt);
        // The terminal did not show the line end that was typed.
        if hidden.is_some() && typed.is_ok() {
            render::note("");
        }
        typed
    }

    /// Reads a line. Returns the outcome as an error if the person leaves the question, or somebody else decides meanwhile.
    fn read(&self, prompt: &str) -> Result<String, QuestionOutcome> {
        let mut err = stderr().lock();
        // An error cannot be reported: there is no channel besides stderr.
        drop(err.write_all(prompt.as_bytes()).and_then(|()| err.flush()));
        drop(err);
        while !wait_for_input() {
            if self.cancel.is_cancelled() {
                return Err(leave_question());
            }
            if self.is_decided() {
                render::note("\nit was decided elsewhere");
                return Err(QuestionOutcome::Decided);
            }
        }
        let mut line = String::new();
        let read = std::io::Read::take(stdin().lock(), MAX_LINE_BYTES).read_line(&mut line);
        match read {
            // Ctrl-D, or a terminal that is gone.
            Ok(0) | Err(_) => Err(leave_question()),
            Ok(_) => Ok(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}

/// Ends the line of the prompt at which the person pressed Ctrl-C or Ctrl-D. Returns the outcome of a question without a
/// decision.
fn leave_question() -> QuestionOutcome {
    render::note("");
    QuestionOutcome::Later
}

/// Drops what was typed before a question was shown, because it is no answer to the question.
fn drop_earlier_input() {
    if let Err(error) = tcflush(stdin(), QueueSelector::IFlush) {
        tracing::debug!(%error, "earlier input cannot be dropped");
    }
}

/// Hides what is typed on the terminal until this value is dropped.
struct HiddenInput {
    /// The settings of the terminal before, which are restored on drop. `None` if they could not be read.
    original: Option<Termios>,
}

impl HiddenInput {
    fn begin() -> Self {
        let original = tcgetattr(stdin()).ok();
        if let Some(mut hidden) = original.clone() {
            hidden.local_modes.remove(LocalModes::ECHO);
            if let Err(error) = tcsetattr(stdin(), OptionalActions::Flush, &hidden) {
                tracing::warn!(%error, "what is typed cannot be hidden");
            }
        }
        Self { original }
    }
}

impl Drop for HiddenInput {
    fn drop(&mut self) {
        if let Some(original) = &self.original
            && let Err(error) = tcsetattr(stdin(), OptionalActions::Drain, original)
        {
            tracing::warn!(%error, "what is typed stays hidden on the terminal");
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
