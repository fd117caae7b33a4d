//! Settings of providers, prices and limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::price::PriceTable;
use crate::wire::Api;

/// All settings of the engine.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    /// `[providers.NAME]`: changes to a built-in provider, or a further provider.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `[prices."PROVIDER:MODEL"]`.
    pub prices: PriceTable,
    /// `[models]`.
    pub limits: EngineLimits,
}

/// Settings of one provider. Unset fields have the defaults of the catalog.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct ProviderSettings {
    /// Protocol. Required for a provider that is not in the catalog.
    pub api: Option<Api>,
    /// Base address, to which the protocol's paths are appended. `https`; `http` only to this machine or without a key.
    pub base_url: Option<String>,
    /// Environment variable that holds the key.
    pub api_key_env: Option<String>,
    /// File that holds the key. Only its owner may have the right to read it.
    pub api_key_file: Option<PathBuf>,
    /// Model when none is named.
    pub default_model: Option<String>,
    /// Context window of the models, in tokens.
    pub context_tokens: Option<u64>,
    /// Most tokens of a reply.
    pub max_output_tokens: Option<u64>,
    /// Whether the models have vision.
    pub vision: Option<bool>,
    /// Whether the models take function calls; default `true`. Otherwise the prompt describes the tools in full.
    pub tools: Option<bool>,
    /// Capabilities of single models, which win over those of the provider.
    pub models: BTreeMap<String, ModelAbilities>,
    /// Whether replies stream; default `true`.
    pub stream: Option<bool>,
    /// Concurrent calls; default 5, and 1 for a local provider. Further calls wait in turn.
    pub max_parallel: Option<usize>,
    /// Whether it runs on this machine, where one local model is in use at a time.
    pub local: Option<bool>,
    /// Headers that every request carries; not for keys.
    pub headers: BTreeMap<String, String>,
}

/// Capabilities of one model. Unset fields have the values of the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct ModelAbilities {
    /// Whether it takes function calls.
    pub tools: Option<bool>,
    /// Whether it has vision.
    pub vision: Option<bool>,
}

impl fmt::Debug for ProviderSettings {
    /// Leaves out the values of the headers, which may be secret.
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
    /// Writes the name that the configuration uses.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

/// Limits of model calls. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct EngineLimits {
    /// Timeout for connecting: 10 s.
    pub connect_timeout_ms: u64,
    /// Timeout from the request to the head of the reply: 120 s. For a reply that does not stream, `total_timeout_ms`.
    pub header_timeout_ms: u64,
    /// Timeout between two pieces of a reply: 60 s. For a reply that does not stream, `total_timeout_ms`.
    pub idle_timeout_ms: u64,
    /// Timeout of one attempt with its whole reply: 600 s.
    pub total_timeout_ms: u64,
    /// Longest reply that streams: 16 MiB. One that does not stream has at most 2 MiB.
    pub max_reply_bytes: usize,
    /// Bytes that are read of an error reply: 64 KiB.
    pub max_error_bytes: usize,
    /// Retries of a call: 3.
    pub max_retries: u32,
    /// Delay before the first retry, doubled before each next one: 1 s.
    pub retry_base_ms: u64,
    /// Longest such delay: 10 s.
    pub retry_cap_ms: u64,
    /// Longest delay that a provider may ask for: 60 s. A longer one is ignored, and the usual delay applies.
    pub max_retry_after_ms: u64,
    /// How long a call waits for a place at its provider: 30 s. At a local provider, at least `total_timeout_ms`.
    pub queue_timeout_ms: u64,
    /// Most calls that wait for a provider: 100.
    pub max_queue: usize,
    /// How long an idle connection is kept: 90 s.
    #[serde(alias = "adapter_idle_ms")]
    pub connection_idle_ms: u64,
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
            connection_idle_ms: 90_000,
        }
    }
}

/// Converts milliseconds, to at most a year, so that adding it to a clock does not overflow.
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
