//! The function by which a model with native tool calls submits its plan (contract P22).

use std::sync::LazyLock;

use art_core::shared::Shared;
use art_core::tool::{ExecutionMode, ToolSchema};
use serde_json::{Value, json};

/// Name of the function.
pub(crate) const SUBMIT_PLAN: &str = "submit_plan";

/// Returns the function as a tool for a request. Its schema has only what strict modes of providers accept: every property is
/// required, a property that a plan may omit can be null, and no object allows other properties. The arguments of a planned call
/// are a text, because strict modes refuse an object with unknown properties.
pub(crate) fn submit_plan() -> ToolSchema {
    ToolSchema {
        name: SUBMIT_PLAN.to_owned(),
        description: "Submits the plan for the query. The host carries it out and returns the results.".to_owned(),
        input_schema: plan_schema(),
        output_schema: None,
        examples: Vec::new().into(),
        execution_mode: ExecutionMode::default(),
        blocking_config: None,
        display_config: None,
    }
}

/// Returns the schema of a plan, or of an answer without a plan.
pub(crate) fn plan_schema() -> Shared<Value> {
    static SCHEMA: LazyLock<Shared<Value>> = LazyLock::new(|| build_plan_schema().into());
    SCHEMA.clone()
}

fn build_plan_schema() -> Value {
    let steps = json!({"type": ["array", "null"], "items": step_schema()});
    object_schema(&[
        (
            "answer",
            nullable_schema("string", "The answer in Markdown, if no step is needed."),
        ),
        ("title", nullable_schema("string", "At most ten words.")),
        ("intent", nullable_schema("string", "What the person wants.")),
        (
            "plan",
            nullable_schema("string", "The plan in one or two sentences, and what cannot be done."),
        ),
        ("todoList", steps),
    ])
}

fn step_schema() -> Value {
    let nullable_name_list =
        |description: &str| json!({"type": ["array", "null"], "items": {"type": "string"}, "description": description});
    object_schema(&[
        ("id", json!({"type": "string"})),
        (
            "description",
            json!({"type": "string", "description": "What to do, with the exact values of the query."}),
        ),
        (
            "stepType",
            json!({"type": ["string", "null"], "enum": ["tool", "reasoning", null]}),
        ),
        ("toolCalls", json!({"type": ["array", "null"], "items": call_schema()})),
        (
            "requiredTools",
            nullable_name_list("Tools for a step whose arguments need judgement."),
        ),
        (
            "dependencies",
            nullable_name_list("Ids of the steps whose results the step needs."),
        ),
        ("expectedOutcome", nullable_schema("string", "What the step gives.")),
    ])
}

fn call_schema() -> Value {
    let arguments =
        json!({"type": "string", "description": "A JSON object with the arguments or with references in their place."});
    object_schema(&[("toolName", json!({"type": "string"})), ("arguments", arguments)])
}

/// Returns the schema of an object with exactly these properties.
fn object_schema(properties: &[(&str, Value)]) -> Value {
    let required: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
    let properties: serde_json::Map<_, _> = properties
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

fn nullable_schema(type_name: &str, description: &str) -> Value {
    json!({"type": [type_name, "null"], "description": description})
}
