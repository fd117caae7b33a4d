//! Questions as people ask them, with tools of the kind that a host has.

use art_model::open;
use serde_json::{Value, json};

use crate::{prompts, tools};

fn calls(query: &str, attachments: &Value) -> Vec<Value> {
    let model = open("embedded").unwrap();
    let calls = prompts::calls(model.as_ref(), query, &tools::all(), attachments);
    calls
        .into_iter()
        .map(|call| json!({call.tool_name: call.arguments}))
        .collect()
}

fn sales() -> Value {
    json!([{"name": "sales.csv", "mediaType": "text/csv", "bytes": 60, "preview": "region,product,total\nNorth,Pen,10\nSouth,Ink,25\nNorth,Ink,20\n"}])
}

#[test]
fn a_later_part_goes_on_from_the_result_of_an_earlier_one() {
    let calls = calls("What is 17.5% of 2340, and what is that divided by 7?", &json!([]));
    assert_eq!(
        calls,
        [
            json!({"calculator": {"expression": "17.5% of 2340"}}),
            json!({"calculator": {"expression": "42 / 7"}})
        ]
    );
}

#[test]
fn dates_of_a_range_become_its_ends() {
    let calls = calls("How many days are there between 2024-02-27 and 2026-11-21?", &json!([]));
    let arguments = json!({"operation": "difference", "start": "2024-02-27", "end": "2026-11-21", "unit": "days"});
    assert_eq!(calls, [json!({"datetime": arguments})]);
}

#[test]
fn units_around_a_number_become_from_and_to() {
    let calls = calls("Convert 72 miles per hour to metres per second", &json!([]));
    assert_eq!(
        calls,
        [json!({"unit_convert": {"value": 72, "from": "miles per hour", "to": "metres per second"}})]
    );
}

#[test]
fn a_question_about_an_attached_table_names_its_columns() {
    let calls = calls("Which region has the highest total in this CSV?", &sales());
    let arguments = json!({
        "csv": "attachment:sales.csv", "group_by": "region", "aggregate": "sum", "column": "total", "sort": "descending", "limit": 1,
    });
    assert_eq!(calls, [json!({"csv_query": arguments})]);
}

#[test]
fn two_questions_are_two_steps() {
    let calls = calls("What is 12 times 12? Convert 5 km to miles.", &json!([]));
    assert_eq!(
        calls,
        [
            json!({"calculator": {"expression": "12 * 12"}}),
            json!({"unit_convert": {"value": 5, "from": "km", "to": "miles"}}),
        ]
    );
}

#[test]
fn no_call_is_made_where_no_tool_fits() {
    for query in [
        "Who won the football world cup in 2018?",
        "Book me a table for two",
        "Hello!",
        "Tell me a joke about dates",
        "",
    ] {
        assert_eq!(calls(query, &json!([])), Vec::<Value>::new(), "{query}");
        assert_eq!(calls(query, &sales()), Vec::<Value>::new(), "{query} with a table");
    }
}

#[test]
fn arithmetic_in_words_becomes_an_expression() {
    for (query, expression) in [
        ("What is 1284 divided by 6 plus 19?", "1284 / 6 + 19"),
        ("square root of 2", "sqrt(2)"),
        ("2 to the power of 10", "2 ^ 10"),
        ("calculate (3 + 4) * 2", "(3 + 4) * 2"),
    ] {
        assert_eq!(
            calls(query, &json!([])),
            [json!({"calculator": {"expression": expression}})],
            "{query}"
        );
    }
}

#[test]
fn a_text_after_a_colon_is_an_argument() {
    let calls = calls("How many words are in this text: The cat sat. It slept.", &json!([]));
    assert_eq!(calls, [json!({"text_stats": {"text": "The cat sat. It slept."}})]);
}

#[test]
fn a_table_in_the_query_is_an_argument() {
    let calls = calls(
        "Which city has the highest price?\ncity,price\nBonn,3\nKiel,4",
        &json!([]),
    );
    let call = calls.first().unwrap();
    assert_eq!(call["csv_query"]["csv"], "city,price\nBonn,3\nKiel,4");
    assert_eq!(call["csv_query"]["group_by"], "city");
    assert_eq!(calls.len(), 1);
}

#[test]
fn a_part_without_a_tool_does_not_stop_the_others() {
    let model = open("embedded").unwrap();
    let plan = prompts::plan(
        model.as_ref(),
        "What is 6 times 7, and who wrote Hamlet?",
        &tools::all(),
        &json!([]),
    );
    assert_eq!(plan["todoList"].as_array().unwrap().len(), 1);
    let words = plan["plan"].as_str().unwrap();
    assert!(words.contains("No tool fits \"who wrote Hamlet?\""), "{words}");
}

#[test]
fn a_missing_argument_is_named() {
    let model = open("embedded").unwrap();
    let plan = prompts::plan(model.as_ref(), "Convert 5 km", &tools::all(), &json!([]));
    assert_eq!(plan["todoList"], json!([]));
    let words = plan["plan"].as_str().unwrap();
    assert!(words.contains("`unit_convert`, which needs `to`"), "{words}");
}
