//! The composition root: the only place that names every concrete type.

use std::sync::Arc;

use art_core::id;
use art_core::observation::NewObservation;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::ParsedToolCall;
use art_model::{Model, ModelInfo, ReasoningEngine};
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_store::{MemoryStore, NewThread, SqliteStore, Store, StoreError};
use art_tools::{
    CallScope, EnabledTools, ObservationSink, RegisterError, SinkError, SystemConfig, ToolExecutor, ToolRegistry,
    ToolReport, ToolSystem,
};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::config::{Config, ToolBounds};
use crate::error::{CommandError, in_one_line};
use crate::plugins::{Loaded, OnCompiled, Refused, load_folder};
use crate::recover;

/// The tools of the plugins folder, without a store or a model.
#[derive(Debug)]
pub struct Toolbox {
    /// The tools by name.
    pub registry: Arc<ToolRegistry>,
    /// Components that became tools.
    pub plugins: Vec<Arc<Plugin>>,
    /// Files of the plugins folder that did not.
    pub refused: Vec<Refused>,
    /// How many calls there may be at a time.
    pub bounds: ToolBounds,
}

impl Toolbox {
    /// Loads the plugins folder. A bad file in it is no error: it is listed in `refused`. `told` hears of what is compiled.
    ///
    /// # Errors
    /// When the sandbox cannot start or the plugins folder cannot be read.
    pub fn load(config: &Config, told: OnCompiled<'_>) -> Result<Self, CommandError> {
        let sandbox = open_sandbox(config)?;
        let folder = &config.plugins.value;
        let Loaded { plugins, mut refused } =
            load_folder(&sandbox, folder, told).map_err(CommandError::file("read the plugins folder", folder))?;
        let registry = Arc::new(ToolRegistry::new());
        let plugins = register(&registry, plugins, &mut refused);
        Ok(Self {
            registry,
            plugins,
            refused,
            bounds: config.tools.value.bounds,
        })
    }

    /// A toolbox with one tool.
    ///
    /// # Errors
    /// When the tool is refused.
    pub fn of(plugin: &Arc<Plugin>) -> Result<Self, RegisterError> {
        let registry = Arc::new(ToolRegistry::new());
        registry.register(Arc::clone(plugin) as Arc<dyn ToolExecutor>)?;
        Ok(Self {
            registry,
            plugins: vec![Arc::clone(plugin)],
            refused: Vec::new(),
            bounds: ToolBounds::default(),
        })
    }

    /// Calls a tool outside of any conversation, through the whole pipeline. Nothing of the call is kept.
    ///
    /// # Errors
    /// When the call could not be made; a tool that fails is no error.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolReport, CommandError> {
        let call = ParsedToolCall {
            call_id: id::call_id(),
            tool_name: name.to_owned(),
            arguments,
        };
        let store = passing_store();
        let thread = NewThread {
            id: id::ordered(),
            ..NewThread::default()
        };
        let scope = CallScope {
            thread_id: store.create_thread(thread).await?.id,
            trace_id: id::ordered(),
            enabled_tools: EnabledTools::named([name.to_owned()]),
            ..CallScope::default()
        };
        let report = self.system(store).execute_batch(vec![call], &scope).await.pop();
        report.ok_or_else(|| CommandError::Failed("the call has no result".to_owned()))
    }

    /// The tools with their admission; `store` gets the observation of each call.
    #[must_use]
    pub fn system(&self, store: Arc<dyn Store>) -> ToolSystem {
        let sink = Arc::new(StoreSink(store));
        let config = SystemConfig {
            max_parallel: self.bounds.max_parallel,
            queue: self.bounds.max_queue,
            ..SystemConfig::default()
        };
        ToolSystem::new(Arc::clone(&self.registry), sink, config)
    }

    /// Names of all tools.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let schemas = self.registry.list().into_iter();
        schemas.map(|schema| schema.name).collect()
    }
}

/// A host, ready to answer: its tools, its store, its models.
#[derive(Debug)]
pub struct Host {
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

impl Host {
    /// Finds the model, opens the store, loads the plugins folder, and ends the runs that an earlier host left behind.
    /// Blocks while it loads, and `told` hears of what is compiled; asks no provider for anything.
    ///
    /// # Errors
    /// When one of them cannot be used. A bad file in the plugins folder is no error: it is listed in the toolbox.
    pub async fn open(config: Config, told: OnCompiled<'_>) -> Result<Self, CommandError> {
        let engine = open_engine(&config)?;
        let model = callable(&engine, &config.model.value)?;
        let store = open_store(&config)?;
        recover::end_leftovers(store.as_ref()).await?;
        Self::of_parts(config, store, engine, model, told)
    }

    /// Puts a host together from parts that exist; it asks that model and no other. Blocks while it loads, and `told` hears of
    /// what is compiled, as with [`open`](Self::open): the first time that can take minutes, above all in a debug build without
    /// the profile that `examples/embed` shows.
    ///
    /// # Errors
    /// When the sandbox cannot start or the plugins folder cannot be read.
    pub fn assemble(
        config: Config,
        store: Arc<dyn Store>,
        model: Arc<dyn Model>,
        told: OnCompiled<'_>,
    ) -> Result<Self, CommandError> {
        let name = model.config().clone();
        Self::of_parts(config, store, ReasoningEngine::with_model(model), name, told)
    }

    fn of_parts(
        config: Config,
        store: Arc<dyn Store>,
        engine: ReasoningEngine,
        model: RuntimeProviderConfig,
        told: OnCompiled<'_>,
    ) -> Result<Self, CommandError> {
        let toolbox = Toolbox::load(&config, told)?;
        Ok(Self {
            tools: Arc::new(toolbox.system(Arc::clone(&store))),
            config,
            store,
            engine,
            model,
            toolbox,
        })
    }

    /// What is known of the model that is asked.
    ///
    /// # Errors
    /// When the engine does not know it, which [`Host::open`] and [`Host::use_model`] rule out.
    pub fn model_info(&self) -> Result<ModelInfo, CommandError> {
        Ok(self.engine.describe(&self.model)?)
    }

    /// Asks another model from now on: `PROVIDER[:MODEL]`.
    ///
    /// # Errors
    /// When there is no such model or it cannot be called as things are set; the model stays then.
    pub fn use_model(&mut self, name: &str) -> Result<(), CommandError> {
        self.model = callable(&self.engine, name)?;
        Ok(())
    }

    /// Ends the work with models: what they hold is given back, and whoever waits for one gets an error.
    pub async fn close(self) {
        self.engine.shutdown().await;
    }
}

/// The engine that the configuration describes. Reads keys; sends nothing.
///
/// # Errors
/// When the settings of a provider cannot be meant.
pub fn open_engine(config: &Config) -> Result<ReasoningEngine, CommandError> {
    let environment = |name: &str| std::env::var(name).ok();
    Ok(ReasoningEngine::new(config.models.clone(), environment)?)
}

/// The model of that name, if it could be called as things are set.
pub(crate) fn callable(engine: &ReasoningEngine, name: &str) -> Result<RuntimeProviderConfig, CommandError> {
    let model = engine.resolve(name)?;
    match engine.describe(&model)?.problem {
        Some(problem) => Err(problem.into()),
        None => Ok(model),
    }
}

/// The store, for this process alone.
///
/// # Errors
/// When another process has it or it cannot be used.
pub fn open_store(config: &Config) -> Result<Arc<dyn Store>, CommandError> {
    Ok(Arc::new(SqliteStore::open(&config.database.value)?))
}

/// The store for reading, also beside the process that has it. Where there is none yet it is empty.
///
/// # Errors
/// When it cannot be used.
pub fn open_store_to_read(config: &Config) -> Result<Arc<dyn Store>, CommandError> {
    match SqliteStore::open_read_only(&config.database.value) {
        Ok(store) => Ok(Arc::new(store)),
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(passing_store()),
        Err(error) => Err(error.into()),
    }
}

/// A store that ends with the process.
#[must_use]
pub fn passing_store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// The sandbox that the configuration describes.
///
/// # Errors
/// When an engine or a thread cannot be made, or the cache is not private.
pub fn open_sandbox(config: &Config) -> Result<Sandbox, CommandError> {
    let defaults = SandboxConfig::default();
    Ok(Sandbox::new(&SandboxConfig {
        workers: config.workers.value.unwrap_or(defaults.workers),
        pooling: config.pooling.value,
        cache: Some(config.cache.value.clone()),
        compiler: config.compiler.clone(),
        limits: config.tools.value.limits.clone(),
    })?)
}

/// Registers in file order; what the registry refuses joins the refused files.
fn register(registry: &ToolRegistry, plugins: Vec<Arc<Plugin>>, refused: &mut Vec<Refused>) -> Vec<Arc<Plugin>> {
    let mut registered = Vec::new();
    for plugin in plugins {
        match registry.register(Arc::clone(&plugin) as Arc<dyn ToolExecutor>) {
            Ok(_) => registered.push(plugin),
            Err(error) => {
                let reason = in_one_line(&error);
                // Whether a name is taken is no matter of the tool alone.
                if !matches!(error, RegisterError::Duplicate { .. }) {
                    plugin.refuse(&reason);
                }
                let file = format!("{}.wasm", plugin.name());
                refused.push(Refused { file, reason });
            }
        }
    }
    refused.sort_by(|a, b| a.file.cmp(&b.file));
    registered
}

/// Observations of tool calls go to the store.
#[derive(Debug)]
struct StoreSink(Arc<dyn Store>);

impl ObservationSink for StoreSink {
    fn record<'a>(&'a self, observation: NewObservation) -> BoxFuture<'a, Result<(), SinkError>> {
        async move { self.0.record(observation).await.map(drop).map_err(SinkError::new) }.boxed()
    }
}
