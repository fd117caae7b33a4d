//! Why an expression has no value.

use thiserror::Error;

/// An expression that cannot be evaluated, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("Failed to evaluate expression: {reason}{}", place(*.at))]
pub(crate) struct EvalError {
    /// The 1-based character of the expression at which it failed, when one is to blame.
    pub(crate) at: Option<usize>,
    /// What is wrong there.
    pub(crate) reason: Reason,
}

/// What is wrong with an expression.
#[derive(Clone, Debug, Error, PartialEq)]
pub(crate) enum Reason {
    /// Not an expression of this grammar.
    #[error("syntax error: {0}")]
    Syntax(String),
    /// A call of a function that is not on the list.
    #[error("function `{name}` is not allowed; allowed functions: {allowed}")]
    DisallowedFunction {
        /// As written.
        name: String,
        /// Every allowed function.
        allowed: String,
    },
    /// A name that has no value.
    #[error("undefined symbol `{name}`; known symbols: {known}")]
    UndefinedSymbol {
        /// As written.
        name: String,
        /// Constants, variables, and `ans` when it was given.
        known: String,
    },
    /// A variable of `scope` that no expression could name.
    #[error("`scope` names a variable `{0}`: use letters, digits and `_`, and start with a letter")]
    BadVariable(String),
    /// A call with too few or too many arguments.
    #[error("function `{name}` takes {expected}, got {got}")]
    ArgumentCount {
        /// The function.
        name: &'static str,
        /// In words, for example `1 argument`.
        expected: String,
        /// How many were given.
        got: usize,
    },
    /// An argument outside of what the function is defined for.
    #[error("function `{name}` needs {needs}")]
    Domain {
        /// The function.
        name: &'static str,
        /// In words, for example `real numbers`.
        needs: &'static str,
    },
    /// `x / 0`, `x mod 0` or `0 ^ -1`.
    #[error("division by zero")]
    DivisionByZero,
    /// Infinity, or not a number.
    #[error("unsupported result: the value is {0}")]
    Unsupported(&'static str),
    /// Longer or more deeply nested than the limits.
    #[error("{0}")]
    TooLarge(String),
}

impl Reason {
    /// Ties the reason to the 0-based character `at`.
    pub(crate) fn at(self, at: usize) -> EvalError {
        EvalError {
            at: Some(at.saturating_add(1)),
            reason: self,
        }
    }

    /// A reason that no single character is to blame for.
    pub(crate) fn anywhere(self) -> EvalError {
        EvalError { at: None, reason: self }
    }
}

fn place(at: Option<usize>) -> String {
    at.map(|at| format!(" (at character {at})")).unwrap_or_default()
}
