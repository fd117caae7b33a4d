//! The tools of the host: which there are, whether a call may be made, what its answer is worth.
//!
//! A [`ParsedToolCall`](art_core::tool::ParsedToolCall) is untrusted. [`ToolSystem`] checks it, and only then makes the
//! [`Admitted`] that a [`ToolExecutor`] accepts; what comes back is untrusted as well until it has been parsed under limits
//! and checked against the schema of the output. Schemas are untrusted too: [`admission`] refuses those that cost too much
//! to use. The crate knows nothing of WebAssembly, of models or of stores.

pub mod executor;
pub mod sink;

pub mod admission;
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

mod apart;
mod assist;
mod check;
mod compiled;
mod defaults;
mod observe;
mod output;
mod parse;
mod queue;
mod run;
#[cfg(test)]
mod testing;
mod typed;

pub use compiled::check_name;
pub use config::SystemConfig;
pub use direct::{DirectCall, DirectTool};
pub use executor::{Admitted, ToolExecutor};
pub use observe::MAX_OBSERVED_BYTES;
pub use output::{ASSIST_REQUIRED, FEEDBACK_SCHEMA, TOOL_SUSPENSION_ID};
pub use progress::{CallProgress, NewestProgress, ToolProgress};
pub use refusal::{InvalidName, MAX_EXAMPLE_BYTES, MAX_PROMPT_BYTES, RegisterError};
pub use registry::{ToolRegistry, same_name};
pub use report::{CallEnding, ToolReport};
pub use scope::{AskEnabled, CallScope, EnabledTools};
pub use sink::{ObservationSink, SinkError};
pub use system::ToolSystem;
