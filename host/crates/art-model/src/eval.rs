//! Measures how well a model chooses tools and fills their arguments, without running a tool.
//!
//! A set of cases is JSON lines: `{"query", "tools": [..C2..], "expected": [{"toolName", "arguments", "optional"}]}`.
//! Each argument lists the values that count as right; an optional one may be left out; an empty `expected` means that
//! no tool fits. The caller obtains the calls of the model, so this module does not depend on prompts.

mod cases;
mod report;
mod score;

pub use cases::{EvalCase, EvalError, ExpectedCall, parse_cases};
pub use report::{EvalReport, evaluate};
pub use score::{CaseResult, ProposedCall, score};
