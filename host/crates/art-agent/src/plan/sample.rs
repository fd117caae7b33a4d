//! Makes up the outputs of calls in a dry run, which calls no tools.

use art_core::JsonObject;
use art_core::tool::ToolSchema;
use serde_json::{Value, json};

use super::flow;
use super::promise;

/// Maximum depth of a sample, in levels of nesting. Values below it are null.
const MAX_DEPTH: usize = 16;

/// Returns an output that a call of `tool` with these arguments may have. If an example of the tool has the same input, this is
/// the output of the example. Otherwise the output has every property that the output schema declares, so that every reference of
/// a later call finds a value; the values come from an example where they fit. Without an output schema, this is the output of an
/// example, or else an empty object.
#[must_use]
pub fn sample_output(tool: &ToolSchema, arguments: &Value) -> Value {
    let with_same_input = tool.examples.iter().find(|example| example.input == *arguments);
    if let Some(output) = with_same_input.and_then(|example| example.output.clone()) {
        return output;
    }
    let schema = tool.output_schema.as_deref().unwrap_or(flow::ANY_VALUE);
    let call_schema = promise::promised_schema(schema, &tool.input_schema, arguments);
    let example_output = tool.examples.iter().find_map(|example| example.output.as_ref());
    match (sample_value(&call_schema, MAX_DEPTH), example_output) {
        (Value::Object(mut all), Some(Value::Object(example_output))) => {
            // The output schema may promise more about the output of this call than about that of the example, so that the value
            // of the example does not fit.
            let fits = |(name, value): &(&String, &Value)| {
                let property = call_schema
                    .as_object()
                    .map_or(flow::ANY_VALUE, |map| flow::property_schema(map, name));
                flow::compare_schemas(&flow::constant_schema(value), property) != flow::Verdict::No
            };
            all.extend(
                example_output
                    .iter()
                    .filter(fits)
                    .map(|(name, value)| (name.clone(), value.clone())),
            );
            Value::Object(all)
        }
        (_, Some(example_output)) if tool.output_schema.is_none() => example_output.clone(),
        (sample, _) => sample,
    }
}

/// Returns a value for a schema, by its `const`, the first value of its `enum`, the first branch of its `anyOf` or `oneOf`, its
/// type, minimum, properties and first item; other keywords are ignored. Each subschema is read at most once, so the time is
/// bounded by the size of the schema. At most `remaining_depth` levels of schemas are read.
fn sample_value(schema: &Value, remaining_depth: usize) -> Value {
    let (Some(map), Some(child_depth)) = (schema.as_object(), remaining_depth.checked_sub(1)) else {
        // The schema is not an object (it is usually `true`), or no depth remains. The whole output, for which no level was read
        // yet, is then an empty object; a part of it is null.
        return if remaining_depth == MAX_DEPTH {
            json!({})
        } else {
            Value::Null
        };
    };
    let first_of = |keyword: &str| map.get(keyword).and_then(Value::as_array)?.first();
    if let Some(value) = map.get("const").or_else(|| first_of("enum")) {
        return value.clone();
    }
    if let Some(branch) = first_of("anyOf").or_else(|| first_of("oneOf")) {
        let mut sample = sample_value(branch, child_depth);
        // The properties beside the branches hold for each of them.
        if let Value::Object(fields) = &mut sample {
            fields.extend(sample_properties(map, child_depth));
        }
        return sample;
    }
    let types = map.get("type").and_then(Value::as_array);
    let type_name = types.and_then(|names| names.first()).or_else(|| map.get("type"));
    match type_name.and_then(Value::as_str) {
        // This text also fits a parameter that takes only texts that are numbers.
        Some("string") => json!("1"),
        Some("number" | "integer") => sample_number(map),
        Some("boolean") => json!(true),
        Some("null") => Value::Null,
        Some("array") => json!([sample_value(flow::item_schema(map, 0), child_depth)]),
        _ => Value::Object(sample_properties(map, child_depth)),
    }
}

/// Returns 1, or the minimum of a schema of a number if that is larger.
fn sample_number(schema: &JsonObject) -> Value {
    let minimum = schema.get("minimum").filter(|minimum| minimum.as_f64() > Some(1.0));
    minimum.cloned().unwrap_or(json!(1))
}

fn sample_properties(schema: &JsonObject, remaining_depth: usize) -> JsonObject {
    let property = |name: &String| {
        let value = sample_value(flow::property_schema(schema, name), remaining_depth);
        (name.clone(), value)
    };
    flow::declared_keys(schema).map(property).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tool(output_schema: &Value, examples: &Value) -> ToolSchema {
        serde_json::from_value(json!({
            "name": "t", "description": "d", "inputSchema": {"type": "object"}, "outputSchema": output_schema,
            "examples": examples,
        }))
        .unwrap()
    }

    /// Returns an output schema whose property `answer` is always a string if the input `operation` is `name`.
    fn count_schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "count": {"type": "integer", "minimum": 3},
                "answer": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
                "unit": {"enum": ["days", "hours"]},
                "rows": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}}},
            },
            "required": ["count"],
            "x-when": [{"input": {"operation": ["name"]}, "output": {"properties": {"answer": {"type": "string"}}}}],
        })
    }

    #[test]
    fn a_sample_has_every_property_that_the_schema_declares() {
        let sample = sample_output(&tool(&count_schema(), &json!([])), &json!({}));
        assert_eq!(
            sample,
            json!({"count": 3, "answer": 1, "unit": "days", "rows": [{"name": "1"}]})
        );
    }

    #[test]
    fn a_sample_has_the_properties_beside_the_branches_of_a_schema() {
        let schema = json!({
            "properties": {"a": {"type": "integer"}},
            "anyOf": [{"properties": {"b": {"type": "boolean"}}}, {"required": ["a"]}],
        });
        assert_eq!(sample_value(&schema, MAX_DEPTH), json!({"a": 1, "b": true}));
    }

    #[test]
    fn a_number_of_a_sample_is_at_least_the_minimum() {
        for minimum in [json!(3.5), json!(7), json!(u64::MAX)] {
            let schema = json!({"type": "number", "minimum": minimum});
            assert_eq!(sample_value(&schema, MAX_DEPTH), minimum);
        }
    }

    #[test]
    fn the_output_of_an_example_with_the_same_input_is_the_sample() {
        let examples =
            json!([{"input": {"a": 1}, "output": {"count": 7}}, {"input": {"a": 2}, "output": {"count": 9}}]);
        assert_eq!(
            sample_output(&tool(&count_schema(), &examples), &json!({"a": 2})),
            json!({"count": 9})
        );
    }

    #[test]
    fn values_of_another_example_are_used_where_they_fit() {
        let examples = json!([{"input": {"a": 1}, "output": {"count": 7, "answer": 5}}]);
        let sample = |arguments: Value| sample_output(&tool(&count_schema(), &examples), &arguments);
        let other_input = sample(json!({}));
        assert_eq!(
            (&other_input["count"], &other_input["answer"], &other_input["unit"]),
            (&json!(7), &json!(5), &json!("days"))
        );
        assert_eq!(sample(json!({"operation": "name"}))["answer"], "1");
    }

    #[test]
    fn a_tool_without_a_schema_has_the_output_of_its_example_or_an_empty_object() {
        let mut tool = tool(&json!({}), &json!([{"input": {"a": 1}, "output": "text"}]));
        tool.output_schema = None;
        assert_eq!(sample_output(&tool, &json!({})), "text");
        tool.examples.clear();
        assert_eq!(sample_output(&tool, &json!({})), json!({}));
    }

    #[test]
    fn a_sample_of_a_deep_schema_is_bounded() {
        const LEVELS: usize = 60;
        let mut deep = json!({"type": "string"});
        for _ in 0..LEVELS {
            deep = json!({"type": "array", "items": deep});
        }
        let sample = sample_output(&tool(&deep, &json!([])), &json!({}));
        // With all levels, the opening brackets alone would be as many bytes.
        assert!(sample.to_string().len() < LEVELS, "{sample}");
    }

    proptest! {
        #[test]
        fn no_schema_makes_sample_value_panic(text in "[\\[\\]{}:,\"a-z0-9]{0,60}") {
            let schema = serde_json::from_str(&text).unwrap_or(json!({"type": text, "properties": {"a": text}, "items": [text]}));
            sample_value(&schema, MAX_DEPTH);
        }
    }
}
