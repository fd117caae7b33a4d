//! The agent, as a state machine without I/O. It answers a question in three phases: it makes a plan, executes its steps, and
//! writes the answer (synthesis).
//!
//! The state of a [`Run`] follows from its [`RunEvent`]s alone: the run reads no clock, draws no random number and calls no model
//! or tool, so replaying the events of a journal always gives the same run. The program around the run, its driver, makes the
//! calls. [`Run::ask_models`] returns the model calls to make next, with the events that announce them, and [`Run::ready_calls`]
//! returns the tool calls to make next. The driver passes an event to [`Run::apply`] before each tool call and after each call of
//! a tool or a model. `apply` refuses an event that does not fit the state of the run, and returns the [`Effect`]s of any other
//! event, such as observations to store. The driver commits the event and its effects together, and then acts. [`AnswerStream`]
//! extracts the answer while the model still writes it.

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
mod required_tools;
mod shortlist;
mod truncate;

pub use action::{ActionId, Approval, FileArgument, ModelCall, ToolCall};
pub use effect::Effect;
pub use error::{ApplyError, ReplayError};
pub use estimate::{
    AnswerEstimate, Basis, CallEstimate, CallLimits, CallQuantiles, CostQuantiles, ModelBasis, ModelEstimate,
    ModelRecord, PlanEstimate, Quantiles, SizeClass, StepEstimate, ToolRecord, WorkQuantiles,
};
pub use event::{
    CallEnd, CallRefusal, CallToMake, InterruptedCall, Occasion, PlanToRun, PlannedCallQuestion, RunEvent, RunStart,
};
pub use file::RunFile;
pub use parse::AnswerStream;
pub use plan::{
    CheckedReference, Fit, PlanCheck, PlanFault, PlanResources, PlannedStep, SavedPlan, ToolStamp, constant_arguments,
    sample_output, value_text,
};
pub use prompt::{PromptManager, resolve_system_prompt};
pub use report::RunReport;
pub use run::{KnownCall, ModelCallsToSend, OpenSuspension, Run, RunStage, RunView};
