//! The input and the output of the tool.

use std::collections::BTreeMap;

use art_sdk::{Numeric, args, output, serde_json};

/// One calculation.
#[args]
#[derive(Clone, Default)]
pub(crate) struct CalculatorInput {
    /// The arithmetic expression to calculate, for example `1284 / 6 + 19`, `17.5% of 2340`, `sqrt(2)^3` or `2 * x + ans`.
    /// Lists go to a function: `sum(4, 8, 15)`, `mean(4, 8, 15)`, `median(..)`, `max(..)`, `min(..)`.
    pub(crate) expression: String,
    /// Variables that the expression may name, for example `{"x": 3, "rate": 0.19}`.
    pub(crate) scope: Option<BTreeMap<String, Numeric>>,
    /// The result of an earlier calculation; the expression refers to it as `ans`.
    pub(crate) ans: Option<Numeric>,
}

/// The value of the expression.
#[output]
#[derive(Clone, PartialEq)]
pub(crate) struct CalculatorOutput {
    /// The result: a number, or text such as `0 + 2i` when it is a complex number.
    pub(crate) result: CalculatorResult,
}

/// A real result is a number, a complex one is text. A whole number of more than 64 bits is text too, since it would lose digits as a
/// number.
#[output]
#[derive(Clone, PartialEq)]
#[serde(untagged)]
pub(crate) enum CalculatorResult {
    /// A real number; a whole number has no decimal point.
    Number(serde_json::Number),
    /// A complex number, `<real> + <imaginary>i`, or the digits of a large whole number.
    Text(String),
}
