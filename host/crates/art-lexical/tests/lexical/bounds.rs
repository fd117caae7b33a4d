//! Unusual questions and examples: the model always replies, and in bounded time.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;

#[test]
fn long_repetitive_questions_get_a_plan() {
    for query in [
        "1+".repeat(4_000),
        "( ".repeat(4_000),
        "how many ".repeat(880),
        "[".repeat(8_000),
        "\"".repeat(8_000),
    ] {
        plan_for(&query, &tools(), &[]);
    }
}

/// Without a limit on the texts that are tried as parts of the question, this test takes hours.
#[test]
fn a_question_with_many_connectives_gets_a_plan() {
    let sums: Vec<String> = (1..=12).map(|n| format!("what is {n} + {n}")).collect();
    for question in [sums.join(" and "), sums.join(", "), sums.join(" and then ")] {
        plan_for(&format!("{question} and who is the walrus"), &tools(), &[]);
    }
}

#[test]
fn a_tool_without_examples_is_never_called() {
    let mut without_examples = calculation_tool();
    without_examples.examples.clear();
    let calls = arguments_of_each_call("What is 2+2?", &[without_examples], &[]);
    assert_eq!(calls.len(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_gets_a_plan(query in any::<String>()) {
        plan_for(&query, &tools(), &[]);
    }

    #[test]
    fn words_of_the_examples_in_any_order_get_a_plan(
        query in "(How many|What is|[0-9]{1,6}|,|\\.|pounds|\"|'|:|\\n|\\(|and then|that|average of|text|€|Fuß| ){0,30}"
    ) {
        plan_for(&query, &tools(), &[attachment("a.csv", "text/csv", &query)]);
    }

    #[test]
    fn learning_from_any_example_does_not_fail(question in any::<String>(), value in any::<String>()) {
        let odd = tool("odd", &json!({"expression": {"type": "string"}}), &[(&question, json!({"expression": value}))]);
        arguments_of_each_call(&question, &[odd], &[]);
    }
}

#[test]
fn only_the_schema_of_a_tool_that_fits_is_compiled() {
    static COMPILED: AtomicUsize = AtomicUsize::new(0);
    let model = LexicalModel::new(|_schema| {
        COMPILED.fetch_add(1, Ordering::Relaxed);
        None
    });
    let count_compiled_after = |query: &str| {
        let task = PlanTask {
            query: query.to_owned(),
            files: Vec::new(),
            tools: tools(),
            earlier: Vec::new(),
        };
        reply_of(&model, Task::Plan(task), Phase::Planning);
        COMPILED.load(Ordering::Relaxed)
    };
    assert_eq!(count_compiled_after("Who wrote this song?"), 0);
    assert_eq!(count_compiled_after("How many kilograms are 80 pounds?"), 1);
    assert_eq!(count_compiled_after("How many kilograms are 90 pounds?"), 1);
}
