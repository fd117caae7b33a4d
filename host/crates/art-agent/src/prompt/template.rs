//! Fills variables into texts, where they are written as `{{name}}`.

use art_core::JsonObject;
use art_core::text::byte_prefix;
use serde_json::Value;

/// Longest text after its variables were filled in, in bytes, so that repeated variables cannot exhaust memory.
const MAX_BYTES: usize = 256 << 10;

/// What replaces a variable that is not set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// Its name in its braces, as it was.
    Kept,
    /// Nothing (M28).
    Empty,
}

/// Returns `template` with its variables filled in, once: variables inside values stay as they are. So do names with a
/// colon, which belong to other template languages (M28).
pub(super) fn render(template: &str, variables: &JsonObject, missing: Missing) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        text.push_str(before);
        let Some((name, behind)) = after.split_once("}}").filter(|(name, _)| is_name(name)) else {
            text.push_str("{{");
            rest = after;
            continue;
        };
        match (variables.get(name.trim()), missing) {
            (Some(Value::String(value)), _) => text.push_str(value),
            (Some(value), _) => text.push_str(&value.to_string()),
            (None, Missing::Empty) => {}
            (None, Missing::Kept) => text.extend(["{{", name, "}}"]),
        }
        rest = behind;
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
    fn a_name_becomes_its_value_and_a_value_is_not_looked_at_again() {
        let variables = variables(&json!({"a": "{{b}}", "b": 2, "c": [1]}));
        assert_eq!(render("{{a}} {{ b }} {{c}}", &variables, Missing::Empty), "{{b}} 2 [1]");
    }

    #[test]
    fn a_missing_name_is_kept_or_left_out() {
        let none = JsonObject::new();
        assert_eq!(render("a {{x}} b", &none, Missing::Kept), "a {{x}} b");
        assert_eq!(render("a {{x}} b", &none, Missing::Empty), "a  b");
    }

    #[test]
    fn a_name_with_a_colon_and_braces_without_a_name_stay() {
        let text = "{{fragment:x}} {{}} {{ {\"a\": {\"b\": 1}} {{open";
        assert_eq!(render(text, &JsonObject::new(), Missing::Empty), text);
    }

    #[test]
    fn what_is_filled_in_has_a_bound() {
        let variables = variables(&json!({"a": "x".repeat(10_000)}));
        assert_eq!(
            render(&"{{a}}".repeat(1_000), &variables, Missing::Empty).len(),
            MAX_BYTES
        );
    }

    proptest! {
        #[test]
        fn a_text_without_variables_of_ours_stays(text in "[a-z{}: \n]{0,40}") {
            prop_assert_eq!(render(&text, &JsonObject::new(), Missing::Kept), text);
        }
    }
}
