//! Checks the models by requesting the model lists of their providers, which uses no tokens.

use std::time::Duration;

use art_core::provider::RuntimeProviderConfig;
use art_core::text::truncate;
use art_model::{Probe, ProviderInfo, ReasoningEngine};
use art_runtime::compose::open_engine;
use art_runtime::config::{Config, Origin};
use art_runtime::error::in_one_line;
use futures_util::future::join_all;

use super::{Check, Verdict};
use crate::commands::report::local_server_hint;
use crate::error::CommandError;
use crate::tokio_runtime::new_executor;

/// Timeout for the model list of a provider.
const PROBE_TIMEOUT: Duration = Duration::from_secs(5);
/// Timeout for detecting a model server on this machine.
const LOCAL_SERVER_TIMEOUT: Duration = Duration::from_secs(1);
/// Maximum number of similar names that are shown for a model that its provider does not list.
const MAX_SUGGESTED: usize = 3;
/// Maximum length of such a name, in characters.
const MAX_NAME_CHARS: usize = 80;

/// Checks the configured model, which must be available, and all other providers with a key, which may be unavailable. If no
/// model is configured, also looks for a model server on this machine.
pub(super) fn check_models(config: &Config) -> Vec<Check> {
    let engine = open_engine(config).map_err(CommandError::from);
    match engine.and_then(|engine| Ok((engine, new_executor()?))) {
        Ok((engine, executor)) => {
            let mut checks = executor.block_on(check_providers(&engine, &config.model.value));
            if config.model.origin == Origin::Default {
                checks.extend(executor.block_on(check_local_server(&engine)));
            }
            // Do not wait for the DNS lookup of a probe that has timed out.
            executor.shutdown_background();
            checks
        }
        Err(error) => vec![Check::new("model", Verdict::Fail, in_one_line(&error))],
    }
}

/// Checks the configured model and all other providers with a key, at the same time.
async fn check_providers(engine: &ReasoningEngine, model_name: &str) -> Vec<Check> {
    let model = engine.resolve(model_name);
    let provider_in_use = model
        .as_ref()
        .map(|model| model.provider_name.clone())
        .unwrap_or_default();
    let providers = engine.providers().into_iter();
    let others = providers.filter(|info| info.key.is_some() && info.name != provider_in_use);
    let others = join_all(others.map(|info| check_unused_provider(engine, info)));
    let configured = async {
        match &model {
            Ok(model) => check_configured_model(engine, model).await,
            Err(error) => Check::new("model", Verdict::Fail, error.to_string()),
        }
    };
    let (configured, others) = futures_util::join!(configured, others);
    [configured].into_iter().chain(others).collect()
}

/// Checks the configured model. It must be available.
async fn check_configured_model(engine: &ReasoningEngine, model: &RuntimeProviderConfig) -> Check {
    let info = match engine.describe(model) {
        Ok(info) => info,
        Err(error) => return Check::new("model", Verdict::Fail, error.to_string()),
    };
    let Some(base_url) = info.provider.base_url else {
        // A model without an address runs in this process. Its notice says what it can and cannot do.
        let notice = info.notice.unwrap_or_default();
        return Check::new("model", Verdict::Ok, format!("`{model}`: {notice}"));
    };
    let probe = engine.probe(model, PROBE_TIMEOUT).await;
    let (verdict, detail) = judge(&probe, &model.model_id, Verdict::Fail);
    Check::new("model", verdict, format!("`{model}` at {base_url}: {detail}"))
}

/// Returns a check for a model server on this machine, for users who have not configured a model.
async fn check_local_server(engine: &ReasoningEngine) -> Option<Check> {
    let server = engine.local_server(LOCAL_SERVER_TIMEOUT).await?;
    Some(Check::new("local model", Verdict::Ok, local_server_hint(&server)))
}

/// Checks a provider that has a key but is not in use. A problem is therefore only a warning.
async fn check_unused_provider(engine: &ReasoningEngine, info: ProviderInfo) -> Check {
    let model = RuntimeProviderConfig::new(&info.name, info.default_model.as_deref().unwrap_or_default());
    let mut probe = engine.probe(&model, PROBE_TIMEOUT).await;
    if info.default_model.is_none() {
        // There is no model to look for in the list.
        probe.model_listed = None;
    }
    let (verdict, detail) = judge(&probe, &model.model_id, Verdict::Warn);
    Check::new("provider", verdict, format!("`{}`: {detail}", info.name))
}

/// Returns the verdict about a probe, and its reason. `verdict_if_failed` is the verdict if the model cannot be called.
fn judge(probe: &Probe, model_id: &str, verdict_if_failed: Verdict) -> (Verdict, String) {
    // If the provider does not list the model, the probe has an error too. This error is not used: such a model gets only a
    // warning below, because providers may accept models that they do not list.
    if let (Some(error), None | Some(true)) = (&probe.error, probe.model_listed) {
        return (verdict_if_failed, error.to_string());
    }
    let mut facts = vec!["reachable".to_owned()];
    facts.extend((probe.key_accepted == Some(true)).then(|| "key accepted".to_owned()));
    let (verdict, listed) = match probe.model_listed {
        Some(true) => (Verdict::Ok, Some("model listed".to_owned())),
        Some(false) => (Verdict::Warn, Some(not_listed_warning(model_id, &probe.models))),
        None => (Verdict::Ok, None),
    };
    facts.extend(listed);
    (verdict, format!("{} ({} ms)", facts.join(", "), probe.elapsed_ms))
}

/// Returns the warning about a model that is not in `models`, with the most similar names.
fn not_listed_warning(model_id: &str, models: &[String]) -> String {
    let mut by_distance: Vec<_> = models
        .iter()
        .map(|name| (strsim::damerau_levenshtein(model_id, name), name))
        .collect();
    by_distance.sort();
    let names: Vec<_> = by_distance
        .iter()
        .take(MAX_SUGGESTED)
        .map(|(_, name)| format!("`{}`", truncate(name, MAX_NAME_CHARS)))
        .collect();
    if names.is_empty() {
        return format!("model `{model_id}` is not listed");
    }
    format!("model `{model_id}` is not listed; the nearest are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_core::error::{ModelError, ModelErrorCode};

    fn successful_probe(model_listed: Option<bool>) -> Probe {
        Probe {
            reachable: true,
            key_accepted: Some(true),
            model_listed,
            models: ["gpt-b", "gpt-5", "other", "gpt-a"].map(str::to_owned).to_vec(),
            error: None,
            elapsed_ms: 12,
        }
    }

    #[test]
    fn a_listed_model_is_ok() {
        let (verdict, detail) = judge(&successful_probe(Some(true)), "gpt-a", Verdict::Fail);
        assert_eq!(verdict, Verdict::Ok);
        assert_eq!(detail, "reachable, key accepted, model listed (12 ms)");
    }

    #[test]
    fn an_unlisted_model_is_a_warning_with_similar_names() {
        let (verdict, detail) = judge(&successful_probe(Some(false)), "gpt-q", Verdict::Fail);
        assert_eq!(verdict, Verdict::Warn);
        assert!(
            detail.contains("the nearest are `gpt-5`, `gpt-a`, `gpt-b` "),
            "{detail}"
        );
    }

    #[test]
    fn an_error_gets_the_verdict_that_the_caller_passes() {
        let error = ModelError {
            code: ModelErrorCode::AuthenticationError,
            message: "openai refused the key".to_owned(),
            retry_after_ms: None,
            request_not_read: false,
        };
        let probe = Probe {
            error: Some(error),
            ..successful_probe(None)
        };
        for verdict_if_failed in [Verdict::Fail, Verdict::Warn] {
            assert_eq!(
                judge(&probe, "m", verdict_if_failed),
                (verdict_if_failed, "openai refused the key".to_owned())
            );
        }
    }
}
