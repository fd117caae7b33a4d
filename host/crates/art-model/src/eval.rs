//! Measures how well a model chooses tools and fills their arguments, without running a tool.
//!
//! A set of cases is a file of JSON lines: `{"query", "tools": [..], "expected": [{"toolName", "arguments", "optional"}]}`,
//! where each tool is a tool schema (contract C2). Each argument lists its accepted values; arguments in `optional` may
//! be omitted; an empty `expected` means that no tool fits. The caller asks the model for its tool calls, so this module
//! does not depend on prompts.

mod cases;
mod report;
mod score;

pub use cases::{EvalCase, EvalError, ExpectedCall, parse_cases};
pub use report::{EvalReport, evaluate};
pub use score::{CaseResult, ProposedCall, score};
