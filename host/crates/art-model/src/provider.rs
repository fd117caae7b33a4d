//! Lookup of a model by the text `PROVIDER:MODEL` (C68 to C70).

use std::sync::Arc;

use art_core::error::{ModelError, ModelErrorCode};
use art_core::provider::RuntimeProviderConfig;

use crate::embedded::EmbeddedModel;
use crate::model::Model;

/// Every model that [`open`] can give, as provider and model; the first of a provider is its default.
const MODELS: [(&str, &str); 1] = [(EmbeddedModel::PROVIDER, EmbeddedModel::MODEL)];

/// Every model that [`open`] can give; the first of a provider is its default (C70).
#[must_use]
pub fn available() -> Vec<RuntimeProviderConfig> {
    MODELS.iter().map(|(provider, model)| config(provider, model)).collect()
}

/// Reads `PROVIDER` or `PROVIDER:MODEL`; without a model it is the provider's default (C68).
///
/// # Errors
/// [`ModelErrorCode::ProviderNotSupported`] for an unknown provider, [`ModelErrorCode::ModelNotFound`] for an unknown model
/// of a known one. Both name what exists.
pub fn parse(name: &str) -> Result<RuntimeProviderConfig, ModelError> {
    let (provider, model) = name
        .split_once(':')
        .map_or((name, None), |(provider, model)| (provider, Some(model)));
    let mut models = MODELS.iter().filter(|(known, _)| *known == provider.trim()).peekable();
    if models.peek().is_none() {
        let message = format!(
            "model provider `{}` is not supported; there is {}",
            provider.trim(),
            names()
        );
        return Err(error(ModelErrorCode::ProviderNotSupported, message));
    }
    match models.find(|(_, known)| model.is_none_or(|model| model.trim() == *known)) {
        Some((provider, model)) => Ok(config(provider, model)),
        None => {
            let model = model.unwrap_or_default().trim();
            let message = format!(
                "provider `{}` has no model `{model}`; there is {}",
                provider.trim(),
                names()
            );
            Err(error(ModelErrorCode::ModelNotFound, message))
        }
    }
}

/// The model named `PROVIDER` or `PROVIDER:MODEL`.
///
/// # Errors
/// As [`parse`].
pub fn open(name: &str) -> Result<Arc<dyn Model>, ModelError> {
    parse(name).map(|config| Arc::new(EmbeddedModel::new(config)) as Arc<dyn Model>)
}

fn names() -> String {
    let names: Vec<_> = MODELS
        .iter()
        .map(|(provider, model)| format!("`{provider}:{model}`"))
        .collect();
    names.join(", ")
}

fn config(provider: &str, model: &str) -> RuntimeProviderConfig {
    RuntimeProviderConfig {
        provider_name: provider.to_owned(),
        model_id: model.to_owned(),
    }
}

fn error(code: ModelErrorCode, message: String) -> ModelError {
    ModelError {
        code,
        message,
        retry_after_ms: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_alone_means_its_default_model() {
        assert_eq!(parse("embedded").unwrap(), parse("embedded:lexical").unwrap());
    }

    #[test]
    fn an_unknown_provider_is_refused_with_what_exists() {
        let error = parse("openai:gpt").unwrap_err();
        assert_eq!(error.code, ModelErrorCode::ProviderNotSupported);
        assert_eq!(
            error.message,
            "model provider `openai` is not supported; there is `embedded:lexical`"
        );
    }

    #[test]
    fn an_unknown_model_is_refused_with_what_exists() {
        let error = open("embedded:huge").unwrap_err();
        assert_eq!(error.code, ModelErrorCode::ModelNotFound);
        assert_eq!(
            error.message,
            "provider `embedded` has no model `huge`; there is `embedded:lexical`"
        );
    }
}
