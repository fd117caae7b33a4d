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
mod words;

#[cfg(test)]
mod tests;

use error::EvalError;
use input::{CalculatorInput, CalculatorOutput};
use symbols::Symbols;

/// Calculates an arithmetic expression and returns its value: plus, minus, times, divided by, powers, square roots,
/// percentages ("17.5% of 2340"), logarithms, trigonometry, rounding, sums, averages, variables and complex numbers.
/// Use it whenever a question asks to calculate, compute, evaluate, add, subtract, multiply or divide numbers, or what
/// a formula comes to. Returns `result`: a number, or text such as `0 + 2i` for a complex number.
#[tool(
    example(
        ask = "What is 2+2?",
        ask = "2+2",
        ask = "Calculate 2+2",
        ask = "How much is 2+2?",
        ask = "Compute 2+2",
        ask = "Evaluate 2+2",
        ask = "Solve 2+2",
        ask = "What does 2+2 come to?",
        input = r#"{"expression":"2+2"}"#,
        output = r#"{"result":4}"#
    ),
    example(
        ask = "What is 15% of 80?",
        ask = "How much is 15% of 80?",
        ask = "Calculate 15% of 80",
        ask = "15% of 80",
        input = r#"{"expression":"15% of 80"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 17.5 percent of 2340?",
        ask = "17.5 percent of 2340",
        input = r#"{"expression":"17.5% of 2340"}"#,
        output = r#"{"result":409.5}"#
    ),
    example(
        ask = "What is 1284 divided by 6 plus 19?",
        input = r#"{"expression":"1284 / 6 + 19"}"#,
        output = r#"{"result":233}"#
    ),
    example(
        ask = "What is 25 plus 17?",
        ask = "Add 25 and 17",
        ask = "What is the sum of 25 and 17?",
        input = r#"{"expression":"25 + 17"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is 100 minus 37?",
        ask = "Subtract 37 from 100",
        ask = "What is the difference between 100 and 37?",
        input = r#"{"expression":"100 - 37"}"#,
        output = r#"{"result":63}"#
    ),
    example(
        ask = "What is 12 times 9?",
        ask = "Multiply 12 by 9",
        ask = "What is 12 multiplied by 9?",
        ask = "What is 12 x 9?",
        ask = "What is the product of 12 and 9?",
        input = r#"{"expression":"12 * 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "What is 96 divided by 8?",
        ask = "Divide 96 by 8",
        ask = "What is 96 over 8?",
        input = r#"{"expression":"96 / 8"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is the square root of 144?",
        ask = "Square root of 144",
        ask = "Calculate the square root of 144",
        input = r#"{"expression":"sqrt(144)"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is the cube root of 27?",
        input = r#"{"expression":"cbrt(27)"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is 2 to the power of 10?",
        ask = "What is 2 raised to the power of 10?",
        input = r#"{"expression":"2 ^ 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 9 squared?",
        ask = "What is the square of 9?",
        input = r#"{"expression":"9^2"}"#,
        output = r#"{"result":81}"#
    ),
    example(
        ask = "What is 7 cubed?",
        ask = "What is the cube of 7?",
        input = r#"{"expression":"7^3"}"#,
        output = r#"{"result":343}"#
    ),
    example(
        ask = "What is the average of 4, 8 and 15?",
        ask = "Average of 4, 8 and 15",
        ask = "What is the mean of 4, 8 and 15?",
        input = r#"{"expression":"mean(4, 8, 15)"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is the sum of 4, 8 and 15?",
        ask = "Add up 4, 8 and 15",
        ask = "What is the total of 4, 8 and 15?",
        input = r#"{"expression":"sum(4, 8, 15)"}"#,
        output = r#"{"result":27}"#
    ),
    example(
        ask = "What is the median of 3, 9 and 4?",
        input = r#"{"expression":"median(3, 9, 4)"}"#,
        output = r#"{"result":4}"#
    ),
    example(
        ask = "What is the largest of 3, 17 and 9?",
        ask = "What is the maximum of 3, 17 and 9?",
        input = r#"{"expression":"max(3, 17, 9)"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "What is the smallest of 3, 17 and 9?",
        ask = "What is the minimum of 3, 17 and 9?",
        input = r#"{"expression":"min(3, 17, 9)"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the standard deviation of 2, 4 and 9?",
        input = r#"{"expression":"std(2, 4, 9)"}"#,
        output = r#"{"result":3.60555127546399}"#
    ),
    example(
        ask = "What is 20% off 50?",
        ask = "What is 50 with 20% off?",
        ask = "How much is 50 after a 20% discount?",
        input = r#"{"expression":"50 - 20%"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "What is 80 increased by 15%?",
        ask = "Increase 80 by 15%",
        ask = "What is 80 plus 15%?",
        input = r#"{"expression":"80 + 15%"}"#,
        output = r#"{"result":92}"#
    ),
    example(
        ask = "What is 80 decreased by 15%?",
        ask = "Decrease 80 by 15%",
        ask = "What is 80 minus 15%?",
        input = r#"{"expression":"80 - 15%"}"#,
        output = r#"{"result":68}"#
    ),
    example(
        ask = "How much is a 15% tip on 60?",
        ask = "What is a 15% tip on 60?",
        input = r#"{"expression":"15% of 60"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "20 is what percent of 80?",
        ask = "What percent of 80 is 20?",
        ask = "What percentage of 80 is 20?",
        input = r#"{"expression":"20 / 80 * 100"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What is the percentage change from 50 to 75?",
        ask = "By what percentage does 50 grow to 75?",
        input = r#"{"expression":"(75 - 50) / 50 * 100"}"#,
        output = r#"{"result":50}"#
    ),
    example(
        ask = "What is half of 50?",
        ask = "Half of 50",
        input = r#"{"expression":"50 / 2"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What is a third of 90?",
        input = r#"{"expression":"90 / 3"}"#,
        output = r#"{"result":30}"#
    ),
    example(
        ask = "What is a quarter of 20?",
        input = r#"{"expression":"20 / 4"}"#,
        output = r#"{"result":5}"#
    ),
    example(
        ask = "What is double 21?",
        ask = "What is twice 21?",
        input = r#"{"expression":"21 * 2"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is 17 mod 5?",
        ask = "What is the remainder of 17 divided by 5?",
        input = r#"{"expression":"17 mod 5"}"#,
        output = r#"{"result":2}"#
    ),
    example(
        ask = "What is 5 factorial?",
        ask = "What is the factorial of 5?",
        input = r#"{"expression":"factorial(5)"}"#,
        output = r#"{"result":120}"#
    ),
    example(
        ask = "What is the absolute value of -7?",
        input = r#"{"expression":"abs(-7)"}"#,
        output = r#"{"result":7}"#
    ),
    example(
        ask = "What is the logarithm of 8 to base 2?",
        ask = "What is log base 2 of 8?",
        input = r#"{"expression":"log(8, 2)"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the natural logarithm of 10?",
        input = r#"{"expression":"ln(10)"}"#,
        output = r#"{"result":2.30258509299405}"#
    ),
    example(
        ask = "What is the sine of 30 degrees?",
        input = r#"{"expression":"sin(30 * pi / 180)"}"#,
        output = r#"{"result":0.5}"#
    ),
    example(
        ask = "What is the cosine of 60 degrees?",
        input = r#"{"expression":"cos(60 * pi / 180)"}"#,
        output = r#"{"result":0.5}"#
    ),
    example(
        ask = "Round 3.14159 to 2 decimal places",
        ask = "What is 3.14159 rounded to 2 decimals?",
        input = r#"{"expression":"round(3.14159, 2)"}"#,
        output = r#"{"result":3.14}"#
    ),
    example(
        ask = "Round 2.7 to the nearest whole number",
        input = r#"{"expression":"round(2.7)"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the greatest common divisor of 12 and 18?",
        input = r#"{"expression":"gcd(12, 18)"}"#,
        output = r#"{"result":6}"#
    ),
    example(
        ask = "What is the least common multiple of 4 and 6?",
        input = r#"{"expression":"lcm(4, 6)"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "How many ways are there to choose 2 out of 5?",
        input = r#"{"expression":"combinations(5, 2)"}"#,
        output = r#"{"result":10}"#
    ),
    example(
        ask = "What is 3 * x + 1 for x = 4?",
        ask = "What is 3 * x + 1 if x is 4?",
        input = r#"{"expression":"3 * x + 1","scope":{"x":4}}"#,
        output = r#"{"result":13}"#
    ),
    limits(fuel = 50_000_000, memory = "16 MiB", timeout = "2s")
)]
fn calculator(input: CalculatorInput) -> Result<CalculatorOutput> {
    evaluate(&input).map_err(ToolError::validation)
}

fn evaluate(input: &CalculatorInput) -> Result<CalculatorOutput, EvalError> {
    let symbols = Symbols::new(input.scope.as_ref(), input.ans)?;
    // People often end an expression with one of these.
    let expression = input.expression.trim_end_matches([' ', '=', '?']);
    let tokens = words::replace_phrases(&lexer::tokenize(expression)?, &symbols)?;
    let value = parser::evaluate(tokens, &symbols)?;
    Ok(CalculatorOutput {
        result: format::result(value)?,
    })
}
