//! The capabilities of the models of a provider, as far as the settings and refused requests tell. A request that needs a
//! capability is not sent to a model that lacks it (contract C43).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use art_core::provider::ModelCapability;

use crate::catalog::ProviderDefaults;
use crate::settings::{CapabilityOverrides, ProviderSettings};

/// The capabilities of all models of one provider.
#[derive(Debug)]
pub(crate) struct ModelCapabilities {
    /// Whether the models support function calls, unless `overrides` or `models_refusing_tools` say otherwise.
    tools: bool,
    /// Whether the models can read pictures, unless `overrides` says otherwise.
    vision: bool,
    /// Whether the models stream their replies.
    stream: bool,
    /// Settings of single models, by the name of the model.
    overrides: BTreeMap<String, CapabilityOverrides>,
    /// Names of the models for which the provider has refused a request because of its tools, since the process started.
    models_refusing_tools: Mutex<BTreeSet<String>>,
}

impl ModelCapabilities {
    pub(super) fn new(defaults: &ProviderDefaults, settings: &ProviderSettings) -> Self {
        Self {
            tools: settings.tools.unwrap_or(true),
            vision: settings.vision.unwrap_or(defaults.vision),
            stream: settings.stream.unwrap_or(true),
            overrides: settings.models.clone(),
            models_refusing_tools: Mutex::default(),
        }
    }

    /// Returns the capabilities of a model. All models are assumed to support code and reasoning.
    pub(crate) fn for_model(&self, model_id: &str) -> Vec<ModelCapability> {
        let overrides = self.overrides.get(model_id).copied().unwrap_or_default();
        let refusing = self
            .models_refusing_tools
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let tools = overrides.tools.unwrap_or(self.tools) && !refusing.contains(model_id);
        let mut capabilities = vec![ModelCapability::Text];
        if self.stream {
            capabilities.push(ModelCapability::Streaming);
        }
        if tools {
            capabilities.push(ModelCapability::ToolUse);
        }
        capabilities.extend([ModelCapability::Code, ModelCapability::Reasoning]);
        if overrides.vision.unwrap_or(self.vision) {
            capabilities.push(ModelCapability::Vision);
        }
        capabilities
    }

    /// Records that the provider refused a request to the model because of its tools, so that later requests offer no tools as
    /// function calls.
    pub(crate) fn record_tools_refused(&self, model_id: &str) {
        let mut refusing = self
            .models_refusing_tools
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        refusing.insert(model_id.to_owned());
    }
}
