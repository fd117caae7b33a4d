//! The agent: Plan, Execute, Synthesize, as a state machine without I/O.
//!
//! A [`Run`] is the fold of its [`RunEvent`]s. [`Run::ask_models`] returns the model calls to make next, with the events that announce
//! them, and [`Run::ready_calls`] the tool calls. A driver passes the announcement of each tool call and each outcome as an event to
//! [`Run::apply`], which refuses events that do not fit and returns the [`Effect`]s. The driver commits the event together with them,
//! and then acts. [`AnswerStream`] extracts the answer while the model still writes it. A run reads no clock, draws no random number
//! and calls no model, so replaying a journal always gives the same run.

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
mod observe;
mod parse;
mod plan;
mod prompt;
mod shortlist;
mod taef;
mod truncate;

pub use action::{ActionId, Approval, FileArgument, ModelCall, ToolCall};
pub use effect::Effect;
pub use error::{ApplyError, ReplayError};
pub use estimate::{
    AnswerEstimate, Basis, CallEstimate, CallLimits, CallQuantiles, CostQuantiles, ModelBasis, ModelEstimate,
    ModelRecord, PlanEstimate, Quantiles, SizeClass, StepEstimate, ToolRecord, WorkQuantiles,
};
pub use event::{
    CallEnd, CallRefusal, CallToMake, InterruptedCall, Occasion, PlanToRun, PlannedQuestion, RunEvent, RunStart,
};
pub use file::RunFile;
pub use parse::AnswerStream;
pub use plan::{
    Available, CheckedReference, Fit, KeptPlan, PlanCheck, PlanFault, PlannedStep, ToolStamp, constant_arguments,
    sample_output, value_text,
};
pub use prompt::{PromptManager, resolve_system_prompt};
pub use report::RunReport;
pub use run::{AskedModels, KnownCall, OpenSuspension, Run, RunStage, RunView};
