//! The sandbox of a host: its engines, its worker threads, its cache.

use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use art_core::limits::{LimitOverrides, LimitPolicy, Limits};
use tokio_util::sync::CancellationToken;

use crate::bindings::ToolPluginPre;
use crate::cache::CodeCache;
use crate::call::Session;
use crate::compile::{CompilerProgram, compile_in_host};
use crate::engine::{EngineMode, Shard, make_shards};
use crate::error::{LoadError, SandboxError};
use crate::inspect::{Inspection, inspect};
use crate::linked::{Code, Linked};
use crate::plugin::Plugin;
use crate::state::CallState;
use crate::worker::Workers;

/// Largest component that is read.
pub const MAX_COMPONENT_BYTES: u64 = 32 << 20;

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
    /// What the operator lets calls use. Default: no tool gets more than [`Limits::EXECUTE`].
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
    limits: LimitPolicy,
}

/// A component that may be compiled and linked.
struct Checked {
    inspection: Inspection,
    digest: blake3::Hash,
    /// What it asks for.
    limits: LimitOverrides,
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
                limits: config.limits.clone(),
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

    /// Checks, compiles and links a component, and asks it for its schema. `name` is that of its file, without the ending.
    ///
    /// Compiling takes a processor for a while: call it from a thread that may block, and never from a job of
    /// [`run_on_worker`](Self::run_on_worker). The schema is as the tool gave it; the registry decides whether to admit it.
    ///
    /// # Errors
    /// When the component is refused, with the reason, and on a worker thread.
    pub fn load(&self, name: &str, wasm: &[u8]) -> Result<Plugin, LoadError> {
        let checked = self.check(wasm)?;
        let code = match self.compiled(&checked.digest)? {
            Some(code) => code,
            None => self.compile(wasm, &checked.digest)?,
        };
        self.link(name, checked, &code)
    }

    /// [`load`](Self::load) for a component whose compiled code is in the cache; none when it would have to be compiled.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_compiled(&self, name: &str, wasm: &[u8]) -> Result<Option<Plugin>, LoadError> {
        let checked = self.check(wasm)?;
        let code = self.compiled(&checked.digest)?;
        code.map(|code| self.link(name, checked, &code)).transpose()
    }

    /// What can be known of a component without compiling it.
    fn check(&self, wasm: &[u8]) -> Result<Checked, LoadError> {
        if self.current_worker().is_some() {
            return Err(LoadError::OnWorker);
        }
        let bytes = wasm.len() as u64;
        if bytes > MAX_COMPONENT_BYTES {
            return Err(LoadError::TooLarge {
                bytes,
                limit: MAX_COMPONENT_BYTES,
            });
        }
        let inspection = inspect(wasm)?;
        let digest = blake3::hash(wasm);
        let limits = inspection.manifest.as_ref().map(|m| m.limits).unwrap_or_default();
        // What no operator can allow is refused before it costs anything.
        limits.apply(Limits::EXECUTE)?;
        Ok(Checked {
            inspection,
            digest,
            limits,
        })
    }

    fn link(&self, name: &str, checked: Checked, code: &Code) -> Result<Plugin, LoadError> {
        let Checked {
            inspection,
            digest,
            limits,
        } = checked;
        let home = self.least_busy_worker();
        let linked = Linked::new(&self.inner.shards, home, code)?;
        let schema = self.schema(&linked, home)?;
        // By the name under which it is offered: the manifest may name another tool, which is allowed more.
        let limits = self.inner.limits.grant(&schema.name, limits)?;
        Ok(Plugin::new(
            self.clone(),
            name,
            digest,
            inspection,
            limits,
            schema,
            linked,
        ))
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

    /// Compiled code from the cache. What took too long once is refused again.
    fn compiled(&self, digest: &blake3::Hash) -> Result<Option<Code>, LoadError> {
        let engine = self.first_engine()?;
        let Some(cache) = &self.inner.cache else {
            return Ok(None);
        };
        if let Some(file) = cache.get(engine, digest) {
            return Ok(Some(Code::Stored(file)));
        }
        match cache.refusal(engine, digest) {
            Some(limit) => Err(LoadError::CompileLimit { limit }),
            None => Ok(None),
        }
    }

    fn compile(&self, wasm: &[u8], digest: &blake3::Hash) -> Result<Code, LoadError> {
        let engine = self.first_engine()?;
        let compiled = match &self.inner.compiler {
            Some(compiler) => compiler.compile(wasm),
            None => compile_in_host(engine, wasm),
        };
        if let Some(cache) = &self.inner.cache {
            match &compiled {
                Ok(code) => cache.put(engine, digest, code),
                Err(LoadError::CompileLimit { limit }) => cache.refuse(engine, digest, limit),
                Err(_) => {}
            }
        }
        compiled.map(Code::Fresh)
    }

    fn first_engine(&self) -> Result<&wasmtime::Engine, LoadError> {
        let no_engine = || LoadError::Compile(wasmtime::Error::msg("there is no engine"));
        self.inner
            .shards
            .first()
            .map(|shard| &shard.engine)
            .ok_or_else(no_engine)
    }

    /// Runs `schema()` on the worker that the component is linked for.
    fn schema(&self, linked: &Linked, home: usize) -> Result<art_core::tool::ToolSchema, LoadError> {
        let failed = |reason: String| LoadError::Schema { reason };
        let pre = self.instance(linked, home).cloned();
        let pre = pre.ok_or_else(|| failed("could not be run".to_owned()))?;
        let job = async move {
            let session = Session::new(&pre, &Limits::SCHEMA, CancellationToken::new());
            session
                .map_err(|error| format!("could not be run: {error:#}"))?
                .schema(&pre)
                .await
        };
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        // The receiver is gone when it waited too long.
        let job = async move { drop(sender.send(job.await)) };
        let patience = 2 * Duration::from_millis(Limits::SCHEMA.timeout_ms);
        let sent = self.inner.workers.spawn(home, job);
        let ran = sent.and_then(|()| receiver.recv_timeout(patience).ok());
        ran.unwrap_or_else(|| Err("could not be run: its worker is busy or has panicked".to_owned()))
            .map_err(failed)
    }
}
