//! Merges the system prompts of all levels (contract M28). The levels are, from the lowest to the highest: the persona, whose
//! text is called the base; the agent instance; the thread; and the call, which is the request that asks the question.

use art_core::JsonObject;
use art_core::prompt::{MergeStrategy, SystemPromptOverride, SystemPromptsRegistry};

use super::template::{UnsetVariables, render};

/// Returns the texts of all levels, separated by blank lines. `base` is the lowest level; `levels` follow in order. If
/// no level names an existing template, the default template of the registry is merged with `base` first.
///
/// The text of a level is the template that its tag names, with the variables replaced. If there is no such template, the text is
/// the content of the level. The text is merged by the strategy of the level, else by that of the template, else it is appended.
#[must_use]
pub fn resolve_system_prompt(base: &str, registry: &SystemPromptsRegistry, levels: &[SystemPromptOverride]) -> String {
    let is_template_named = levels
        .iter()
        .any(|level| tag(level).is_some_and(|tag| registry.specs.contains_key(tag)));
    let default = registry
        .default_tag
        .clone()
        .filter(|_| !is_template_named)
        .map(level_with_tag);
    let levels = default.iter().chain(levels);
    levels.fold(base.trim().to_owned(), |lower, level| {
        match level_text(registry, level) {
            Some((text, strategy)) => join(&lower, &text, strategy),
            None => lower,
        }
    })
}

/// Returns a level that names the template `tag`.
fn level_with_tag(tag: String) -> SystemPromptOverride {
    SystemPromptOverride::Detailed {
        tag: Some(tag),
        variables: JsonObject::new(),
        content: None,
        strategy: None,
    }
}

fn tag(level: &SystemPromptOverride) -> Option<&str> {
    match level {
        SystemPromptOverride::Text(_) => None,
        SystemPromptOverride::Detailed { tag, .. } => tag.as_deref(),
    }
}

/// Returns the text of a level and how it is merged, or `None` if it has neither a template nor content.
fn level_text(registry: &SystemPromptsRegistry, level: &SystemPromptOverride) -> Option<(String, MergeStrategy)> {
    let (variables, content, strategy) = match level {
        SystemPromptOverride::Text(content) => return Some((content.clone(), MergeStrategy::Append)),
        SystemPromptOverride::Detailed {
            variables,
            content,
            strategy,
            ..
        } => (variables, content, *strategy),
    };
    let Some(spec) = tag(level).and_then(|tag| registry.specs.get(tag)) else {
        return Some((content.clone()?, strategy.unwrap_or_default()));
    };
    let mut all_variables = spec.default_variables.clone();
    all_variables.extend(variables.clone());
    let strategy = strategy.or(spec.merge_strategy).unwrap_or_default();
    Some((render(&spec.template, &all_variables, UnsetVariables::Remove), strategy))
}

/// Joins `text` to the text of the lower levels.
fn join(lower: &str, text: &str, strategy: MergeStrategy) -> String {
    let parts = match strategy {
        MergeStrategy::Append => [lower, text.trim()],
        MergeStrategy::Prepend => [text.trim(), lower],
    };
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn registry() -> SystemPromptsRegistry {
        serde_json::from_value(json!({"specs": {
            "house": {"template": "{{who}} works for {{company}}{{x}}. {{fragment:y}}", "defaultVariables": {"company": "ACME"}},
            "first": {"template": "First.", "mergeStrategy": "prepend"},
        }}))
        .unwrap()
    }

    fn resolved(levels: &Value) -> String {
        let levels: Vec<SystemPromptOverride> = serde_json::from_value(levels.clone()).unwrap();
        resolve_system_prompt("Base.", &registry(), &levels)
    }

    #[test]
    fn levels_join_in_their_order_with_a_blank_line() {
        assert_eq!(resolved(&json!(["Thread.", "Call."])), "Base.\n\nThread.\n\nCall.");
    }

    #[test]
    fn the_template_of_a_tag_takes_precedence_over_the_content() {
        let level = json!([{"tag": "house", "variables": {"who": "Ada"}, "content": "unused"}]);
        assert_eq!(resolved(&level), "Base.\n\nAda works for ACME. {{fragment:y}}");
    }

    #[test]
    fn a_variable_of_the_level_takes_precedence_over_the_default() {
        let level = json!([{"tag": "house", "variables": {"who": "Ada", "company": "us", "x": 1}}]);
        assert_eq!(resolved(&level), "Base.\n\nAda works for us1. {{fragment:y}}");
    }

    #[test]
    fn the_strategy_of_the_level_takes_precedence_over_that_of_the_template() {
        assert_eq!(resolved(&json!([{"tag": "first"}])), "First.\n\nBase.");
        assert_eq!(
            resolved(&json!([{"tag": "first", "strategy": "append"}])),
            "Base.\n\nFirst."
        );
        assert_eq!(
            resolved(&json!([{"content": "x", "strategy": "prepend"}])),
            "x\n\nBase."
        );
    }

    #[test]
    fn an_unknown_tag_falls_back_to_the_content_or_to_nothing() {
        assert_eq!(
            resolved(&json!([{"tag": "none", "content": "Content."}])),
            "Base.\n\nContent."
        );
        assert_eq!(resolved(&json!([{"tag": "none"}, {}, " "])), "Base.");
    }

    #[test]
    fn the_default_template_is_used_when_no_level_names_another() {
        let mut registry = registry();
        registry.default_tag = Some("first".to_owned());
        let call = SystemPromptOverride::Text("Call.".to_owned());
        let text = |levels: &[_]| resolve_system_prompt("Base.", &registry, levels);
        assert_eq!(text(&[call]), "First.\n\nBase.\n\nCall.");
        assert_eq!(
            text(&[level_with_tag("house".to_owned())]),
            "Base.\n\nworks for ACME. {{fragment:y}}"
        );
    }
}
