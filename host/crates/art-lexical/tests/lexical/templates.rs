//! What the model learns from the examples of a tool. Inputs that differ only in the values that their questions say have the
//! same template, and the model learns from the questions of such examples together.

use serde_json::json;

use super::*;

const PEOPLE: &str = "name,city,age\nAda,Bonn,36\n";
const SALES: &str = "branch,product,amount\nHalifax,Pump,10\nRegina,Valve,25\nHalifax,Valve,5\nON,Pump,1\n";

/// Returns a tool that evaluates tables.
fn query_tool() -> ToolSchema {
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
    let total_input = |more: Value| extend_input(json!({"csv": PEOPLE, "aggregate": "sum", "column": "age"}), more);
    let mean_input = json!({"csv": PEOPLE, "aggregate": "mean", "column": "age"});
    let in_bonn = json!({"filter": [{"operator": "eq", "value": "Bonn"}]});
    let in_bonn_by_column = json!({"filter": [{"column": "city", "operator": "eq", "value": "Bonn"}]});
    let age_above_30 = json!({"filter": [{"column": "age", "operator": "gt", "value": 30}]});
    let examples = [
        ("Total age", total_input(json!({}))),
        ("What is the total age?", total_input(json!({}))),
        ("Total age recorded in this table", total_input(json!({}))),
        ("Overall age", total_input(json!({}))),
        ("Total age in Bonn", total_input(in_bonn)),
        ("Total age in the Bonn city", total_input(in_bonn_by_column)),
        ("Total age with age above 30", total_input(age_above_30)),
        ("Total age per city", total_input(json!({"group_by": "city"}))),
        ("Average age", mean_input),
        ("How many rows are there?", json!({"csv": PEOPLE, "aggregate": "count"})),
    ];
    let mut tool = tool("query", &properties, &examples);
    tool.input_schema["required"] = json!(["csv"]);
    tool
}

/// Returns `input` with the fields of `more`.
fn extend_input(mut input: Value, more: Value) -> Value {
    if let (Some(input), Value::Object(more)) = (input.as_object_mut(), more) {
        input.extend(more);
    }
    input
}

/// Returns the arguments of the calls for a question about the table of sales, without the table.
fn calls_about_sales(query: &str) -> Vec<Value> {
    let files = [attachment("branch_sales.csv", "text/csv", SALES)];
    let mut calls = arguments_of_each_call(query, &[query_tool()], &files);
    for call in &mut calls {
        let csv = call.as_object_mut().unwrap().remove("csv");
        assert_eq!(csv, Some(json!({"$attachment": "branch_sales.csv"})));
    }
    calls
}

#[test]
fn words_of_example_questions_with_the_same_input_can_be_combined() {
    let sum = [json!({"aggregate": "sum", "column": "amount"})];
    assert_eq!(
        calls_about_sales("What is the total amount recorded in this table?"),
        sum
    );
    assert_eq!(calls_about_sales("Overall amount recorded"), sum);
    assert_eq!(calls_about_sales("Amount in total overall"), sum);
    assert!(calls_about_sales("Average amount recorded").is_empty());
}

#[test]
fn a_question_that_lacks_words_of_every_example_gets_no_call() {
    assert!(calls_about_sales("Amount recorded").is_empty());
    assert!(calls_about_sales("What is the amount?").is_empty());
}

#[test]
fn a_condition_is_understood_only_where_an_example_has_it() {
    let filter = json!([{"operator": "eq", "value": "Regina"}]);
    let expected = [json!({"aggregate": "sum", "column": "amount", "filter": filter})];
    assert_eq!(calls_about_sales("Total amount in Regina"), expected);
    assert!(calls_about_sales("Average amount in Regina").is_empty());
    assert!(calls_about_sales("Total amount in Halifax in Regina").is_empty());
    let filter = json!([{"column": "amount", "operator": "gt", "value": 7}]);
    assert_eq!(
        calls_about_sales("Total amount with amount above 7")[0]["filter"],
        filter
    );
}

#[test]
fn words_that_tell_two_inputs_apart_are_no_synonyms() {
    assert_eq!(calls_about_sales("Total amount")[0]["aggregate"], "sum");
    assert_eq!(calls_about_sales("Average amount")[0]["aggregate"], "mean");
    assert!(calls_about_sales("Median amount").is_empty());
}

#[test]
fn a_question_may_contain_words_of_the_name_of_the_file() {
    let expected = [json!({"aggregate": "sum", "column": "amount"})];
    assert_eq!(calls_about_sales("What is the total amount of the sales?"), expected);
}

#[test]
fn a_cell_may_be_named_with_its_column() {
    let filter = json!([{"column": "branch", "operator": "eq", "value": "Halifax"}]);
    let expected = [json!({"aggregate": "sum", "column": "amount", "filter": filter})];
    assert_eq!(calls_about_sales("Total amount in the Halifax branch"), expected);
}

#[test]
fn a_cell_in_capitals_is_no_preposition() {
    let filter = json!([{"operator": "eq", "value": "ON"}]);
    assert_eq!(calls_about_sales("Total amount in ON")[0]["filter"], filter);
    // In lower case, `on` is a preposition like `in`.
    assert_eq!(
        calls_about_sales("total amount on Halifax").len(),
        calls_about_sales("total amount in Halifax").len()
    );
}

#[test]
fn a_question_that_names_a_column_for_no_argument_gets_no_call() {
    assert!(calls_about_sales("How many branch rows are there?").is_empty());
    assert!(calls_about_sales("Total amount product").is_empty());
}

#[test]
fn a_number_that_the_table_lacks_is_no_condition() {
    assert!(calls_about_sales("Total amount in 2024").is_empty());
}

#[test]
fn an_unknown_value_needs_a_question_with_all_words_of_an_example() {
    let text = json!({"type": "string"});
    let properties = json!({"value": {"type": "number"}, "from": text, "to": text});
    let input = |value: u32, from: &str, to: &str| json!({"value": value, "from": from, "to": to});
    let examples = [
        ("How many kilograms are 5 pounds?", input(5, "pounds", "kilograms")),
        ("How many minutes in an hour?", input(1, "hour", "minutes")),
        ("Minutes in an hour", input(1, "hour", "minutes")),
    ];
    let convert = [tool("convert", &properties, &examples)];
    assert_eq!(
        arguments_of_each_call("How many stones are 7 pounds?", &convert, &[]).len(),
        1
    );
    assert!(arguments_of_each_call("The label 7 pounds", &convert, &[]).is_empty());
}

#[test]
fn the_example_with_exactly_the_words_of_the_question_determines_the_input() {
    let text = json!({"type": "string"});
    let examples = [
        (
            "Replace \"a\" with \"b\" in ~/a.txt",
            json!({"path": "~/a.txt", "old": "a", "new": "b", "all": "no"}),
        ),
        (
            "Replace all \"a\" with \"b\" in ~/a.txt",
            json!({"path": "~/a.txt", "old": "a", "new": "b", "all": "yes"}),
        ),
    ];
    let edit = [tool(
        "edit",
        &json!({"path": text, "old": text, "new": text, "all": text}),
        &examples,
    )];
    let all = |query: &str| arguments_of_each_call(query, &edit, &[])[0]["all"].clone();
    assert_eq!(all("Replace \"x\" with \"y\" in ~/b.txt"), "no");
    assert_eq!(all("Replace all \"x\" with \"y\" in ~/b.txt"), "yes");
}

#[test]
fn a_value_under_a_key_with_a_slash_is_learnt() {
    let rates = json!({"type": "object", "additionalProperties": {"type": "number"}});
    let example = ("Use the rate 1.1", json!({"rates": {"EUR/USD": 1.1}}));
    let exchange = [tool("exchange", &json!({"rates": rates}), &[example])];
    assert_eq!(
        arguments_of_each_call("Use the rate 1.3", &exchange, &[]),
        [json!({"rates": {"EUR/USD": 1.3}})]
    );
}

#[test]
fn a_property_named_enum_is_not_taken_for_the_choices_of_an_undeclared_key() {
    let example = ("Use the level 5", json!({"level": 5}));
    let mut mixer = tool("mix", &json!({"enum": {"type": "string"}}), &[example]);
    mixer.input_schema["required"] = json!([]);
    mixer.input_schema["additionalProperties"] = json!(true);
    assert_eq!(
        arguments_of_each_call("Use the level 7", &[mixer], &[]),
        [json!({"level": 7})]
    );
}
