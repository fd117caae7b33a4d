//! The agent: Plan, Execute, Synthesize, as a state machine that does no I/O.
//!
//! A [`Run`] is the fold of its [`RunEvent`]s. It lists what has to be done next ([`Run::open_actions`]). A driver does
//! that, journals the result as an event and applies the event ([`Run::apply`]), which returns the [`Effect`]s to
//! publish. [`AnswerStream`] shows the answer while it is still being written. The crate has no clock, no randomness
//! and no model, so replaying a journal always gives the same run.

mod error;
mod event;

mod action;
mod effect;
mod report;
mod run;

mod attachment;
mod call;
mod file;
mod item;
mod keep;
mod parse;
mod plan;
mod prompt;
mod shortlist;
mod taef;

pub use action::{Action, ActionId, FilePlace};
pub use effect::Effect;
pub use error::{ApplyError, ReplayError};
pub use event::{RunEvent, RunStart};
pub use file::RunFile;
pub use parse::AnswerStream;
pub use prompt::{PromptManager, resolve_system_prompt};
pub use report::RunReport;
pub use run::{Run, RunStage, RunView};
