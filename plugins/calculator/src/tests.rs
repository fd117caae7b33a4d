use art_sdk::decimal::Decimal;
use art_sdk::{Numeric, testing};
use proptest::prelude::*;

use super::{input::CalculatorResult, *};

/// Evaluates an expression with the variables in `scope` and an earlier result.
fn run(expression: &str, scope: &[(&str, f64)], ans: Option<f64>) -> Result<CalculatorResult, String> {
    let scope = scope
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Numeric(Decimal::parse(&value.to_string()).unwrap())));
    let input = CalculatorInput {
        expression: expression.to_owned(),
        scope: Some(scope.collect()),
        ans: ans.map(|ans| Numeric(Decimal::parse(&ans.to_string()).unwrap())),
    };
    evaluate(&input)
        .map(|output| output.result)
        .map_err(|error| error.to_string())
}

/// Checks that an expression has this result. A complex result stands in quotation marks.
#[track_caller]
fn gives(expression: &str, expected: &str) {
    let result = run(expression, &[], None).map(|result| match result {
        CalculatorResult::Number(number) => number.to_string(),
        CalculatorResult::Text(text) => format!("\"{text}\""),
    });
    assert_eq!(result.as_deref(), Ok(expected), "{expression}");
}

/// Checks that an expression fails with exactly this message after the prefix that all messages have.
#[track_caller]
fn fails_with_message(expression: &str, expected: &str) {
    assert_eq!(
        run(expression, &[], None),
        Err(format!("Failed to evaluate expression: {expected}")),
        "{expression}"
    );
}

/// Checks that an expression fails with a message that contains `part`.
#[track_caller]
fn fails_with_part(expression: &str, part: &str) {
    let message = run(expression, &[], None).unwrap_err();
    assert!(
        message.starts_with("Failed to evaluate expression: ") && message.contains(part),
        "{expression}: {message}"
    );
}

#[test]
fn precedence_is_that_of_mathematics() {
    gives("2+2", "4");
    gives("2 + 3 * 4", "14");
    gives("(2 + 3) * 4", "20");
    gives("1284/6+19", "233");
    gives("1284 ÷ 6 + 19", "233");
    gives("10 - 4 - 3", "3");
    gives("2^3^2", "512");
    gives("2**10", "1024");
    gives("-2^2", "-4");
    gives("2^-2", "0.25");
    gives("--3", "3");
}

#[test]
fn results_show_no_rounding_errors() {
    gives("0.1+0.2", "0.3");
    gives("0.1 + 0.2 - 0.3", "0");
    gives("409.5/7", "58.5");
    gives("1/3", "0.333333333333333");
    gives("ceil(0.1 + 0.2 + 2.7)", "3");
    gives("round(2.675, 2)", "2.68");
    gives("0.3 mod 0.1", "0");
}

#[test]
fn whole_numbers_stay_exact() {
    gives("9007199254740992 - 9007199254740991", "1");
    gives("123456789 * 1000001", "123456912456789");
    gives("1e21", "1e+21");
    gives("2e3", "2000");
}

#[test]
fn whole_numbers_may_be_hexadecimal_octal_or_binary() {
    gives("0x20 + 1", "33");
    gives("0xFF_FF", "65535");
    gives("0b1010 * 0o17", "150");
    gives("0xFFFFFFFFFFFFFFFF - 1", "18446744073709551614");
    fails_with_part("0b2", "");
    fails_with_message("0x1G", "`G` is no digit of a number to the base 16 (at character 4)");
    fails_with_part("0x1.8", "`.` is no digit");
    fails_with_part("0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF", "the number is too large");
}

#[test]
fn percentages_may_be_multiplied_added_and_subtracted() {
    gives("17.5% of 2340", "409.5");
    gives("17.5% * 2340", "409.5");
    gives("2340 * 17.5%", "409.5");
    gives("17.5% of 2340 / 7", "58.5");
    gives("100 + 10%", "110");
    gives("200 - 15%", "170");
    gives("5% + 10%", "0.15");
    gives("50%", "0.5");
}

#[test]
fn operators_may_be_words() {
    gives("1284 divided by 6 plus 19", "233");
    gives("12 times 12", "144");
    gives("12 x 12 =", "144");
    gives("12x12", "144");
    gives("7 squared minus 2 cubed?", "41");
    gives("8 squared plus 3", "67");
    gives("2 to the power of 10", "1024");
    gives("17 modulo 5", "2");
    gives("half of 50", "25");
}

#[test]
fn words_between_values_may_have_any_letter_case() {
    gives("15% Of 80", "12");
    gives("15% OF (1,200)", "180");
    gives("Half OF 50", "25");
    gives("17 MOD 5", "2");
    gives("20% Off 50", "40");
    gives("20 off 50", "30");
    gives("50 With 20% OFF", "40");
    gives("5 Choose 2", "10");
    gives("10/3 TO 2 Decimals", "3.33");
}

#[test]
fn functions_may_be_words() {
    gives("the square root of 144", "12");
    gives("square root of 16 plus the cube root of 27", "7");
    gives("average of 4, 8, 15, 16, 23 and 42", "18");
    gives("the sum of 4, 8, and 15", "27");
    gives("product of 6 and 7", "42");
    gives("difference between 10 and 4", "6");
    gives("largest of 3, 7 and 5", "7");
    gives("sine of 30 degrees", "0.5");
    gives("sin(30°)", "0.5");
    gives("arctangent of 0", "0");
    gives("factorial of 5", "120");
    gives("5 factorial", "120");
    gives("square of 9", "81");
    gives("logarithm of 8 to base 2", "3");
    gives("log base 2 of 8", "3");
    gives("log base 2 of 8 plus 1", "4");
    gives("remainder of 17 divided by 5", "2");
    gives("remainder when 17 is divided by 5", "2");
    gives("a third of 90", "30");
    gives("twice 21", "42");
    gives("3.14159 rounded to 2 decimals", "3.14");
    fails_with_part("capital of 5", "no function `capital`");
}

#[test]
fn a_calculation_may_be_a_command() {
    gives("add 5 and 7", "12");
    gives("add up 5, 7 and 8", "20");
    gives("increase 80 by 15%", "92");
    gives("decrease 80 by 15", "65");
    gives("round 3.14159 to 2 decimal places", "3.14");
    gives("round 2.7 to the nearest whole number", "3");
    gives("choose 2 out of 5", "10");
    gives("Subtract 3 from 10", "7");
    gives("multiply 6 by 7", "42");
    gives("divide 100 by 8", "12.5");
    fails_with_part("divide 100 to 8", "expected `by` after the first value of `divide`");
    fails_with_part("divide 100 by 0", "division by zero");
}

#[test]
fn percentages_may_be_words() {
    gives("15 percent of 80", "12");
    gives("20% off 50", "40");
    gives("50 with 20% off", "40");
    gives("50 after a 20% discount", "40");
    gives("15% of $80", "12");
    gives("percentage change from 50 to 75", "50");
    gives("80 increased by 15%", "92");
    gives("20 is what percent of 80", "25");
    gives("what percentage of 80 is 20", "25");
    fails_with_part("what percentage of 80 and 20", "expected `is`");
}

#[test]
fn lists_need_no_commas() {
    gives("average of 40 50 and 75", "55");
    gives("avg of 40 50 75", "55");
    gives("sum of 3 4 5", "12");
    gives("sum of the numbers: 3 4 5", "12");
    gives("median of 3 9 4", "4");
    gives("max 3 17 9", "17");
    gives("add 3, 4 and 5", "12");
    gives("add 3 4 5", "12");
    gives("multiply 2, 3 and 4", "24");
    gives("add 1/2 and 3", "3.5");
    fails_with_message(
        "3 4 5",
        "an operator such as `+` is missing before the number `4` (at character 3)",
    );
}

#[test]
fn powers_and_roots_may_be_words_or_symbols() {
    gives("2 to the 12th power", "4096");
    gives("2 raised to the 12th power", "4096");
    gives("2 to the 12th", "4096");
    gives("the 12th power of 2", "4096");
    gives("3 to the third power", "27");
    gives("2 to the power 10", "1024");
    gives("raise 2 to the power of 10", "1024");
    gives("the 4th root of 81", "3");
    gives("the 3rd root of -27", "-3");
    gives("fourth root of 81 plus 1", "4");
    gives("√144 + 3²", "21");
    gives("square root 144", "12");
    gives("square 12", "144");
    gives("cube 17", "4913");
}

#[test]
fn parts_and_multiples_may_be_words() {
    gives("2 thirds of 81", "54");
    gives("3 quarters of 80", "60");
    gives("1 third of 90", "30");
    gives("a half of 90", "45");
    gives("triple 14", "42");
    gives("3 million / 2 thousand", "1500");
}

#[test]
fn changes_by_an_amount_or_a_percentage_may_be_words() {
    gives("20% more than 50", "60");
    gives("20 percent less than 50", "40");
    gives("5 more than 12", "17");
    gives("5 less than 12", "7");
    gives("add 15% to 200", "230");
    gives("subtract 15% from 200", "170");
    gives("take 5 from 12", "7");
    gives("take 20% off 50", "40");
    gives("12 take away 5", "7");
    gives("raise 200 by 15%", "230");
    gives("reduce 200 by 15%", "170");
    gives("tip of 15% on 60", "9");
    gives("60 plus 15% tip", "69");
    gives("60 with a 15% tip", "69");
    gives("60 minus 15% discount", "51");
    gives("20 as a percentage of 80", "25");
    gives("what percent is 20 of 80", "25");
    gives("percentage decrease from 100 to 80", "20");
    fails_with_part("60 with 15%", "say whether to add this or to take it off");
}

#[test]
fn amounts_of_money_may_be_divided_in_words() {
    gives("split 90 between 4", "22.5");
    gives("split $90 between 4 people", "22.5");
    gives("90 euros divided by 4", "22.5");
    gives("90 split between 4", "22.5");
    gives("divide 90 among 4 people", "22.5");
    gives("15% of 80 dollars", "12");
}

#[test]
fn rounding_may_be_words() {
    gives("10/3 to 2 decimal places", "3.33");
    gives("pi to 3 decimals", "3.142");
    gives("round 2.7", "3");
    gives("round 47 to the nearest 10", "50");
    gives("47 rounded to the nearest 10", "50");
    gives("round 3.14159 to the nearest hundredth", "3.14");
    gives("round up 2.1", "3");
    gives("round 10/3 to 2 decimals", "3.33");
}

#[test]
fn a_variable_hides_a_word() {
    let result = run("x * over", &[("x", 3.0), ("over", 2.0)], None);
    assert_eq!(result, Ok(CalculatorResult::Number(6.into())));
}

#[test]
fn a_percent_sign_before_a_value_is_the_remainder() {
    gives("8 % 3", "2");
    gives("-7 mod 3", "2");
    gives("mod(7, -3)", "-2");
    fails_with_message("8 mod 0", "division by zero (at character 3)");
}

#[test]
fn a_variable_with_the_name_of_an_operator_is_a_variable() {
    for name in ["of", "mod", "with", "choose", "off", "factorial", "digits"] {
        let result = run(&format!("2 {name}"), &[(name, 3.0)], None).unwrap();
        assert_eq!(result, run("6", &[], None).unwrap(), "{name}");
    }
}

#[test]
fn a_degree_sign_is_no_variable() {
    // The lexer turns `°` into the name `degrees`, which is also the name of the variable.
    let sine = run("sin(degrees°)", &[("degrees", 30.0)], None).unwrap();
    assert_eq!(sine, run("sin(30°)", &[], None).unwrap());
}

#[test]
fn the_error_of_permutations_names_them() {
    fails_with_part("permutations(-1)", "`permutations`");
}

#[test]
fn thousands_separators_are_accepted_where_unambiguous() {
    gives("1,284 / 6 + 19", "233");
    gives("1,234,567.5 * 2", "2469135");
    gives("max(1,284)", "284");
    gives("max((1,284), 5)", "1284");
    gives("3600 divided by (1,200)", "3");
    gives("2 times (1,200)", "2400");
    gives("1_000 + 1", "1001");
    fails_with_message(
        "1,5 + 1",
        "a `,` outside of a function call; write decimals with `.` (at character 2)",
    );
}

#[test]
fn products_may_omit_the_multiplication_sign() {
    gives("2(3 + 4)", "14");
    gives("(1 + 2)(3 + 4)", "21");
    gives("2pi / tau", "1");
    fails_with_part("6/2(1+2)", "ambiguous");
    fails_with_message(
        "2 3",
        "an operator such as `+` is missing before the number `3` (at character 3)",
    );
}

#[test]
fn functions_and_constants_are_evaluated() {
    gives("sqrt(144) + cbrt(-27)", "9");
    gives("sin(pi)", "0");
    gives("cos(pi/2)", "0");
    gives("sin(pi/6)", "0.5");
    gives("ln(e) + log(e) + log2(8) + log10(1000) + log(8, 2)", "11");
    gives("max(3, 7, 5) - min(3, 7, 5)", "4");
    gives("mean(2, 4, 9) + median(1, 2, 3, 4)", "7.5");
    gives("variance(2, 4, 4, 4, 5, 5, 7, 9)", "4.57142857142857");
    gives("std(1, 3)", "1.4142135623731");
    gives("gcd(12, 18) + lcm(4, 6)", "18");
    gives("factorial(5) + 5!", "240");
    gives("factorial(20)", "2432902008176640000");
    gives("gamma(5) + combinations(5, 2) + permutations(5, 2)", "54");
    gives("hypot(3, 4) + atan2(0, 1)", "5");
    gives("round(-2.5) + trunc(-2.5) + floor(-2.5) + ceil(-2.5)", "-10");
    gives("SQRT(4) + abs(-3) + sign(-8)", "4");
    gives("pow(2, 8) + exp(0) + sum(1, 2, 3)", "263");
    gives(
        "sinh(0) + cosh(0) + tanh(0) + asin(0) + acos(1) + atan(0) + tan(0)",
        "1",
    );
}

#[test]
fn complex_results_are_text() {
    gives("sqrt(-4)", "\"0 + 2i\"");
    gives("(2 + 3i)^2", "\"-5 + 12i\"");
    gives("(2 + 3i) / (1 - i)", "\"-0.5 + 2.5i\"");
    gives("1 - 2i", "\"1 - 2i\"");
    gives("ln(-1)", "\"0 + 3.14159265358979i\"");
    gives("i^2", "-1");
    gives("e^(i * pi)", "-1");
    gives("abs(3 + 4i)", "5");
    gives("sqrt(-4) * sqrt(-4)", "-4");
    fails_with_part("floor(2i)", "function `floor` needs real numbers");
}

#[test]
fn variables_and_the_last_result_have_values() {
    let number = |value: i64| Ok(CalculatorResult::Number(value.into()));
    assert_eq!(run("2x + y", &[("x", 3.0), ("y", 4.0)], None), number(10));
    assert_eq!(run("ans * 2", &[], Some(21.0)), number(42));
    assert_eq!(run("e + 1", &[("e", 1.0)], None), number(2));
    let unknown = run("x + ans", &[("x", 1.0)], None).unwrap_err();
    let expected = "`ans` has no value; known names: `x`, `pi`, `e`, `tau`, `i` (at character 5)";
    assert_eq!(unknown, format!("Failed to evaluate expression: {expected}"));
    assert!(
        run("1", &[("not a name", 1.0)], None)
            .unwrap_err()
            .contains("`scope` names a variable")
    );
}

#[test]
fn syntax_errors_have_a_position() {
    fails_with_message("2+", "the expression ends where a value is expected (at character 3)");
    fails_with_message("", "the expression ends where a value is expected (at character 1)");
    fails_with_message("2 + * 3", "expected a value, found `*` (at character 5)");
    fails_with_message("(1 + 2", "this `(` is never closed (at character 1)");
    fails_with_message(
        "1 + 2)",
        "an operator such as `+` is missing before `)` (at character 6)",
    );
    fails_with_message("2 @ 3", "unexpected character `@` (at character 3)");
    fails_with_message("1.2.3", "a number has two decimal points (at character 4)");
}

#[test]
fn unknown_functions_are_refused() {
    fails_with_part("import(1)", "no function `import`; the functions are abs, sign");
    fails_with_part("1 + eval(2)", "(at character 5)");
}

#[test]
fn undefined_results_are_errors() {
    fails_with_message("1/0", "division by zero (at character 2)");
    fails_with_message("0^-1", "division by zero (at character 2)");
    fails_with_part("10^400", "unsupported result: the value is infinite");
    fails_with_part("log(0)", "needs a value other than 0");
    fails_with_part("tan(pi/2)", "needs an angle other than");
    fails_with_part("factorial(171)", "a whole number from 0 to 170");
    fails_with_part("sqrt(1, 2)", "function `sqrt` takes 1 argument, got 2");
    fails_with_part("max()", "at least 1 argument");
}

#[test]
fn size_and_depth_are_bounded() {
    fails_with_part(&"(".repeat(100), "nested more than 64 levels");
    fails_with_part(&"-".repeat(100), "nested more than 64 levels");
    fails_with_part(&"1+".repeat(3000), "at most 4096");
    let long_sum = vec!["1"; 2000].join("+");
    gives(&long_sum, "2000");
    gives(&format!("{}1{}", "(".repeat(60), ")".repeat(60)), "1");
}

#[test]
fn no_function_panics_for_extreme_arguments() {
    let extreme = ["0", "-1", "0.5", "1e300", "-1e300", "2i", "1e-300"];
    // The message about an unknown function has the names of all functions.
    let message = run("nothing(1)", &[], None).unwrap_err();
    let names = message
        .split("the functions are ")
        .nth(1)
        .unwrap()
        .split(" (")
        .next()
        .unwrap()
        .to_owned();
    for name in names.split(", ") {
        for a in extreme {
            drop(run(&format!("{name}({a})"), &[], None));
            extreme
                .iter()
                .for_each(|b| drop(run(&format!("{name}({a}, {b})"), &[], None)));
        }
    }
}

#[test]
fn the_examples_return_their_outputs() {
    testing::check(&CALCULATOR);
}

#[test]
fn the_schema_refuses_unknown_fields() {
    let schema = CALCULATOR.input_schema();
    assert_eq!(
        (&schema["type"], &schema["additionalProperties"]),
        (&json!("object"), &json!(false))
    );
    assert_eq!(schema["required"], json!(["expression"]));
    assert!(
        testing::failure(&CALCULATOR, json!({"expression": "1", "precision": 3}))
            .message
            .contains("precision")
    );
}

proptest! {
    #[test]
    fn evaluating_any_text_never_panics(expression in "[-0-9.,+*/^%!()a-z πi²]{0,40}") {
        drop(testing::call(&CALCULATOR, json!({"expression": expression})));
    }

    #[test]
    fn evaluating_any_formula_never_panics(
        parts in prop::collection::vec(prop::sample::select(vec![
            "1", "0", "-2.5", "1e300", "i", "pi", "+", "-", "*", "/", "^", "%", "!", "(", ")", ",", " of ", " mod ", "sqrt(",
            "round(", "gcd(", "combinations(", "log(", "median(", "gamma(", "atan2(",
        ]), 0..24)
    ) {
        drop(testing::call(&CALCULATOR, json!({"expression": parts.concat()})));
    }
}

#[test]
fn a_variable_may_be_given_as_a_text_that_is_a_number() {
    let input_with_ans = |ans: Value| json!({"expression": "ans + x", "ans": ans, "scope": {"x": "0.5"}});
    assert_eq!(
        testing::output(&CALCULATOR, input_with_ans(json!("2"))),
        json!({"result": 2.5})
    );
    let refused = testing::failure(&CALCULATOR, input_with_ans(json!("0 + 2i")));
    assert!(
        refused.message.contains("a text that is a number"),
        "{}",
        refused.message
    );
}

#[test]
fn whole_numbers_beyond_2_to_the_53_are_exact() {
    for (expression, result) in [
        ("9007199254740993", json!(9_007_199_254_740_993_u64)),
        ("9007199254740993 + 1 - 1", json!(9_007_199_254_740_993_u64)),
        ("-9007199254740993 * 3", json!(-27_021_597_764_222_979_i64)),
        ("(9007199254740993 - 9007199254740992) / 2", json!(0.5)),
        ("1 / (9007199254740993 - 9007199254740992)", json!(1)),
        ("(9007199254740993 - 9007199254740992) * 0.5", json!(0.5)),
        ("sqrt(9007199254740993 - 9007199254740992)", json!(1)),
        ("18446744073709551615 + 2", json!("18446744073709551617")),
        ("2^100", json!("1267650600228229401496703205376")),
        ("2^100 / 2^90", json!(1024)),
        ("27021597764222979 / 3", json!(9_007_199_254_740_993_u64)),
        ("2^63 + 1", json!(9_223_372_036_854_775_809_u64)),
        ("18446744073709551615", json!(u64::MAX)),
        (
            "10^30 mod 9007199254740993",
            json!(i128::pow(10, 30) % 9_007_199_254_740_993),
        ),
        (
            "max(9007199254740992, 9007199254740993)",
            json!(9_007_199_254_740_993_u64),
        ),
        ("sum of 9007199254740993 and 2", json!(9_007_199_254_740_995_u64)),
        (
            "gcd(9007199254740993, 27021597764222979)",
            json!(9_007_199_254_740_993_u64),
        ),
        ("20!", json!(2_432_902_008_176_640_000_u64)),
        ("abs(-9007199254740993)", json!(9_007_199_254_740_993_u64)),
    ] {
        let output = testing::output(&CALCULATOR, json!({"expression": expression}));
        assert_eq!(output["result"], result, "{expression}");
    }
    let output = testing::output(
        &CALCULATOR,
        json!({"expression": "ans + x", "ans": 9_007_199_254_740_993_u64, "scope": {"x": "2"}}),
    );
    assert_eq!(output["result"], 9_007_199_254_740_995_u64);
}
