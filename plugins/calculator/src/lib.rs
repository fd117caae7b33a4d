//! `calculator`: evaluates one arithmetic expression.

use art_sdk::prelude::*;

mod cursor;
mod error;
mod format;
mod functions;
mod input;
mod lexer;
mod parser;
mod symbols;

#[cfg(test)]
mod tests;

use error::EvalError;
use input::{CalculatorInput, CalculatorOutput};
use symbols::Symbols;

/// Calculates an arithmetic expression and returns its value: plus, minus, times, divided by, powers, square roots,
/// percentages ("17.5% of 2340"), logarithms, trigonometry, rounding, sums, averages, variables and complex numbers.
/// Use it whenever a question asks to calculate, compute, evaluate, add, subtract, multiply or divide numbers, or what a
/// formula comes to. Returns `result`: a number, or text such as `0 + 2i` for a complex number.
#[tool(
    example(
        input = r#"{"expression":"1284 / 6 + 19"}"#,
        output = r#"{"result":233}"#,
        description = "What is 1284 divided by 6, plus 19?"
    ),
    example(
        input = r#"{"expression":"17.5% of 2340"}"#,
        output = r#"{"result":409.5}"#,
        description = "How much is 17.5 percent of 2340?"
    ),
    example(
        input = r#"{"expression":"ans / days","scope":{"days":7},"ans":409.5}"#,
        output = r#"{"result":58.5}"#,
        description = "Divide the last result by the number of days"
    ),
    example(
        input = r#"{"expression":"sqrt(-4)"}"#,
        output = r#"{"result":"0 + 2i"}"#,
        description = "The square root of a negative number is complex"
    ),
    limits(fuel = 50_000_000, memory = "16 MiB", timeout = "2s")
)]
fn calculator(input: CalculatorInput) -> Result<CalculatorOutput> {
    evaluate(&input).map_err(ToolError::validation)
}

fn evaluate(input: &CalculatorInput) -> Result<CalculatorOutput, EvalError> {
    let symbols = Symbols::new(input.scope.as_ref(), input.ans)?;
    let tokens = lexer::tokenize(&input.expression)?;
    let value = parser::evaluate(tokens, &symbols)?;
    Ok(CalculatorOutput {
        result: format::result(value)?,
    })
}
