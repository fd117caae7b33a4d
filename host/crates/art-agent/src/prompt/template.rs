//! Replaces variables in texts. A variable is written `{{name}}`.

use art_core::JsonObject;
use art_core::text::byte_prefix;
use serde_json::Value;

/// Maximum size of a text after variables were replaced, in bytes, so that repeated variables cannot exhaust memory.
const MAX_TEXT_BYTES: usize = 256 << 10;

/// What happens to variables without a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnsetVariables {
    /// They stay in the text, with their braces.
    Keep,
    /// They are removed (contract M28).
    Remove,
}

/// Returns `template` with its variables replaced by their values. Variables inside values are not replaced. Text in braces that
/// contains a colon, such as `{{fragment:x}}`, always stays, because it belongs to another template language (contract M28).
pub(crate) fn render(template: &str, variables: &JsonObject, unset: UnsetVariables) -> String {
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
            (None, UnsetVariables::Remove) => {}
            (None, UnsetVariables::Keep) => text.extend(["{{", name, "}}"]),
        }
        rest = after_name;
        if text.len() > MAX_TEXT_BYTES {
            break;
        }
    }
    text.push_str(rest);
    byte_prefix(&text, MAX_TEXT_BYTES).to_owned()
}

/// Returns the names of the variables in `template`, each as often as it occurs.
pub(crate) fn variable_names(template: &str) -> impl Iterator<Item = &str> {
    template.split("{{").skip(1).filter_map(|rest| {
        let (name, _) = rest.split_once("}}").filter(|(name, _)| is_name(name))?;
        Some(name.trim())
    })
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
        assert_eq!(
            render("{{a}} {{ b }} {{c}}", &variables, UnsetVariables::Remove),
            "{{b}} 2 [1]"
        );
    }

    #[test]
    fn an_unset_variable_is_kept_or_removed() {
        let none = JsonObject::new();
        assert_eq!(render("a {{x}} b", &none, UnsetVariables::Keep), "a {{x}} b");
        assert_eq!(render("a {{x}} b", &none, UnsetVariables::Remove), "a  b");
    }

    #[test]
    fn braces_stay_if_they_contain_a_colon_or_no_name() {
        let text = "{{fragment:x}} {{}} {{ {\"a\": {\"b\": 1}} {{open";
        assert_eq!(render(text, &JsonObject::new(), UnsetVariables::Remove), text);
    }

    #[test]
    fn variable_names_are_exactly_the_names_that_are_replaced() {
        let text = "{{a}} a {{ b.c }}{{a}} {{{d}} {{ {{e}} {{x:y}} {{}} {{open";
        let names: Vec<_> = variable_names(text).collect();
        assert_eq!(names, ["a", "b.c", "a", "e"]);
        let values: JsonObject = names.iter().map(|name| ((*name).to_owned(), json!(1))).collect();
        assert_eq!(
            render(text, &values, UnsetVariables::Keep),
            "1 a 11 {{{d}} {{ 1 {{x:y}} {{}} {{open"
        );
    }

    #[test]
    fn a_rendered_text_has_at_most_the_maximum_size() {
        let variables = variables(&json!({"a": "x".repeat(10_000)}));
        assert_eq!(
            render(&"{{a}}".repeat(1_000), &variables, UnsetVariables::Remove).len(),
            MAX_TEXT_BYTES
        );
    }

    proptest! {
        #[test]
        fn a_text_is_unchanged_if_no_variable_has_a_value_and_unset_ones_are_kept(text in "[a-z{}: \n]{0,40}") {
            prop_assert_eq!(render(&text, &JsonObject::new(), UnsetVariables::Keep), text);
        }
    }
}
