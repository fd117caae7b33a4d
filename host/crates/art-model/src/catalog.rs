//! The built-in providers.

use crate::protocol::Protocol;

/// The defaults of a built-in provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProviderDefaults {
    pub(crate) name: &'static str,
    /// Protocol of its API.
    pub(crate) api: Protocol,
    /// Address. `None` if the settings must set it.
    pub(crate) base_url: Option<&'static str>,
    /// Names of the environment variables that may hold its key, the preferred one first.
    pub(crate) key_env: &'static [&'static str],
    /// Whether every request needs a key.
    pub(crate) needs_key: bool,
    /// Path of a request that fails if the key is wrong. Set only if the provider lists its models even without a key, because
    /// the request for that list then does not check the key.
    pub(crate) key_check_path: Option<&'static str>,
    /// Default model. `None` if the user must name one.
    pub(crate) default_model: Option<&'static str>,
    /// Context window that each of its models has at least, in tokens.
    pub(crate) context_tokens: u64,
    /// Whether its models have vision.
    pub(crate) vision: bool,
    /// Whether it runs on this machine.
    pub(crate) local: bool,
}

/// Defaults of a provider that is compatible with the chat API of OpenAI, the most common protocol. The settings must set its
/// address. The entries of the other providers set only what differs.
const COMPATIBLE_DEFAULTS: ProviderDefaults = ProviderDefaults {
    name: "compatible",
    api: Protocol::OpenaiChat,
    base_url: None,
    key_env: &[],
    needs_key: false,
    key_check_path: None,
    default_model: None,
    context_tokens: 32_768,
    vision: false,
    local: false,
};

/// All built-in providers.
pub(crate) const BUILT_IN_PROVIDERS: [ProviderDefaults; 8] = [
    ProviderDefaults {
        name: "openai",
        api: Protocol::OpenaiResponses,
        base_url: Some("https://api.openai.com/v1"),
        key_env: &["OPENAI_API_KEY"],
        needs_key: true,
        default_model: Some("gpt-5.4-mini"),
        context_tokens: 128_000,
        vision: true,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "anthropic",
        api: Protocol::Anthropic,
        base_url: Some("https://api.anthropic.com/v1"),
        key_env: &["ANTHROPIC_API_KEY"],
        needs_key: true,
        default_model: Some("claude-haiku-5-5"),
        context_tokens: 200_000,
        vision: true,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "gemini",
        api: Protocol::Gemini,
        base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        needs_key: true,
        default_model: Some("gemini-3.8-flash"),
        context_tokens: 1_000_000,
        vision: true,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "openrouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        key_env: &["OPENROUTER_API_KEY"],
        needs_key: true,
        key_check_path: Some("key"),
        default_model: Some("openrouter/auto"),
        context_tokens: 128_000,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "deepseek",
        base_url: Some("https://api.deepseek.com/v1"),
        key_env: &["DEEPSEEK_API_KEY"],
        needs_key: true,
        default_model: Some("deepseek-v4-flash"),
        context_tokens: 128_000,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "groq",
        base_url: Some("https://api.groq.com/openai/v1"),
        key_env: &["GROQ_API_KEY"],
        needs_key: true,
        default_model: Some("openai/gpt-oss-20b"),
        context_tokens: 128_000,
        ..COMPATIBLE_DEFAULTS
    },
    ProviderDefaults {
        name: "ollama",
        base_url: Some("http://localhost:11434/v1"),
        // The default of the Ollama server, which silently drops the start of longer prompts.
        context_tokens: 4096,
        local: true,
        ..COMPATIBLE_DEFAULTS
    },
    COMPATIBLE_DEFAULTS,
];

/// Returns the defaults of the provider `name`, if it is built in.
pub(crate) fn built_in(name: &str) -> Option<&'static ProviderDefaults> {
    BUILT_IN_PROVIDERS.iter().find(|provider| provider.name == name)
}

/// Returns the defaults of the built-in provider `compatible`, which are also those of every provider that is not built in.
pub(crate) const fn compatible_defaults() -> &'static ProviderDefaults {
    &COMPATIBLE_DEFAULTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_lower_case() {
        for (n, provider) in BUILT_IN_PROVIDERS.iter().enumerate() {
            assert!(
                provider.name.chars().all(|c| c.is_ascii_lowercase()),
                "{}",
                provider.name
            );
            assert!(
                BUILT_IN_PROVIDERS[n + 1..]
                    .iter()
                    .all(|other| other.name != provider.name)
            );
        }
    }

    #[test]
    fn the_context_of_ollama_is_the_default_of_its_server() {
        assert_eq!(built_in("ollama").unwrap().context_tokens, 4096);
    }

    #[test]
    fn a_provider_that_needs_a_key_has_a_variable_for_it_and_an_https_address() {
        for provider in BUILT_IN_PROVIDERS.iter().filter(|provider| provider.needs_key) {
            assert!(!provider.key_env.is_empty(), "{}", provider.name);
            assert!(provider.base_url.unwrap().starts_with("https://"), "{}", provider.name);
        }
    }
}
