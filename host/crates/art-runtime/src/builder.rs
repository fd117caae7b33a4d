//! How a program says what its runtime is made of.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use art_core::provider::RuntimeProviderConfig;
use art_model::{Model, ReasoningEngine};
use art_store::Store;
use art_tools::ToolExecutor;

use crate::compose::{Toolbox, callable, open_engine, open_store};
use crate::config::{Config, Overrides};
use crate::error::RuntimeError;
use crate::plugins::Compiling;
use crate::recover;
use crate::runtime::Runtime;

/// What [`RuntimeBuilder::on_compiled`] is given.
type HearCompiling<'a> = Box<dyn Fn(CompileProgress<'_>) + Send + Sync + 'a>;

/// Builds a [`Runtime`]. Without a word it asks the embedded model, which needs no network and no key, has no tools, and
/// keeps everything in memory.
#[must_use = "a builder does nothing until it builds"]
#[derive(Default)]
pub struct RuntimeBuilder<'a> {
    config: Option<Config>,
    overrides: Overrides,
    model: Option<Arc<dyn Model>>,
    store: Option<Arc<dyn Store>>,
    tools: Vec<Arc<dyn ToolExecutor>>,
    on_compiled: Option<HearCompiling<'a>>,
}

impl Runtime {
    /// Starts to build a runtime.
    pub fn builder<'a>() -> RuntimeBuilder<'a> {
        RuntimeBuilder::default()
    }
}

impl<'a> RuntimeBuilder<'a> {
    /// Keeps everything under the folder `home`: `art.toml` is read from there, if it exists, and the database and the
    /// compiled code are written there. The plugins folder is `./plugins` where there is one, else `home/plugins`. One
    /// process at a time may have a home.
    pub fn home(mut self, home: impl Into<PathBuf>) -> Self {
        self.overrides.home = Some(home.into());
        self
    }

    /// Loads the components of this folder.
    pub fn plugins(mut self, folder: impl Into<PathBuf>) -> Self {
        self.overrides.plugins = Some(folder.into());
        self
    }

    /// Asks this model, `PROVIDER[:MODEL]`. Its key is in the usual variable of the provider, or where `art.toml` says.
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.overrides.model = Some(name.into());
        self
    }

    /// Asks a model of the program's own, and no other.
    pub fn own_model(mut self, model: Arc<dyn Model>) -> Self {
        self.model = Some(model);
        self
    }

    /// Keeps threads and runs in this store. Runs that an earlier process left in it are not ended.
    pub fn store(mut self, store: Arc<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// Adds a tool of the program's own, such as a [`DirectTool`](art_tools::DirectTool). It wins over a component whose tool
    /// has the same name.
    pub fn tool(mut self, tool: impl ToolExecutor + 'static) -> Self {
        self.tools.push(Arc::new(tool));
        self
    }

    /// Tells `hear` which components are compiled for this machine: the first start with them takes seconds, and in a debug
    /// build without the profile of `examples/embed/README.md` minutes.
    pub fn on_compiled(mut self, hear: impl Fn(CompileProgress<'_>) + Send + Sync + 'a) -> Self {
        self.on_compiled = Some(Box::new(hear));
        self
    }

    /// Takes the whole configuration, in place of [`home`](Self::home), [`plugins`](Self::plugins) and
    /// [`model`](Self::model).
    pub fn config(mut self, config: Config) -> Self {
        self.config = Some(config);
        self
    }

    /// Finds the model, opens the store, ends the runs that an earlier process left in it, and loads the tools. Asks no
    /// provider for anything. Blocks the thread while it compiles components.
    ///
    /// # Errors
    /// When one of them cannot be used. A bad file in the plugins folder is no error: it is listed in
    /// [`Runtime::toolbox`].
    pub async fn build(self) -> Result<Runtime, RuntimeError> {
        let config = match self.config {
            Some(config) => config,
            None => configured(self.overrides)?,
        };
        let (engine, model) = engine(&config, self.model)?;
        let store = match self.store {
            Some(store) => store,
            None => own_store(&config).await?,
        };
        let toolbox = match &self.on_compiled {
            Some(hear) => Toolbox::load(&config, self.tools, hear)?,
            None => Toolbox::load(&config, self.tools, &|_| {})?,
        };
        Ok(Runtime {
            tools: Arc::new(toolbox.system(Arc::clone(&store))),
            config,
            store,
            engine,
            model,
            toolbox,
        })
    }
}

/// The configuration of a home, or the default with what was said.
fn configured(overrides: Overrides) -> Result<Config, RuntimeError> {
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

fn engine(
    config: &Config,
    own: Option<Arc<dyn Model>>,
) -> Result<(ReasoningEngine, RuntimeProviderConfig), RuntimeError> {
    if let Some(model) = own {
        let name = model.config().clone();
        return Ok((ReasoningEngine::with_model(model), name));
    }
    let engine = open_engine(config)?;
    let model = callable(&engine, &config.model.value)?;
    Ok((engine, model))
}

/// The store that the configuration describes. Nobody else has it, so what is called running in it was left behind.
async fn own_store(config: &Config) -> Result<Arc<dyn Store>, RuntimeError> {
    let store = open_store(config)?;
    recover::end_leftovers(store.as_ref()).await?;
    Ok(store)
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

    fn tool(name: &str) -> DirectTool {
        DirectTool::typed(name, "Answers.", async |_: BTreeMap<String, Value>| Ok::<_, String>(42))
    }

    fn build(builder: RuntimeBuilder<'_>) -> Result<Runtime, RuntimeError> {
        builder.build().now_or_never().unwrap()
    }

    #[tokio::test]
    async fn without_a_word_a_runtime_asks_the_embedded_model_and_keeps_nothing_on_disk() {
        let runtime = Runtime::builder().build().await.unwrap();
        assert_eq!(runtime.config.model.value, DEFAULT_MODEL);
        assert_eq!(runtime.config.database.value, PathBuf::new());
        assert_eq!(runtime.toolbox.names(), Vec::<String>::new());
        let answer = runtime.ask("What is 2+2?").await.unwrap();
        let thread = runtime.store.get_thread(&answer.thread_id).await.unwrap();
        assert!(thread.is_some());
    }

    #[tokio::test]
    async fn what_was_asked_in_a_home_is_there_for_the_next_runtime() {
        let home = tempfile::tempdir().unwrap();
        let builder = || Runtime::builder().home(home.path()).plugins(home.path().join("none"));
        let first = builder().build().await.unwrap();
        let answer = first.ask("What is 2+2?").await.unwrap();
        drop(first);
        let second = builder().build().await.unwrap();
        let again = Question::from("And 3+3?").in_thread(&answer.thread_id);
        assert_eq!(second.ask(again).await.unwrap().thread_id, answer.thread_id);
    }

    #[tokio::test]
    async fn the_configuration_of_a_home_counts_and_what_the_program_says_wins() {
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join("art.toml"), "model = \"nobody\"").unwrap();
        let builder = || Runtime::builder().home(home.path());
        let refused = builder().build().await.unwrap_err();
        assert!(refused.to_string().contains("nobody"), "{refused}");
        builder().model(DEFAULT_MODEL).build().await.unwrap();
    }

    #[test]
    fn a_tool_of_the_program_is_there_from_the_start() {
        let runtime = build(Runtime::builder().tool(tool("answer"))).unwrap();
        assert_eq!(runtime.toolbox.names(), ["answer"]);
    }

    #[test]
    fn a_tool_of_the_program_that_is_refused_is_an_error() {
        let twice = Runtime::builder().tool(tool("answer")).tool(tool("answer"));
        let error = build(twice).unwrap_err();
        assert!(matches!(error, RuntimeError::Tool(_)), "{error}");
    }
}
