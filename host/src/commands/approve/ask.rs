//! Asks a person at the terminal about calls that wait.

use std::io::{BufRead, IsTerminal, Write, stderr, stdin};
use std::time::Duration;

use art_core::hitl::{Feedback, InputType};
use art_runtime::error::in_one_line;
use art_runtime::{Runtime, RuntimeError};
use art_store::{StoreError, SuspensionRecord};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use serde_json::Value;
use tokio::runtime::Handle;

use super::{arguments, is_decided, of_terminal, shown};
use crate::cli::Global;
use crate::render;

/// How often the store is looked at while the person thinks: somebody else may decide.
const LOOK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum length of a line that is typed, in bytes.
const MAX_LINE_BYTES: u64 = 64 << 10;

/// Returns whether a person can be asked: input and messages are at a terminal.
pub(in crate::commands) fn is_attended(global: &Global) -> bool {
    !global.json && stdin().is_terminal() && stderr().is_terminal()
}

/// What came of asking.
enum Outcome {
    /// It is decided, here or elsewhere.
    Decided,
    /// The person decides later.
    Later,
}

/// Asks the person about each of the calls. Returns whether all were decided. Blocks the thread while the person thinks, but not the
/// renewal of leases, which runs on the threads of `executor`.
pub(in crate::commands) fn decide_at_terminal(
    executor: &Handle,
    runtime: &Runtime,
    waiting: &[SuspensionRecord],
) -> bool {
    let mut all_decided = true;
    for (n, record) in waiting.iter().enumerate() {
        if waiting.len() > 1 {
            render::note(&format!("decision {} of {}", n + 1, waiting.len()));
        }
        all_decided &= matches!(
            Question {
                executor,
                runtime,
                record
            }
            .ask(),
            Outcome::Decided
        );
    }
    all_decided
}

struct Question<'a> {
    executor: &'a Handle,
    runtime: &'a Runtime,
    record: &'a SuspensionRecord,
}

/// What a person typed.
enum Typed {
    Line(String),
    /// The input has ended.
    End,
    /// Somebody else decided meanwhile.
    DecidedElsewhere,
}

impl Question<'_> {
    fn ask(&self) -> Outcome {
        render::note(&shown::question(self.record));
        let mut changed: Option<Value> = None;
        loop {
            let typed = match self.read("yes, no, edit, details or later? ") {
                Typed::Line(line) => line,
                Typed::End => return Outcome::Later,
                Typed::DecidedElsewhere => return decided_elsewhere(),
            };
            let feedback = match typed.trim().to_lowercase().as_str() {
                "y" | "yes" => self.approval(changed.clone()),
                "n" | "no" => self.rejection(),
                "e" | "edit" => {
                    changed = self.edited().or(changed);
                    continue;
                }
                "d" | "details" => {
                    render::note(&shown::details(self.record));
                    continue;
                }
                "l" | "later" => return Outcome::Later,
                _ => continue,
            };
            let Some(feedback) = feedback else {
                return decided_elsewhere();
            };
            match self.decide(feedback) {
                Ok(outcome) => return outcome,
                Err(problem) => render::note(&problem),
            }
        }
    }

    /// Stores the decision. Fails with what is wrong with it, so that the person can decide again.
    fn decide(&self, feedback: Feedback) -> Result<Outcome, String> {
        let decided = self
            .executor
            .block_on(self.runtime.decide(of_terminal(self.record), feedback));
        match decided {
            Ok(_) => Ok(Outcome::Decided),
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

    /// Returns an approval, with the answer if the question needs one. `None` if somebody else decided meanwhile.
    fn approval(&self, changed: Option<Value>) -> Option<Feedback> {
        let form = &self.record.call.form;
        let mut feedback = Feedback::new(true, shown::now());
        feedback.modified_args = changed;
        if matches!(form.input_type, InputType::Confirm) {
            return Some(feedback);
        }
        loop {
            let prompt = format!("answer ({}): ", shown::input_name(form.input_type));
            let text = match self.read_answer(&prompt, form.sensitive) {
                Typed::Line(text) => text,
                Typed::End => String::new(),
                Typed::DecidedElsewhere => return None,
            };
            match super::answer(self.record, &text) {
                Ok(value) => {
                    feedback.value = value;
                    return Some(feedback);
                }
                Err(error) => render::note(&in_one_line(&error)),
            }
        }
    }

    fn rejection(&self) -> Option<Feedback> {
        let mut feedback = Feedback::new(false, shown::now());
        match self.read("why (may be empty)? ") {
            Typed::Line(reason) if !reason.trim().is_empty() => feedback.reason = Some(reason.trim().to_owned()),
            Typed::Line(_) | Typed::End => {}
            Typed::DecidedElsewhere => return None,
        }
        Some(feedback)
    }

    /// Returns other arguments that the person typed.
    fn edited(&self) -> Option<Value> {
        let now = self.record.call.call.arguments.to_string();
        render::note(&format!("  | {now}"));
        let Typed::Line(text) = self.read("arguments, as JSON on one line: ") else {
            return None;
        };
        match arguments(text.trim()) {
            Ok(arguments) => {
                render::note("changed; `yes` approves the call with these arguments");
                Some(arguments)
            }
            Err(error) => {
                render::note(&in_one_line(&error));
                None
            }
        }
    }

    /// Reads an answer, without showing it if it is sensitive.
    fn read_answer(&self, prompt: &str, sensitive: bool) -> Typed {
        let hidden = sensitive.then(HiddenInput::begin);
        let typed = self.read(prompt);
        if hidden.is_some() {
            render::note("");
        }
        typed
    }

    /// Reads a line. Looks meanwhile whether somebody else decides.
    fn read(&self, prompt: &str) -> Typed {
        let mut err = stderr().lock();
        // There is no other channel to report an error.
        drop(err.write_all(prompt.as_bytes()).and_then(|()| err.flush()));
        drop(err);
        while !input_is_ready() {
            if self.executor.block_on(is_decided(self.runtime, self.record.id())) {
                render::note("");
                return Typed::DecidedElsewhere;
            }
        }
        let mut line = String::new();
        let read = std::io::Read::take(stdin().lock(), MAX_LINE_BYTES).read_line(&mut line);
        match read {
            Ok(0) | Err(_) => Typed::End,
            Ok(_) => Typed::Line(line.trim_end_matches(['\n', '\r']).to_owned()),
        }
    }
}

/// While it lives, the terminal does not show what is typed.
struct HiddenInput {
    /// The settings before, to which the terminal returns.
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

fn decided_elsewhere() -> Outcome {
    render::note("it was decided elsewhere");
    Outcome::Decided
}

/// Waits for input for some time. Returns whether there is some, or its end.
fn input_is_ready() -> bool {
    let stdin = stdin();
    let mut descriptors = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout = Timespec::try_from(LOOK_INTERVAL).ok();
    !matches!(poll(&mut descriptors, timeout.as_ref()), Ok(0))
}
