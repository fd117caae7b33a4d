//! Finds prompt fragments, which are the instruction texts of the agent, by name, and validates prompts. An operator may replace
//! a fragment by one of the same name, and an invalid prompt is never sent (contract M36).

use std::collections::BTreeMap;

use art_core::JsonObject;
use art_core::error::{ArtError, ErrorCode};
use art_core::prompt::ArtStandardPrompt;

use super::fragment::Fragment;
use super::template::{UnsetVariables, render};

/// The prompt fragments of the agent and of an operator. A fragment of the operator replaces that of the agent with the
/// same name.
#[derive(Clone, Copy, Debug)]
pub struct PromptManager<'a> {
    /// The fragments of the operator, by name. Some may have a name that no fragment of the agent has.
    overrides: &'a BTreeMap<String, String>,
}

impl<'a> PromptManager<'a> {
    /// Creates a manager with the fragments of an operator.
    #[must_use]
    pub const fn new(overrides: &'a BTreeMap<String, String>) -> Self {
        Self { overrides }
    }

    /// Returns the names of all fragments, sorted.
    #[must_use]
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.overrides.keys().map(String::as_str).collect();
        names.extend(Fragment::ALL.map(Fragment::name));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the fragment `name` with its `{{variables}}` replaced. A variable without a value is kept.
    ///
    /// # Errors
    /// Fails with `PROMPT_FRAGMENT_NOT_FOUND` if there is no fragment of that name.
    pub fn get_fragment(&self, name: &str, variables: &JsonObject) -> Result<String, ArtError> {
        let default = || Fragment::ALL.into_iter().find(|fragment| fragment.name() == name);
        let text = self
            .overrides
            .get(name)
            .map(String::as_str)
            .or_else(|| default().map(Fragment::default_text));
        let text = text.ok_or_else(|| {
            let message = format!(
                "there is no prompt fragment `{name}`; use one of {}",
                self.names().join(", ")
            );
            prompt_error(ErrorCode::PromptFragmentNotFound, message)
        })?;
        Ok(render(text, variables, UnsetVariables::Keep))
    }

    /// Checks a prompt by the rules of [`ArtStandardPrompt::validate`].
    ///
    /// # Errors
    /// Fails with `PROMPT_VALIDATION_FAILED` and all faults.
    pub fn validate_prompt(prompt: &ArtStandardPrompt) -> Result<(), ArtError> {
        prompt.validate().map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            let message = format!("the prompt is not valid: {}", faults.join("; "));
            prompt_error(ErrorCode::PromptValidationFailed, message)
        })
    }

    /// Returns the text of a fragment without replacing variables.
    pub(crate) fn text(&self, fragment: Fragment) -> &'a str {
        self.overrides
            .get(fragment.name())
            .map_or_else(|| fragment.default_text(), String::as_str)
    }
}

fn prompt_error(code: ErrorCode, message: String) -> ArtError {
    let phase = "prompt_assembly".to_owned();
    ArtError { code, message, phase }
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::prompt::Message;
    use serde_json::json;

    fn variables(value: &serde_json::Value) -> JsonObject {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn variables_of_a_fragment_are_replaced_if_they_have_a_value() {
        let overrides = BTreeMap::new();
        let text =
            PromptManager::new(&overrides).get_fragment("pes_system_default", &variables(&json!({"name": "Ada"})));
        assert_eq!(text.unwrap(), "You are Ada. {{role}}");
    }

    #[test]
    fn an_operator_can_replace_fragments_and_add_new_ones() {
        let overrides = [("pes_planning_instructions", "Plan!"), ("house", "We are {{who}}.")];
        let overrides = overrides.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let manager = PromptManager::new(&overrides);
        let text = |name| manager.get_fragment(name, &variables(&json!({"who": "ACME"}))).unwrap();
        assert_eq!(
            (text("pes_planning_instructions"), text("house")),
            ("Plan!".to_owned(), "We are ACME.".to_owned())
        );
        assert_eq!(manager.names().len(), Fragment::ALL.len() + 1);
    }

    #[test]
    fn an_unknown_fragment_is_refused_with_the_known_names() {
        let overrides = BTreeMap::new();
        let error = PromptManager::new(&overrides)
            .get_fragment("x", &JsonObject::new())
            .unwrap_err();
        assert_eq!(error.code, ErrorCode::PromptFragmentNotFound);
        assert!(
            error
                .message
                .starts_with("there is no prompt fragment `x`; use one of pes_follow_up"),
            "{error}"
        );
    }

    #[test]
    fn an_invalid_prompt_is_refused_with_its_fault() {
        let prompt = ArtStandardPrompt(vec![Message::tool_result("a", "t", "1")]);
        let error = PromptManager::validate_prompt(&prompt).unwrap_err();
        assert_eq!(error.code, ErrorCode::PromptValidationFailed);
        assert_eq!(
            error.message,
            "the prompt is not valid: message 0: the result belongs to the call `a`, which the last `assistant` message did not make, or which already has a result"
        );
        assert_eq!(
            PromptManager::validate_prompt(&ArtStandardPrompt(vec![Message::user("q")])),
            Ok(())
        );
    }
}
