//! Turns a constant in a plan that a person saved into a parameter, so that each run of the plan can have another value in place
//! of the constant.

use std::cell::Cell;

use serde_json::{Value, json};

use super::reference::PlannedValue;
use super::saved::SavedPlan;

impl SavedPlan {
    /// Replaces the constant `value` by the parameter `name` in the arguments of the calls and in the texts of the plan, such as
    /// the question. A scalar in the arguments that equals `value` is replaced as a whole. In every other text, each occurrence
    /// of `word`, the constant as it is written within a text, is replaced unless it is part of a longer word. The parameter has
    /// the constant as its default and has the type of the constant. Returns whether anything was replaced in an argument. If
    /// not, the plan is unchanged.
    pub fn parameterize(&mut self, name: &str, value: &Value, word: &str) -> bool {
        let found = Cell::new(false);
        let replace = |argument: &PlannedValue<'_>| {
            let replacement = match argument {
                PlannedValue::Scalar(data) if *data == value => json!({"$param": name}),
                PlannedValue::Scalar(Value::String(text)) => replace_word(name, text, word)?,
                _ => return None,
            };
            found.set(true);
            Some(replacement)
        };
        self.rewrite_arguments(&replace);
        if !found.get() {
            return false;
        }
        for text in self.texts_mut() {
            // A text has its parameters as `{{name}}`; in a format string, `{{` stands for one brace.
            *text = split_at_word(text, word).join(&format!("{{{{{name}}}}}"));
        }
        let schema = json!({"type": type_name(value), "default": value});
        self.params.insert(name.to_owned(), schema);
        true
    }
}

/// Returns a `$concat`, an object that stands for a text made of several parts: those of `text`, with the parameter `name` in
/// place of each `word`. Returns `None` if `text` has no such word.
fn replace_word(name: &str, text: &str, word: &str) -> Option<Value> {
    let parts = split_at_word(text, word);
    if parts.len() < 2 {
        return None;
    }
    let mut pieces = Vec::new();
    for (n, part) in parts.into_iter().enumerate() {
        if n > 0 {
            pieces.push(json!({"$param": name}));
        }
        if !part.is_empty() {
            pieces.push(Value::from(part));
        }
    }
    Some(json!({"$concat": pieces}))
}

/// Returns the parts of `text` before, between and after the occurrences of `word`. An occurrence within a longer word or number
/// does not count.
fn split_at_word<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut part_start) = (Vec::new(), 0);
    if word.is_empty() {
        return vec![text];
    }
    for (at, found) in text.match_indices(word) {
        let (before, after) = (
            text.get(..at).unwrap_or_default(),
            text.get(at + found.len()..).unwrap_or_default(),
        );
        // The name of another parameter in double braces is no constant.
        let is_parameter_name = before.ends_with("{{") && after.starts_with("}}");
        if !is_parameter_name && !continues_word(before.chars().rev()) && !continues_word(after.chars()) {
            parts.push(text.get(part_start..at).unwrap_or_default());
            part_start = at + found.len();
        }
    }
    parts.push(text.get(part_start..).unwrap_or_default());
    parts
}

/// Returns whether a word or number goes on in `chars`, the characters right next to it: whether they begin with a letter, a
/// digit or `_`, or with a point or comma before a digit. The characters in front of a word are passed in reverse order.
fn continues_word(mut chars: impl Iterator<Item = char>) -> bool {
    match chars.next() {
        Some('.' | ',') => chars.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlannedStep, resolve};
    use art_core::pes::PlannedCall;
    use proptest::prelude::*;

    /// Returns a plan about 15% of 115, whose only call has these arguments.
    fn plan_with_arguments(arguments: &Value) -> SavedPlan {
        let call = PlannedCall {
            tool_name: "calculator".to_owned(),
            arguments: arguments.clone(),
        };
        SavedPlan {
            question: "What is 15% of 115?".to_owned(),
            steps: vec![PlannedStep {
                tool_calls: vec![call],
                ..PlannedStep::default()
            }],
            ..SavedPlan::default()
        }
    }

    fn arguments(plan: &SavedPlan) -> &Value {
        &plan.steps[0].tool_calls[0].arguments
    }

    #[test]
    fn a_constant_becomes_a_parameter_as_an_argument_and_as_a_word_of_a_text() {
        let mut plan = plan_with_arguments(&json!({"n": [15, 15.5], "expression": "15% of 115, 15", "other": "0.15"}));
        assert!(plan.parameterize("rate", &json!(15), "15"));
        let rate = json!({"$param": "rate"});
        assert_eq!(
            arguments(&plan),
            &json!({"n": [rate, 15.5], "expression": {"$concat": [rate, "% of 115, ", rate]}, "other": "0.15"})
        );
        assert_eq!(plan.question, "What is {{rate}}% of 115?");
        assert_eq!(plan.params["rate"], json!({"type": "number", "default": 15}));
    }

    #[test]
    fn a_number_is_found_in_a_text_by_its_written_form() {
        let mut plan = plan_with_arguments(&json!({"expression": "3.50 * 4"}));
        assert!(plan.parameterize("price", &json!(3.5), "3.50"));
        let price = json!({"$param": "price"});
        assert_eq!(arguments(&plan), &json!({"expression": {"$concat": [price, " * 4"]}}));
    }

    #[test]
    fn a_word_is_replaced_in_a_text_of_a_concat_even_if_the_text_begins_with_attachment() {
        let mut plan = plan_with_arguments(&json!({"text": {"$concat": ["attachment:15 EUR"]}}));
        assert!(plan.parameterize("price", &json!(15), "15"));
        let parts = &arguments(&plan)["text"]["$concat"];
        assert!(parts.to_string().contains(r#"{"$param":"price"}"#), "{parts}");
    }

    #[test]
    fn the_name_of_another_parameter_in_a_text_is_not_replaced() {
        let mut plan = plan_with_arguments(&json!({"a": 15, "b": "rate"}));
        assert!(plan.parameterize("rate", &json!(15), "15"));
        assert!(plan.parameterize("word", &json!("rate"), "rate"));
        assert_eq!(plan.question, "What is {{rate}}% of 115?");
    }

    #[test]
    fn a_plan_without_the_constant_in_an_argument_stays_unchanged() {
        let before = plan_with_arguments(&json!({"expression": "115"}));
        let mut after = before.clone();
        assert!(!after.parameterize("rate", &json!(15), "15"));
        assert_eq!(after, before);
    }

    proptest! {
        #[test]
        fn a_parameter_that_gets_its_default_gives_back_the_original_arguments(
            text in "[ab1. ,]{0,12}",
            value in "[ab1.]{0,2}",
            prefer_number in any::<bool>(),
        ) {
            let value = match value.parse::<u32>() {
                Ok(number) if prefer_number => json!(number),
                _ => json!(value),
            };
            let before = json!({"x": [text, value.clone()], "y": {"z": value.clone()}});
            let mut plan = plan_with_arguments(&before);
            let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            prop_assert!(plan.parameterize("p", &value, &word));
            let values = json!({"p": value});
            let filled = plan.with_values(values.as_object().unwrap());
            let resolved = resolve(arguments(&filled), &|_| Err("there are no steps".to_owned()));
            prop_assert_eq!(resolved.map(|resolved| resolved.arguments), Ok(before));
            prop_assert_eq!(filled.question.as_str(), "What is 15% of 115?");
        }
    }
}
