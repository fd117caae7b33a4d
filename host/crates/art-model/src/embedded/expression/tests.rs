use super::*;

fn expressions(text: &str) -> Vec<String> {
    let reading = Reading::new(text);
    let all = reading
        .candidates
        .into_iter()
        .filter(|candidate| candidate.shape == Shape::Expression);
    all.map(|candidate| super::super::schema::text_of(&candidate.value))
        .collect()
}

#[test]
fn words_become_signs() {
    assert_eq!(expressions("What is 1284 divided by 6 plus 19?"), ["1284 / 6 + 19"]);
    assert_eq!(expressions("How much is 17.5% of 2340"), ["17.5% of 2340"]);
    assert_eq!(expressions("what's the square root of 2"), ["sqrt(2)"]);
    assert_eq!(expressions("2 to the power of 10"), ["2 ^ 10"]);
    assert_eq!(expressions("subtract 3 from 10"), ["10 - 3"]);
    assert_eq!(expressions("the sum of 3 and 4 times 2"), ["(3 + 4) * 2"]);
}

#[test]
fn signs_stay_signs() {
    assert_eq!(expressions("compute (3 + 4) * 2^3 please"), ["(3 + 4) * 2 ^ 3"]);
    assert_eq!(expressions("8-3"), ["8 - 3"]);
    assert_eq!(expressions("-(2+3)*4"), ["-(2 + 3) * 4"]);
    assert_eq!(expressions("what is 7 * -(2+3)"), ["7 * -(2 + 3)"]);
    assert_eq!(expressions("8-(2+3)"), ["8 - (2 + 3)"]);
}

#[test]
fn a_reference_is_an_operand() {
    assert_eq!(expressions("what is that divided by 7"), [format!("{REFERENCE} / 7")]);
}

#[test]
fn formulas_stay_as_they_are() {
    assert_eq!(expressions("the derivative of 3x^2 + 2x at 5"), ["3x^2 + 2x"]);
}

#[test]
fn numbers_without_an_operator_are_no_expression() {
    assert!(expressions("between 5 and 7 people, 3 tables").is_empty());
}

#[test]
fn lists_in_words_are_combined() {
    assert_eq!(expressions("sum of 3, 5, 7"), ["3 + 5 + 7"]);
    assert_eq!(expressions("add 3, 5 and 7"), ["3 + 5 + 7"]);
    assert_eq!(expressions("What is the average of 4, 8 and 15?"), ["mean(4, 8, 15)"]);
    assert_eq!(
        expressions("the mean of the following numbers: 4, 8, and 15"),
        ["mean(4, 8, 15)"]
    );
    assert_eq!(expressions("largest of [3, 9, 4]"), ["max(3, 9, 4)"]);
    assert_eq!(
        expressions("the average of 3 and the sum of 4 and 5"),
        ["mean(3, 4 + 5)"]
    );
}

#[test]
fn names_of_aggregates_without_a_list_are_no_expression() {
    assert!(expressions("the average of 4 apples").is_empty());
    assert!(expressions("total 4 and 8").is_empty());
    assert!(expressions("the largest city of Chile").is_empty());
}

#[test]
fn numbers_and_fractions_in_words_are_operands() {
    assert_eq!(expressions("twenty-five percent of eighty"), ["25% of 80"]);
    assert_eq!(expressions("a third of 90"), ["90 / 3"]);
    assert_eq!(expressions("half of 7"), ["7 / 2"]);
    assert_eq!(expressions("100 divided by two-thirds of 90"), ["100 / (90 * 2 / 3)"]);
    assert_eq!(
        expressions("3 quarters of 80 plus 1/3 of 90"),
        ["(80 * 3 / 4) + 1 / 3 * 90"]
    );
    assert_eq!(expressions("5k plus 2 million"), ["5000 + 2000000"]);
}

#[test]
fn a_fraction_of_what_is_no_number_is_no_expression() {
    assert!(expressions("half of the town and a third of the people").is_empty());
}

#[test]
fn a_part_may_open_with_an_operator() {
    for text in [
        "and divided by 3?",
        "divided by 3",
        "/ 3",
        "divide by 3",
        "then divide by three",
    ] {
        assert_eq!(expressions(text), [format!("{REFERENCE} / 3")], "{text}");
    }
    assert_eq!(expressions("add 5"), [format!("{REFERENCE} + 5")]);
}

#[test]
fn an_operator_after_other_words_needs_its_left_side() {
    assert!(expressions("the cake divided by 3").is_empty());
    assert!(expressions("add 5 apples to the cart").is_empty());
}

#[test]
fn an_operator_after_and_takes_all_before_it() {
    assert_eq!(expressions("What is 12 plus 3, and divided by 3?"), ["(12 + 3) / 3"]);
    assert_eq!(expressions("1284 divided by 6, plus 19"), ["1284 / 6 + 19"]);
}
