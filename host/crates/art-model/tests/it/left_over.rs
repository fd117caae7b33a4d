//! Questions that say more than a tool takes are not answered as if they said less.

use art_model::open;
use serde_json::{Value, json};

use crate::conversions::{calls, host_tools};
use crate::prompts;

fn sales() -> Value {
    json!([{"name": "sales.csv", "mediaType": "text/csv", "bytes": 60, "preview": "region,product,sales\nNorth,Pen,10\nSouth,Ink,25\nNorth,Ink,20\n"}])
}

fn said(query: &str, attachments: &Value) -> String {
    let plan = prompts::plan(open("embedded").unwrap().as_ref(), query, &host_tools(), attachments);
    assert_eq!(plan["todoList"], json!([]), "{query}");
    plan["plan"].as_str().unwrap().to_owned()
}

#[test]
fn a_number_that_no_argument_takes_is_named() {
    for (query, left) in [
        (
            "convert 3 stone 4 lb to kg",
            "`4` in `stone 4` went into no argument of `unit_convert`",
        ),
        (
            "convert 3 hours 20 minutes to seconds",
            "`20` in `hours 20` went into no argument of `unit_convert`",
        ),
        (
            "What is 1,5 + 2,5?",
            "`1` in `is 1` went into no argument of `calculator`",
        ),
        (
            "100 divided by 7 rounded to 2 decimals",
            "`2` in `to 2` went into no argument of `calculator`",
        ),
    ] {
        let said = said(query, &json!([]));
        assert!(said.contains(left), "{query}: {said}");
    }
}

#[test]
fn a_word_that_limits_and_that_no_argument_takes_is_named() {
    for (query, left) in [
        (
            "Which region has the second highest sales?",
            "`second` in `the second` went into no argument of `csv_query`",
        ),
        (
            "How many distinct regions are there in this CSV?",
            "`distinct` in `many distinct`",
        ),
        (
            "What are the total sales in this CSV excluding pens?",
            "`excluding` in `CSV excluding`",
        ),
        (
            "Count the rows of this CSV with sales above average",
            "`above` in `sales above`",
        ),
        (
            "How many business days are between 2026-01-15 and 2026-02-15?",
            "`business` in `many business`",
        ),
    ] {
        let said = said(query, &sales());
        assert!(said.contains(left), "{query}: {said}");
    }
}

#[test]
fn a_question_whose_numbers_all_became_arguments_is_called() {
    for (query, attachments) in [
        ("What is 17.5% of 2340?", json!([])),
        ("What date is 90 days after 2026-01-15?", json!([])),
        ("How many days are between 2026-01-15 and 2026-02-15?", json!([])),
        ("Which region has the highest total sales in this CSV?", sales()),
        ("What are the top 3 regions by sales in this CSV?", sales()),
    ] {
        assert_eq!(calls(query, &host_tools(), &attachments).len(), 1, "{query}");
    }
}

#[test]
fn two_percentages_are_two_parts() {
    assert_eq!(
        calls("What is 30% of 90 and 20% of 50?", &host_tools(), &json!([])),
        [
            json!({"calculator": {"expression": "30% of 90"}}),
            json!({"calculator": {"expression": "20% of 50"}})
        ]
    );
}

#[test]
fn a_ranking_takes_its_number_and_what_is_ranked() {
    assert_eq!(
        calls(
            "What are the top 3 regions by sales in this CSV?",
            &host_tools(),
            &sales()
        ),
        [json!({"csv_query": {
            "csv": "attachment:sales.csv", "group_by": "region", "column": "sales", "sort": "descending", "limit": 3,
        }})]
    );
    let said = said("What are the 2nd highest sales in this CSV?", &sales());
    assert!(said.contains("`2nd`"), "{said}");
}

#[test]
fn an_aggregate_is_taken_by_its_word() {
    for (word, aggregate) in [
        ("maximum", "max"),
        ("minimum", "min"),
        ("average", "mean"),
        ("median", "median"),
        ("total", "sum"),
        ("largest", "max"),
    ] {
        let query = format!("{word} sales per region in this CSV");
        let calls = calls(&query, &host_tools(), &sales());
        assert_eq!(calls[0]["csv_query"]["aggregate"], aggregate, "{query}");
    }
}

#[test]
fn what_a_wrong_operation_would_need_is_not_asked_for() {
    let said = said("Which day of the week is Christmas?", &json!([]));
    assert!(!said.contains("needs `end`"), "{said}");
    let example = examples(&said);
    assert_eq!(example.len(), 1, "{said}");
    // The tool's own example that is nearest is one that the model does not plan, so it is not offered.
    assert_eq!(calls(example[0], &host_tools(), &json!([])).len(), 1, "{said}");
}

/// The questions that a plan offers.
fn examples(said: &str) -> Vec<&str> {
    let offered = said.split("answers for example \"").skip(1);
    offered.filter_map(|rest| rest.split("\".").next()).collect()
}

#[test]
fn a_question_that_is_offered_as_an_example_is_answered() {
    let mut offered = 0;
    for query in [
        "Which day of the week is Christmas?",
        "When is Easter?",
        "How many words are there?",
        "Compare the two texts",
        "Extract all emails",
        "What is the total?",
        "Which region is best?",
        "Convert the temperature",
        "Find the dates",
        "What changed?",
        "How long is it?",
        "What is the price in this JSON?",
        "Calculate the tax",
        "What time is it in Tokyo?",
        "Count the letters",
    ] {
        for attachments in [json!([]), sales()] {
            let plan = prompts::plan(open("embedded").unwrap().as_ref(), query, &host_tools(), &attachments);
            let said = plan["plan"].as_str().unwrap();
            for example in examples(said) {
                offered += 1;
                assert!(
                    !calls(example, &host_tools(), &attachments).is_empty(),
                    "{query}: {said}"
                );
            }
        }
    }
    assert!(offered > 0);
}

#[test]
fn an_ambiguous_date_is_passed_on_as_it_is_written() {
    for (first, second) in [("02/03/2026", "05/03/2026"), ("03.04.2026", "05.04.2026")] {
        let query = format!("How many days are between {first} and {second}?");
        let calls = calls(&query, &host_tools(), &json!([]));
        let arguments = json!({"operation": "difference", "start": first, "end": second, "unit": "days"});
        assert_eq!(calls, [json!({"datetime": arguments})], "{query}");
    }
    let calls = calls("Which weekday is 12/25/2026?", &host_tools(), &json!([]));
    assert_eq!(calls[0]["datetime"]["date"], "2026-12-25");
}

#[test]
fn a_zone_with_a_slash_is_one_word() {
    let query = "Convert 2026-11-21T15:00 from Europe/Berlin to Asia/Tokyo";
    let calls = calls(query, &host_tools(), &json!([]));
    assert_eq!(calls[0]["datetime"]["from_zone"], "Europe/Berlin");
    assert_eq!(calls[0]["datetime"]["to_zone"], "Asia/Tokyo");
}

fn filter(query: &str) -> Value {
    let calls = calls(query, &host_tools(), &sales());
    assert_eq!(calls.len(), 1, "{query}");
    calls[0]["csv_query"]["filter"].clone()
}

#[test]
fn a_bound_beside_a_column_becomes_a_condition() {
    for (query, operator, value) in [
        ("How many rows have sales over 15?", "gt", "15"),
        ("count the rows where sales is less than 15", "lt", "15"),
        ("How many rows have at least 20 sales?", "ge", "20"),
        ("How many rows have sales of at most 20?", "le", "20"),
    ] {
        assert_eq!(
            filter(query),
            json!([{"column": "sales", "operator": operator, "value": value}]),
            "{query}"
        );
    }
    let said = said("How many rows have a weight over 15?", &sales());
    assert!(
        said.contains("`15` in `over 15` went into no argument of `csv_query`"),
        "{said}"
    );
}

#[test]
fn a_value_of_the_table_becomes_a_condition() {
    let north = json!({"column": "region", "operator": "eq", "value": "North"});
    for query in [
        "What are the total sales in North?",
        "What are the total sales for region North?",
        "total sales where region is North",
    ] {
        assert_eq!(filter(query), json!([north]), "{query}");
    }
    let ink = json!({"column": "product", "operator": "eq", "value": "Ink"});
    assert_eq!(filter("What are the total sales of Ink in North?"), json!([north, ink]));
}

#[test]
fn values_that_are_no_one_condition_are_named() {
    for (query, left) in [
        ("What are the total sales in East?", "`East` in `in East`"),
        ("What are the total sales in North and South?", "`North` in `in North`"),
        (
            "What are the total sales excluding Ink?",
            "`excluding` in `sales excluding`",
        ),
        ("How many sales over 10% are in this CSV?", "`10%` in `over 10%`"),
    ] {
        let said = said(query, &sales());
        assert!(said.contains(left), "{query}: {said}");
    }
}

#[test]
fn rows_that_are_to_be_shown_are_not_counted() {
    let calls = calls("Show the rows with sales of at most 20", &host_tools(), &sales());
    assert_eq!(calls[0]["csv_query"].get("aggregate"), None);
}
