//! The agent's persona, and system prompts of operators. Both can be set at three levels, from the lowest to the highest:
//! for the instance of the host, for a thread (a conversation), and for a call of the agent (a question).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::JsonObject;

/// Position of a system prompt relative to that of the lower level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MergeStrategy {
    /// After the system prompt of the lower level.
    #[default]
    Append,
    /// Before the system prompt of the lower level.
    Prepend,
}

/// A system prompt of an instance, a thread or a call (contract C29). In spite of the name, it is added to the system prompts of
/// the lower levels and replaces none. A plain string is content to append.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SystemPromptOverride {
    /// Content to append.
    Text(String),
    /// Content, or the tag of a template.
    Detailed {
        /// Tag of a template of the instance's [`SystemPromptsRegistry`]. If there is such a template, the content is ignored.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tag: Option<String>,
        /// Values of the variables in the template. Strings are inserted unchanged, other values as JSON.
        #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
        variables: JsonObject,
        /// Content.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// Position of the text. If absent, that of the template applies; if that is absent too, the text is appended.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        strategy: Option<MergeStrategy>,
    },
}

/// A template for system prompts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SystemPromptSpec {
    /// A label that the host does not use. The registry finds the template by its tag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Text with variables in the form `{{name}}`.
    pub template: String,
    /// Default values of variables.
    #[serde(default, skip_serializing_if = "JsonObject::is_empty")]
    pub default_variables: JsonObject,
    /// Position of the text relative to that of the lower level.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_strategy: Option<MergeStrategy>,
}

/// The templates of an instance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SystemPromptsRegistry {
    /// Tag of the template that is used if no level names a template of [`specs`](Self::specs).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_tag: Option<String>,
    /// Templates by tag.
    pub specs: BTreeMap<String, SystemPromptSpec>,
}

/// The agent's name and guidance (contract C30).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentPersona {
    /// Name; empty if a level sets only the guidance.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Guidance for each stage of a run.
    #[serde(default, skip_serializing_if = "crate::wire::is_default")]
    pub prompts: StagePrompts,
}

/// Guidance for the model in each stage of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub struct StagePrompts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planning: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
}

impl AgentPersona {
    /// Returns this persona with its unset fields taken from `lower`, the persona of the lower level (contract P5).
    #[must_use]
    pub fn with_defaults(self, lower: Self) -> Self {
        Self {
            name: if self.name.is_empty() { lower.name } else { self.name },
            prompts: StagePrompts {
                planning: self.prompts.planning.or(lower.prompts.planning),
                execution: self.prompts.execution.or(lower.prompts.execution),
                synthesis: self.prompts.synthesis.or(lower.prompts.synthesis),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn persona(json: serde_json::Value) -> AgentPersona {
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn each_field_of_a_persona_comes_from_the_highest_level_that_sets_it() {
        let call = persona(json!({"prompts": {"execution": "call"}}));
        let thread = persona(json!({"name": "Ada", "prompts": {"execution": "thread", "planning": "thread"}}));
        let instance = persona(json!({"name": "Zoi", "prompts": {"planning": "instance", "synthesis": "instance"}}));
        let expected = json!({
            "name": "Ada", "prompts": {"planning": "thread", "execution": "call", "synthesis": "instance"},
        });
        assert_eq!(call.with_defaults(thread.with_defaults(instance)), persona(expected));
    }
}
