//! The providers that are known without a setting.

use crate::wire::Api;

/// What is known of a provider.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) api: Api,
    /// None when the person has to say where it is.
    pub(crate) base_url: Option<&'static str>,
    /// Environment variables that its key is looked for in.
    pub(crate) key_env: &'static [&'static str],
    /// Whether it answers nobody without a key.
    pub(crate) needs_key: bool,
    /// Path below the address that answers to a good key only, where anyone gets the list of models.
    pub(crate) key_path: Option<&'static str>,
    /// None when the person has to name one.
    pub(crate) default_model: Option<&'static str>,
    /// Tokens that its models read at least.
    pub(crate) context_tokens: u64,
    /// Whether its models look at pictures.
    pub(crate) vision: bool,
    /// Whether it runs on this machine.
    pub(crate) local: bool,
}

/// A provider that speaks as most do, has no address and needs no key. The others differ from it.
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

/// Every known provider but the embedded one.
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
        // What it serves unless it was started with more; it cuts a longer prompt without a word.
        context_tokens: 4096,
        local: true,
        ..PLAIN
    },
    PLAIN,
];

/// What is known of the provider of that name; the plain one under that name for one that a person describes.
pub(crate) fn known(name: &str) -> Option<&'static Known> {
    CATALOG.iter().find(|known| known.name == name)
}

/// What a provider that a person describes starts from.
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
