//! What answers questions.

use std::sync::Arc;

use art_core::provider::RuntimeProviderConfig;
use art_model::{ModelInfo, ReasoningEngine};
use art_store::Store;
use art_tools::ToolSystem;

use crate::compose::{Toolbox, callable};
use crate::config::Config;
use crate::error::RuntimeError;

/// Answers questions with its tools, its store and its models. [`Runtime::builder`] makes one, and [`Runtime::ask`] asks it.
#[derive(Debug)]
pub struct Runtime {
    /// The configuration in effect.
    pub config: Config,
    /// Threads, runs, observations.
    pub store: Arc<dyn Store>,
    /// The tools and their admission.
    pub tools: Arc<ToolSystem>,
    /// Calls models by name.
    pub engine: ReasoningEngine,
    /// The model that is asked.
    pub model: RuntimeProviderConfig,
    /// What the plugins folder held.
    pub toolbox: Toolbox,
}

impl Runtime {
    /// Returns what is known of the model that is asked.
    ///
    /// # Errors
    /// When the engine does not know it, which [`build`](crate::RuntimeBuilder::build) and [`use_model`](Self::use_model)
    /// rule out.
    pub fn model_info(&self) -> Result<ModelInfo, RuntimeError> {
        Ok(self.engine.describe(&self.model)?)
    }

    /// Asks another model from now on: `PROVIDER[:MODEL]`.
    ///
    /// # Errors
    /// When there is no such model or it cannot be called as things are set; the model stays then.
    pub fn use_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        self.model = callable(&self.engine, name)?;
        Ok(())
    }

    /// Ends the work with models: what they hold is given back, and whoever waits for one gets an error.
    pub async fn close(self) {
        self.engine.shutdown().await;
    }
}
