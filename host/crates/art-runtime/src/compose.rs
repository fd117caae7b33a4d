//! The composition root: the only place that names every concrete type.

use std::path::Path;
use std::sync::Arc;

use art_core::id;
use art_core::observation::NewObservation;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::ParsedToolCall;
use art_lexical::LexicalModel;
use art_model::{Model, ReasoningEngine};
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
use crate::error::{RuntimeError, in_one_line};
use crate::plugins::{Loaded, OnCompiled, RefusedFile, load_folder};

/// The tools of the plugins folder, without a store or a model.
#[derive(Debug)]
pub struct Toolbox {
    /// The tools by name.
    pub registry: Arc<ToolRegistry>,
    /// Components that became tools.
    pub plugins: Vec<Arc<Plugin>>,
    /// Files of the plugins folder that did not.
    pub refused: Vec<RefusedFile>,
    /// How many calls there may be at a time.
    pub bounds: ToolBounds,
}

impl Toolbox {
    /// Registers `own` tools and then those of the plugins folder. A bad file in it is no error: it is listed in `refused`,
    /// and so is one whose tool has a name that is taken. `on_compiled` hears of what is compiled.
    ///
    /// # Errors
    /// When a tool of `own` is refused, the sandbox cannot start or the plugins folder cannot be read.
    pub fn load(
        config: &Config,
        own: Vec<Arc<dyn ToolExecutor>>,
        on_compiled: OnCompiled<'_>,
    ) -> Result<Self, RuntimeError> {
        let registry = Arc::new(ToolRegistry::new());
        own.into_iter().try_for_each(|tool| registry.register(tool))?;
        let Loaded { plugins, mut refused } = match named(&config.plugins.value) {
            Some(folder) => load_plugins(config, folder, on_compiled)?,
            None => Loaded::default(),
        };
        let plugins = register(&registry, plugins, &mut refused);
        Ok(Self {
            registry,
            plugins,
            refused,
            bounds: config.tools.value.bounds,
        })
    }

    /// Creates a toolbox with one tool.
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
    pub async fn call(&self, name: &str, arguments: Value) -> Result<ToolReport, RuntimeError> {
        let call = ParsedToolCall {
            call_id: id::call_id(),
            tool_name: name.to_owned(),
            arguments,
        };
        let store = in_memory_store();
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
        report.ok_or_else(|| RuntimeError::internal("the call has no result"))
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

/// The engine that the configuration describes. Reads keys; sends nothing.
///
/// # Errors
/// When the settings of a provider cannot be meant.
pub fn open_engine(config: &Config) -> Result<ReasoningEngine, RuntimeError> {
    let environment = |name: &str| std::env::var(name).ok();
    let embedded: Arc<dyn Model> = Arc::new(LexicalModel::new());
    Ok(ReasoningEngine::with_models(
        config.models.clone(),
        environment,
        &[embedded],
    )?)
}

/// The model of that name, if it could be called as things are set.
///
/// # Errors
/// When there is no such model, or it cannot be called.
pub fn callable(engine: &ReasoningEngine, name: &str) -> Result<RuntimeProviderConfig, RuntimeError> {
    let model = engine.resolve(name)?;
    match engine.describe(&model)?.problem {
        Some(problem) => Err(problem.into()),
        None => Ok(model),
    }
}

/// Opens the store, for this process alone; without a database it is in memory.
///
/// # Errors
/// When another process has it or it cannot be used.
pub fn open_store(config: &Config) -> Result<Arc<dyn Store>, RuntimeError> {
    match named(&config.database.value) {
        Some(database) => Ok(Arc::new(SqliteStore::open(database)?)),
        None => Ok(in_memory_store()),
    }
}

/// Returns `None` for an empty path: see [`Config::default`].
fn named(path: &Path) -> Option<&Path> {
    (!path.as_os_str().is_empty()).then_some(path)
}

/// The store for reading, also beside the process that has it. Where there is none yet it is empty.
///
/// # Errors
/// When it cannot be used.
pub fn open_store_to_read(config: &Config) -> Result<Arc<dyn Store>, RuntimeError> {
    match SqliteStore::open_read_only(&config.database.value) {
        Ok(store) => Ok(Arc::new(store)),
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(in_memory_store()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a store that ends with the process.
#[must_use]
pub fn in_memory_store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// The sandbox that the configuration describes.
///
/// # Errors
/// When an engine or a thread cannot be made, or the cache is not private.
pub fn open_sandbox(config: &Config) -> Result<Sandbox, RuntimeError> {
    let defaults = SandboxConfig::default();
    Ok(Sandbox::new(&SandboxConfig {
        workers: config.workers.value.unwrap_or(defaults.workers),
        pooling: config.pooling.value,
        cache: named(&config.cache.value).map(Path::to_owned),
        compiler: config.compiler.clone(),
        compile_time: config.compile_time,
        limits: config.tools.value.limits.clone(),
    })?)
}

fn load_plugins(config: &Config, folder: &Path, on_compiled: OnCompiled<'_>) -> Result<Loaded, RuntimeError> {
    let sandbox = open_sandbox(config)?;
    load_folder(&sandbox, folder, on_compiled).map_err(|source| RuntimeError::Plugins {
        path: folder.to_owned(),
        source,
    })
}

/// Registers in file order; what the registry refuses joins the refused files.
fn register(registry: &ToolRegistry, plugins: Vec<Arc<Plugin>>, refused: &mut Vec<RefusedFile>) -> Vec<Arc<Plugin>> {
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
                refused.push(RefusedFile { file, reason });
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
