//! Finds fragments of prompts by name, and validates whole prompts (M36).

use std::collections::BTreeMap;

use art_core::JsonObject;
use art_core::error::{ArtError, ErrorCode};
use art_core::prompt::ArtStandardPrompt;

use super::fragment::Fragment;
use super::template::{Missing, render};

/// The fragments of prompts: the agent's own, and those of an operator, which replace them by name or add to them.
#[derive(Clone, Copy, Debug)]
pub struct PromptManager<'a> {
    own: &'a BTreeMap<String, String>,
}

impl<'a> PromptManager<'a> {
    /// Creates a manager of the agent's fragments, in which `own` fragments of an operator win.
    #[must_use]
    pub const fn new(own: &'a BTreeMap<String, String>) -> Self {
        Self { own }
    }

    /// Returns all names in order.
    #[must_use]
    pub fn names(&self) -> Vec<&'a str> {
        let mut names: Vec<_> = self.own.keys().map(String::as_str).collect();
        names.extend(Fragment::ALL.map(Fragment::name));
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the fragment `name` with its `{{variables}}` filled in. A variable that is not given stays as it is.
    ///
    /// # Errors
    /// `PROMPT_FRAGMENT_NOT_FOUND` when there is no fragment of that name.
    pub fn get_fragment(&self, name: &str, variables: &JsonObject) -> Result<String, ArtError> {
        let default = || Fragment::ALL.into_iter().find(|fragment| fragment.name() == name);
        let text = self
            .own
            .get(name)
            .map(String::as_str)
            .or_else(|| default().map(Fragment::default_text));
        let text = text.ok_or_else(|| {
            let message = format!(
                "there is no prompt fragment `{name}`; use one of {}",
                self.names().join(", ")
            );
            error(ErrorCode::PromptFragmentNotFound, message)
        })?;
        Ok(render(text, variables, Missing::Kept))
    }

    /// Checks a prompt by the rules of [`ArtStandardPrompt::validate`].
    ///
    /// # Errors
    /// `PROMPT_VALIDATION_FAILED` with everything that is wrong.
    pub fn validate_prompt(prompt: &ArtStandardPrompt) -> Result<(), ArtError> {
        prompt.validate().map_err(|faults| {
            let faults: Vec<_> = faults.iter().map(ToString::to_string).collect();
            let message = format!("the prompt is not valid: {}", faults.join("; "));
            error(ErrorCode::PromptValidationFailed, message)
        })
    }

    /// Returns the text of a fragment of the agent, without filling in variables.
    pub(crate) fn text(&self, fragment: Fragment) -> &'a str {
        self.own
            .get(fragment.name())
            .map_or_else(|| fragment.default_text(), String::as_str)
    }
}

fn error(code: ErrorCode, message: String) -> ArtError {
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
    fn a_fragment_is_filled_in_and_what_is_missing_stays() {
        let own = BTreeMap::new();
        let text = PromptManager::new(&own).get_fragment("pes_system_default", &variables(&json!({"name": "Ada"})));
        assert_eq!(text.unwrap(), "You are Ada. {{role}}");
    }

    #[test]
    fn an_operator_replaces_fragments_and_adds_to_them() {
        let own = [("pes_planning_instructions", "Plan!"), ("house", "We are {{who}}.")];
        let own = own.map(|(name, text)| (name.to_owned(), text.to_owned())).into();
        let manager = PromptManager::new(&own);
        let text = |name| manager.get_fragment(name, &variables(&json!({"who": "ACME"}))).unwrap();
        assert_eq!(
            (text("pes_planning_instructions"), text("house")),
            ("Plan!".to_owned(), "We are ACME.".to_owned())
        );
        assert_eq!(manager.names().len(), 12);
    }

    #[test]
    fn an_unknown_fragment_is_refused_with_the_known_names() {
        let own = BTreeMap::new();
        let error = PromptManager::new(&own)
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
    fn a_prompt_is_validated_with_every_reason() {
        let prompt = ArtStandardPrompt(vec![Message::tool_result("a", "t", "1")]);
        let error = PromptManager::validate_prompt(&prompt).unwrap_err();
        assert_eq!(error.code, ErrorCode::PromptValidationFailed);
        assert_eq!(
            error.message,
            "the prompt is not valid: message 0: the result answers the call `a`, which no earlier turn left open"
        );
        assert_eq!(
            PromptManager::validate_prompt(&ArtStandardPrompt(vec![Message::user("q")])),
            Ok(())
        );
    }
}
