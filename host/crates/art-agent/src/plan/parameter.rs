//! Turns a constant of a kept plan into a parameter.

use std::cell::Cell;

use serde_json::{Value, json};

use super::kept::KeptPlan;
use super::reference::Template;

impl KeptPlan {
    /// Replaces the constant `value` by the parameter `name`: where an argument is the constant, and where `word`, the written form
    /// of the constant, is a whole word in an argument or in a text of the plan. The parameter has the type of the constant, which
    /// becomes its default. Returns whether an argument has the constant or the word; otherwise the plan is unchanged.
    pub fn parameterize(&mut self, name: &str, value: &Value, word: &str) -> bool {
        let found = Cell::new(false);
        let replace = |template: &Template<'_>| {
            let replaced = match template {
                Template::Data(data) if *data == value => json!({"$param": name}),
                Template::Data(Value::String(text)) => replace_word(name, text, word)?,
                _ => return None,
            };
            found.set(true);
            Some(replaced)
        };
        self.rewrite_arguments(&replace);
        if !found.get() {
            return false;
        }
        for text in self.texts_mut() {
            *text = split_at_word(text, word).join(&format!("{{{{{name}}}}}"));
        }
        let schema = json!({"type": type_name(value), "default": value});
        self.params.insert(name.to_owned(), schema);
        true
    }
}

/// Returns `text` with the parameter in place of each `word`, or `None` if it has none.
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

/// Returns the parts of `text` around each `word` that is not a part of a longer word or number.
fn split_at_word<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let (mut parts, mut start) = (Vec::new(), 0);
    if word.is_empty() {
        return vec![text];
    }
    for (at, found) in text.match_indices(word) {
        let (before, after) = (
            text.get(..at).unwrap_or_default(),
            text.get(at + found.len()..).unwrap_or_default(),
        );
        // The name of another parameter in a text is no constant.
        let is_name = before.ends_with("{{") && after.starts_with("}}");
        if !is_name && !continues_word(before.chars().rev()) && !continues_word(after.chars()) {
            parts.push(text.get(start..at).unwrap_or_default());
            start = at + found.len();
        }
    }
    parts.push(text.get(start..).unwrap_or_default());
    parts
}

/// Returns whether a word continues with these characters: a letter, a digit, `_`, or a point or comma before another digit.
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

    fn plan(arguments: &Value) -> KeptPlan {
        let call = PlannedCall {
            tool_name: "calculator".to_owned(),
            arguments: arguments.clone(),
        };
        KeptPlan {
            question: "What is 15% of 115?".to_owned(),
            steps: vec![PlannedStep {
                tool_calls: vec![call],
                ..PlannedStep::default()
            }],
            ..KeptPlan::default()
        }
    }

    fn arguments(plan: &KeptPlan) -> &Value {
        &plan.steps[0].tool_calls[0].arguments
    }

    #[test]
    fn a_constant_and_a_word_of_a_text_become_the_parameter() {
        let mut plan = plan(&json!({"n": [15, 15.5], "expression": "15% of 115, 15", "other": "0.15"}));
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
    fn a_number_is_found_as_it_is_written() {
        let mut plan = plan(&json!({"expression": "3.50 * 4"}));
        assert!(plan.parameterize("price", &json!(3.5), "3.50"));
        let price = json!({"$param": "price"});
        assert_eq!(arguments(&plan), &json!({"expression": {"$concat": [price, " * 4"]}}));
    }

    #[test]
    fn the_name_of_a_parameter_in_a_text_is_no_constant() {
        let mut plan = plan(&json!({"a": 15, "b": "rate"}));
        assert!(plan.parameterize("rate", &json!(15), "15"));
        assert!(plan.parameterize("word", &json!("rate"), "rate"));
        assert_eq!(plan.question, "What is {{rate}}% of 115?");
    }

    #[test]
    fn a_constant_that_no_argument_has_changes_nothing() {
        let before = plan(&json!({"expression": "115"}));
        let mut after = before.clone();
        assert!(!after.parameterize("rate", &json!(15), "15"));
        assert_eq!(after, before);
    }

    proptest! {
        #[test]
        fn with_its_default_the_parameter_gives_back_the_arguments(text in "[ab1. ,]{0,12}", value in "[ab1.]{0,2}", number in any::<bool>()) {
            let value = match value.parse::<u32>() {
                Ok(parsed) if number => json!(parsed),
                _ => json!(value),
            };
            let before = json!({"x": [text, value.clone()], "y": {"z": value.clone()}});
            let mut plan = plan(&before);
            let word = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            prop_assert!(plan.parameterize("p", &value, &word));
            let values = json!({"p": value});
            let bound = plan.with_values(values.as_object().unwrap());
            let resolved = resolve(arguments(&bound), &|_| Err("there are no steps".to_owned()));
            prop_assert_eq!(resolved.map(|resolved| resolved.arguments), Ok(before));
            prop_assert_eq!(bound.question.as_str(), "What is 15% of 115?");
        }
    }
}
