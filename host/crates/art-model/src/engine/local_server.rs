//! Detects a model server on this machine.

use std::time::Duration;

use super::ReasoningEngine;
use crate::provider::is_loopback;

/// The provider whose address is probed.
const PROVIDER: &str = "ollama";

/// Maximum length of a model name that is suggested to the user, in bytes.
const MAX_NAME_BYTES: usize = 128;

/// A model server that answered on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Address.
    pub base_url: String,
    /// Models that it lists, as names for [`ReasoningEngine::resolve`], such as `ollama:qwen3`. Embedding models, long names, and
    /// names with characters that are special in a shell are omitted.
    pub models: Vec<String>,
}

impl ReasoningEngine {
    /// Returns the model server of this machine, if it lists its models within `timeout`. Nothing is sent to other machines.
    pub async fn local_server(&self, timeout: Duration) -> Option<LocalServer> {
        let remote = self.inner.providers.get(PROVIDER)?.as_remote()?;
        if !is_loopback(&remote.base_url) {
            return None;
        }
        let no_model = "";
        let probe = super::probe(remote, &self.inner.transport, no_model, timeout).await;
        let has_list = probe.reachable && probe.error.is_none();
        let models = probe.models.iter().filter(|name| can_be_suggested(name));
        has_list.then(|| LocalServer {
            base_url: remote.base_url.to_string(),
            models: models.map(|name| format!("{PROVIDER}:{name}")).collect(),
        })
    }
}

/// Returns whether a name can be shown as an argument of `--model` and is not that of an embedding model. The name comes from the
/// server, so it is untrusted.
fn can_be_suggested(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
    let is_embedding_model = || name.to_ascii_lowercase().contains("embed");
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.chars().all(is_plain) && !is_embedding_model()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ModelSettings;

    #[test]
    fn a_name_that_is_empty_too_long_or_unsafe_in_a_shell_is_not_suggested() {
        for name in ["qwen3", "llama3.2:1b", "hf.co/org/model-GGUF:Q4_K_M"] {
            assert!(can_be_suggested(name), "{name}");
        }
        for name in [
            "",
            "a b",
            "$(reboot)",
            "a;b",
            "x\u{1b}[2J",
            &"x".repeat(MAX_NAME_BYTES + 1),
        ] {
            assert!(!can_be_suggested(name), "{name}");
        }
    }

    #[test]
    fn an_embedding_model_is_recognised_by_its_name_in_any_case() {
        for name in [
            "nomic-embed-text:latest",
            "Qwen3-Embedding",
            "hf.co/org/MODEL-EMBED-GGUF",
        ] {
            assert!(!can_be_suggested(name), "{name}");
        }
    }

    #[tokio::test]
    async fn a_server_on_another_machine_is_not_probed() {
        let mut settings = ModelSettings::default();
        let provider = settings.providers.entry(PROVIDER.to_owned()).or_default();
        provider.base_url = Some("https://ollama.invalid/v1".to_owned());
        let engine = ReasoningEngine::new(settings, |_| None).unwrap();
        assert_eq!(engine.local_server(Duration::from_secs(60)).await, None);
    }
}
