//! Large integers are never rounded: not in arguments, outputs, tables and JSON, and not where calls are compared.

use serde_json::{Value, json};

use crate::harness::components;
use crate::home::Home;
use crate::program::CommandOutput;

/// An integer that a float rounds to 9007199254740992.
const ID: u64 = 9_007_199_254_740_993;

/// Calls a tool of a home with a guest and the first-party plugins that need no grant.
fn call(tool: &str, arguments: &str) -> CommandOutput {
    let home = Home::empty();
    match components::PLUGINS.iter().find(|(name, _)| *name == tool) {
        Some((name, component)) => home.add(name, component),
        None => home.add(tool, components::LARGE_NUMBERS),
    }
    home.art(&["--json", "tool", "call", tool, arguments])
}

fn output(tool: &str, arguments: &str) -> Value {
    let called = call(tool, arguments);
    assert_eq!(called.code(), 0, "{called}");
    called.json()["result"]["output"].clone()
}

#[test]
fn integers_of_arguments_and_outputs_are_exact() {
    let arguments = r#"{"id":18446744073709551615,"any":[9007199254740993,-9223372036854775808,340282366920938463463374607431768211455]}"#;
    let expected = json!({
        "id": u64::MAX,
        "any": [ID, i64::MIN, "340282366920938463463374607431768211455"],
        "large": "340282366920938463463374607431768211455",
        "negative": "-170141183460469231731687303715884105728",
    });
    assert_eq!(output("large_numbers", arguments), expected);
}

#[test]
fn an_argument_with_too_many_bits_for_its_parameter_is_refused_and_not_rounded() {
    let refused = call("large_numbers", r#"{"id":18446744073709551616}"#);
    assert_ne!(refused.code(), 0, "{refused}");
    assert!(!refused.stdout().contains("\"large\""), "{refused}");
}

#[test]
fn tables_json_and_calculations_keep_large_integers() {
    let table = json!({"csv": format!("id,n\n{ID},b\n{},a\n", ID - 1), "filter": [{"column": "id", "operator": "eq", "value": ID}]});
    assert_eq!(
        output("csv_query", &table.to_string())["rows"],
        json!([{"id": ID, "n": "b"}])
    );
    let largest = json!({"json": [{"id": ID, "n": "b"}, {"id": ID - 1, "n": "a"}], "largest": "id", "field": "n"});
    assert_eq!(output("json_query", &largest.to_string())["value"], "b");
    let sum = json!({"expression": format!("{ID} + 2")});
    assert_eq!(output("calculator", &sum.to_string())["result"], ID + 2);
}

#[test]
fn a_run_records_the_exact_arguments() {
    let home = Home::empty();
    home.add("large_numbers", components::LARGE_NUMBERS);
    for id in ["9007199254740993", "9007199254740992", "18446744073709551617"] {
        let called = home.art(&["tool", "call", "large_numbers", &format!(r#"{{"id":1,"any":{id}}}"#)]);
        assert_eq!(called.code(), 0, "{called}");
        assert!(called.stdout().contains(id), "{called}");
        let shown = home.art(&["--json", "runs", "show", "last"]);
        assert!(shown.stdout().contains(id), "{shown}");
    }
}
