//! Checks that the snapshot file `tools.snap` is up to date. It has the schemas of some first-party tools. Tests of `art-agent`
//! check a corpus of plans against these schemas: they read the file instead of running the tools.

use serde_json::{Value, json};

use crate::home::Home;

/// Returns a schema without its descriptions.
fn without_descriptions(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            // A property that is named `description` has a schema as its value, not a text, and stays.
            let is_description = |key: &str, value: &Value| key == "description" && value.is_string();
            let rest = map.iter().filter(|(key, value)| !is_description(key, value));
            rest.map(|(key, value)| (key.clone(), without_descriptions(value)))
                .collect()
        }
        Value::Array(items) => items.iter().map(without_descriptions).collect(),
        scalar => scalar.clone(),
    }
}

/// The tools that the plans of the corpus use.
const CORPUS_TOOLS: [&str; 8] = [
    "calculator",
    "csv_query",
    "datetime",
    "diff_text",
    "json_query",
    "regex_extract",
    "text_stats",
    "unit_convert",
];

/// If the schemas of a tool have changed, `INSTA_UPDATE=always` writes the file again.
#[test]
fn the_stored_schemas_of_first_party_tools_are_up_to_date() {
    let listed = Home::new().art(&["--json", "tool", "list"]).json();
    let tool_without_descriptions = |tool: &Value| {
        let [input, output] = ["inputSchema", "outputSchema"].map(|key| without_descriptions(&tool[key]));
        json!({"name": tool["name"], "description": "", "inputSchema": input, "outputSchema": output})
    };
    let is_used_by_corpus = |tool: &&Value| CORPUS_TOOLS.iter().any(|name| tool["name"] == **name);
    let used = listed["tools"].as_array().unwrap().iter().filter(is_used_by_corpus);
    let mut tools: Vec<Value> = used.map(tool_without_descriptions).collect();
    tools.sort_by(|a, b| a["name"].as_str().cmp(&b["name"].as_str()));
    insta::with_settings!({
        snapshot_path => "../../host/crates/art-agent/tests/it/corpus",
        prepend_module_to_snapshot => false,
        sort_maps => true,
        omit_expression => true,
    }, {
        insta::assert_json_snapshot!("tools", tools);
    });
}
