//! The sandbox of a host: its engines, its worker threads, its cache.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use art_core::limits::LimitPolicy;

use crate::bindings::ToolPluginPre;
use crate::cache::CodeCache;
use crate::compile::CompilerProgram;
use crate::engine::{EngineMode, Shard, make_shards};
use crate::error::{LoadError, SandboxError};
use crate::linked::Linked;
use crate::program::Program;
use crate::state::CallState;
use crate::worker::Workers;

/// How a sandbox is set up.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Worker threads; each has an engine of its own. Default: one for each processor.
    pub workers: usize,
    /// Take instances from a pool where the machine allows it. Default: true.
    pub pooling: bool,
    /// Private directory for compiled code. Default: none, so everything is compiled at every start.
    pub cache: Option<PathBuf>,
    /// The program that compiles components. Default: none, so the host compiles them itself, without a limit of time.
    pub compiler: Option<CompilerProgram>,
    /// How long all processors may work for the compiler program at one start. Each component has an equal share of that
    /// processor time, and what others leave; what needs more is put off for a day. None: as long as it takes, and what was put off is tried again. Default: a minute.
    pub compile_time: Option<Duration>,
    /// What the operator lets calls use. Default: no tool gets more than [`EXECUTE`](art_core::limits::Limits::EXECUTE).
    pub limits: LimitPolicy,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        let workers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            workers,
            pooling: true,
            cache: None,
            compiler: None,
            compile_time: Some(Duration::from_secs(60)),
            limits: LimitPolicy::default(),
        }
    }
}

/// Loads components and runs their calls. Cheap to clone; the parts are shared.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

struct Inner {
    mode: EngineMode,
    shards: Vec<Shard>,
    workers: Workers,
    cache: Option<CodeCache>,
    compiler: Option<CompilerProgram>,
    compile_time: Option<Duration>,
    limits: LimitPolicy,
    /// What is in use, by the digest of its code.
    programs: Mutex<HashMap<blake3::Hash, Weak<Program>>>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox")
            .field("mode", &self.inner.mode)
            .finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Starts the worker threads and their engines.
    ///
    /// # Errors
    /// When an engine or a thread cannot be made, or the cache directory is not private.
    pub fn new(config: &SandboxConfig) -> Result<Self, SandboxError> {
        let workers = config.workers.max(1);
        let (mode, shards) = make_shards(workers, config.pooling)?;
        let cache = config.cache.as_deref().map(CodeCache::open).transpose()?;
        let workers = Workers::start(workers).map_err(SandboxError::Thread)?;
        Ok(Self {
            inner: Arc::new(Inner {
                mode,
                shards,
                workers,
                cache,
                compiler: config.compiler.clone(),
                compile_time: config.compile_time,
                limits: config.limits.clone(),
                programs: Mutex::default(),
            }),
        })
    }

    /// How instances are allocated, and why.
    #[must_use]
    pub fn mode(&self) -> &EngineMode {
        &self.inner.mode
    }

    /// Number of worker threads.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.inner.shards.len()
    }

    /// How long the compiler program may work at one start. None: as long as it takes, as a host that compiles by itself does.
    #[must_use]
    pub fn compile_time(&self) -> Option<Duration> {
        self.inner.compile_time.filter(|_| self.inner.compiler.is_some())
    }

    /// Whether what was put off is tried again at once.
    pub(crate) fn tries_again(&self) -> bool {
        self.inner.compile_time.is_none()
    }

    /// Runs `job` on worker `index`, where calls of tools then run without a change of thread. Gives none when it panicked.
    pub async fn run_on_worker<T: Send + 'static>(
        &self,
        index: usize,
        job: impl Future<Output = T> + Send + 'static,
    ) -> Option<T> {
        self.inner.workers.run(index % self.workers(), job).await
    }

    pub(crate) fn current_worker(&self) -> Option<usize> {
        self.inner.workers.current()
    }

    /// What worker `index` instantiates.
    pub(crate) fn instance<'a>(&'a self, linked: &'a Linked, index: usize) -> Option<&'a ToolPluginPre<CallState>> {
        linked.on(&self.inner.shards, index)
    }

    pub(crate) fn least_busy_worker(&self) -> usize {
        self.inner.workers.least_busy()
    }

    pub(crate) fn first_engine(&self) -> Result<&wasmtime::Engine, LoadError> {
        let no_engine = || LoadError::Compile(wasmtime::Error::msg("there is no engine"));
        self.inner
            .shards
            .first()
            .map(|shard| &shard.engine)
            .ok_or_else(no_engine)
    }

    pub(crate) fn shards(&self) -> &[Shard] {
        &self.inner.shards
    }

    pub(crate) fn workers_of_guests(&self) -> &Workers {
        &self.inner.workers
    }

    pub(crate) fn cache(&self) -> Option<&CodeCache> {
        self.inner.cache.as_ref()
    }

    pub(crate) fn compiler(&self) -> Option<&CompilerProgram> {
        self.inner.compiler.as_ref()
    }

    pub(crate) fn limits(&self) -> &LimitPolicy {
        &self.inner.limits
    }

    pub(crate) fn programs(&self) -> &Mutex<HashMap<blake3::Hash, Weak<Program>>> {
        &self.inner.programs
    }
}
