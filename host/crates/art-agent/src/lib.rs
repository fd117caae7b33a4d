//! The agent: Plan, Execute, Synthesize, as a state machine without I/O.
//!
//! A [`Run`] is the fold of its [`RunEvent`]s. [`Run::open_actions`] lists the model calls and tool calls to make next.
//! A driver makes them, writes the result to the journal as an event and passes the event to [`Run::apply`], which
//! returns the [`Effect`]s to publish. [`AnswerStream`] extracts the answer while the model still writes it. The crate
//! reads no clock, draws no random number and calls no model, so replaying a journal always gives the same run.

mod error;
mod event;

mod action;
mod effect;
mod estimate;
mod report;
mod run;

mod attachment;
mod call;
mod file;
mod item;
mod parse;
mod plan;
mod prompt;
mod shortlist;
mod taef;
mod truncate;

pub use action::{Action, ActionId, FileArgument};
pub use effect::Effect;
pub use error::{ApplyError, ReplayError};
pub use estimate::{
    AnswerEstimate, Basis, CallEstimate, CallLimits, CallQuantiles, CostQuantiles, ModelBasis, ModelEstimate,
    ModelRecord, PlanEstimate, Quantiles, SizeClass, StepEstimate, ToolRecord, WorkQuantiles,
};
pub use event::{InterruptedCall, Occasion, PlanToRun, RunEvent, RunStart};
pub use file::RunFile;
pub use parse::AnswerStream;
pub use plan::{
    Available, CheckedReference, Fit, KeptPlan, PlanCheck, PlanFault, PlannedStep, ToolStamp, constant_arguments,
    sample_output, value_text,
};
pub use prompt::{PromptManager, resolve_system_prompt};
pub use report::RunReport;
pub use run::{Run, RunStage, RunView};
