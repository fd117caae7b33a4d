//! Settings of providers, prices and limits.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::price::PriceTable;
use crate::protocol::Protocol;

/// All settings of a [`ReasoningEngine`](crate::ReasoningEngine), which calls the models.
#[derive(Clone, Debug, Default)]
pub struct ModelSettings {
    /// `[providers.NAME]`: changes to a built-in provider, or an additional provider.
    pub providers: BTreeMap<String, ProviderSettings>,
    /// `[prices."PROVIDER:MODEL"]`: prices of single models.
    pub prices: PriceTable,
    /// `[models]`: limits of all model calls.
    pub limits: EngineLimits,
}

/// Settings of one provider. Unset fields have the built-in defaults.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct ProviderSettings {
    /// Protocol. Required for a provider that is not built in.
    pub api: Option<Protocol>,
    /// Base URL, to which the paths of the protocol are appended. It must use `https`, except on this machine or without a key.
    pub base_url: Option<String>,
    /// Environment variable with the key.
    pub api_key_env: Option<String>,
    /// File with the key. It must be readable only by its owner.
    pub api_key_file: Option<PathBuf>,
    /// Model that is used if none is named.
    pub default_model: Option<String>,
    /// Context window of the models, in tokens.
    pub context_tokens: Option<u64>,
    /// Maximum number of tokens of a reply.
    pub max_output_tokens: Option<u64>,
    /// Whether the models can read pictures.
    pub vision: Option<bool>,
    /// Whether the models support function calls; default `true`. If not, the prompt describes the tools in full.
    pub tools: Option<bool>,
    /// Capabilities of single models, which override those of the provider.
    pub models: BTreeMap<String, CapabilityOverrides>,
    /// Whether replies stream; default `true`.
    pub stream: Option<bool>,
    /// Maximum number of concurrent calls; default 5, and 1 for a local provider. Further calls wait in a queue.
    pub max_parallel: Option<usize>,
    /// Whether the provider is a model server on this machine. Only one model of all such servers is in use at a time.
    pub local: Option<bool>,
    /// Headers of every request; not for keys.
    pub headers: BTreeMap<String, String>,
}

/// Capabilities of one model. Unset fields have the values of the provider.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct CapabilityOverrides {
    /// Whether the model supports function calls.
    pub tools: Option<bool>,
    /// Whether the model can read pictures.
    pub vision: Option<bool>,
}

impl fmt::Debug for ProviderSettings {
    /// Omits the values of the headers and the base URL, which may contain secrets.
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

impl fmt::Display for Protocol {
    /// Writes the name that the protocol has in the configuration.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::OpenaiChat => "openai-chat",
            Self::OpenaiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

/// Limits of model calls, each with its default after the colon. Times are in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default, rename_all = "snake_case")]
pub struct EngineLimits {
    /// Timeout for connecting: 10 s.
    pub connect_timeout_ms: u64,
    /// Timeout from the request to the headers of the reply: 120 s. For a call with `stream = false`, `total_timeout_ms` applies
    /// instead.
    pub header_timeout_ms: u64,
    /// Timeout from the first attempt of a call to the headers of a reply, for all attempts and the waits between them: 200 s. At
    /// least `header_timeout_ms`. No attempt begins after it. For a call with `stream = false`, an attempt that has begun goes on.
    pub answer_timeout_ms: u64,
    /// Timeout between two pieces of a reply: 60 s. For a call with `stream = false`, `total_timeout_ms` applies instead.
    pub idle_timeout_ms: u64,
    /// Timeout of one attempt including its whole reply: 600 s.
    pub total_timeout_ms: u64,
    /// Maximum size of a streamed reply: 16 MiB. A reply that does not stream may have at most 2 MiB.
    pub max_reply_bytes: usize,
    /// Maximum number of bytes that are read of an error reply: 64 KiB.
    pub max_error_bytes: usize,
    /// Maximum number of retries of a call: 3.
    pub max_retries: u32,
    /// Delay before the first retry, doubled for each further one: 1 s.
    pub retry_base_ms: u64,
    /// Maximum delay before a retry that the provider does not request: 10 s.
    pub retry_cap_ms: u64,
    /// Maximum delay before a retry that a provider may request: 60 s. If it requests a longer one, the call fails.
    pub max_retry_after_ms: u64,
    /// Maximum time that a call waits for one of the `max_parallel` slots of its provider: 30 s. At a local provider, at least
    /// `total_timeout_ms`.
    pub queue_timeout_ms: u64,
    /// Maximum number of calls that wait for a slot at one provider: 100.
    pub max_queue: usize,
    /// Time that an idle connection is kept open: 90 s.
    // The alias is the name of the key in earlier versions.
    #[serde(alias = "adapter_idle_ms")]
    pub connection_idle_ms: u64,
}

impl Default for EngineLimits {
    fn default() -> Self {
        Self {
            connect_timeout_ms: 10_000,
            header_timeout_ms: 120_000,
            answer_timeout_ms: 200_000,
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

/// Converts milliseconds to a duration of at most a year, so that adding it to a time does not overflow.
pub(crate) fn duration_from_ms(milliseconds: u64) -> Duration {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);
    Duration::from_millis(milliseconds).min(YEAR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_table_with_an_unknown_field_is_refused() {
        let text = "api = \"openai-chat\"\nbase_url = \"https://x.example/v1\"\nlocal = true";
        let settings: ProviderSettings = toml::from_str(text).unwrap();
        assert_eq!((settings.api, settings.local), (Some(Protocol::OpenaiChat), Some(true)));
        let error = toml::from_str::<ProviderSettings>("api_key = \"k\"").unwrap_err();
        assert!(error.message().contains("unknown field `api_key`"), "{error}");
    }

    #[test]
    fn debug_output_has_no_header_values_and_no_base_url() {
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
