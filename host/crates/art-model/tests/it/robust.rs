//! Nothing that a prompt can hold makes the model panic.

use art_core::tool::ToolSchema;
use art_model::open;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{prompts, tools};

/// Any JSON, of a few levels.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        prop::sample::select(vec![
            "object",
            "array",
            "string",
            "number",
            "date",
            "#/$defs/X",
            "#",
            "csv",
            "from"
        ])
        .prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 5, |inner| {
        let key = prop::sample::select(vec![
            "type",
            "properties",
            "items",
            "enum",
            "required",
            "$ref",
            "anyOf",
            "oneOf",
            "description",
            "a",
            "to",
        ]);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Text made of the pieces that the model looks for.
fn any_query() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "what is ",
        "that ",
        "3 weeks ",
        "an hour ",
        "two hundred and ",
        "a third of ",
        "half ",
        "after ",
        "before ",
        "ago ",
        "in ",
        "today ",
        "the average of ",
        "max(",
        "what about ",
        "items: ",
        "apple 3, ",
        "convrt ",
        "12 Main Street, ",
        "divided by ",
        "2",
        "1,000",
        "17.5% of ",
        "-",
        "(",
        ")",
        "[",
        "{\"a\":1}",
        "\"",
        "'",
        "“x”",
        "then ",
        "and ",
        ". ",
        "? ",
        "\n",
        "1. ",
        ":",
        "from ",
        "to ",
        "between ",
        "2024-02-30",
        "Feb 3",
        "T10:",
        "https://",
        "a@b.c",
        "x.csv",
        "é",
        "ẞ",
        "#1e",
        "!",
        "sqrt(",
        "^",
        "D.C.",
        "a,b\n1,2\n",
        "$",
        "5k",
        "1e999",
        "İ",
        "🦀",
        "\u{1}",
    ]);
    prop_oneof![
        ".{0,80}",
        prop::collection::vec(piece, 0..25).prop_map(|pieces| pieces.concat())
    ]
}

fn schema(name: String, description: String, input_schema: Value) -> ToolSchema {
    let mut tool = tools::tool("t", "", &[], json!({}));
    (tool.name, tool.description, tool.input_schema) = (name, description, input_schema);
    tool
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_query_with_our_tools_is_planned_and_carried_out(query in any_query()) {
        let files = json!([{"name": "x.csv", "mediaType": "text/csv", "bytes": 1, "preview": "a,b\n1,2"}]);
        prompts::calls(open("embedded").unwrap().as_ref(), &query, &tools::all(), &files);
    }

    #[test]
    fn any_schema_is_read(query in any_query(), name in ".{0,12}", description in ".{0,40}", input in any_json(), inner in any_json()) {
        let wrapped = json!({"type": "object", "required": ["a", "to"], "properties": {"a": inner, "to": input}});
        let tools = [schema(name.clone(), description.clone(), input), schema(name, description, wrapped)];
        prompts::calls(open("embedded").unwrap().as_ref(), &query, &tools, &json!([]));
    }

    #[test]
    fn any_result_is_shown(result in any_json(), text in ".{0,60}") {
        let model = open("embedded").unwrap();
        let steps = json!([result, {"stepId": "s", "description": text, "result": result, "sources": [result]}]);
        let answer = prompts::text(model.as_ref(), prompts::synthesis(&text, &text, &steps, &steps, &steps));
        prop_assert!(answer.starts_with("<mainContent>"));
    }

    #[test]
    fn any_text_is_a_prompt(text in ".{0,200}") {
        let model = open("embedded").unwrap();
        for phase in [art_core::stream::Phase::Planning, art_core::stream::Phase::Execution, art_core::stream::Phase::Synthesis] {
            let mut request = prompts::planning("q", &[], &json!([]), None);
            request.phase = phase;
            request.prompt.0 = vec![art_core::prompt::Message::system(&text), art_core::prompt::Message::user(&text)];
            prompts::text(model.as_ref(), request);
        }
    }
}
