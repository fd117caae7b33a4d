//! The composition root: creates the tools, the models, the store and the sandbox of a configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use art_core::error::ModelError;
use art_core::id;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::ParsedToolCall;
use art_lexical::{LexicalModel, Validator};
use art_model::{Model, ReasoningEngine};
use art_sandbox::{Plugin, Sandbox, SandboxConfig};
use art_store::{MemoryStore, SqliteStore, Store, StoreError};
use art_tools::admission::Root;
use art_tools::schema::CompiledSchema;
use art_tools::shape::JsonSize;
use art_tools::{
    CallScope, EnabledTools, RegisterError, SystemConfig, ToolExecutor, ToolRegistry, ToolReport, ToolSystem,
};
use serde_json::Value;

use crate::ask_person::request_user_input_tool;
use crate::config::{Config, ToolBounds};
use crate::error::{RuntimeError, in_one_line};
use crate::grants::{GrantFiles, ProtectedPaths};
use crate::plugins::{LoadedFolder, OnCompileProgress, RefusedFile, UnreadGrants, load_folder};
use crate::reload::{FolderWatch, Reload, Reloader};
use crate::secrets::{SecretStore, remove_left_behind};

/// The tools of the plugins folder and of the program that embeds the host. A toolbox needs neither a store nor a model.
#[derive(Debug)]
pub struct Toolbox {
    /// The registered tools.
    pub registry: Arc<ToolRegistry>,
    /// The components whose tools are registered. While the plugins folder is watched, they change with its files.
    plugins: Arc<RwLock<Vec<Arc<Plugin>>>>,
    /// Loads changed files of the plugins folder, if there is one.
    reloader: Option<Arc<Reloader>>,
    /// The files of the plugins folder that were refused.
    pub refused: Vec<RefusedFile>,
    /// The files of the plugins folder that look like grants. They are not read as such.
    pub unread: Vec<UnreadGrants>,
    /// Limits on the number of concurrent and waiting calls.
    pub bounds: ToolBounds,
}

impl Toolbox {
    /// Registers the tools in `program_tools`, then `request_user_input` if `ask_person` is set in the configuration, then the
    /// tools of the plugins folder. A bad file in the folder is not an error; it is listed in `refused`, and so is a component
    /// whose tool has a name that is already registered. `on_compile_progress` receives the progress of compiling.
    ///
    /// # Errors
    /// Fails if a tool in `program_tools` is refused, the sandbox cannot start, or the plugins folder cannot be read.
    pub fn load(
        config: &Config,
        program_tools: Vec<Arc<dyn ToolExecutor>>,
        on_compile_progress: OnCompileProgress<'_>,
    ) -> Result<Self, RuntimeError> {
        let registry = Arc::new(ToolRegistry::new());
        program_tools.into_iter().try_for_each(|tool| registry.register(tool))?;
        if config.ask_person.value {
            registry.register(Arc::new(request_user_input_tool()))?;
        }
        let plugins: Arc<RwLock<Vec<Arc<Plugin>>>> = Arc::default();
        let mut toolbox = Self {
            registry,
            plugins,
            reloader: None,
            refused: Vec::new(),
            unread: Vec::new(),
            bounds: config.tools.value.bounds,
        };
        if let Some(folder) = non_empty(&config.plugins.value) {
            toolbox.register_folder_tools(config, folder, on_compile_progress)?;
        }
        Ok(toolbox)
    }

    /// Registers the tools of the plugins folder.
    fn register_folder_tools(
        &mut self,
        config: &Config,
        folder: &Path,
        on_compile_progress: OnCompileProgress<'_>,
    ) -> Result<(), RuntimeError> {
        let (sandbox, grants) = (open_sandbox(config)?, GrantFiles::new(config));
        let stamps = grants.stamps();
        let loaded = load_folder(&sandbox, folder, on_compile_progress).map_err(|source| RuntimeError::Plugins {
            path: folder.to_owned(),
            source,
        })?;
        let LoadedFolder {
            plugins,
            mut refused,
            unread,
        } = grants.apply_to_all(loaded);
        let plugins = register(&self.registry, plugins, &mut refused);
        *self.plugins.write().unwrap_or_else(PoisonError::into_inner) = plugins;
        (self.refused, self.unread) = (refused, unread);
        let (registry, plugins) = (Arc::clone(&self.registry), Arc::clone(&self.plugins));
        self.reloader = Some(Arc::new(Reloader::new(
            sandbox,
            folder,
            (grants, stamps),
            registry,
            plugins,
        )));
        Ok(())
    }

    /// Returns the components whose tools are registered, in the order of their file names.
    #[must_use]
    pub fn plugins(&self) -> Vec<Arc<Plugin>> {
        self.plugins.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the tools the grants that the operator has made or taken back since they got theirs. Each call of a run does this
    /// first.
    pub fn refresh_grants(&self) {
        if let Some(reloader) = &self.reloader {
            reloader.refresh_grants();
        }
    }

    /// Returns how often each tool was replaced: see [`Reloader::changes`].
    pub(crate) fn changes(&self) -> BTreeMap<String, u64> {
        self.reloader
            .as_ref()
            .map(|reloader| reloader.changes())
            .unwrap_or_default()
    }

    /// Returns the reloader of the plugins folder, or `None` if there is no folder.
    #[must_use]
    pub fn reloader(&self) -> Option<&Arc<Reloader>> {
        self.reloader.as_ref()
    }

    /// Replaces tools whenever files of the plugins folder change, until the returned watch is dropped. `on_reload` is called on
    /// another thread with the name of each component that has changed. Returns `None` if there is no folder.
    ///
    /// # Errors
    /// Fails if the folder does not exist or cannot be watched.
    pub fn watch(
        &self,
        on_reload: impl Fn(&str, &Reload) + Send + 'static,
    ) -> Result<Option<FolderWatch>, RuntimeError> {
        let Some(reloader) = &self.reloader else {
            return Ok(None);
        };
        let watch = FolderWatch::start(Arc::clone(reloader), on_reload).map_err(RuntimeError::Watch)?;
        Ok(Some(watch))
    }

    /// Creates a toolbox with the tool of `plugin` only.
    ///
    /// # Errors
    /// Fails if the tool is refused.
    pub fn with_plugin(plugin: &Arc<Plugin>) -> Result<Self, RegisterError> {
        let registry = Arc::new(ToolRegistry::new());
        registry.register(Arc::clone(plugin) as Arc<dyn ToolExecutor>)?;
        Ok(Self {
            registry,
            plugins: Arc::new(RwLock::new(vec![Arc::clone(plugin)])),
            reloader: None,
            refused: Vec::new(),
            unread: Vec::new(),
            bounds: ToolBounds::default(),
        })
    }

    /// Calls a tool outside a conversation, with all checks, so that the author of the tool can try it. Stores nothing about the
    /// call. To record a call, use [`Runtime::call_tool`](crate::Runtime::call_tool).
    pub async fn call(&self, name: &str, arguments: Value) -> ToolReport {
        self.refresh_grants();
        let call = ParsedToolCall {
            call_id: id::call_id(),
            tool_name: name.to_owned(),
            arguments,
        };
        let scope = CallScope {
            thread_id: id::time_ordered(),
            trace_id: id::time_ordered(),
            enabled_tools: EnabledTools::named([name.to_owned()]),
            ..CallScope::default()
        };
        self.system().call(call, &scope).await
    }

    /// Creates a tool system, which checks and runs calls of the tools in the registry.
    #[must_use]
    pub fn system(&self) -> ToolSystem {
        let config = SystemConfig {
            max_parallel: self.bounds.max_parallel,
            max_queue: self.bounds.max_queue,
            ..SystemConfig::default()
        };
        ToolSystem::new(Arc::clone(&self.registry), config)
    }

    /// Returns the names of all tools.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        let schemas = self.registry.list().into_iter();
        schemas.map(|schema| schema.name).collect()
    }
}

/// Creates the embedded model: the lexical model, which learns from the examples of the tools and runs in this process. It checks
/// arguments as the tool system does.
#[must_use]
pub fn embedded_model() -> LexicalModel {
    LexicalModel::new(|schema| {
        let schema = CompiledSchema::new(schema, Root::Object).ok()?;
        Some(Box::new(InputSchema(schema)))
    })
}

/// The input schema of a tool, for the embedded model.
#[derive(Debug)]
struct InputSchema(CompiledSchema);

impl Validator for InputSchema {
    fn is_valid(&self, arguments: &Value) -> bool {
        let size = JsonSize::of_payload(arguments);
        size.is_ok_and(|size| self.0.check(arguments, &size, "input").is_ok())
    }
}

/// Creates the reasoning engine, which calls the models of the configuration. Reads API keys, but sends no request.
///
/// # Errors
/// Fails if the settings of a provider are invalid.
pub fn open_engine(config: &Config) -> Result<ReasoningEngine, RuntimeError> {
    let environment = |name: &str| std::env::var(name).ok();
    let embedded: Arc<dyn Model> = Arc::new(embedded_model());
    Ok(ReasoningEngine::with_models(
        config.models.clone(),
        environment,
        &[embedded],
    )?)
}

/// Returns the configuration of the model `name`, which has the form `PROVIDER` or `PROVIDER:MODEL`.
///
/// # Errors
/// Fails if there is no such model or if it is not set up.
pub fn resolve_model(engine: &ReasoningEngine, name: &str) -> Result<RuntimeProviderConfig, ModelError> {
    let model = engine.resolve(name)?;
    match engine.describe(&model)?.problem {
        Some(problem) => Err(problem),
        None => Ok(model),
    }
}

/// Opens the store, which other processes may use at the same time. If the configuration names no database, the store is in
/// memory.
///
/// # Errors
/// Fails if the store cannot be opened.
pub fn open_store(config: &Config) -> Result<Arc<dyn Store>, RuntimeError> {
    match non_empty(&config.database.value) {
        Some(database) => Ok(Arc::new(SqliteStore::open(database)?)),
        None => Ok(in_memory_store()),
    }
}

/// Returns the path, or `None` if it is empty: an empty path in the configuration means that there is no such file or folder.
fn non_empty(path: &Path) -> Option<&Path> {
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Opens the store for reading, even while another process uses it. If there is no database yet, returns an empty store.
///
/// # Errors
/// Fails if the database cannot be opened.
pub fn open_store_read_only(config: &Config) -> Result<Arc<dyn Store>, RuntimeError> {
    match SqliteStore::open_read_only(&config.database.value) {
        Ok(store) => Ok(Arc::new(store)),
        Err(StoreError::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(in_memory_store()),
        Err(error) => Err(error.into()),
    }
}

/// Creates a store in memory, whose content is lost with the process.
#[must_use]
pub fn in_memory_store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::new())
}

/// Creates the sandbox of the configuration.
///
/// # Errors
/// Fails if a WebAssembly engine or a thread cannot be created, the cache directory is not private, or the secrets cannot be
/// opened.
pub fn open_sandbox(config: &Config) -> Result<Sandbox, RuntimeError> {
    for folder in [&config.grants, &config.standing_approvals] {
        remove_left_behind(folder);
    }
    let defaults = SandboxConfig::default();
    Ok(Sandbox::new(&SandboxConfig {
        workers: config.workers.value.unwrap_or(defaults.workers),
        pooling: config.pooling.value,
        cache: non_empty(&config.cache.value).map(Path::to_owned),
        compiler: config.compiler.clone(),
        compile_time: config.compile_time,
        staging: config.staging(),
        writes: config.writes(),
        protected: ProtectedPaths::new(config, None).into_places(),
        limits: config.tools.value.limits.clone(),
        cancel_grace: Duration::from_millis(config.tools.value.bounds.cancel_grace_ms),
        secrets: Some(Arc::new(SecretStore::open(config, std::env::vars_os())?)),
    })?)
}

/// Registers the plugins in their order. Adds those that the registry refuses to `refused`, and returns the others.
fn register(registry: &ToolRegistry, plugins: Vec<Arc<Plugin>>, refused: &mut Vec<RefusedFile>) -> Vec<Arc<Plugin>> {
    let mut registered = Vec::new();
    for plugin in plugins {
        match registry.register(Arc::clone(&plugin) as Arc<dyn ToolExecutor>) {
            Ok(_) => registered.push(plugin),
            Err(error) => {
                let reason = in_one_line(&error);
                // `refuse` stores the refusal, and later starts do not load the component. The refusal of a duplicate is not
                // stored, since the other tool with its name may be gone by then.
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
