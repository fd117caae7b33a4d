//! How well a model picks tools and fills their arguments, measured without running a tool.
//!
//! A set of cases is JSON lines: `{"query", "tools": [..C2..], "expected": [{"toolName", "arguments", "optional"}]}`. Each
//! argument lists the values that count as right; an optional one may be left out; an empty `expected` means that no tool
//! fits. The caller turns a case into the calls a model makes, so this module knows nothing of prompts.

mod cases;
mod report;
mod score;

pub use cases::{EvalCase, EvalError, ExpectedCall, parse_cases};
pub use report::{EvalReport, evaluate};
pub use score::{CaseResult, ProposedCall, score};
