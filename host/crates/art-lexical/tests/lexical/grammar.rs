//! What the model learns from comparing a tool's examples.

use serde_json::json;

use super::*;

const PEOPLE: &str = "name,city,age\nAda,Bonn,36\n";
const SALES: &str = "branch,product,amount\nHalifax,Pump,10\nRegina,Valve,25\nHalifax,Valve,5\nON,Pump,1\n";

/// A tool for tables. Its examples have one aggregate with each condition, and the other aggregate without one.
fn query() -> ToolSchema {
    let text = json!({"type": "string"});
    let condition = json!({
        "type": "object", "additionalProperties": false,
        "properties": {"column": text, "operator": {"type": "string", "enum": ["eq", "gt"]}, "value": {}},
    });
    let properties = json!({
        "csv": text,
        "aggregate": {"type": "string", "enum": ["sum", "mean", "count"]},
        "column": text,
        "group_by": text,
        "filter": {"type": "array", "items": condition},
    });
    let total = |more: Value| with(json!({"csv": PEOPLE, "aggregate": "sum", "column": "age"}), more);
    let mean = json!({"csv": PEOPLE, "aggregate": "mean", "column": "age"});
    let in_bonn = json!({"filter": [{"operator": "eq", "value": "Bonn"}]});
    let above = json!({"filter": [{"column": "city", "operator": "gt", "value": 30}]});
    let equal = json!({"filter": [{"column": "city", "operator": "eq", "value": "Bonn"}]});
    let examples = [
        ("Total age", total(json!({}))),
        ("What is the total age?", total(json!({}))),
        ("Total age recorded in this table", total(json!({}))),
        ("Overall age", total(json!({}))),
        ("Total age in Bonn", total(in_bonn)),
        ("Total age per city", total(json!({"group_by": "city"}))),
        ("Total age with city above 30", total(above)),
        ("Total age with city equal to Bonn", total(equal)),
        ("Average age", mean),
        ("How many rows are there?", json!({"csv": PEOPLE, "aggregate": "count"})),
    ];
    let mut tool = tool("query", &properties, &examples);
    tool.input_schema["required"] = json!(["csv"]);
    tool
}

fn with(mut input: Value, more: Value) -> Value {
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
    input
}

/// The calls for a question about the table of sales, without the table.
fn asked(query: &str) -> Vec<Value> {
    let files = [file("branch_sales.csv", "text/csv", SALES)];
    let mut calls = calls_with(query, &[self::query()], &files);
    for call in &mut calls {
        let csv = call.as_object_mut().unwrap().remove("csv");
        assert_eq!(csv, Some(json!({"$attachment": "branch_sales.csv"})));
    }
    calls
}

#[test]
fn what_one_example_adds_is_understood_with_every_other() {
    let filter = json!([{"operator": "eq", "value": "Regina"}]);
    assert_eq!(
        asked("Average amount in Regina"),
        [json!({"aggregate": "mean", "column": "amount", "filter": filter})]
    );
    assert_eq!(
        asked("Average amount per product"),
        [json!({"aggregate": "mean", "column": "amount", "group_by": "product"})]
    );
    let filter = json!([{"column": "amount", "operator": "gt", "value": 7}]);
    assert_eq!(
        asked("How many rows are there with amount above 7?"),
        [json!({"aggregate": "count", "filter": filter})]
    );
}

#[test]
fn conditions_can_be_combined_unless_no_row_meets_both() {
    let both = asked("Total amount in Halifax in Pump");
    assert_eq!(both[0]["filter"].as_array().unwrap().len(), 2, "{both:?}");
    assert!(asked("Total amount in Halifax in Regina").is_empty());
}

#[test]
fn words_that_one_of_two_examples_lacks_may_be_there_or_not() {
    let expected = [json!({"aggregate": "mean", "column": "amount"})];
    assert_eq!(asked("What is the average amount recorded in this table?"), expected);
}

#[test]
fn a_synonym_is_one_in_every_question_about_the_tool() {
    let filter = json!([{"operator": "eq", "value": "Regina"}]);
    let expected = [json!({"aggregate": "sum", "column": "amount", "filter": filter})];
    assert_eq!(asked("Overall amount in Regina"), expected);
}

#[test]
fn words_that_tell_two_inputs_apart_are_no_synonyms() {
    assert_eq!(asked("Total amount")[0]["aggregate"], "sum");
    assert_eq!(asked("Average amount")[0]["aggregate"], "mean");
    assert!(asked("Median amount").is_empty());
}

#[test]
fn words_of_the_name_of_the_file_count_as_words_about_it() {
    let expected = [json!({"aggregate": "sum", "column": "amount"})];
    assert_eq!(asked("What is the total amount of the sales?"), expected);
}

#[test]
fn a_cell_may_be_named_with_its_column() {
    let filter = json!([{"operator": "eq", "value": "Halifax"}]);
    let expected = [json!({"aggregate": "sum", "column": "amount", "filter": filter})];
    assert_eq!(asked("Total amount in the Halifax branch"), expected);
    assert!(asked("Total amount in the Halifax product").is_empty());
}

#[test]
fn a_cell_in_capitals_is_no_preposition() {
    let filter = json!([{"operator": "eq", "value": "ON"}]);
    assert_eq!(asked("Total amount in ON")[0]["filter"], filter);
    assert_eq!(
        asked("total amount on Halifax").len(),
        asked("total amount in Halifax").len()
    );
}

#[test]
fn the_name_of_a_column_is_never_left_out() {
    assert!(asked("How many branch rows are there?").is_empty());
    assert!(asked("Total amount product").is_empty());
}

#[test]
fn a_number_that_the_table_lacks_is_no_condition() {
    assert!(asked("Total amount in 2024").is_empty());
}

#[test]
fn an_unknown_word_is_no_value_where_words_of_the_example_are_left_out() {
    let text = json!({"type": "string"});
    let properties = json!({"value": {"type": "number"}, "from": text, "to": text});
    let input = |value: u32, from: &str, to: &str| json!({"value": value, "from": from, "to": to});
    let examples = [
        ("How many kilograms are 5 pounds?", input(5, "pounds", "kilograms")),
        ("How many minutes in an hour?", input(1, "hour", "minutes")),
        ("Minutes in an hour", input(1, "hour", "minutes")),
    ];
    let convert = [tool("convert", &properties, &examples)];
    assert_eq!(calls_with("Kilograms are 7 pounds", &convert, &[]).len(), 1);
    assert_eq!(calls_with("How many stones are 7 pounds?", &convert, &[]).len(), 1);
    assert!(calls_with("The label 7 pounds", &convert, &[]).is_empty());
}

#[test]
fn a_cell_is_no_value_of_a_column_that_lacks_it() {
    let filter = json!([{"column": "branch", "operator": "eq", "value": "Regina"}]);
    let asked_of = |column: &str| asked(&format!("Total amount with {column} equal to Regina"));
    assert_eq!(asked_of("branch")[0]["filter"], filter);
    assert!(asked_of("product").is_empty());
}

#[test]
fn a_synonym_that_one_tool_teaches_holds_for_the_others() {
    let text = json!({"type": "string"});
    let words = [
        ("Count the words of \"to be\"", json!({"text": "to be"})),
        ("Tally the words of \"to be\"", json!({"text": "to be"})),
    ];
    let words = tool("words", &json!({"text": text}), &words);
    let rows = |more: &[(&str, Value)]| {
        let one = ("Count the rows of \"a b\"", json!({"rows": "a b"}));
        tool("rows", &json!({"rows": text}), &[&[one], more].concat())
    };
    let asked = |tools: &[ToolSchema]| calls_with("Tally the rows of \"c d\"", tools, &[]);
    assert_eq!(asked(&[words.clone(), rows(&[])]), [json!({"rows": "c d"})]);
    assert!(asked(&[rows(&[])]).is_empty());
    let other = ("Tally marks in \"a b\"", json!({"rows": "marks"}));
    assert!(asked(&[words, rows(&[other])]).is_empty());
}
