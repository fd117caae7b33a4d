//! Which calls a question leads to, and with which arguments.

use serde_json::json;

use super::*;

#[test]
fn the_arguments_of_a_call_are_the_values_of_the_question_and_not_of_the_example() {
    let expected = json!({"value": 150, "from": "pounds", "to": "kilograms"});
    assert_eq!(call_arguments("How many kilograms are 150 pounds?"), [expected]);
}

#[test]
fn a_question_may_be_in_the_language_of_an_example() {
    let expected = json!({"value": 7.5, "from": "Meilen", "to": "Meter"});
    assert_eq!(call_arguments("Wie viele Meter sind 7.5 Meilen?"), [expected]);
}

#[test]
fn numbers_are_read_as_people_write_them() {
    assert_eq!(call_arguments("Convert 1,500 miles to kilometres")[0]["value"], 1500);
    assert_eq!(call_arguments("Convert -40 miles to kilometres")[0]["value"], -40);
    let large = 9_007_199_254_740_993_i64;
    assert_eq!(
        call_arguments(&format!("Convert {large} miles to kilometres"))[0]["value"],
        large
    );
}

#[test]
fn words_without_content_are_ignored() {
    assert_eq!(
        call_arguments("Could you please convert 3 miles into kilometres?").len(),
        1
    );
}

#[test]
fn arithmetic_is_read_in_signs_and_in_the_words_of_the_examples() {
    assert_eq!(
        call_arguments("What is (3 + 4) * 12?"),
        [json!({"expression": "(3 + 4) * 12"})]
    );
    assert_eq!(
        call_arguments("How much is 12 times 3 divided by 4?"),
        [json!({"expression": "12 times 3 divided by 4"})]
    );
}

#[test]
fn a_list_may_have_another_length_than_in_the_example() {
    assert_eq!(
        call_arguments("What is the average of 1, 2, 3 and 4.5?"),
        [json!({"expression": "average of 1, 2, 3 and 4.5"})]
    );
}

#[test]
fn a_text_that_is_quoted_or_follows_a_colon_or_a_line_break_is_passed_along() {
    let expected = json!({"text": "one two, three"});
    for query in [
        "How many words are in \"one two, three\"?",
        "How many words are in this text: one two, three",
        "How many words are in this text?\none two, three",
    ] {
        assert_eq!(call_arguments(query), std::slice::from_ref(&expected), "{query}");
    }
}

#[test]
fn an_attachment_fills_the_parameter_that_takes_its_kind() {
    let text = attachment("a.txt", "text/plain", "one two");
    assert_eq!(
        arguments_of_each_call("How many words are in this text?", &tools(), &[text]),
        [json!({"text": {"$attachment": "a.txt"}})]
    );
    let csv = attachment("p.csv", "text/csv", "item,price\nPump,3\n");
    let expected = json!({"csv": {"$attachment": "p.csv"}, "aggregate": "mean", "column": "price"});
    assert_eq!(
        arguments_of_each_call("What is the average price?", &tools(), &[csv]),
        [expected]
    );
}

#[test]
fn one_of_several_attachments_is_passed_along_only_if_it_is_named() {
    let files = [
        attachment("a.txt", "text/plain", "one"),
        attachment("b.txt", "text/plain", "two"),
    ];
    let named = arguments_of_each_call("How many words are in b.txt?", &tools(), &files[..]);
    assert_eq!(named, [json!({"text": {"$attachment": "b.txt"}})]);
    assert_eq!(
        arguments_of_each_call("How many words are in this text?", &tools(), &files),
        NO_CALLS
    );
}

#[test]
fn a_choice_is_understood_only_if_an_example_with_the_same_parameters_has_it() {
    let calls_for = |query: &str| {
        let csv = attachment("p.csv", "text/csv", "item,price\nPump,3\n");
        arguments_of_each_call(query, &tools(), &[csv])
    };
    assert_eq!(
        calls_for("What is the mean of price in this table?")[0]["aggregate"],
        "mean"
    );
    assert!(calls_for("What is the max of price in this table?").is_empty());
}

#[test]
fn two_texts_are_passed_along_in_the_order_of_the_question() {
    let text = json!({"type": "string"});
    let example = (
        "What changed from \"the quick fox\" to \"the slow fox\"?",
        json!({"before": "the quick fox", "after": "the slow fox"}),
    );
    let compare = tool("compare", &json!({"before": text, "after": text}), &[example]);
    let expected = json!({"before": "one two", "after": "one"});
    assert_eq!(
        arguments_of_each_call("What changed from \"one two\" to \"one\"?", &[compare], &[]),
        [expected]
    );
}

#[test]
fn a_question_without_a_text_does_not_get_the_text_of_an_example() {
    let text = json!({"type": "string"});
    let input = |text: &str| json!({"text": text, "pattern": "#\\w+"});
    let examples = [
        ("Find the tags in \"I like #art\"", input("I like #art")),
        (
            "Find the tags",
            input("See https://example.org on 2026-11-21, call +49 228 1234. #news"),
        ),
    ];
    let find = tool("find", &json!({"text": text, "pattern": text}), &examples);
    assert_eq!(
        arguments_of_each_call("Find the tags", std::slice::from_ref(&find), &[]),
        NO_CALLS
    );
    let file = attachment("a.txt", "text/plain", "x #y");
    assert_eq!(
        arguments_of_each_call("Find the tags", &[find], &[file])[0]["text"],
        json!({"$attachment": "a.txt"})
    );
}

#[test]
fn a_unit_that_examples_show_for_one_parameter_is_also_known_for_the_other() {
    let expected = json!({"value": 2, "from": "kilograms", "to": "stones"});
    // The examples have `kilograms` only as `to`, and `stones` not at all. One unit may be unknown, but only if the question has
    // all words of an example in their order.
    assert_eq!(call_arguments("2 kilograms convert to stones"), NO_CALLS);
    assert_eq!(call_arguments("Convert 2 kilograms to stones"), [expected]);
}

#[test]
fn a_question_that_lacks_a_content_word_of_the_pattern_gets_no_call() {
    let csv = attachment("p.csv", "text/csv", "item,price\nPump,3\n");
    let found = arguments_of_each_call("What is the price in this table?", &tools(), &[csv]);
    assert_eq!(found, NO_CALLS);
}

#[test]
fn phrases_of_conversation_are_ignored_and_other_phrases_are_not() {
    let politely = "Do you happen to know how many kilograms are 5 pounds? thx";
    assert_eq!(
        call_arguments(politely),
        call_arguments("How many kilograms are 5 pounds?")
    );
    assert_eq!(
        call_arguments("I'd like to see 2+2, quickly please"),
        [json!({"expression": "2+2"})]
    );
    assert_eq!(call_arguments("Convert 3 miles to kilometres, what is it").len(), 1);
    assert!(call_arguments("Convert 3 miles to kilometres in binary").is_empty());
}

#[test]
fn a_noun_or_a_pronoun_may_stand_for_an_attachment() {
    // The model knows `notice` as a noun for a document, and does not know `introduction`.
    let text = attachment("a.txt", "text/plain", "one two");
    let calls_for = |query: &str| arguments_of_each_call(query, &tools(), std::slice::from_ref(&text));
    assert_eq!(calls_for("How many words are in the notice?").len(), 1);
    assert_eq!(
        plan_for("How many words are in it?", &tools(), std::slice::from_ref(&text))["todoList"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    assert!(calls_for("How many words are in the introduction?").is_empty());
    assert!(call_arguments("How many words are in the notice?").is_empty());
}

#[test]
fn a_word_that_is_the_key_of_an_object_is_ignored_only_if_there_is_no_other_object() {
    let text = json!({"type": "string"});
    let json = "{\"users\":[{\"name\":\"Ada\"}]}";
    let example = ("What is the name in this file?", json!({"json": json, "field": "name"}));
    let pick = [tool("pick", &json!({"json": text, "field": text}), &[example])];
    let count_calls = |text: &str| {
        let files = [attachment("a.json", "application/json", text)];
        arguments_of_each_call("What is the port in the server?", &pick, &files).len()
    };
    assert_eq!(count_calls("{\"server\":{\"port\":80}}"), 1);
    assert_eq!(count_calls("{\"server\":{\"port\":80},\"proxy\":{\"port\":81}}"), 0);
}
