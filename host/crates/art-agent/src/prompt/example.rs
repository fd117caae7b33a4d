//! Selects the examples of a tool that a prompt contains.

use art_core::json::text_len;
use art_core::tool::{ToolExample, ToolSchema};
use serde_json::{Value, json};

/// Maximum number of examples of one tool in a prompt. A tool may have dozens, and each costs tokens.
const MAX_EXAMPLES: usize = 3;

/// Maximum size of an example as JSON, in bytes. Longer ones are not selected.
const MAX_EXAMPLE_BYTES: usize = 600;

/// Returns a few examples of `tool` with distinct inputs. The `description` of an example is the question that it answers;
/// the examples with the questions most similar to `query` come first.
pub(super) fn most_similar_examples<'a>(tool: &'a ToolSchema, query: &str) -> Vec<&'a ToolExample> {
    let mut selected: Vec<&ToolExample> = Vec::new();
    for example in tool.examples.by_similarity(query) {
        if selected.len() == MAX_EXAMPLES {
            break;
        }
        let is_new = selected.iter().all(|other| other.input != example.input);
        if is_new && text_len(example) <= MAX_EXAMPLE_BYTES {
            selected.push(example);
        }
    }
    selected
}

/// Returns the examples of [`most_similar_examples`] without their outputs, for a model that only needs to know how the tool is
/// called.
pub(super) fn most_similar_example_calls(tool: &ToolSchema, query: &str) -> Vec<Value> {
    let call = |example: &ToolExample| match &example.description {
        Some(description) => json!({"input": example.input, "description": description}),
        None => json!({"input": example.input}),
    };
    most_similar_examples(tool, query).into_iter().map(call).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(examples: &Value) -> ToolSchema {
        let schema = json!({"name": "t", "description": "d", "inputSchema": {"type": "object"}, "examples": examples});
        serde_json::from_value(schema).unwrap()
    }

    /// Returns the inputs of the examples that are selected.
    fn selected_inputs(examples: &Value, query: &str) -> Vec<Value> {
        most_similar_examples(&tool(examples), query)
            .into_iter()
            .map(|example| example.input.clone())
            .collect()
    }

    #[test]
    fn at_most_three_examples_are_shown_and_the_most_similar_come_first() {
        let examples = json!([
            {"input": {"n": 1}, "description": "add two numbers"},
            {"input": {"n": 2}, "description": "the root of a number"},
            {"input": {"n": 3}},
            {"input": {"n": 4}, "description": "the mean of a list"},
        ]);
        assert_eq!(
            selected_inputs(&examples, "the mean of 3 and 4"),
            [json!({"n": 4}), json!({"n": 2}), json!({"n": 1})]
        );
        assert_eq!(
            selected_inputs(&examples, "?"),
            [json!({"n": 1}), json!({"n": 2}), json!({"n": 3})]
        );
    }

    #[test]
    fn examples_with_the_same_input_are_shown_once() {
        let examples = json!([
            {"input": {"n": 1}, "description": "one"},
            {"input": {"n": 1}, "description": "one, please"},
            {"input": {"n": 2}, "description": "two"},
        ]);
        assert_eq!(
            selected_inputs(&examples, "one please"),
            [json!({"n": 1}), json!({"n": 2})]
        );
    }

    #[test]
    fn a_long_example_is_not_shown() {
        let examples = json!([{"input": {"text": "x".repeat(MAX_EXAMPLE_BYTES)}}, {"input": {"text": "y"}}]);
        assert_eq!(selected_inputs(&examples, "x"), [json!({"text": "y"})]);
    }
}
