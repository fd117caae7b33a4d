//! The runtime, which answers questions.

use std::sync::Arc;

use art_core::provider::RuntimeProviderConfig;
use art_model::{ModelInfo, ReasoningEngine};
use art_store::Store;
use art_tools::ToolSystem;

use crate::compose::{Toolbox, resolve_model};
use crate::config::Config;
use crate::error::RuntimeError;

/// Answers questions with its tools, its store and its models. Built by [`Runtime::builder`]; asked by [`Runtime::ask`].
#[derive(Debug)]
pub struct Runtime {
    /// The configuration in effect.
    pub config: Config,
    /// Store of threads, runs and observations.
    pub store: Arc<dyn Store>,
    /// The tools, with all checks of their calls.
    pub tools: Arc<ToolSystem>,
    /// Calls models by name.
    pub engine: ReasoningEngine,
    /// The model in use.
    pub model: RuntimeProviderConfig,
    /// The tools of the plugins folder and of the program.
    pub toolbox: Toolbox,
}

impl Runtime {
    /// Returns the description of the model in use.
    ///
    /// # Errors
    /// Fails if the engine does not know the model, which [`build`](crate::RuntimeBuilder::build) and
    /// [`use_model`](Self::use_model) rule out.
    pub fn model_info(&self) -> Result<ModelInfo, RuntimeError> {
        Ok(self.engine.describe(&self.model)?)
    }

    /// Changes the model to `PROVIDER[:MODEL]`.
    ///
    /// # Errors
    /// Fails if there is no such model or if it is not set up. The model is unchanged then.
    pub fn use_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        self.model = resolve_model(&self.engine, name)?;
        Ok(())
    }

    /// Shuts the models down and releases their resources. Calls that wait for a model fail.
    pub async fn close(self) {
        self.engine.shutdown().await;
    }
}
