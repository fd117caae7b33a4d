//! The tool system: registers tools, checks calls, runs them, and checks their results.
//!
//! A [`ParsedToolCall`](art_core::tool::ParsedToolCall) is untrusted. [`ToolSystem`] checks it and only then creates
//! the [`CheckedCall`], which is all that a [`ToolExecutor`] accepts. The output is untrusted until it was parsed under
//! limits and checked against its schema. Schemas are untrusted as well: the module [`admission`] checks
//! schemas, not calls, and refuses those that cost too much to apply.
//!
//! The crate does not depend on WebAssembly, models or stores.

pub mod executor;

pub mod admission;
pub mod approval;
pub mod form;
pub mod glob;
pub mod refusal;
pub mod registry;
pub mod schema;
pub mod shape;
pub mod violation;

pub mod config;
pub mod direct;
pub mod progress;
pub mod report;
pub mod scope;
pub mod system;

mod assist;
mod check;
mod compiled;
mod defaults;
mod offload;
mod output;
mod parse;
mod queue;
mod run;
mod scalar;
#[cfg(test)]
mod testing;
mod typed;

pub use approval::{
    AllowedValue, ApprovalAction, ApprovalPolicy, ApprovalRule, StandingApproval, StandingError, StandingScope, Verdict,
};
pub use art_core::outcome::EndingKind;
pub use compiled::check_name;
pub use config::SystemConfig;
pub use direct::{DirectCall, DirectTool};
pub use executor::{CheckedCall, ToolExecutor};
pub use form::{FeedbackErrors, answer_schema, check_feedback, file_answer, parse_entry};
pub use glob::Glob;
pub use output::{ASSIST_REQUIRED, TOOL_SUSPENSION_ID};
pub use progress::{CallProgress, NewestProgress, ToolProgress};
pub use refusal::{InvalidName, MAX_EXAMPLE_BYTES, MAX_PROMPT_BYTES, RegisterError};
pub use registry::{ToolRegistry, same_name};
pub use report::ToolReport;
pub use scope::{CallScope, EnabledLookup, EnabledTools};
pub use system::{AdmittedCall, ReplayableCall, ReplayedCall, ToolSystem};
