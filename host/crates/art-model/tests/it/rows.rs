//! Lists of objects that are written in words.

use art_core::tool::ToolSchema;
use art_model::open;
use serde_json::{Value, json};

use crate::{prompts, tools};

fn invoice(fields: &Value, required: &[&str]) -> Vec<ToolSchema> {
    let item = json!({"type": "object", "properties": fields, "required": required});
    let items = json!({"items": {"type": "array", "description": "Items of the invoice", "items": item}});
    let tool = tools::tool(
        "create_invoice",
        "Creates an invoice from a list of items.",
        &["items"],
        items,
    );
    vec![tool, tools::calculator()]
}

fn plain() -> Vec<ToolSchema> {
    let fields = json!({"name": {"type": "string"}, "quantity": {"type": "integer"}, "note": {"type": "string"}});
    invoice(&fields, &["name", "quantity"])
}

fn calls(query: &str, tools: &[ToolSchema]) -> Vec<Value> {
    let calls = prompts::calls(open("embedded").unwrap().as_ref(), query, tools, &json!([]));
    calls.into_iter().map(|call| json!(call.arguments)).collect()
}

#[test]
fn rows_of_a_text_and_a_number_become_objects() {
    for query in [
        "Create an invoice with items: apple 3, pear 5",
        "Create an invoice with these items: apple: 3, pear: 5.",
        "Create an invoice for 3 apple and five pear",
        "Create an invoice, items apple (3); pear (5)",
        "Create an invoice with 3x apple, 5 x pear",
    ] {
        let items = json!([{"name": "apple", "quantity": 3}, {"name": "pear", "quantity": 5}]);
        assert_eq!(calls(query, &plain()), [json!({"items": items})], "{query}");
    }
}

#[test]
fn texts_of_several_words_stay_whole() {
    let items = json!([{"name": "bags of rice", "quantity": 2}, {"name": "Earl Grey", "quantity": 10}]);
    let query = "Create an invoice with the items 2 bags of rice and 10 \"Earl Grey\"";
    assert_eq!(calls(query, &plain()), [json!({"items": items})]);
}

#[test]
fn rows_without_a_number_are_named_as_missing() {
    for query in [
        "Create an invoice with items: apple, pear",
        "Create an invoice with items: apple 3, pear",
    ] {
        let plan = prompts::plan(open("embedded").unwrap().as_ref(), query, &plain(), &json!([]));
        assert_eq!(plan["todoList"], json!([]), "{query}");
        let said = plan["plan"].as_str().unwrap();
        assert!(
            said.contains("needs `items` (each with `name` and `quantity`)"),
            "{said}"
        );
    }
}

#[test]
fn types_that_leave_a_doubt_are_not_guessed() {
    let query = "Create an invoice with items: apple 3, pear 5";
    let two_numbers = json!({"name": {"type": "string"}, "price": {"type": "number"}, "quantity": {"type": "integer"}});
    assert!(calls(query, &invoice(&two_numbers, &["name", "price", "quantity"])).is_empty());
    assert!(calls(query, &invoice(&two_numbers, &["name"])).is_empty());
    let two_texts = json!({"name": {"type": "string"}, "colour": {"type": "string"}, "quantity": {"type": "integer"}});
    assert!(calls(query, &invoice(&two_texts, &["name", "colour", "quantity"])).is_empty());
}

#[test]
fn a_part_of_a_thing_is_no_whole_number_of_things() {
    assert!(calls("Create an invoice with items: apple 3.5, pear 5", &plain()).is_empty());
}
