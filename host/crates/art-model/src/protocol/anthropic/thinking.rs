//! Tells the model how much to think: by an effort for models since version 4.6 ("adaptive thinking"), by a budget of tokens for
//! older ones.

use art_core::JsonObject;
use serde_json::json;

use super::super::turns::Turn;

/// Minimum thinking budget that the provider accepts, in tokens.
const MIN_BUDGET: u64 = 1024;
/// Maximum number of tokens of a reply if the request does not set a maximum. The thinking budget is added to it.
const DEFAULT_MAX_TOKENS: u64 = 8192;

/// Sets `max_tokens`, which is required, and the parameters for `effort`. Returns whether thinking is on.
pub(super) fn add_params(
    model: &str,
    effort: Option<&str>,
    max_tokens: Option<u64>,
    turns: &[Turn<'_>],
    body: &mut JsonObject,
) -> bool {
    let effort = effort.filter(|effort| *effort != "none");
    let budget = effort
        .filter(|_| !supports_adaptive_thinking(model))
        .and_then(|effort| budget_for_effort(effort, max_tokens));
    let is_allowed = turns_allow_budget(turns);
    let budget = budget.filter(|_| is_allowed);
    // The budget is part of `max_tokens`.
    let max_tokens = max_tokens.unwrap_or(DEFAULT_MAX_TOKENS + budget.unwrap_or(0));
    body.insert("max_tokens".to_owned(), max_tokens.into());
    if let Some(effort) = effort.filter(|_| supports_adaptive_thinking(model)) {
        body.insert(
            "thinking".to_owned(),
            json!({"type": "adaptive", "display": "summarized"}),
        );
        // The lowest effort of the protocol is `low`.
        let effort = if effort == "minimal" { "low" } else { effort };
        body.insert("output_config".to_owned(), json!({"effort": effort}));
        return true;
    }
    if let Some(budget) = budget {
        body.insert(
            "thinking".to_owned(),
            json!({"type": "enabled", "budget_tokens": budget}),
        );
    }
    budget.is_some()
}

/// Returns the thinking budget in tokens, at most half of `max_tokens`, or `None` if `max_tokens` is too low for one.
fn budget_for_effort(effort: &str, max_tokens: Option<u64>) -> Option<u64> {
    let default_budget = match effort {
        "minimal" => MIN_BUDGET,
        "low" => 2048,
        "medium" => 8192,
        _ => 16384,
    };
    let limit = max_tokens.map_or(default_budget, |max_tokens| max_tokens / 2);
    Some(default_budget.min(limit)).filter(|budget| *budget >= MIN_BUDGET)
}

/// Returns whether the model supports adaptive thinking. A Claude name without a version counts as a current model.
fn supports_adaptive_thinking(model: &str) -> bool {
    let Some(name) = model.rsplit('/').next().and_then(|name| name.strip_prefix("claude-")) else {
        return false;
    };
    let numbers = name.split(['-', '@', '.']).filter_map(|part| part.parse::<u32>().ok());
    // A date, such as 20250929, is not a version.
    let mut version = numbers.filter(|number| *number < 1000);
    match (version.next(), version.next()) {
        (Some(major), minor) => (major, minor.unwrap_or(0)) >= (4, 6),
        (None, _) => true,
    }
}

/// Returns whether the turns allow a thinking budget. With a budget, the provider refuses a conversation whose last model
/// turn has calls but no thoughts, such as a turn of another model.
fn turns_allow_budget(turns: &[Turn<'_>]) -> bool {
    let last_turn_allows_budget = turns.iter().rev().find_map(|turn| match turn {
        Turn::Assistant { calls, state, .. } => Some(calls.is_empty() || state.is_some()),
        _ => None,
    });
    last_turn_allows_budget.unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn models_since_4_6_support_adaptive_thinking() {
        for (model, expected) in [
            ("claude-opus-4-6", true),
            ("claude-sonnet-5", true),
            ("claude-opus-4-7-20260101", true),
            ("claude-next", true),
            ("claude-sonnet-4-5-20250929", false),
            ("claude-sonnet-4-20250514", false),
            ("claude-3-7-sonnet-20250219", false),
            ("kimi-k2", false),
        ] {
            assert_eq!(supports_adaptive_thinking(model), expected, "{model}");
        }
    }

    /// Returns the parameters for a model.
    fn params(model: &str, effort: Option<&str>, max_tokens: Option<u64>) -> Value {
        let mut body = JsonObject::new();
        add_params(model, effort, max_tokens, &[], &mut body);
        body.into()
    }

    #[test]
    fn the_thinking_budget_is_part_of_max_tokens() {
        let model_with_budget = "claude-sonnet-4-5";
        assert_eq!(params(model_with_budget, None, None), json!({"max_tokens": 8192}));
        assert_eq!(
            params(model_with_budget, Some("none"), Some(100)),
            json!({"max_tokens": 100})
        );
        let thinking = |budget: u64| json!({"type": "enabled", "budget_tokens": budget});
        assert_eq!(
            params(model_with_budget, Some("low"), None),
            json!({"max_tokens": 10240, "thinking": thinking(2048)})
        );
        assert_eq!(
            params(model_with_budget, Some("high"), Some(4000)),
            json!({"max_tokens": 4000, "thinking": thinking(2000)})
        );
        assert_eq!(
            params(model_with_budget, Some("high"), Some(1500)),
            json!({"max_tokens": 1500})
        );
    }

    #[test]
    fn a_model_with_adaptive_thinking_gets_an_effort() {
        let expected = json!({"max_tokens": 8192, "thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "low"}});
        assert_eq!(params("claude-opus-4-7", Some("minimal"), None), expected);
    }
}
