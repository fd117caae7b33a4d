//! Capabilities of the models of a provider (C43), from the settings and from refused requests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use art_core::provider::ModelCapability;

use crate::catalog::ProviderDefaults;
use crate::settings::{ModelAbilities, ProviderSettings};

/// The capabilities of the models of a provider.
#[derive(Debug)]
pub(crate) struct Abilities {
    tools: bool,
    vision: bool,
    stream: bool,
    models: BTreeMap<String, ModelAbilities>,
    /// Models that refused function calls since the process started.
    refused_tools: Mutex<BTreeSet<String>>,
}

impl Abilities {
    pub(super) fn new(defaults: &ProviderDefaults, settings: &ProviderSettings) -> Self {
        Self {
            tools: settings.tools.unwrap_or(true),
            vision: settings.vision.unwrap_or(defaults.vision),
            stream: settings.stream.unwrap_or(true),
            models: settings.models.clone(),
            refused_tools: Mutex::default(),
        }
    }

    /// Returns the capabilities of a model. All models are assumed to support code and reasoning.
    pub(crate) fn for_model(&self, model_id: &str) -> Vec<ModelCapability> {
        let model = self.models.get(model_id).copied().unwrap_or_default();
        let refused = self.refused_tools.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = model.tools.unwrap_or(self.tools) && !refused.contains(model_id);
        let mut capabilities = vec![ModelCapability::Text];
        if self.stream {
            capabilities.push(ModelCapability::Streaming);
        }
        if tools {
            capabilities.push(ModelCapability::ToolUse);
        }
        capabilities.extend([ModelCapability::Code, ModelCapability::Reasoning]);
        if model.vision.unwrap_or(self.vision) {
            capabilities.push(ModelCapability::Vision);
        }
        capabilities
    }

    /// Records that the provider refused function calls for the model, so that later requests contain none.
    pub(crate) fn record_tools_refused(&self, model_id: &str) {
        let mut refused = self.refused_tools.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert(model_id.to_owned());
    }
}
