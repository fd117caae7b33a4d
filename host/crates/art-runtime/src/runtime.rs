//! The runtime, which answers questions.

use std::sync::Arc;

use art_core::agent::ThreadConfig;
use art_core::provider::RuntimeProviderConfig;
use art_model::{ModelInfo, ReasoningEngine};
use art_store::{Owner, Store, Thread};
use art_tools::ToolSystem;

use crate::compose::{Toolbox, resolve_model};
use crate::config::Config;
use crate::drive::Question;
use crate::drive::lease::Leases;
use crate::error::RuntimeError;
use crate::journal::DeclarationCache;

/// Answers questions with its tools, its store and its models. Built by [`Runtime::builder`]; asked by [`Runtime::ask`].
#[derive(Debug)]
pub struct Runtime {
    /// The configuration in effect.
    pub config: Config,
    /// Store of threads, runs and observations.
    pub store: Arc<dyn Store>,
    /// Calls the tools of [`toolbox`](Self::toolbox), after all checks of each call.
    pub tools: Arc<ToolSystem>,
    /// Calls models by name.
    pub engine: ReasoningEngine,
    /// The model in use, unless a thread or a question names another one.
    pub model: RuntimeProviderConfig,
    /// Whether a person chose [`model`](Self::model), so that the models which threads name are not used.
    pub model_is_chosen: bool,
    /// The tools of the plugins folder and of the program.
    pub toolbox: Toolbox,
    /// Cache of the declarations of tools (name, description and schemas) in the form in which the store keeps them for journals.
    pub(crate) declarations: Arc<DeclarationCache>,
    /// The leases of the threads whose runs this runtime works on. While a thread has a lease, no other host works on its run.
    pub(crate) leases: Leases,
}

impl Runtime {
    /// Returns the description of the model in use.
    ///
    /// # Errors
    /// Fails if the engine does not know the model. [`build`](crate::RuntimeBuilder::build) and [`use_model`](Self::use_model)
    /// check this before.
    pub fn model_info(&self) -> Result<ModelInfo, RuntimeError> {
        Ok(self.engine.describe(&self.model)?)
    }

    /// Returns the description of the model that answers a question. This is the model that the question names, if it names one.
    /// Otherwise it is [`model`](Self::model) if a person chose that model, or else the model that the thread names, or
    /// [`model`](Self::model) if the thread names none.
    ///
    /// # Errors
    /// Fails with [`RuntimeError::ThreadModel`] if the model of the thread cannot be used. Also fails if the model of the
    /// question cannot be used, the person who asks has no such thread, or the store cannot be read.
    pub async fn model_for(&self, question: &Question) -> Result<ModelInfo, RuntimeError> {
        let config = match &question.thread_id {
            Some(id) => {
                let thread = self.find_thread(id, &Owner::user(question.user_id.as_deref())).await?;
                thread.config
            }
            None => ThreadConfig::default(),
        };
        let thread_id = question.thread_id.as_deref().unwrap_or_default();
        self.choose_model(question.settings.model.as_deref(), thread_id, &config)
    }

    /// Same as [`model_for`](Self::model_for), for a thread whose configuration is already loaded. `named` is the model that the
    /// question names, if any.
    pub(crate) fn choose_model(
        &self,
        named: Option<&str>,
        thread_id: &str,
        thread_config: &ThreadConfig,
    ) -> Result<ModelInfo, RuntimeError> {
        let thread_model = thread_config.provider_config.as_ref().filter(|_| !self.model_is_chosen);
        let model = match (named, thread_model) {
            (Some(name), _) => resolve_model(&self.engine, name)?,
            (None, Some(model)) => {
                let name = model.to_string();
                resolve_model(&self.engine, &name).map_err(|source| RuntimeError::ThreadModel {
                    thread_id: thread_id.to_owned(),
                    model: name,
                    source,
                })?
            }
            (None, None) => self.model.clone(),
        };
        Ok(self.engine.describe(&model)?)
    }

    /// Changes the model to `PROVIDER[:MODEL]`, also for threads that name another one.
    ///
    /// # Errors
    /// Fails if there is no such model or if it is not set up. The earlier model then stays in use.
    pub fn use_model(&mut self, name: &str) -> Result<(), RuntimeError> {
        self.model = resolve_model(&self.engine, name)?;
        self.model_is_chosen = true;
        Ok(())
    }

    /// Returns a thread of this owner.
    ///
    /// # Errors
    /// Fails with [`RuntimeError::NoThread`] if there is none, or another owner has it. Also fails if the store cannot be read.
    pub(crate) async fn find_thread(&self, thread_id: &str, owner: &Owner) -> Result<Thread, RuntimeError> {
        let thread = self.store.find_thread(thread_id, owner).await?;
        thread.ok_or_else(|| RuntimeError::NoThread {
            id: thread_id.to_owned(),
        })
    }

    /// Shuts the models down and releases their resources. Calls that wait for a model fail.
    pub async fn close(self) {
        self.engine.shutdown().await;
    }
}
