//! What a person sets about providers, prices and limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::price::PriceTable;
use crate::wire::Api;

/// All that the engine is made of.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    /// `[providers.NAME]`: changes to a known provider, or a provider of one's own.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `[prices."PROVIDER:MODEL"]`.
    pub prices: PriceTable,
    /// `[models]`.
    pub limits: EngineLimits,
}

/// One provider. What is not set is as the catalog has it.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct ProviderSettings {
    /// Dialect; has to be set for a provider that is not in the catalog.
    pub api: Option<Api>,
    /// `https` address below which the dialect's paths are; `http` only to this machine or without a key.
    pub base_url: Option<String>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// File that holds the key; nobody else may be allowed to read it.
    pub api_key_file: Option<PathBuf>,
    /// Model when none is named.
    pub default_model: Option<String>,
    /// Tokens that the model reads at most.
    pub context_tokens: Option<u64>,
    /// Tokens that a reply may have.
    pub max_output_tokens: Option<u64>,
    /// Whether the models look at pictures.
    pub vision: Option<bool>,
    /// Whether the models take function calls; they do unless this says `false`. Without it the prompt has the tools in full.
    pub tools: Option<bool>,
    /// What one model of the provider can do, over what the provider says of all.
    pub models: BTreeMap<String, ModelAbilities>,
    /// Whether replies stream; they do unless this says `false`.
    pub stream: Option<bool>,
    /// Calls at a time: 5, and 1 of a local provider, until this says otherwise. More of them wait in turn.
    pub max_parallel: Option<usize>,
    /// Whether it runs on this machine: then one local model is in use at a time (M25).
    pub local: Option<bool>,
    /// Headers that every request carries; not for keys.
    pub headers: BTreeMap<String, String>,
}

/// What one model can do. What is not set is as its provider has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct ModelAbilities {
    /// Whether it takes function calls.
    pub tools: Option<bool>,
    /// Whether it looks at pictures.
    pub vision: Option<bool>,
}

impl fmt::Debug for ProviderSettings {
    /// Without the values of the headers, which may be secret.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderSettings")
            .field("api", &self.api)
            .field("base_url", &self.base_url.as_ref().map(|_| "set"))
            .field("api_key_env", &self.api_key_env)
            .field("api_key_file", &self.api_key_file)
            .field("default_model", &self.default_model)
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

impl fmt::Display for Api {
    /// As the configuration names it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

/// Bounds of model calls. Times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct EngineLimits {
    /// Until a connection is there: 10 s.
    pub connect_timeout_ms: u64,
    /// From the request to the head of the reply: 120 s. A reply that does not stream has until `total_timeout_ms`.
    pub header_timeout_ms: u64,
    /// Between two pieces of a reply: 60 s. A reply that does not stream has until `total_timeout_ms`.
    pub idle_timeout_ms: u64,
    /// For one attempt with all of its reply: 600 s.
    pub total_timeout_ms: u64,
    /// Bytes of a reply that streams: 16 MiB. One that does not has 2 MiB at most.
    pub max_reply_bytes: usize,
    /// Bytes that are read of a reply that is an error: 64 KiB.
    pub max_error_bytes: usize,
    /// Retries of a call (C88): 3.
    pub max_retries: u32,
    /// Wait before the first retry, twice as long before each next one: 1 s.
    pub retry_base_ms: u64,
    /// Longest such wait: 10 s.
    pub retry_cap_ms: u64,
    /// Longest wait that a provider may ask for; in place of a longer one comes the usual wait: 60 s.
    pub max_retry_after_ms: u64,
    /// How long a call waits for one of the places of its provider: 30 s; for a local one's at least as long as a call may
    /// take.
    pub queue_timeout_ms: u64,
    /// Calls that wait for a provider at a time: 100.
    pub max_queue: usize,
    /// How long an adapter that nobody uses is kept (C69): 300 s.
    pub adapter_idle_ms: u64,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            connect_timeout_ms: 10_000,
            header_timeout_ms: 120_000,
            idle_timeout_ms: 60_000,
            total_timeout_ms: 600_000,
            max_reply_bytes: 16 << 20,
            max_error_bytes: 64 << 10,
            max_retries: 3,
            retry_base_ms: 1000,
            retry_cap_ms: 10_000,
            max_retry_after_ms: 60_000,
            queue_timeout_ms: 30_000,
            max_queue: 100,
            adapter_idle_ms: 300_000,
        }
    }
}

/// Milliseconds of the settings as a time, a year at most: a clock has an end.
pub(crate) fn time(milliseconds: u64) -> Duration {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Duration::from_millis(milliseconds).min(YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_a_provider_is_read_and_a_wrong_name_refused() {
        let text = "api = \"openai-chat\"\nbase_url = \"https://x.example/v1\"\nlocal = true";
        let settings: ProviderSettings = toml::from_str(text).unwrap();
        assert_eq!((settings.api, settings.local), (Some(Api::OpenaiChat), Some(true)));
        let error = toml::from_str::<ProviderSettings>("api_key = \"k\"").unwrap_err();
        assert!(error.message().contains("unknown field `api_key`"), "{error}");
    }

    #[test]
    fn what_a_header_says_is_not_in_the_debug_text() {
        let headers = BTreeMap::from([("x-team".to_owned(), "s3cret".to_owned())]);
        let settings = ProviderSettings {
            base_url: Some("https://u:s3cret@x.example".to_owned()),
            headers,
            ..ProviderSettings::default()
        };
        let text = format!("{settings:?}");
        assert!(text.contains("x-team") && !text.contains("s3cret"), "{text}");
    }
}
