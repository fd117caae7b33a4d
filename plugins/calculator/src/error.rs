//! The errors of an evaluation.

use thiserror::Error;

/// The reason why an expression cannot be evaluated, and the position in the expression.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("Failed to evaluate expression: {reason}{}", position_text(*.position))]
pub(crate) struct EvalError {
    /// The position of the character at which the evaluation failed, counted from 1; `None` if no single character is at fault.
    pub(crate) position: Option<usize>,
    /// Why the evaluation failed.
    pub(crate) reason: Reason,
}

/// The reason why an expression cannot be evaluated.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum Reason {
    /// The text is not a valid expression.
    #[error("{0}")]
    Syntax(String),
    /// A call of a function that is not allowed.
    #[error("no function `{name}`; the functions are {allowed}")]
    DisallowedFunction {
        /// The name as written.
        name: String,
        /// The names of all allowed functions.
        allowed: String,
    },
    /// A name that has no value.
    #[error("`{name}` has no value; known names: {known}")]
    UndefinedSymbol {
        /// The name as written.
        name: String,
        /// The names of the constants and variables, and `ans` if it was given.
        known: String,
    },
    /// A variable in the argument `scope` whose name no expression can contain.
    #[error("`scope` names a variable `{0}`: use letters, digits and `_`, and start with a letter")]
    BadVariable(String),
    /// A call with too few or too many arguments.
    #[error("function `{name}` takes {expected}, got {got}")]
    ArgumentCount {
        /// The name of the function.
        name: &'static str,
        /// The number of arguments that it takes, in words: `1 argument`.
        expected: String,
        /// The number of given arguments.
        got: usize,
    },
    /// An argument outside of the domain of the function.
    #[error("function `{name}` needs {needs}")]
    Domain {
        /// The name of the function.
        name: &'static str,
        /// The arguments that it needs, in words: `real numbers`.
        needs: &'static str,
    },
    /// `x / 0`, `x mod 0` or `0 ^ -1`.
    #[error("division by zero")]
    DivisionByZero,
    /// The result is infinite or not a number.
    #[error("unsupported result: the value is {0}")]
    NotFinite(&'static str),
    /// The expression is longer or more deeply nested than allowed.
    #[error("{0}")]
    TooLarge(String),
}

impl Reason {
    /// Returns the error at the position `at`, counted from 0; [`EvalError::position`] counts from 1.
    pub(crate) fn at(self, at: usize) -> EvalError {
        EvalError {
            position: Some(at.saturating_add(1)),
            reason: self,
        }
    }

    /// Returns the error without a position.
    pub(crate) fn without_position(self) -> EvalError {
        EvalError {
            position: None,
            reason: self,
        }
    }
}

fn position_text(position: Option<usize>) -> String {
    position
        .map(|position| format!(" (at character {position})"))
        .unwrap_or_default()
}
