//! Fills the arguments of a call into the template of its tool. The result is the text of a question to a person about the call
//! (contract C16).

use art_core::text::{printable, truncate};
use serde_json::Value;

use super::MAX_PROMPT_CHARS;
use crate::scalar::scalar_text;

/// Maximum length of an argument in a prompt, in characters.
const MAX_ARGUMENT_CHARS: usize = 200;

/// Returns `template` with each `{{name}}` replaced by the argument of that name: a scalar as text, all else as compact JSON.
/// Each argument and the whole text are cut to a limit. If there is no such argument, `{{name}}` stays in the text.
///
/// The model chose the arguments. So `{{name}}` in an argument is not replaced, and an argument can neither add a line break
/// nor hide text.
pub(super) fn interpolate(template: &str, arguments: &Value) -> String {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after_braces)) = rest.split_once("{{") {
        text.push_str(before);
        let argument = after_braces.split_once("}}").and_then(|(name, after_name)| {
            // A name has no brace. Without this check, a template of many braces would take quadratic time: the text after each
            // `{{` would be looked up as a name.
            let name = Some(name.trim()).filter(|name| !name.contains('{'))?;
            Some((arguments.get(name)?, after_name))
        });
        if let Some((argument, after_name)) = argument {
            text.push_str(&argument_text(argument));
            rest = after_name;
        } else {
            // Skip only one brace, because a name may begin at the next one.
            text.push('{');
            rest = rest.get(before.len() + 1..).unwrap_or_default();
        }
    }
    text.push_str(rest);
    truncate(&text, MAX_PROMPT_CHARS)
}

fn argument_text(argument: &Value) -> String {
    let text = scalar_text(argument).unwrap_or_else(|| argument.to_string());
    one_line(&truncate(&text, MAX_ARGUMENT_CHARS))
}

/// Returns `text` on one line, and escapes all characters that cannot be shown as they are.
pub(super) fn one_line(text: &str) -> String {
    printable(text).replace('\n', "\\n").replace('\t', "\\t")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_name_is_replaced_by_the_argument() {
        let arguments = json!({"to": "Bob", "amount": 10.0, "items": ["a", {"b": null}], "sure": true});
        let prompt = interpolate("Send {{ amount }} to {{to}}, {{sure}}: {{items}}?", &arguments);
        assert_eq!(prompt, "Send 10 to Bob, true: [\"a\",{\"b\":null}]?");
    }

    #[test]
    fn a_placeholder_that_names_no_argument_stays_unchanged() {
        for template in ["{{other}} {{}} {x} {{x", "x}} {{a b}}", "{{", "{{{{", "}}{{"] {
            assert_eq!(interpolate(template, &json!({"x": 1})), template);
        }
        assert_eq!(interpolate("{{{{x}}}} {{{x}}}", &json!({"x": 1})), "{{1}} {1}");
        assert_eq!(interpolate("{{x}}", &json!([1])), "{{x}}");
    }

    #[test]
    fn placeholders_in_an_argument_are_not_replaced() {
        let arguments = json!({"a": "{{b}}", "b": "secret", "open": "{{", "name": "b}}"});
        assert_eq!(interpolate("{{a}} {{open}}{{name}}", &arguments), "{{b}} {{b}}");
    }

    #[test]
    fn an_argument_can_neither_begin_a_line_nor_hide_text() {
        let arguments = json!({"path": "x\n\nApproved.\r\t\u{202e}\u{1b}[2K"});
        assert_eq!(
            interpolate("Delete {{path}}?", &arguments),
            "Delete x\\n\\nApproved.\\u{d}\\t\\u{202e}\\u{1b}[2K?"
        );
    }

    #[test]
    fn a_long_argument_is_cut_with_a_note() {
        let prompt = interpolate("{{a}}!", &json!({"a": "x".repeat(1_000)}));
        assert!(prompt.ends_with("x... [truncated 800 of 1000 characters]!"), "{prompt}");
    }

    proptest! {
        #[test]
        fn a_prompt_is_bounded_and_keeps_the_text_around_an_argument(before in "[^{}]{0,20}", after in "\\PC{0,20}", argument in any::<String>()) {
            let prompt = interpolate(&format!("{before}{{{{a}}}}{after}"), &json!({"a": argument}));
            prop_assert!(prompt.starts_with(&before) && prompt.ends_with(&after));
            prop_assert!(!prompt.replace(&before, "").replace(&after, "").contains('\n'));
            let many = interpolate(&"{{a}}".repeat(1_000), &json!({"a": argument}));
            // The note that a text was cut has fewer than 100 characters.
            prop_assert!(many.chars().count() <= MAX_PROMPT_CHARS + 100);
        }
    }
}
