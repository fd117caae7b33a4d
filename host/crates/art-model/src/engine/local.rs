//! Finds the model server that a person may have on this machine.

use std::time::Duration;

use super::ReasoningEngine;
use crate::provider::is_loopback;

/// The provider with a local server.
const PROVIDER: &str = "ollama";

/// Bytes of a model name that is offered.
const MAX_NAME: usize = 128;

/// A model server on this machine that answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalServer {
    /// Where it answers.
    pub base_url: String,
    /// Models that it lists, as [`ReasoningEngine::resolve`] reads them, such as `ollama:qwen3`. Models that only embed text
    /// are left out, and so are names that would mean something to a shell.
    pub models: Vec<String>,
}

impl ReasoningEngine {
    /// Returns the model server of this machine, if there is one and it lists its models within `timeout`. Only this
    /// machine is asked.
    pub async fn local_server(&self, timeout: Duration) -> Option<LocalServer> {
        let remote = self.inner.providers.get(PROVIDER)?.service()?;
        if !is_loopback(&remote.base_url) {
            return None;
        }
        let probe = super::probe(remote, &self.inner.transport, "", timeout).await;
        let is_list = probe.reachable && probe.error.is_none();
        let models = probe.models.iter().filter(|name| can_be_offered(name));
        is_list.then(|| LocalServer {
            base_url: remote.base_url.to_string(),
            models: models.map(|name| format!("{PROVIDER}:{name}")).collect(),
        })
    }
}

/// Returns whether the name works after `--model`. The server chose it, so it is untrusted.
fn can_be_offered(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | ':' | '/');
    !name.is_empty() && name.len() <= MAX_NAME && name.chars().all(plain) && !name.contains("embed")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ModelSettings;

    #[test]
    fn names_that_can_be_typed_are_offered() {
        for name in ["qwen3", "llama3.2:1b", "hf.co/org/model-GGUF:Q4_K_M"] {
            assert!(can_be_offered(name), "{name}");
        }
        for name in [
            "",
            "nomic-embed-text:latest",
            "a b",
            "$(reboot)",
            "a;b",
            "x\u{1b}[2J",
            &"x".repeat(129),
        ] {
            assert!(!can_be_offered(name), "{name}");
        }
    }

    #[tokio::test]
    async fn a_server_beyond_this_machine_is_not_asked() {
        let mut settings = ModelSettings::default();
        let provider = settings.providers.entry(PROVIDER.to_owned()).or_default();
        provider.base_url = Some("https://ollama.invalid/v1".to_owned());
        let engine = ReasoningEngine::new(settings, |_| None).unwrap();
        assert_eq!(engine.local_server(Duration::from_secs(60)).await, None);
    }
}
