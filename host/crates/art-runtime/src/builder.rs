//! Builds a [`Runtime`].

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use art_core::capability::ToolPolicy;
use art_core::provider::RuntimeProviderConfig;
use art_model::{Model, ReasoningEngine};
use art_store::Store;
use art_tools::ToolExecutor;

use crate::compose::{Toolbox, embedded_model, open_engine, open_store, resolve_model};
use crate::config::{Config, Overrides};
use crate::drive::lease::Leases;
use crate::error::RuntimeError;
use crate::instance::StateSaving;
use crate::plugins::CompileProgress;
use crate::runtime::Runtime;

/// Callback of [`RuntimeBuilder::on_compile_progress`].
type CompileCallback<'a> = Box<dyn Fn(CompileProgress<'_>) + Send + Sync + 'a>;

/// Builds a [`Runtime`] for the program that embeds the host. By default the runtime has no tools, keeps its data in memory, and
/// uses the embedded model, which needs no network and no key.
#[must_use = "a builder does nothing until it builds"]
#[derive(Default)]
pub struct RuntimeBuilder<'a> {
    config: Option<Config>,
    overrides: Overrides,
    /// A model that the program implements itself. The name of a configured model is in `overrides.model` instead.
    own_model: Option<Arc<dyn Model>>,
    /// Whether a person chose the model, so that it takes precedence over the model that a thread names.
    model_is_chosen: bool,
    saving: StateSaving,
    store: Option<Arc<dyn Store>>,
    tools: Vec<Arc<dyn ToolExecutor>>,
    grants: BTreeMap<String, ToolPolicy>,
    on_compile_progress: Option<CompileCallback<'a>>,
}

impl Runtime {
    /// Creates a builder with the defaults.
    pub fn builder<'a>() -> RuntimeBuilder<'a> {
        RuntimeBuilder::default()
    }
}

impl<'a> RuntimeBuilder<'a> {
    /// Sets the home folder: `art.toml` and the grants of tools are read from it if they exist, and the database and compiled code
    /// are written to it. The plugins folder, if it is not set, is then `home/plugins`. Several processes may use one home.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.overrides.home = Some(home.into());
        self
    }

    /// Grants a tool of the plugins folder what `policy` has, in place of what the home has for it. Without this and without a
    /// home, nothing is granted to any tool. If the policy does not name the digest of a component, it applies to whatever
    /// component the tool has.
    pub fn grant(mut self, tool: impl Into<String>, policy: ToolPolicy) -> Self {
        self.grants.insert(tool.into(), policy);
        self
    }

    /// Sets the folder from which components are loaded.
    pub fn plugins(mut self, folder: impl Into<PathBuf>) -> Self {
        self.overrides.plugins = Some(folder.into());
        self
    }

    /// Sets the model, `PROVIDER[:MODEL]`. Its key is read from the usual environment variable of the provider, unless
    /// `art.toml` names another source.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.overrides.model = Some(name.into());
        self
    }

    /// Sets whether a person chose the model of the runtime. If so, it is used even in threads that name another model.
    pub fn model_is_chosen(mut self, chosen: bool) -> Self {
        self.model_is_chosen = chosen;
        self
    }

    /// Sets a model that the program implements itself. No other model is used then.
    pub fn own_model(mut self, model: Arc<dyn Model>) -> Self {
        self.own_model = Some(model);
        self
    }

    /// Ignores the configured model and uses the embedded one, so that the configured one need not be usable. This is for
    /// a program that asks no questions and only calls tools: see [`Runtime::call_tool`].
    pub fn without_model(self) -> Self {
        self.own_model(Arc::new(embedded_model()))
    }

    /// Sets the store of threads and runs.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets when an [`ArtInstance`](crate::ArtInstance) saves states that the program has changed.
    pub fn state_saving(mut self, saving: StateSaving) -> Self {
        self.saving = saving;
        self
    }

    pub(crate) const fn saving(&self) -> StateSaving {
        self.saving
    }

    /// Adds a tool that the program implements itself, such as a [`DirectTool`](art_tools::DirectTool). It takes
    /// precedence over a component whose tool has the same name.
    pub fn tool(mut self, tool: impl ToolExecutor + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Sets a callback for the progress of compiling components. The first start with a component takes seconds, or
    /// minutes in a debug build without the profile of `examples/embed/README.md`.
    pub fn on_compile_progress(mut self, callback: impl Fn(CompileProgress<'_>) + Send + Sync + 'a) -> Self {
        self.on_compile_progress = Some(Box::new(callback));
        self
    }

    /// Sets the whole configuration, in place of [`home`](Self::home), [`plugins`](Self::plugins) and
    /// [`model`](Self::model).
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Builds the runtime: selects the model, loads the tools, and opens the store unless [`store`](Self::store) set one. Runs
    /// that an earlier process left unfinished stay as they are: see [`Runtime::interrupted_runs`]. Sends nothing to a provider.
    /// Blocks the thread while components are compiled.
    ///
    /// # Errors
    /// Fails if the configuration, the model, the store or a tool of the program cannot be used. A bad file in the plugins folder
    /// is not an error; [`Runtime::toolbox`] lists it.
    pub async fn build(self) -> Result<Runtime, RuntimeError> {
        let mut config = match self.config {
            Some(config) => config,
            None => load_config(self.overrides)?,
        };
        config.program_grants.extend(self.grants);
        let (engine, model) = engine_and_model(&config, self.own_model)?;
        let store = match self.store {
            Some(store) => store,
            None => open_store(&config)?,
        };
        let toolbox = match &self.on_compile_progress {
            Some(callback) => Toolbox::load(&config, self.tools, callback)?,
            None => Toolbox::load(&config, self.tools, &|_| {})?,
        };
        Ok(Runtime {
            tools: Arc::new(toolbox.system()),
            config,
            store,
            engine,
            model,
            model_is_chosen: self.model_is_chosen,
            toolbox,
            declarations: Arc::default(),
            leases: Leases::default(),
        })
    }
}

/// Returns the configuration of the home in `overrides`. Without a home, returns the default configuration with the plugins
/// folder and the model in `overrides`.
fn load_config(overrides: Overrides) -> Result<Config, RuntimeError> {
    if overrides.home.is_some() {
        return Ok(Config::load(&overrides, &BTreeMap::new())?);
    }
    let mut config = Config::default();
    if let Some(plugins) = overrides.plugins {
        config.plugins.value = plugins;
    }
    if let Some(model) = overrides.model {
        config.model.value = model;
    }
    Ok(config)
}

/// Returns the reasoning engine and the model in use: `own_model`, or else the model of the configuration.
fn engine_and_model(
    config: &Config,
    own_model: Option<Arc<dyn Model>>,
) -> Result<(ReasoningEngine, RuntimeProviderConfig), RuntimeError> {
    if let Some(model) = own_model {
        let model_config = model.config().clone();
        return Ok((ReasoningEngine::with_model(model), model_config));
    }
    let engine = open_engine(config)?;
    let model = resolve_model(&engine, &config.model.value)?;
    Ok((engine, model))
}

impl fmt::Debug for RuntimeBuilder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder")
            .field("config", &self.config)
            .field("overrides", &self.overrides)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use art_tools::DirectTool;
    use futures_util::FutureExt;
    use serde_json::Value;

    use super::*;
    use crate::config::DEFAULT_MODEL;
    use crate::drive::Question;

    fn tool_named(name: &str) -> DirectTool {
        DirectTool::typed(name, "Answers.", async |_: BTreeMap<String, Value>| Ok::<_, String>(42))
    }

    fn build(builder: RuntimeBuilder<'_>) -> Result<Runtime, RuntimeError> {
        builder.build().now_or_never().unwrap()
    }

    #[tokio::test]
    async fn by_default_a_runtime_uses_the_embedded_model_and_keeps_its_data_in_memory() {
        let runtime = Runtime::builder().build().await.unwrap();
        assert_eq!(runtime.config.model.value, DEFAULT_MODEL);
        assert_eq!(runtime.config.database.value, PathBuf::new(), "no database");
        assert_eq!(runtime.toolbox.names(), Vec::<String>::new());
        let answer = runtime.ask("What is 2+2?").await.unwrap();
        let thread = runtime.store.get_thread(&answer.thread_id).await.unwrap();
        assert!(thread.is_some());
    }

    #[tokio::test]
    async fn the_next_runtime_of_a_home_continues_its_threads() {
        let home = tempfile::tempdir().unwrap();
        let builder = || Runtime::builder().home(home.path()).plugins(home.path().join("none"));
        let first = builder().build().await.unwrap();
        let answer = first.ask("What is 2+2?").await.unwrap();
        drop(first);
        let second = builder().build().await.unwrap();
        let question = Question::from("And 3+3?").in_thread(&answer.thread_id);
        assert_eq!(second.ask(question).await.unwrap().thread_id, answer.thread_id);
    }

    #[tokio::test]
    async fn settings_of_the_program_take_precedence_over_those_of_the_home() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("art.toml"), "model = \"nobody\"").unwrap();
        let builder = || Runtime::builder().home(home.path());
        let refused = builder().build().await.unwrap_err();
        assert!(refused.to_string().contains("nobody"), "{refused}");
        builder().model(DEFAULT_MODEL).build().await.unwrap();
    }

    #[test]
    fn a_tool_of_the_program_is_registered_by_build() {
        let runtime = build(Runtime::builder().tool(tool_named("answer"))).unwrap();
        assert_eq!(runtime.toolbox.names(), ["answer"]);
    }

    #[test]
    fn two_tools_of_the_program_with_one_name_are_an_error() {
        let twice = Runtime::builder().tool(tool_named("answer")).tool(tool_named("answer"));
        let error = build(twice).unwrap_err();
        assert!(matches!(error, RuntimeError::Tool(_)), "{error}");
    }
}
