//! What the models of a service can do (C43), by the settings and by what the service refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use art_core::provider::ModelCapability;

use crate::catalog::Known;
use crate::settings::{ModelAbilities, ProviderSettings};

/// The capabilities of the models of a service.
#[derive(Debug)]
pub(crate) struct Abilities {
    tools: bool,
    vision: bool,
    stream: bool,
    models: BTreeMap<String, ModelAbilities>,
    /// Models that refused function calls since the process began.
    refused_tools: Mutex<BTreeSet<String>>,
}

impl Abilities {
    pub(super) fn new(known: &Known, settings: &ProviderSettings) -> Self {
        Self {
            tools: settings.tools.unwrap_or(true),
            vision: settings.vision.unwrap_or(known.vision),
            stream: settings.stream.unwrap_or(true),
            models: settings.models.clone(),
            refused_tools: Mutex::default(),
        }
    }

    /// Returns what the model can do. Code and reasoning are assumed of all models.
    pub(crate) fn of(&self, model_id: &str) -> Vec<ModelCapability> {
        use ModelCapability as Can;
        let model = self.models.get(model_id).copied().unwrap_or_default();
        let refused = self.refused_tools.lock().unwrap_or_else(PoisonError::into_inner);
        let tools = model.tools.unwrap_or(self.tools) && !refused.contains(model_id);
        let all = [
            (Can::Text, true),
            (Can::Streaming, self.stream),
            (Can::ToolUse, tools),
            (Can::Code, true),
            (Can::Reasoning, true),
            (Can::Vision, model.vision.unwrap_or(self.vision)),
        ];
        all.into_iter().filter_map(|(what, can)| can.then_some(what)).collect()
    }

    /// Records that the service refused function calls for the model, so that it is not sent any again.
    pub(crate) fn note_tools_refused(&self, model_id: &str) {
        let mut refused = self.refused_tools.lock().unwrap_or_else(PoisonError::into_inner);
        refused.insert(model_id.to_owned());
    }
}
