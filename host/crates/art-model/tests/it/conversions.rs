//! Conversions between units, with the schemas of the tools that come with the host.

use art_core::tool::ToolSchema;
use art_model::open;
use serde_json::{Value, json};

use crate::prompts;

/// The schemas that the host's own tools have.
pub(crate) fn host_tools() -> Vec<ToolSchema> {
    serde_json::from_str(include_str!("host_tools.json")).unwrap()
}

pub(crate) fn calls(query: &str, tools: &[ToolSchema], attachments: &Value) -> Vec<Value> {
    let calls = prompts::calls(open("embedded").unwrap().as_ref(), query, tools, attachments);
    calls
        .into_iter()
        .map(|call| json!({call.tool_name: call.arguments}))
        .collect()
}

fn conversion(value: &Value, from: &str, to: &str) -> Vec<Value> {
    vec![json!({"unit_convert": {"value": value, "from": from, "to": to}})]
}

#[test]
fn any_two_symbols_are_taken_in_the_order_of_the_text() {
    const SYMBOLS: [&str; 20] = [
        "C", "F", "K", "m", "km", "cm", "mm", "ft", "in", "mi", "g", "kg", "mg", "lb", "oz", "t", "l", "ml", "mph",
        "km/h",
    ];
    let tools = host_tools();
    for from in SYMBOLS {
        for to in SYMBOLS.into_iter().filter(|to| *to != from) {
            let query = format!("convert 5 {from} to {to}");
            assert_eq!(
                calls(&query, &tools, &json!([])),
                conversion(&json!(5), from, to),
                "{query}"
            );
        }
    }
}

#[test]
fn signs_separators_case_and_other_words_of_direction_change_no_order() {
    for (query, value, from, to) in [
        ("convert -40 C to F", json!(-40), "C", "F"),
        ("convert 1,000 m to km", json!(1000), "m", "km"),
        ("convert 50 c to f", json!(50), "c", "f"),
        ("convert 1 ly to km", json!(1), "ly", "km"),
        ("Convert 20 °C into °F, please", json!(20), "°C", "°F"),
        ("convert 9.81 m/s^2 to ft/s^2", json!(9.81), "m/s^2", "ft/s^2"),
        ("Convert 30 mpg to L/100km.", json!(30), "mpg", "L/100km"),
        (
            "convert 72 miles per hour to the metres per second",
            json!(72),
            "miles per hour",
            "metres per second",
        ),
        ("convert 5 in to cm", json!(5), "in", "cm"),
        ("convert 5 cm in in", json!(5), "cm", "in"),
    ] {
        assert_eq!(
            calls(query, &host_tools(), &json!([])),
            conversion(&value, from, to),
            "{query}"
        );
    }
}
