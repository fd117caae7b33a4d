//! The agent: Plan, Execute, Synthesize (P1 to P98), as a state machine that does no I/O.
//!
//! A [`Run`] is the fold of its [`RunEvent`]s. It says what is to be done next ([`Run::next_steps`]), a driver does it,
//! journals what came of it and gives that back ([`Run::apply`]); what is to be published afterwards are the
//! [`Effect`]s. [`AnswerStream`] shows the answer before the run has it. There is no clock, no randomness and no model in
//! here, so a replay of a journal gives the same run.

mod error;
mod event;

mod effect;
mod report;
mod run;
mod step;

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

pub use effect::Effect;
pub use error::{ApplyError, ReplayError};
pub use event::{RunEvent, RunStart};
pub use file::RunFile;
pub use parse::AnswerStream;
pub use prompt::{PromptManager, resolve_system_prompt};
pub use report::RunReport;
pub use run::{Run, RunStage, RunView};
pub use step::{FilePlace, Step, StepId};
