//! Checks whether a provider answers, accepts the key and has a model, without using tokens.

use std::time::Duration;

use art_core::error::{ModelError, ModelErrorCode};
use serde::Serialize;
use tokio::time::{Instant, timeout};

use super::address::correction;
use super::request;
use crate::fault::{error, format_duration};
use crate::http::Transport;
use crate::provider::{RemoteProvider, host_and_port};

/// Maximum number of models in the result of a probe. Providers may list more.
const MAX_MODELS: usize = 500;

/// The result of probing a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Probe {
    /// Whether the provider answered at all.
    pub reachable: bool,
    /// Whether the provider accepted the key. `None` if there is no key, the probe failed earlier, or the provider may not have
    /// checked the key.
    pub key_accepted: Option<bool>,
    /// Whether the provider lists the model. `None` without a list or a model name.
    pub model_listed: Option<bool>,
    /// The models that the provider lists, at most 500.
    pub models: Vec<String>,
    /// The error, if the probe failed.
    pub error: Option<ModelError>,
    /// Duration of the probe, in milliseconds.
    pub elapsed_ms: u64,
}

impl Probe {
    /// Creates the result of a probe that failed before the provider answered.
    pub(crate) fn failed(error: ModelError) -> Self {
        Self {
            error: Some(error),
            ..Self::default()
        }
    }

    /// Creates the result for a model in this process, which is always available.
    pub(crate) fn in_process(model_id: &str) -> Self {
        Self {
            reachable: true,
            model_listed: Some(true),
            models: vec![model_id.to_owned()],
            ..Self::default()
        }
    }
}

/// Probes a provider by requesting its list of models. The probe fails after `max_wait`.
pub(crate) async fn probe(remote: &RemoteProvider, transport: &Transport, model_id: &str, max_wait: Duration) -> Probe {
    let started = Instant::now();
    let mut probe = match &remote.problem {
        Some(problem) => Probe::failed(problem.clone()),
        None => timeout(max_wait, probe_with_model_list(remote, transport, model_id))
            .await
            .unwrap_or_else(|_elapsed| Probe::failed(timeout_error(remote, max_wait))),
    };
    probe.error = probe
        .error
        .map(|error| request::explain_error(remote, model_id, &error));
    probe.elapsed_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    probe
}

fn timeout_error(remote: &RemoteProvider, max_wait: Duration) -> ModelError {
    let message = format!(
        "`{}` did not answer within {}; check the network and `base_url`, or try again",
        host_and_port(&remote.base_url),
        format_duration(max_wait)
    );
    error(ModelErrorCode::Timeout, message)
}

/// Requests the list of models, and checks the key where the list is public. Returns the result of the probe.
async fn probe_with_model_list(remote: &RemoteProvider, transport: &Transport, model_id: &str) -> Probe {
    let sent = match request::list_request(remote) {
        Ok(request) => transport.send(request).await,
        Err(error) => Err(error),
    };
    let mut response = match sent {
        Ok(response) => response,
        Err(error) => return Probe::failed(error),
    };
    let failed_after_answer = |error| Probe {
        reachable: true,
        ..Probe::failed(error)
    };
    match response.status {
        200..300 if response.has_media_type("text/html") => {
            failed_after_answer(request::web_page_error(remote, &response))
        }
        200..300 => match response.read_body().await {
            Ok(body) => {
                let probe = probe_from_list(remote, &body, model_id);
                match key_check_path(remote) {
                    Some(path) => check_key(remote, transport, path, probe).await,
                    None => probe,
                }
            }
            Err(error) => failed_after_answer(error),
        },
        404 | 405 => failed_after_answer(error(
            ModelErrorCode::InvalidResponse,
            format!(
                "`{}` has no list of models at `{}`; {}",
                response.host(),
                response.path(),
                correction(&remote.base_url)
            ),
        )),
        _ => {
            let error = request::read_error_reply(remote, &mut response).await.error;
            let refused = error.code == ModelErrorCode::AuthenticationError;
            Probe {
                key_accepted: refused.then_some(false),
                ..failed_after_answer(error)
            }
        }
    }
}

/// Returns whether a list of models proves that the key is valid, because the provider returns the list only with a valid key.
fn list_requires_key(remote: &RemoteProvider) -> bool {
    let defaults = remote.defaults_at_built_in_address();
    defaults.is_some_and(|defaults| defaults.needs_key && defaults.key_check_path.is_none())
}

/// Returns the path that checks the key, for a provider whose list of models is public.
fn key_check_path(remote: &RemoteProvider) -> Option<&'static str> {
    remote.key.secret.as_ref()?;
    remote.defaults_at_built_in_address()?.key_check_path
}

/// Checks the key by a request for `path`, and returns `probe` with the result. A reply that neither accepts nor refuses the key
/// leaves `probe` unchanged.
pub(super) async fn check_key(remote: &RemoteProvider, transport: &Transport, path: &str, probe: Probe) -> Probe {
    let sent = match request::get_request(remote, path) {
        Ok(request) => transport.send(request).await,
        Err(error) => Err(error),
    };
    match sent {
        Ok(response) if (200..300).contains(&response.status) && !response.has_media_type("text/html") => Probe {
            key_accepted: Some(true),
            ..probe
        },
        Ok(mut response) if matches!(response.status, 401 | 403) => Probe {
            key_accepted: Some(false),
            model_listed: None,
            error: Some(request::read_error_reply(remote, &mut response).await.error),
            ..probe
        },
        _ => probe,
    }
}

/// Creates the result from the list of models in `body`.
fn probe_from_list(remote: &RemoteProvider, body: &[u8], model_id: &str) -> Probe {
    let list = serde_json::from_slice(body).unwrap_or_default();
    let models = remote.codec.models(&list);
    let found = models.iter().any(|model| is_entry_for(model, model_id));
    let can_look_up = !model_id.is_empty() && !models.is_empty();
    let error = (can_look_up && !found).then(|| {
        let message = "the provider does not list the model; check its name";
        error(ModelErrorCode::ModelNotFound, message)
    });
    Probe {
        reachable: true,
        key_accepted: list_requires_key(remote).then_some(true),
        model_listed: can_look_up.then_some(found),
        models: models
            .iter()
            .take(MAX_MODELS)
            .map(|model| remote.redactor.redact(model))
            .collect(),
        error,
        elapsed_ms: 0,
    }
}

/// Returns whether a list entry names the model. An entry may have a prefix (`models/`) or a tag (`:latest`) that `model_id`
/// omits.
pub(super) fn is_entry_for(entry: &str, model_id: &str) -> bool {
    let name = entry.strip_prefix("models/").unwrap_or(entry);
    name == model_id || name.strip_suffix(":latest") == Some(model_id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use crate::provider::create_providers;
    use crate::settings::ModelSettings;

    /// Returns the provider `name` with a key, at `base_url` or else at its built-in address.
    fn remote(name: &str, base_url: Option<&str>) -> Arc<RemoteProvider> {
        let mut settings = ModelSettings::default();
        let provider = settings.providers.entry(name.to_owned()).or_default();
        provider.base_url = base_url.map(str::to_owned);
        let providers = create_providers(&settings, &|_| Some("k".to_owned()), &[]).unwrap();
        Arc::clone(providers[name].as_remote().unwrap())
    }

    #[test]
    fn only_openrouter_at_its_own_address_has_a_separate_key_check() {
        assert_eq!(key_check_path(&remote("openrouter", None)), Some("key"));
        assert_eq!(
            key_check_path(&remote("openrouter", Some("https://else.example/v1"))),
            None
        );
        assert_eq!(key_check_path(&remote("openai", None)), None);
    }

    #[test]
    fn the_list_is_searched_for_a_model_only_if_one_is_named() {
        let look_up = |model: &str| {
            let probe = probe_from_list(&remote("openai", None), br#"{"data":[{"id":"m"}]}"#, model);
            (probe.model_listed, probe.error.is_some())
        };
        assert_eq!(look_up(""), (None, false));
        assert_eq!(look_up("m"), (Some(true), false));
        assert_eq!(look_up("x"), (Some(false), true));
    }

    #[test]
    fn a_public_list_does_not_prove_that_the_key_is_valid() {
        let providers = create_providers(&ModelSettings::default(), &|_| Some("k".to_owned()), &[]).unwrap();
        for (name, proves_key) in [
            ("openai", true),
            ("groq", true),
            ("openrouter", false),
            ("ollama", false),
        ] {
            assert_eq!(
                list_requires_key(providers[name].as_remote().unwrap()),
                proves_key,
                "{name}"
            );
        }
    }
}
