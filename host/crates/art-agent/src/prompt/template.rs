//! Replaces variables in texts. A variable is written `{{name}}`.

use art_core::JsonObject;
use art_core::text::byte_prefix;
use serde_json::Value;

/// Maximum size of a text after variables were replaced, in bytes, so that repeated variables cannot exhaust memory.
const MAX_BYTES: usize = 256 << 10;

/// The treatment of a variable without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unset {
    /// Keep the variable, with its braces.
    Keep,
    /// Remove the variable (M28).
    Remove,
}

/// Returns `template` with its variables replaced by their values. Variables inside values are not replaced. Names with a colon
/// are kept, because they belong to other template languages (M28).
pub(crate) fn render(template: &str, variables: &JsonObject, unset: Unset) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, after_name)) = after.split_once("}}").filter(|(name, _)| is_name(name)) else {
            text.push_str("{{");
            rest = after;
            continue;
        };
        match (variables.get(name.trim()), unset) {
            (Some(Value::String(value)), _) => text.push_str(value),
            (Some(value), _) => text.push_str(&value.to_string()),
            (None, Unset::Remove) => {}
            (None, Unset::Keep) => text.extend(["{{", name, "}}"]),
        }
        rest = after_name;
        if text.len() > MAX_BYTES {
            break;
        }
    }
    text.push_str(rest);
    byte_prefix(&text, MAX_BYTES).to_owned()
}

fn is_name(text: &str) -> bool {
    let name = text.trim();
    !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn variables(value: &Value) -> JsonObject {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn variables_inside_values_are_not_replaced() {
        let variables = variables(&json!({"a": "{{b}}", "b": 2, "c": [1]}));
        assert_eq!(render("{{a}} {{ b }} {{c}}", &variables, Unset::Remove), "{{b}} 2 [1]");
    }

    #[test]
    fn an_unset_variable_is_kept_or_removed() {
        let none = JsonObject::new();
        assert_eq!(render("a {{x}} b", &none, Unset::Keep), "a {{x}} b");
        assert_eq!(render("a {{x}} b", &none, Unset::Remove), "a  b");
    }

    #[test]
    fn a_name_with_a_colon_and_braces_without_a_name_stay() {
        let text = "{{fragment:x}} {{}} {{ {\"a\": {\"b\": 1}} {{open";
        assert_eq!(render(text, &JsonObject::new(), Unset::Remove), text);
    }

    #[test]
    fn a_rendered_text_has_at_most_the_maximum_size() {
        let variables = variables(&json!({"a": "x".repeat(10_000)}));
        assert_eq!(
            render(&"{{a}}".repeat(1_000), &variables, Unset::Remove).len(),
            MAX_BYTES
        );
    }

    proptest! {
        #[test]
        fn a_text_is_unchanged_if_no_variable_has_a_value_and_unset_ones_are_kept(text in "[a-z{}: \n]{0,40}") {
            prop_assert_eq!(render(&text, &JsonObject::new(), Unset::Keep), text);
        }
    }
}
