//! Limits of a run. They are set on four levels, from the lowest to the highest: the default, the configuration of an instance of
//! the host, the settings of a thread, and those of one question. Each limit comes from the highest level that sets it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Limits of a run (contracts C48, X11).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExecutionConfig {
    /// Maximum number of model calls for one item of the plan.
    pub max_iterations: u32,
    /// Maximum number of reminders to call a required tool, for one item. TAEF (tool-aware execution framework) is the
    /// contract's name for the enforcement of required tools.
    pub taef_max_retries: u32,
    /// Maximum total length of the tool results that are added to a prompt together, in characters. Each gets an equal share.
    pub tool_result_max_length: usize,
    /// Maximum number of items in one run.
    pub max_items: u32,
    /// Maximum number of items in progress at the same time.
    pub max_parallel_items: u32,
    /// Maximum number of tool calls in one run.
    pub max_tool_calls: u32,
    /// Maximum number of model calls in one run.
    pub max_model_calls: u32,
    /// Maximum number of tokens in one run, input and output together; absent means no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Maximum cost of one run in US dollars; absent means no limit. Calls without a known price count as free.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// Maximum number of times that an invalid plan is sent back to the model.
    pub plan_repairs: u32,
    /// Maximum number of tools that one prompt describes. It does not apply to a model with an
    /// [unbounded context window](crate::provider::ContextWindow::Unbounded).
    pub max_shown_tools: u32,
    /// Whether items may be delegated to other agents. This host has no other agents, so only `false` is accepted.
    #[serde(rename = "enableA2ADelegation", deserialize_with = "no_delegation")]
    pub enable_a2a_delegation: bool,
}

impl Default for ExecutionConfig {
    fn default() -> Self {
        Self {
            max_iterations: 5,
            taef_max_retries: 2,
            tool_result_max_length: 60_000,
            max_items: 20,
            max_parallel_items: 4,
            max_tool_calls: 64,
            max_model_calls: 120,
            max_tokens: None,
            max_cost_usd: None,
            plan_repairs: 2,
            max_shown_tools: 16,
            enable_a2a_delegation: false,
        }
    }
}

/// The limits of [`ExecutionConfig`] that one level sets, such as a thread or a question. An absent field keeps the value of the
/// level below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ExecutionOverrides {
    /// See [`ExecutionConfig::max_iterations`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// See [`ExecutionConfig::taef_max_retries`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taef_max_retries: Option<u32>,
    /// See [`ExecutionConfig::tool_result_max_length`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_result_max_length: Option<usize>,
    /// See [`ExecutionConfig::max_items`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_items: Option<u32>,
    /// See [`ExecutionConfig::max_parallel_items`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel_items: Option<u32>,
    /// See [`ExecutionConfig::max_tool_calls`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tool_calls: Option<u32>,
    /// See [`ExecutionConfig::max_model_calls`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_model_calls: Option<u32>,
    /// See [`ExecutionConfig::max_tokens`]. A level can set the limit but not remove it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// See [`ExecutionConfig::max_cost_usd`]. A level can set the limit but not remove it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost_usd: Option<f64>,
    /// See [`ExecutionConfig::plan_repairs`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_repairs: Option<u32>,
    /// See [`ExecutionConfig::max_shown_tools`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_shown_tools: Option<u32>,
    /// See [`ExecutionConfig::enable_a2a_delegation`].
    #[serde(
        rename = "enableA2ADelegation",
        deserialize_with = "no_delegation_option",
        skip_serializing_if = "Option::is_none"
    )]
    pub enable_a2a_delegation: Option<bool>,
}

impl ExecutionOverrides {
    /// Returns `lower` with its fields replaced by those that are set here. Levels are applied from the lowest to the highest:
    /// default, instance, thread, question (contract C48).
    #[must_use]
    pub fn apply(self, lower: ExecutionConfig) -> ExecutionConfig {
        ExecutionConfig {
            max_iterations: self.max_iterations.unwrap_or(lower.max_iterations),
            taef_max_retries: self.taef_max_retries.unwrap_or(lower.taef_max_retries),
            tool_result_max_length: self.tool_result_max_length.unwrap_or(lower.tool_result_max_length),
            max_items: self.max_items.unwrap_or(lower.max_items),
            max_parallel_items: self.max_parallel_items.unwrap_or(lower.max_parallel_items),
            max_tool_calls: self.max_tool_calls.unwrap_or(lower.max_tool_calls),
            max_model_calls: self.max_model_calls.unwrap_or(lower.max_model_calls),
            max_tokens: self.max_tokens.or(lower.max_tokens),
            max_cost_usd: self.max_cost_usd.or(lower.max_cost_usd),
            plan_repairs: self.plan_repairs.unwrap_or(lower.plan_repairs),
            max_shown_tools: self.max_shown_tools.unwrap_or(lower.max_shown_tools),
            enable_a2a_delegation: self.enable_a2a_delegation.unwrap_or(lower.enable_a2a_delegation),
        }
    }
}

/// Deserialises `false`. Fails for `true`.
fn no_delegation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    if bool::deserialize(deserializer)? {
        return Err(D::Error::custom(
            "there is nobody to delegate to: `enableA2ADelegation` can only be `false`",
        ));
    }
    Ok(false)
}

fn no_delegation_option<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
    no_delegation(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ExecutionOverrides {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn each_field_comes_from_the_highest_level_that_sets_it() {
        let thread = read(r#"{"maxIterations": 7, "maxTokens": 10}"#);
        let question = read(r#"{"maxIterations": 9, "maxCostUsd": 0.5}"#);
        let config = question.apply(thread.apply(ExecutionConfig::default()));
        let expected = ExecutionConfig {
            max_iterations: 9,
            max_tokens: Some(10),
            max_cost_usd: Some(0.5),
            ..ExecutionConfig::default()
        };
        assert_eq!(config, expected);
    }

    #[test]
    fn an_empty_level_changes_nothing() {
        let config = ExecutionConfig {
            max_items: 3,
            ..ExecutionConfig::default()
        };
        assert_eq!(ExecutionOverrides::default().apply(config), config);
    }

    #[test]
    fn every_field_of_a_config_can_be_set() {
        let all = serde_json::json!({
            "maxIterations": 1, "taefMaxRetries": 3, "toolResultMaxLength": 4, "maxItems": 5, "maxParallelItems": 6,
            "maxToolCalls": 7, "maxModelCalls": 8, "maxTokens": 9, "maxCostUsd": 0.5, "planRepairs": 10,
            "maxShownTools": 11, "enableA2ADelegation": false,
        });
        let config = read(&all.to_string()).apply(ExecutionConfig::default());
        assert_eq!(serde_json::to_value(config).unwrap(), all);
    }

    #[test]
    fn an_override_cannot_switch_delegation_on() {
        let error = serde_json::from_str::<ExecutionOverrides>(r#"{"enableA2ADelegation": true}"#).unwrap_err();
        assert!(error.to_string().contains("can only be `false`"), "{error}");
    }
}
