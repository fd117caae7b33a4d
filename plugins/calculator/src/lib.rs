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
mod value;
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
        ask = "What's 3 * 24.99?",
        ask = "3 * 24.99 is what?",
        ask = "What does 3 * 24.99 make?",
        ask = "What is 3 * 24.99 equal to?",
        ask = "Please work out 3 * 24.99",
        ask = "Calculate 3 * 24.99 for me",
        ask = "3 * 24.99 equals",
        ask = "Result of 3 * 24.99",
        ask = "How much does 3 * 24.99 give?",
        ask = "3 * 24.99 = ?",
        input = r#"{"expression":"3 * 24.99"}"#
    ),
    example(
        ask = "sqrt of 2025",
        ask = "What is the sqrt of 2025?",
        input = r#"{"expression":"sqrt of 2025"}"#
    ),
    example(
        ask = "15 percent off 80 dollars",
        input = r#"{"expression":"15 percent off 80 dollars"}"#
    ),
    example(ask = "What is 15% off 80 euros?", input = r#"{"expression":"15% off 80 euros"}"#),
    example(
        ask = "sum of 4, 8, and 15",
        ask = "What is the sum of 4, 8, and 15?",
        input = r#"{"expression":"sum of 4, 8, and 15"}"#
    ),
    example(
        ask = "average of 4, 8, and 15",
        input = r#"{"expression":"average of 4, 8, and 15"}"#
    ),
    example(
        ask = "lowest common multiple of 12 and 18",
        input = r#"{"expression":"lowest common multiple of 12 and 18"}"#
    ),
    example(
        ask = "greatest common divisor of 84 and 126",
        ask = "What is the greatest common divisor of 84 and 126?",
        input = r#"{"expression":"greatest common divisor of 84 and 126"}"#
    ),
    example(
        ask = "What is the remainder of 100 divided by 7?",
        input = r#"{"expression":"remainder of 100 divided by 7"}"#
    ),
    example(
        ask = "40 as a percentage of 250",
        ask = "What is 40 as a percentage of 250?",
        input = r#"{"expression":"40 as a percentage of 250"}"#
    ),
    example(
        ask = "half of 37",
        ask = "What is half of 37?",
        input = r#"{"expression":"half of 37"}"#
    ),
    example(ask = "the product of 14 and 15", input = r#"{"expression":"product of 14 and 15"}"#),
    example(
        ask = "40 is what percent of 250?",
        input = r#"{"expression":"40 is what percent of 250"}"#
    ),
    example(ask = "natural log of 10", input = r#"{"expression":"natural log of 10"}"#),
    example(ask = "1024 / 32 + 18", input = r#"{"expression":"1024 / 32 + 18"}"#),
    example(ask = "(12.5 + 7.5) * 3 - 4", input = r#"{"expression":"(12.5 + 7.5) * 3 - 4"}"#),
    example(ask = "12 * (8 - 3)", input = r#"{"expression":"12 * (8 - 3)"}"#),
    example(ask = "(3 + 4)^2 / 7", input = r#"{"expression":"(3 + 4)^2 / 7"}"#),
    example(ask = "add 4, 8 and 15", input = r#"{"expression":"add 4, 8 and 15"}"#),
    example(
        ask = "7 factorial",
        ask = "What is 7 factorial?",
        input = r#"{"expression":"7 factorial"}"#
    ),
    example(ask = "factorial of 7", input = r#"{"expression":"factorial of 7"}"#),
    example(ask = "6 cubed", input = r#"{"expression":"6 cubed"}"#),
    example(ask = "13 squared", input = r#"{"expression":"13 squared"}"#),
    example(
        ask = "round 3.14159 to 2 decimals",
        input = r#"{"expression":"round 3.14159 to 2 decimals"}"#
    ),
    example(
        ask = "round 3.14159 to 2 decimal places",
        input = r#"{"expression":"round 3.14159 to 2 decimal places"}"#
    ),
    example(
        ask = "subtract 389 from 1200",
        ask = "What do you get if you subtract 389 from 1200?",
        input = r#"{"expression":"subtract 389 from 1200"}"#
    ),
    example(ask = "How much is 999 plus 2?", input = r#"{"expression":"999 plus 2"}"#),
    example(
        ask = "multiply 36 by 25",
        ask = "What do you get if you multiply 36 by 25?",
        input = r#"{"expression":"multiply 36 by 25"}"#
    ),
    example(ask = "cos(0) + sin(pi/2)", input = r#"{"expression":"cos(0) + sin(pi/2)"}"#),
    example(
        ask = "What is 2+2?",
        ask = "2+2",
        ask = "Calculate 2+2",
        ask = "How much is 2+2?",
        ask = "Compute 2+2",
        ask = "Evaluate 2+2",
        ask = "Solve 2+2",
        ask = "Find 2+2",
        ask = "Work out 2+2",
        ask = "What does 2+2 come to?",
        ask = "What do you get for 2+2?",
        ask = "What is the result of 2+2?",
        input = r#"{"expression":"2+2"}"#,
        output = r#"{"result":4}"#
    ),
    example(
        ask = "What is -5 + 3?",
        input = r#"{"expression":"-5 + 3"}"#,
        output = r#"{"result":-2}"#
    ),
    example(
        ask = "What is -(2+3)*4?",
        ask = "-(2+3)*4",
        input = r#"{"expression":"-(2+3)*4"}"#,
        output = r#"{"result":-20}"#
    ),
    example(
        ask = "What is 15% of 80?",
        input = r#"{"expression":"15% of 80"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 17.5 percent of 2340?",
        input = r#"{"expression":"17.5 percent of 2340"}"#,
        output = r#"{"result":409.5}"#
    ),
    example(
        ask = "What is 15% of $80?",
        input = r#"{"expression":"15% of $80"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 1284 divided by 6 plus 19?",
        input = r#"{"expression":"1284 divided by 6 plus 19"}"#,
        output = r#"{"result":233}"#
    ),
    example(
        ask = "What is (3 + 4) * 2 - 6 / 3?",
        input = r#"{"expression":"(3 + 4) * 2 - 6 / 3"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 2 ^ 10?",
        input = r#"{"expression":"2 ^ 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 12 × 9 ÷ 3 − 6?",
        input = r#"{"expression":"12 × 9 ÷ 3 − 6"}"#,
        output = r#"{"result":30}"#
    ),
    example(
        ask = "What is 2 ** 3?",
        input = r#"{"expression":"2 ** 3"}"#,
        output = r#"{"result":8}"#
    ),
    example(ask = "What is 5!?", input = r#"{"expression":"5!"}"#, output = r#"{"result":120}"#),
    example(
        ask = "What is 25 plus 17?",
        input = r#"{"expression":"25 plus 17"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is the sum of 25 and 17?",
        input = r#"{"expression":"sum of 25 and 17"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is 100 minus 37?",
        input = r#"{"expression":"100 minus 37"}"#,
        output = r#"{"result":63}"#
    ),
    example(
        ask = "What is the difference between 100 and 37?",
        input = r#"{"expression":"difference between 100 and 37"}"#,
        output = r#"{"result":63}"#
    ),
    example(
        ask = "What is 12 times 9?",
        input = r#"{"expression":"12 times 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "What is 12 multiplied by 9?",
        input = r#"{"expression":"12 multiplied by 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "What is 12 x 9?",
        input = r#"{"expression":"12 x 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "What is the product of 12 and 9?",
        input = r#"{"expression":"product of 12 and 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "What is 96 divided by 8?",
        input = r#"{"expression":"96 divided by 8"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 96 over 8?",
        input = r#"{"expression":"96 over 8"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is the square root of 144?",
        input = r#"{"expression":"square root of 144"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 3 times the square root of 16?",
        input = r#"{"expression":"3 times the square root of 16"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is sqrt(144)?",
        input = r#"{"expression":"sqrt(144)"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is the cube root of 27?",
        input = r#"{"expression":"cube root of 27"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is 2 to the power of 10?",
        input = r#"{"expression":"2 to the power of 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 2 raised to the power of 10?",
        input = r#"{"expression":"2 raised to the power of 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 9 squared?",
        input = r#"{"expression":"9 squared"}"#,
        output = r#"{"result":81}"#
    ),
    example(
        ask = "What is the square of 9?",
        input = r#"{"expression":"square of 9"}"#,
        output = r#"{"result":81}"#
    ),
    example(
        ask = "What is 7 cubed?",
        input = r#"{"expression":"7 cubed"}"#,
        output = r#"{"result":343}"#
    ),
    example(
        ask = "What is the cube of 7?",
        input = r#"{"expression":"cube of 7"}"#,
        output = r#"{"result":343}"#
    ),
    example(
        ask = "What is the average of 4, 8 and 15?",
        input = r#"{"expression":"average of 4, 8 and 15"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is the mean of 4, 8 and 15?",
        input = r#"{"expression":"mean of 4, 8 and 15"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is the total of 4, 8 and 15?",
        input = r#"{"expression":"total of 4, 8 and 15"}"#,
        output = r#"{"result":27}"#
    ),
    example(
        ask = "What is the median of 3, 9 and 4?",
        input = r#"{"expression":"median of 3, 9 and 4"}"#,
        output = r#"{"result":4}"#
    ),
    example(
        ask = "What is the largest of 3, 17 and 9?",
        input = r#"{"expression":"largest of 3, 17 and 9"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "What is the maximum of 3, 17 and 9?",
        input = r#"{"expression":"maximum of 3, 17 and 9"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "What is the smallest of 3, 17 and 9?",
        input = r#"{"expression":"smallest of 3, 17 and 9"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the minimum of 3, 17 and 9?",
        input = r#"{"expression":"minimum of 3, 17 and 9"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the standard deviation of 2, 4 and 9?",
        input = r#"{"expression":"standard deviation of 2, 4 and 9"}"#,
        output = r#"{"result":3.60555127546399}"#
    ),
    example(
        ask = "What is 20% off 50?",
        input = r#"{"expression":"20% off 50"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "What is 50 with 20% off?",
        input = r#"{"expression":"50 with 20% off"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "What is 50 after a 20% discount?",
        input = r#"{"expression":"50 after a 20% discount"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "What is 80 increased by 15%?",
        input = r#"{"expression":"80 increased by 15%"}"#,
        output = r#"{"result":92}"#
    ),
    example(
        ask = "What is 80 decreased by 15%?",
        input = r#"{"expression":"80 decreased by 15%"}"#,
        output = r#"{"result":68}"#
    ),
    example(
        ask = "What is a 15% tip on 60?",
        input = r#"{"expression":"15% tip on 60"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "20 is what percent of 80?",
        input = r#"{"expression":"20 is what percent of 80"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What percent of 80 is 20?",
        input = r#"{"expression":"what percent of 80 is 20"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What percentage of 80 is 20?",
        input = r#"{"expression":"what percentage of 80 is 20"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What is the percentage change from 50 to 75?",
        input = r#"{"expression":"percentage change from 50 to 75"}"#,
        output = r#"{"result":50}"#
    ),
    example(
        ask = "What is half of 50?",
        input = r#"{"expression":"half of 50"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What is a third of 90?",
        input = r#"{"expression":"a third of 90"}"#,
        output = r#"{"result":30}"#
    ),
    example(
        ask = "What is a quarter of 20?",
        input = r#"{"expression":"a quarter of 20"}"#,
        output = r#"{"result":5}"#
    ),
    example(
        ask = "What is double 21?",
        input = r#"{"expression":"double 21"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is twice 21?",
        input = r#"{"expression":"twice 21"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is 17 mod 5?",
        input = r#"{"expression":"17 mod 5"}"#,
        output = r#"{"result":2}"#
    ),
    example(
        ask = "What is the remainder of 17 divided by 5?",
        input = r#"{"expression":"remainder of 17 divided by 5"}"#,
        output = r#"{"result":2}"#
    ),
    example(
        ask = "What is 5 factorial?",
        input = r#"{"expression":"5 factorial"}"#,
        output = r#"{"result":120}"#
    ),
    example(
        ask = "What is the factorial of 5?",
        input = r#"{"expression":"factorial of 5"}"#,
        output = r#"{"result":120}"#
    ),
    example(
        ask = "What is the absolute value of -7?",
        input = r#"{"expression":"absolute value of -7"}"#,
        output = r#"{"result":7}"#
    ),
    example(
        ask = "What is the logarithm of 8 to base 2?",
        input = r#"{"expression":"logarithm of 8 to base 2"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is log base 2 of 8?",
        input = r#"{"expression":"log base 2 of 8"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the natural logarithm of 10?",
        input = r#"{"expression":"natural logarithm of 10"}"#,
        output = r#"{"result":2.30258509299405}"#
    ),
    example(
        ask = "What is the sine of 30 degrees?",
        input = r#"{"expression":"sine of 30 degrees"}"#,
        output = r#"{"result":0.5}"#
    ),
    example(
        ask = "What is the cosine of 60 degrees?",
        input = r#"{"expression":"cosine of 60 degrees"}"#,
        output = r#"{"result":0.5}"#
    ),
    example(
        ask = "What is the tangent of 45 degrees?",
        input = r#"{"expression":"tangent of 45 degrees"}"#,
        output = r#"{"result":1}"#
    ),
    example(ask = "What is 2 * pi?", input = r#"{"expression":"2 * pi"}"#),
    example(
        ask = "What is 3.14159 rounded to 2 decimals?",
        input = r#"{"expression":"3.14159 rounded to 2 decimals"}"#,
        output = r#"{"result":3.14}"#
    ),
    example(
        ask = "What is the greatest common divisor of 12 and 18?",
        input = r#"{"expression":"greatest common divisor of 12 and 18"}"#,
        output = r#"{"result":6}"#
    ),
    example(
        ask = "What is the least common multiple of 4 and 6?",
        input = r#"{"expression":"least common multiple of 4 and 6"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "Add 25 and 17",
        input = r#"{"expression":"add 25 and 17"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "Add 5 to 12",
        input = r#"{"expression":"add 5 to 12"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "Add up 4, 8 and 15",
        input = r#"{"expression":"add up 4, 8 and 15"}"#,
        output = r#"{"result":27}"#
    ),
    example(
        ask = "Subtract 37 from 100",
        input = r#"{"expression":"subtract 37 from 100"}"#,
        output = r#"{"result":63}"#
    ),
    example(
        ask = "Multiply 12 by 9",
        input = r#"{"expression":"multiply 12 by 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "Multiply 12 and 9",
        input = r#"{"expression":"multiply 12 and 9"}"#,
        output = r#"{"result":108}"#
    ),
    example(
        ask = "Divide 96 by 8",
        input = r#"{"expression":"divide 96 by 8"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "Increase 80 by 15%",
        input = r#"{"expression":"increase 80 by 15%"}"#,
        output = r#"{"result":92}"#
    ),
    example(
        ask = "Decrease 80 by 15%",
        input = r#"{"expression":"decrease 80 by 15%"}"#,
        output = r#"{"result":68}"#
    ),
    example(
        ask = "Round 3.14159 to 2 decimal places",
        input = r#"{"expression":"round 3.14159 to 2 decimal places"}"#,
        output = r#"{"result":3.14}"#
    ),
    example(
        ask = "Round 2.7 to the nearest whole number",
        input = r#"{"expression":"round 2.7 to the nearest whole number"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "How many ways are there to choose 2 out of 5?",
        input = r#"{"expression":"choose 2 out of 5"}"#,
        output = r#"{"result":10}"#
    ),
    example(
        ask = "What is the average of 4 8 15?",
        input = r#"{"expression":"average of 4 8 15"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is the avg of 4, 8 and 15?",
        input = r#"{"expression":"avg of 4, 8 and 15"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is the sum of 4 8 15?",
        input = r#"{"expression":"sum of 4 8 15"}"#,
        output = r#"{"result":27}"#
    ),
    example(
        ask = "Add 4, 8 and 15",
        ask = "Add 4, 8 and 15 together",
        input = r#"{"expression":"add 4, 8 and 15"}"#,
        output = r#"{"result":27}"#
    ),
    example(
        ask = "What is the biggest of 3, 17 and 9?",
        input = r#"{"expression":"biggest of 3, 17 and 9"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "What is the highest of 3, 17 and 9?",
        input = r#"{"expression":"highest of 3, 17 and 9"}"#,
        output = r#"{"result":17}"#
    ),
    example(
        ask = "What is the lowest of 3, 17 and 9?",
        input = r#"{"expression":"lowest of 3, 17 and 9"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is 2 to the 10th power?",
        input = r#"{"expression":"2 to the 10th power"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is the 10th power of 2?",
        input = r#"{"expression":"10th power of 2"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 2 to the 10th?",
        input = r#"{"expression":"2 to the 10th"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is 2 to the third power?",
        input = r#"{"expression":"2 to the third power"}"#,
        output = r#"{"result":8}"#
    ),
    example(
        ask = "What is 2 to the power 10?",
        input = r#"{"expression":"2 to the power 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "Raise 2 to the power of 10",
        input = r#"{"expression":"raise 2 to the power of 10"}"#,
        output = r#"{"result":1024}"#
    ),
    example(
        ask = "What is the 4th root of 81?",
        input = r#"{"expression":"4th root of 81"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the root of 144?",
        input = r#"{"expression":"root of 144"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "Square 12",
        input = r#"{"expression":"square 12"}"#,
        output = r#"{"result":144}"#
    ),
    example(
        ask = "What is two thirds of 81?",
        input = r#"{"expression":"2 thirds of 81"}"#,
        output = r#"{"result":54}"#
    ),
    example(
        ask = "What is three quarters of 80?",
        input = r#"{"expression":"3 quarters of 80"}"#,
        output = r#"{"result":60}"#
    ),
    example(
        ask = "What is triple 14?",
        input = r#"{"expression":"triple 14"}"#,
        output = r#"{"result":42}"#
    ),
    example(
        ask = "What is 20% more than 50?",
        input = r#"{"expression":"20% more than 50"}"#,
        output = r#"{"result":60}"#
    ),
    example(
        ask = "What is 20 percent less than 50?",
        input = r#"{"expression":"20 percent less than 50"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "What is 20 percent off 50?",
        input = r#"{"expression":"20 percent off 50"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "Take 20% off 50",
        input = r#"{"expression":"take 20% off 50"}"#,
        output = r#"{"result":40}"#
    ),
    example(
        ask = "Take 5 from 12",
        input = r#"{"expression":"take 5 from 12"}"#,
        output = r#"{"result":7}"#
    ),
    example(
        ask = "What is 12 take away 5?",
        input = r#"{"expression":"12 take away 5"}"#,
        output = r#"{"result":7}"#
    ),
    example(
        ask = "Add 15% to 200",
        input = r#"{"expression":"add 15% to 200"}"#,
        output = r#"{"result":230}"#
    ),
    example(
        ask = "Reduce 80 by 15%",
        input = r#"{"expression":"reduce 80 by 15%"}"#,
        output = r#"{"result":68}"#
    ),
    example(
        ask = "What is a tip of 15% on 60?",
        input = r#"{"expression":"tip of 15% on 60"}"#,
        output = r#"{"result":9}"#
    ),
    example(
        ask = "What is 60 plus a 15% tip?",
        input = r#"{"expression":"60 plus 15% tip"}"#,
        output = r#"{"result":69}"#
    ),
    example(
        ask = "What is 60 with a 15% tip?",
        input = r#"{"expression":"60 with a 15% tip"}"#,
        output = r#"{"result":69}"#
    ),
    example(
        ask = "What is 20% tax on 50?",
        input = r#"{"expression":"20% tax on 50"}"#,
        output = r#"{"result":10}"#
    ),
    example(
        ask = "What is 50 plus 20% tax?",
        input = r#"{"expression":"50 plus 20% tax"}"#,
        output = r#"{"result":60}"#
    ),
    example(
        ask = "What is 20 as a percentage of 80?",
        ask = "20 as a percentage of 80",
        input = r#"{"expression":"20 as a percentage of 80"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What percent is 20 of 80?",
        input = r#"{"expression":"what percent is 20 of 80"}"#,
        output = r#"{"result":25}"#
    ),
    example(
        ask = "What is the percentage increase from 50 to 75?",
        input = r#"{"expression":"percentage increase from 50 to 75"}"#,
        output = r#"{"result":50}"#
    ),
    example(
        ask = "What is the percentage decrease from 100 to 80?",
        input = r#"{"expression":"percentage decrease from 100 to 80"}"#,
        output = r#"{"result":20}"#
    ),
    example(
        ask = "Split 90 between 4",
        ask = "Split 90 between 4 people",
        input = r#"{"expression":"split 90 between 4 people"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "What is 90 split between 4 people?",
        input = r#"{"expression":"90 split between 4 people"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "Split a bill of 90 between 4 people",
        input = r#"{"expression":"split a bill of 90 between 4 people"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "What is 90 dollars divided by 4?",
        input = r#"{"expression":"90 dollars divided by 4"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "What is 90 euros divided by 4?",
        input = r#"{"expression":"90 euros divided by 4"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "What is 90 pounds divided by 4?",
        input = r#"{"expression":"90 pounds divided by 4"}"#,
        output = r#"{"result":22.5}"#
    ),
    example(
        ask = "What is 10/3 to 2 decimal places?",
        input = r#"{"expression":"10/3 to 2 decimal places"}"#,
        output = r#"{"result":3.33}"#
    ),
    example(
        ask = "Round 3.14159 to 2 decimals",
        input = r#"{"expression":"round 3.14159 to 2 decimals"}"#,
        output = r#"{"result":3.14}"#
    ),
    example(
        ask = "Round 2.7",
        input = r#"{"expression":"round 2.7"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "Round 47 to the nearest 10",
        input = r#"{"expression":"round 47 to the nearest 10"}"#,
        output = r#"{"result":50}"#
    ),
    example(
        ask = "Round 2.7 to the nearest integer",
        input = r#"{"expression":"round 2.7 to the nearest integer"}"#,
        output = r#"{"result":3}"#
    ),
    example(
        ask = "What is the remainder when 17 is divided by 5?",
        input = r#"{"expression":"remainder when 17 is divided by 5"}"#,
        output = r#"{"result":2}"#
    ),
    example(
        ask = "What is the highest common factor of 12 and 18?",
        input = r#"{"expression":"highest common factor of 12 and 18"}"#,
        output = r#"{"result":6}"#
    ),
    example(
        ask = "What is the lowest common multiple of 4 and 6?",
        input = r#"{"expression":"lowest common multiple of 4 and 6"}"#,
        output = r#"{"result":12}"#
    ),
    example(
        ask = "What is 3 * x + 1 for x = 4?",
        ask = "What is 3 * x + 1 if x is 4?",
        input = r#"{"expression":"3 * x + 1","scope":{"x":4}}"#,
        output = r#"{"result":13}"#
    ),
    // The questions of each of the following examples differ in a few words. From them, the model that is built into `art` learns
    // which words may replace each other. In an example with a `scope`, the numbers of the questions are the values of `x` and
    // `y`, so any other numbers may stand in their places.
    example(
        ask = "I buy 7 at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 at 3.45 each, how much do I pay in total?",
        ask = "I buy 7 at 3.45 euros each, how much do I pay in total?",
        ask = "I buy 7 at 3.45 dollars each, how much do I pay in total?",
        ask = "I buy 7 at £3.45 each, how much do I pay in total?",
        ask = "I buy 7 at €3.45 each, how much do I pay in total?",
        ask = "I buy 7 at 3.45 apiece, how much do I pay in total?",
        ask = "I bought 7 at 3.45 each, how much do I pay in total?",
        ask = "I sell 7 at 3.45 each, how much do I pay in total?",
        ask = "I buy 7 at 3.45 each, what do I pay in total?",
        ask = "I buy 7 at 3.45 each, how much do I owe in total?",
        ask = "I buy 7 at 3.45 each, how much do I spend in total?",
        ask = "I buy 7 at 3.45 each, how much is that in total?",
        ask = "I buy 7 at 3.45 each, what is the total?",
        ask = "I buy 7 at 3.45 each, what is the total cost?",
        ask = "I buy 7 at 3.45 each, how much does that cost?",
        ask = "I buy 7 at 3.45 each, how much is it?",
        ask = "7 at 3.45 each",
        ask = "7 times 3.45 each, how much money is that?",
        ask = "7 at 3.45 each, how much is that?",
        ask = "7 books at 3.45 each, what do they cost?",
        ask = "How much do 7 books cost at 3.45 each?",
        ask = "How much are 7 books at 3.45 each?",
        ask = "What do 7 books at 3.45 each cost?",
        ask = "I buy 7 notebooks at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 books at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 pens at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 pencils at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 tickets at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 apples at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 oranges at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 eggs at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 cups at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 coffees at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 pizzas at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 sandwiches at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 bottles at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 boxes at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 chairs at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 shirts at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 bags at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 cakes at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 cookies at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 flowers at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 stamps at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 cards at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 hours at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 days at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 weeks at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 months at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 people at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 guests at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 students at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 friends at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 children at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 kilos at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 litres at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 pieces at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 items at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 packs at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 seats at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 rows at $3.45 each, how much do I pay in total?",
        ask = "I buy 7 tables at $3.45 each, how much do I pay in total?",
        input = r#"{"expression":"x * y","scope":{"x":7,"y":3.45}}"#
    ),
    example(
        ask = "A box holds 48. How many are in 26 boxes?",
        ask = "There are 48 apples in a box. How many apples are in 26 boxes?",
        ask = "One box holds 48 apples. How many apples do 26 boxes hold?",
        ask = "A box costs 48. How much do 26 boxes cost?",
        ask = "If a box costs 48, how much do 26 boxes cost?",
        ask = "If one box costs 48, what do 26 boxes cost?",
        input = r#"{"expression":"x * y","scope":{"x":48,"y":26}}"#
    ),
    example(
        ask = "A bill of $90 is shared by 4 people. How much does each pay?",
        ask = "A bill of 90 is shared by 4 people. How much does each pay?",
        ask = "A bill of 90 is split by 4 people. How much does each pay?",
        ask = "A bill of 90 is shared equally by 4 people. How much does each pay?",
        ask = "A bill of 90 is shared between 4 people. How much does each pay?",
        ask = "A bill of 90 is split evenly between 4 people. How much does each pay?",
        ask = "A restaurant bill of 90 is shared by 4 people. How much does each pay?",
        ask = "A dinner bill of 90 is shared by 4 people. How much does each pay?",
        ask = "A bill of 90 is shared by 4 friends. How much does each pay?",
        ask = "A bill of 90 is shared by 4 people. How much does each person pay?",
        ask = "A bill of 90 is shared by 4 people. How much does each one pay?",
        ask = "A bill of 90 is shared by 4 people. What does each pay?",
        ask = "A bill of 90 is shared by 4 people. How much does each get?",
        ask = "A bill of 90 is shared by 4 people. How much does everyone pay?",
        ask = "Share 90 equally between 4 people",
        ask = "Divide 90 equally among 4 people",
        ask = "Split 90 evenly between 4 people",
        ask = "Split 90 evenly among 4",
        input = r#"{"expression":"x / y","scope":{"x":90,"y":4}}"#
    ),
    example(
        ask = "4 people share a bill of 90. How much does each pay?",
        ask = "4 people share $90. How much does each pay?",
        ask = "4 of us share a bill of 90. How much does each pay?",
        ask = "If 4 people share 90, how much does each get?",
        ask = "If 4 books cost 90, what is the price of one?",
        ask = "If 4 books cost 90, how much is one book?",
        ask = "If 4 books cost 90, how much does one book cost?",
        ask = "If 4 books cost 90, what is the price of a book?",
        ask = "4 books cost 90. How much is one book?",
        ask = "How often does 4 go into 90?",
        input = r#"{"expression":"x / y","scope":{"y":4,"x":90}}"#
    ),
    example(
        ask = "How much larger is 100 than 37?",
        ask = "How much more is 100 than 37?",
        ask = "How much bigger is 100 than 37?",
        input = r#"{"expression":"x - y","scope":{"x":100,"y":37}}"#
    ),
    example(
        ask = "Take 37 away from 100",
        ask = "What is left if I take 37 from 100?",
        input = r#"{"expression":"x - y","scope":{"y":37,"x":100}}"#
    ),
    example(
        ask = "What is the remainder when you divide 500 by 37?",
        ask = "What is the remainder if I divide 500 by 37?",
        ask = "What remains when you divide 500 by 37?",
        ask = "Remainder of 500 by 37",
        ask = "When 500 is divided by 37, what is the remainder?",
        input = r#"{"expression":"mod(x, y)","scope":{"x":500,"y":37}}"#
    ),
    example(
        ask = "By what percent did it rise from 400 to 500?",
        ask = "By what percentage did it rise from 400 to 500?",
        ask = "By what percent did it grow from 400 to 500?",
        ask = "By what percent did it increase from 400 to 500?",
        ask = "By what percent did it go up from 400 to 500?",
        ask = "By what percent did the price rise from 400 to 500?",
        ask = "By what percent did the salary rise from 400 to 500?",
        ask = "By how many percent did it rise from 400 to 500?",
        ask = "It went from 400 to 500, by what percent did it rise?",
        ask = "It rose from 400 to 500. What is the increase in percent?",
        ask = "What is the percentage increase if it went from 400 to 500?",
        ask = "Percent change from 400 to 500",
        input = r#"{"expression":"(y - x) / x * 100","scope":{"x":400,"y":500}}"#
    ),
    example(
        ask = "A price of 1500 goes up by 4.5%. What is it then?",
        ask = "A price of 1500 rises by 4.5%. What is it then?",
        ask = "A price of 1500 grows by 4.5%. What is it then?",
        ask = "A price of 1500 is raised by 4.5%. What is it then?",
        ask = "A price of 1500 is increased by 4.5%. What is it then?",
        ask = "A price of 1500 goes up by 4.5 percent. What is it then?",
        ask = "A rent of 1500 goes up by 4.5%. What is it then?",
        ask = "A price of $1500 goes up by 4.5%. What is it then?",
        ask = "A price of 1500 goes up by 4.5%. What is the new price?",
        ask = "A price of 1500 goes up by 4.5%. How much is it then?",
        ask = "Add 4.5% VAT to 1500",
        ask = "Add 4.5 percent VAT to 1500",
        ask = "Add 4.5% tax to 1500",
        ask = "Add 4.5% sales tax to 1500",
        ask = "What is 1500 plus 4.5% VAT?",
        ask = "The price is 1500. Add 4.5% VAT.",
        ask = "The price is 1500 without tax. Add 4.5% VAT to it.",
        input = r#"{"expression":"x * (1 + y / 100)","scope":{"x":1500,"y":4.5}}"#
    ),
    example(
        ask = "A jacket costs 60 and is reduced by 25%. How much do I pay?",
        ask = "A jacket costs 60 and is reduced by 25%. What do I pay?",
        ask = "A jacket costs 60 with 25% off. What is the sale price?",
        ask = "A jacket costs 60 and there is 25% off, what do I pay?",
        ask = "A shirt costs 60 and is reduced by 25%. What is the sale price?",
        ask = "A phone costs 60 and is reduced by 25%. What is the sale price?",
        ask = "A price of 60 is reduced by 25%. What is it then?",
        ask = "What is the price of 60 after 25% off?",
        input = r#"{"expression":"x * (1 - y / 100)","scope":{"x":60,"y":25}}"#
    ),
    example(
        ask = "I want to leave a tip of 12% on 82, how much is that?",
        ask = "I want to leave an 12 percent tip on 82, how much is that?",
        ask = "How much is an 12% tip on a $82 bill?",
        ask = "How much is an 12% tip on a bill of 82?",
        ask = "How much tip is 12% on 82?",
        ask = "What is an 12% tip on a 82 meal?",
        input = r#"{"expression":"x / 100 * y","scope":{"x":12,"y":82}}"#
    ),
    example(
        ask = "2+2 = ?",
        ask = "2+2 =",
        ask = "What do I get for 2+2?",
        ask = "2+2, what is it?",
        ask = "2+2, how much is that?",
        ask = "What does 2+2 make?",
        ask = "What does 2+2 equal?",
        ask = "What is 2+2 equal to?",
        ask = "2+2 quickly",
        ask = "2+2 for homework",
        ask = "Could you kindly calculate 2+2",
        ask = "I would like to know 2+2",
        ask = "I'd like to know 2+2",
        ask = "Can you work out 2+2",
        ask = "2+2 as a decimal",
        ask = "2+2 thx",
        ask = "2+2 thank you",
        ask = "Give me the result of 2+2",
        ask = "Give me the value of 2+2",
        ask = "What is the value of 2+2?",
        ask = "Figure out 2+2",
        ask = "Determine 2+2",
        ask = "Get 2+2",
        ask = "Tell me the answer to 2+2",
        ask = "What do you get if you calculate 2+2?",
        ask = "What number do I get for 2+2?",
        ask = "What do I get if I calculate 2+2?",
        ask = "2+2, I need it for homework",
        ask = "Just checking 2+2",
        input = r#"{"expression":"2+2"}"#
    ),
    example(ask = "Cube 6", input = r#"{"expression":"cube 6"}"#),
    example(ask = "What do I get if I square 17?", input = r#"{"expression":"square 17"}"#),
    example(ask = "What is 8 squared plus 3?", input = r#"{"expression":"8 squared plus 3"}"#),
    example(ask = "tan(60°)", ask = "What is tan(60°)?", input = r#"{"expression":"tan(60°)"}"#),
    example(ask = "sin(30°)", input = r#"{"expression":"sin(30°)"}"#),
    example(ask = "cos(60°)", input = r#"{"expression":"cos(60°)"}"#),
    example(ask = "cos(pi/4)", input = r#"{"expression":"cos(pi/4)"}"#),
    example(ask = "tan(pi/6)", input = r#"{"expression":"tan(pi/6)"}"#),
    example(ask = "cos(pi/2)", input = r#"{"expression":"cos(pi/2)"}"#),
    example(ask = "log2(64)", input = r#"{"expression":"log2(64)"}"#),
    example(ask = "log10(1000)", input = r#"{"expression":"log10(1000)"}"#),
    example(ask = "ln(20)", input = r#"{"expression":"ln(20)"}"#),
    example(ask = "cbrt(27)", input = r#"{"expression":"cbrt(27)"}"#),
    example(ask = "abs(-7)", input = r#"{"expression":"abs(-7)"}"#),
    example(ask = "sqrt 144", input = r#"{"expression":"sqrt 144"}"#),
    example(ask = "minus 4 plus 9", input = r#"{"expression":"minus 4 plus 9"}"#),
    example(
        ask = "2,640 rounded to the nearest 100",
        input = r#"{"expression":"2640 rounded to the nearest 100"}"#
    ),
    example(
        ask = "2.7 rounded to the nearest whole number",
        input = r#"{"expression":"2.7 rounded to the nearest whole number"}"#
    ),
    example(
        ask = "2.7 rounded to the nearest integer",
        input = r#"{"expression":"2.7 rounded to the nearest integer"}"#
    ),
    example(ask = "e to the power of 3", input = r#"{"expression":"e to the power of 3"}"#),
    example(
        ask = "2 raised to the 5th power",
        input = r#"{"expression":"2 raised to the 5th power"}"#
    ),
    example(ask = "e^2", input = r#"{"expression":"e^2"}"#),
    example(ask = "arctangent of 1", input = r#"{"expression":"arctangent of 1"}"#),
    example(ask = "natural log of 20", input = r#"{"expression":"natural log of 20"}"#),
    example(ask = "10/3 as a decimal", input = r#"{"expression":"10/3"}"#),
    example(
        ask = "What is the sum of 4, 8 and 15?",
        input = r#"{"expression":"sum of 4, 8 and 15"}"#
    ),
    example(
        ask = "What is the product of 4, 8 and 15?",
        input = r#"{"expression":"product of 4, 8 and 15"}"#
    ),
    example(
        ask = "5.71828, round that to 2 decimals",
        ask = "5.71828 - round that to 2 decimals",
        ask = "5.71828 rounded off to 2 decimals",
        ask = "Round off 5.71828 to 2 decimals",
        input = r#"{"expression":"round(x, y)","scope":{"x":5.71828,"y":2}}"#
    ),
    example(
        ask = "What is the arctangent of 1 in degrees?",
        ask = "arctan of 1 in degrees",
        ask = "inverse tangent of 1 in degrees",
        input = r#"{"expression":"atan(x) * 180 / pi","scope":{"x":1}}"#
    ),
    example(
        ask = "arcsine of 0.5 in degrees",
        ask = "What is the arcsine of 0.5 in degrees?",
        ask = "arcsin of 0.5 in degrees",
        ask = "inverse sine of 0.5 in degrees",
        input = r#"{"expression":"asin(x) * 180 / pi","scope":{"x":0.5}}"#
    ),
    example(
        ask = "arccosine of 0.5 in degrees",
        ask = "What is the arccosine of 0.5 in degrees?",
        ask = "arccos of 0.5 in degrees",
        ask = "inverse cosine of 0.5 in degrees",
        input = r#"{"expression":"acos(x) * 180 / pi","scope":{"x":0.5}}"#
    ),
    example(
        ask = "Work out the mean of 88, 92 and 79",
        ask = "What is the mean of these test scores: 88, 92 and 79",
        ask = "Mean of these scores: 88, 92 and 79",
        ask = "Mean of these numbers: 88, 92 and 79",
        input = r#"{"expression":"mean of 88, 92 and 79"}"#
    ),
    limits(fuel = 50_000_000, memory = "16 MiB", timeout = "2s")
)]
fn calculator(input: CalculatorInput) -> Result<CalculatorOutput> {
    evaluate(&input).map_err(ToolError::validation)
}

fn evaluate(input: &CalculatorInput) -> Result<CalculatorOutput, EvalError> {
    let symbols = Symbols::new(input.scope.as_ref(), input.ans)?;
    // People often end an expression with `=` or `?`.
    let expression = input.expression.trim_end_matches([' ', '=', '?']);
    let tokens = words::replace_phrases(&lexer::tokenize(expression)?, &symbols)?;
    let value = parser::evaluate(tokens, &symbols)?;
    Ok(CalculatorOutput {
        result: format::to_result(value)?,
    })
}
