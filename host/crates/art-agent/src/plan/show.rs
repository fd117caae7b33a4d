//! The arguments of planned calls as people read them.

use art_core::text::truncate;
use serde_json::Value;

use super::reference::{OutputReference, PlannedValue};

/// Maximum length of the text of a constant, in characters.
const MAX_CONSTANT_CHARS: usize = 200;

/// Returns an argument of a planned call, or a part of one, in one line: constants as JSON, and references in words, such as
/// `step_1 /total + " EUR"`.
#[must_use]
pub fn value_text(value: &Value) -> String {
    match PlannedValue::read(value) {
        Ok(PlannedValue::From(reference)) => output_reference_text(reference),
        Ok(PlannedValue::Attachment(name)) => format!("file {name}"),
        Ok(PlannedValue::Param(name)) => format!("parameter {name}"),
        Ok(PlannedValue::Concat(parts)) => join_values(parts, " + "),
        Ok(PlannedValue::Array(items)) => format!("[{}]", join_values(items, ", ")),
        Ok(PlannedValue::Object(map)) => {
            let entries = map.iter().map(|(key, value)| format!("{key}: {}", value_text(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Ok(PlannedValue::Scalar(data) | PlannedValue::Literal(data)) => truncate(&data.to_string(), MAX_CONSTANT_CHARS),
        // The check of the plan reports what is wrong with the value.
        Err(_) => truncate(&value.to_string(), MAX_CONSTANT_CHARS),
    }
}

fn join_values(values: &[Value], separator: &str) -> String {
    values.iter().map(value_text).collect::<Vec<_>>().join(separator)
}

fn output_reference_text(reference: OutputReference<'_>) -> String {
    let call = reference.call.map_or_else(String::new, |call| format!(" call {call}"));
    let path = if reference.path.is_empty() {
        String::new()
    } else {
        format!(" {}", reference.path)
    };
    format!("{}{call}{path}", reference.step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_written_in_words_and_constants_as_json() {
        for (value, text) in [
            (json!({"$from": "step_1"}), "step_1"),
            (json!({"$from": "step_1", "path": "/n", "call": 0}), "step_1 call 0 /n"),
            (
                json!({"$concat": ["a ", {"$param": "p"}, 1]}),
                r#""a " + parameter p + 1"#,
            ),
            (
                json!({"k": [{"$attachment": "s.csv"}, null]}),
                "{k: [file s.csv, null]}",
            ),
            (json!({"$literal": {"$from": "x"}}), r#"{"$from":"x"}"#),
            (json!({"$from": 1}), r#"{"$from":1}"#),
        ] {
            assert_eq!(value_text(&value), text);
        }
    }

    #[test]
    fn a_long_constant_is_cut() {
        assert!(value_text(&json!("x".repeat(1_000))).len() < 300);
    }
}
