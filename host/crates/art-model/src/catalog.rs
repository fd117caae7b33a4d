//! The built-in providers.

use crate::wire::Api;

/// The defaults of a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    /// None when the settings have to name it.
    pub(crate) base_url: Option<&'static str>,
    /// Environment variables that may hold its key.
    pub(crate) key_env: &'static [&'static str],
    /// Whether every request needs a key.
    pub(crate) needs_key: bool,
    /// Path that answers only to a valid key, for providers that give the list of models to anyone.
    pub(crate) key_path: Option<&'static str>,
    /// None when the settings have to name one.
    pub(crate) default_model: Option<&'static str>,
    /// Context window that all of its models have at least, in tokens.
    pub(crate) context_tokens: u64,
    /// Whether its models have vision.
    pub(crate) vision: bool,
    /// Whether it runs on this machine.
    pub(crate) local: bool,
}

/// A provider with the protocol that most have, without address and key. The others are defined by their differences.
const PLAIN: Known = Known {
    name: "compatible",
    api: Api::OpenaiChat,
    base_url: None,
    key_env: &[],
    needs_key: false,
    key_path: None,
    default_model: None,
    context_tokens: 32_768,
    vision: false,
    local: false,
};

/// All built-in services.
pub(crate) const CATALOG: [Known; 8] = [
    Known {
        name: "openai",
        api: Api::OpenaiResponses,
        base_url: Some("https://api.openai.com/v1"),
        key_env: &["OPENAI_API_KEY"],
        needs_key: true,
        default_model: Some("gpt-5.4-mini"),
        context_tokens: 128_000,
        vision: true,
        ..PLAIN
    },
    Known {
        name: "anthropic",
        api: Api::Anthropic,
        base_url: Some("https://api.anthropic.com/v1"),
        key_env: &["ANTHROPIC_API_KEY"],
        needs_key: true,
        default_model: Some("claude-haiku-5-5"),
        context_tokens: 200_000,
        vision: true,
        ..PLAIN
    },
    Known {
        name: "gemini",
        api: Api::Gemini,
        base_url: Some("https://generativelanguage.googleapis.com/v1beta"),
        key_env: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        needs_key: true,
        default_model: Some("gemini-3.8-flash"),
        context_tokens: 1_000_000,
        vision: true,
        ..PLAIN
    },
    Known {
        name: "openrouter",
        base_url: Some("https://openrouter.ai/api/v1"),
        key_env: &["OPENROUTER_API_KEY"],
        needs_key: true,
        key_path: Some("key"),
        default_model: Some("openrouter/auto"),
        context_tokens: 128_000,
        ..PLAIN
    },
    Known {
        name: "deepseek",
        base_url: Some("https://api.deepseek.com/v1"),
        key_env: &["DEEPSEEK_API_KEY"],
        needs_key: true,
        default_model: Some("deepseek-v4-flash"),
        context_tokens: 128_000,
        ..PLAIN
    },
    Known {
        name: "groq",
        base_url: Some("https://api.groq.com/openai/v1"),
        key_env: &["GROQ_API_KEY"],
        needs_key: true,
        default_model: Some("openai/gpt-oss-20b"),
        context_tokens: 128_000,
        ..PLAIN
    },
    Known {
        name: "ollama",
        base_url: Some("http://localhost:11434/v1"),
        // Ollama's default. It silently cuts longer prompts.
        context_tokens: 4096,
        local: true,
        ..PLAIN
    },
    PLAIN,
];

/// Returns the defaults of the provider of that name, if it is built in.
pub(crate) fn known(name: &str) -> Option<&'static Known> {
    CATALOG.iter().find(|known| known.name == name)
}

/// Returns the defaults of a provider that only the settings describe.
pub(crate) const fn plain() -> &'static Known {
    &PLAIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_there_once_and_can_be_written_before_a_colon() {
        for (n, known) in CATALOG.iter().enumerate() {
            assert!(known.name.chars().all(|c| c.is_ascii_lowercase()), "{}", known.name);
            assert!(CATALOG[n + 1..].iter().all(|other| other.name != known.name));
        }
    }

    #[test]
    fn ollama_reads_no_more_than_it_serves_unless_it_is_told() {
        assert_eq!(known("ollama").unwrap().context_tokens, 4096);
    }

    #[test]
    fn a_provider_that_needs_a_key_says_where_it_is_and_is_spoken_to_in_secret() {
        for known in CATALOG.iter().filter(|known| known.needs_key) {
            assert!(!known.key_env.is_empty(), "{}", known.name);
            assert!(known.base_url.unwrap().starts_with("https://"), "{}", known.name);
        }
    }
}
