//! Questions for which no call is planned, and what their refusals say.

use super::*;

/// Returns the refusal of a question for which no call is planned.
fn expect_refusal(query: &str) -> String {
    let plan = plan_for(query, &tools(), &[]);
    assert_eq!(plan["todoList"], json!([]), "{query}");
    plan["plan"].as_str().unwrap().to_owned()
}

#[test]
fn a_refusal_names_a_word_that_no_example_accounts_for() {
    let reason = expect_refusal("How many kilograms are 150 pounds of feathers?");
    assert!(
        reason.starts_with("No tool fits") && reason.contains("`feathers`"),
        "{reason}"
    );
}

#[test]
fn a_number_that_went_into_no_argument_is_named() {
    assert!(expect_refusal("Convert 5 miles to kilometres in 2024").contains("`2024`"));
}

#[test]
fn a_question_with_other_words_than_the_examples_is_refused() {
    expect_refusal("Who is 5 pounds in kilograms?");
    expect_refusal("Who is the president of France?");
    expect_refusal("How many people live in 3 cities?");
}

#[test]
fn a_refusal_shows_the_nearest_example() {
    let reason = expect_refusal("What is the square root of the moon?");
    assert!(
        reason.contains("Ask for example: \"What is the square root of 144?\""),
        "{reason}"
    );
}

#[test]
fn a_missing_text_is_asked_for() {
    assert!(expect_refusal("How many words are in this text?").contains("quote the text that is meant, or attach it"));
}

#[test]
fn a_quoted_word_is_not_the_text_when_a_file_is_attached() {
    let letter = attachment("letter.txt", "text/plain", "The river is calm.");
    let question = "How many words are in \"river\"?";
    assert_eq!(arguments_of_each_call(question, &tools(), &[letter]), NO_CALLS);
    assert_eq!(
        arguments_of_each_call(question, &tools(), &[]),
        [json!({"text": "river"})]
    );
}

#[test]
fn a_function_word_is_a_value_only_if_it_is_quoted() {
    let input = |text: &str, find: &str| json!({"text": text, "find": find});
    let examples = [
        (
            "How often does \"the\" occur in \"the cat and the dog\"?",
            input("the cat and the dog", "the"),
        ),
        (
            "How often does sea occur in this text?",
            input("The sea was calm.", "sea"),
        ),
    ];
    let text = json!({"type": "string"});
    let find = tool("find", &json!({"text": text, "find": text}), &examples);
    let found = |question: &str| arguments_of_each_call(question, std::slice::from_ref(&find), &[]);
    assert_eq!(
        found("How often does \"the\" occur in \"the end\"?"),
        [input("the end", "the")]
    );
    // The unquoted "the" is not the word to find in the text "river".
    assert_eq!(found("How often does \"river\" occur in the letter?"), NO_CALLS);
}

#[test]
fn a_column_that_the_table_does_not_have_is_not_guessed() {
    let csv = attachment("p.csv", "text/csv", "item,price\nPump,3\n");
    assert_eq!(
        arguments_of_each_call("What is the average weight?", &tools(), &[csv]),
        NO_CALLS
    );
}

#[test]
fn a_reference_without_an_earlier_result_is_refused() {
    expect_refusal("What is that divided by 3?");
}

#[test]
fn a_question_that_two_tools_answer_equally_well_is_refused() {
    let mut other = calculation_tool();
    other.name = "other".to_owned();
    let reason = plan_for("What is 3+3?", &[calculation_tool(), other], &[])["plan"].to_string();
    assert!(
        reason.contains("`calculate` and `other` fit it equally well"),
        "{reason}"
    );
}

#[test]
fn a_refused_part_does_not_prevent_the_call_for_another_part() {
    let plan = plan_for("What is 2+2? Who is the president of France?", &tools(), &[]);
    assert_eq!(plan["todoList"].as_array().unwrap().len(), 1);
    assert!(
        plan["plan"]
            .as_str()
            .unwrap()
            .contains("No tool fits \"Who is the president of France?\"")
    );
}

#[test]
fn a_call_that_the_schema_does_not_allow_is_not_made() {
    let mut strict = conversion_tool();
    strict.input_schema["properties"]["value"]["maximum"] = json!(10);
    assert_eq!(
        arguments_of_each_call("Convert 5 miles to kilometres", &[strict.clone()], &[]).len(),
        1
    );
    assert_eq!(
        arguments_of_each_call("Convert 50 miles to kilometres", &[strict], &[]).len(),
        0
    );
}

#[test]
fn one_value_that_no_example_has_is_accepted_if_all_other_words_match() {
    let expected = json!({"value": 3, "from": "florps", "to": "kilometres"});
    assert_eq!(call_arguments("Convert 3 florps to kilometres"), [expected]);
    expect_refusal("Convert 3 florps to glorps");
    expect_refusal("Convert 3 florps glorps");
    expect_refusal("3 florps kilometres");
}

#[test]
fn a_value_cannot_begin_with_a_word_from_the_middle_of_an_example_value() {
    expect_refusal("What is times 3?");
    expect_refusal("What is by 3?");
}

#[test]
fn a_refusal_shows_no_example_when_none_is_near() {
    assert!(!expect_refusal("Who wrote Hamlet?").contains("Ask for example"));
}

#[test]
fn question_words_or_some_words_of_an_example_are_not_enough_for_a_call() {
    let input = json!({"text": "The sea was calm. The ship was not."});
    let questions = [
        "How many words are in this text?",
        "How many are in this text?",
        "How many words are in these minutes?",
        "Count the words in this text",
    ];
    let examples = questions.map(|question| (question, input.clone()));
    let count = tool("count", &json!({"text": {"type": "string"}}), &examples);
    let letter = attachment("letter.txt", "text/plain", "The river is calm.");
    let count_calls = |query: &str| {
        let (tools, files) = (std::slice::from_ref(&count), std::slice::from_ref(&letter));
        arguments_of_each_call(query, tools, files).len()
    };
    assert_eq!(count_calls("Count the words"), 1);
    assert_eq!(count_calls("How many minutes?"), 0);
    // This question has all content words of one example only, and that example has only question words.
    assert_eq!(count_calls("How many are in it?"), 0);
}

#[test]
fn a_remark_in_a_question_is_refused_instead_of_ignored() {
    for remark in [
        "in binary",
        "it's for 3 people",
        "it's not for me",
        "we want it rounded",
        "Germany only",
    ] {
        expect_refusal(&format!("Convert 3 miles to kilometres, {remark}"));
        let plan = plan_for(&format!("Convert 3 miles to kilometres. {remark}."), &tools(), &[]);
        assert!(plan["plan"].as_str().unwrap().contains("No tool fits"), "{remark}");
    }
}

#[test]
fn a_word_before_values_of_one_parameter_cannot_precede_those_of_another() {
    let text = json!({"type": "string"});
    let input = json!({"start": "2026-02-15", "end": "2026-04-04"});
    let examples = [
        ("How many days from 2026-02-15 until 2026-04-04?", input.clone()),
        ("How many days between 2026-02-15 and 2026-04-04?", input),
    ];
    let days = [tool("days", &json!({"start": text, "end": text}), &examples)];
    let expected = json!({"start": "3 May 2026", "end": "5 May 2026"});
    let calls_for = |query: &str| arguments_of_each_call(query, &days, &[]);
    assert_eq!(calls_for("How many days from 3 May 2026 until 5 May 2026?"), [expected]);
    assert!(calls_for("How many days until 5 May 2026 from 3 May 2026?").is_empty());
}
