//! The sandbox of a host: the engines, the worker threads, the cache, and what else the calls of all tools share.

use std::collections::HashMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use art_core::capability::{CallGrants, LinkSet};
use art_core::limits::LimitPolicy;
use art_core::secret::Secrets;
use art_staging::Staging;

use crate::bindings::ToolPluginPre;
use crate::cache::CodeCache;
use crate::capability::fs::{ProtectedPlaces, WriteNotes};
use crate::capability::http::Network;
use crate::compile::CompilerProgram;
use crate::engine::{EngineMode, WorkerEngine, create_worker_engines};
use crate::error::{LoadError, SandboxError};
use crate::fuel_basis::fuel_basis;
use crate::linked::LinkedComponent;
use crate::program::Program;
use crate::resident::ResidentPrograms;
use crate::secrets::SecretSource;
use crate::state::CallState;
use crate::worker::Workers;

/// The configuration of a sandbox.
#[derive(Clone, Debug)]
pub struct SandboxConfig {
    /// Number of worker threads, each with its own engine. Default: one for each processor.
    pub workers: usize,
    /// Whether to allocate instances from a pool if the machine allows it. Default: true.
    pub pooling: bool,
    /// Private directory for the cache of compiled code. Default: none, so components are compiled again after every start.
    pub cache: Option<PathBuf>,
    /// The program that compiles components. Default: none, so the host compiles them in its own process, without a
    /// limit of time.
    pub compiler: Option<CompilerProgram>,
    /// Maximum time that each processor may spend on the compiler program at one start of the host. Each component gets an
    /// equal share of the time of all processors, plus what others did not use. A component that needs more is postponed for a
    /// day. `None`: there is no limit, and components that were postponed are tried again. Default: one minute.
    pub compile_time: Option<Duration>,
    /// Private folder for staged changes of files, which wait there until a person commits them. Default: none, so a tool can
    /// change nothing under a grant that stages changes.
    pub staging: Option<PathBuf>,
    /// Private folder in which is noted where calls write files, so that a start of the sandbox clears what killed processes have
    /// left. Default: none, so that is cleared when a call uses the same directory again.
    pub writes: Option<PathBuf>,
    /// Files and directories that no tool may reach, whatever is granted: a call is denied if one of its grants leads to one of
    /// them, into one, or to a directory above one. Default: none.
    pub protected: Vec<PathBuf>,
    /// The limits that the operator allows. Default: at most [`EXECUTE`](art_core::limits::Limits::EXECUTE) for every
    /// tool.
    pub limits: LimitPolicy,
    /// Time that a cancelled call still has if its component asks whether it is cancelled. Default: 250 ms.
    pub cancel_grace: Duration,
    /// The secrets that are added to requests and redacted from everything else. Default: none.
    pub secrets: Option<Arc<dyn SecretSource>>,
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
            staging: None,
            writes: None,
            protected: Vec::new(),
            limits: LimitPolicy::default(),
            cancel_grace: Duration::from_millis(250),
            secrets: None,
        }
    }
}

/// Loads components and runs their calls. Clones are cheap and share all parts.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

/// The parts of a sandbox, which its clones share.
struct Inner {
    mode: EngineMode,
    engines: Vec<WorkerEngine>,
    workers: Workers,
    cache: Option<CodeCache>,
    compiler: Option<CompilerProgram>,
    compile_time: Option<Duration>,
    limits: LimitPolicy,
    network: Arc<Network>,
    staging_path: Option<PathBuf>,
    /// The folder for staged changes, opened when it is first needed.
    staging: OnceLock<Arc<Staging>>,
    /// Where is noted in which directories calls write.
    write_notes: Option<Arc<WriteNotes>>,
    protected: Arc<ProtectedPlaces>,
    cancel_grace: Duration,
    secrets: Option<Arc<dyn SecretSource>>,
    /// The programs of the offered tools, by the digests of their components.
    programs: Mutex<HashMap<blake3::Hash, Weak<Program>>>,
    /// Those programs that are loaded or being loaded.
    resident: ResidentPrograms,
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
    /// Fails if an engine or a thread cannot be created, or if the cache directory cannot be used or is not private.
    pub fn new(config: &SandboxConfig) -> Result<Self, SandboxError> {
        let worker_count = config.workers.max(1);
        let (mode, engines) = create_worker_engines(worker_count, config.pooling)?;
        let cache = config.cache.as_deref().map(CodeCache::open).transpose()?;
        let workers = Workers::start(worker_count).map_err(SandboxError::Thread)?;
        let sandbox = Self {
            inner: Arc::new(Inner {
                mode,
                engines,
                workers,
                cache,
                compiler: config.compiler.clone(),
                compile_time: config.compile_time,
                limits: config.limits.clone(),
                network: Arc::default(),
                staging_path: config.staging.clone(),
                staging: OnceLock::new(),
                write_notes: config.writes.clone().map(|path| Arc::new(WriteNotes::new(path))),
                protected: Arc::new(ProtectedPlaces::new(config.protected.clone())),
                cancel_grace: config.cancel_grace,
                secrets: config.secrets.clone(),
                programs: Mutex::default(),
                resident: ResidentPrograms::default(),
            }),
        };
        if let Some(notes) = sandbox.write_notes() {
            notes.recover();
        }
        if config.staging.as_ref().is_some_and(|path| path.exists()) {
            // Opening the folder carries out commits of staged changes that were interrupted.
            sandbox.staging();
        }
        Ok(sandbox)
    }

    /// Returns the folder for staged changes. `None` if there is none, or if it cannot be opened now.
    pub(crate) fn staging(&self) -> Option<&Arc<Staging>> {
        if let Some(staging) = self.inner.staging.get() {
            return Some(staging);
        }
        let opened = Staging::open(self.inner.staging_path.as_deref()?);
        let opened = opened.inspect_err(|error| tracing::error!(%error, "changes of files cannot be staged"));
        let opened = Arc::new(opened.ok()?);
        Some(self.inner.staging.get_or_init(|| opened))
    }

    /// Returns where is noted in which directories calls write.
    pub(crate) fn write_notes(&self) -> Option<&Arc<WriteNotes>> {
        self.inner.write_notes.as_ref()
    }

    /// Returns the places that no tool may reach.
    pub(crate) fn protected(&self) -> &Arc<ProtectedPlaces> {
        &self.inner.protected
    }

    /// Returns how instances are allocated.
    #[must_use]
    pub fn mode(&self) -> &EngineMode {
        &self.inner.mode
    }

    /// Returns an identifier of all that decides how much fuel code uses: the version of the engine, the rewriting of modules
    /// and the prices. If it is equal for two runs of the same call, and if the guest learns the same from outside, both use
    /// the same fuel.
    #[must_use]
    pub fn fuel_basis() -> &'static str {
        fuel_basis()
    }

    /// Returns the number of worker threads.
    #[must_use]
    pub fn workers(&self) -> usize {
        self.inner.engines.len()
    }

    /// Returns the maximum time that each processor may spend on the compiler program at one start of the host. `None` if there
    /// is no limit, which is always so if the host compiles in its own process.
    #[must_use]
    pub fn compile_time(&self) -> Option<Duration> {
        self.inner.compile_time.filter(|_| self.inner.compiler.is_some())
    }

    /// Returns whether components that were postponed are tried again.
    pub(crate) fn retries_postponed(&self) -> bool {
        self.inner.compile_time.is_none()
    }

    /// Queues `job` on worker `index`, modulo the number of workers. Tools that the job calls run on the same thread. The
    /// output of the returned future is the result of the job, or `None` if the job panicked or the sandbox was dropped.
    pub fn run_on_worker<T, F>(&self, index: usize, job: F) -> impl Future<Output = Option<T>> + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        self.inner.workers.run(index % self.workers(), job)
    }

    /// Returns the index of the worker to which the current thread belongs, or `None` if it belongs to none.
    pub(crate) fn current_worker(&self) -> Option<usize> {
        self.inner.workers.current()
    }

    /// Returns the component that is linked for a worker with the interfaces of `set`, or `None` if linking failed.
    pub(crate) fn instance_pre<'a>(
        &'a self,
        component: &'a LinkedComponent,
        worker: usize,
        set: LinkSet,
    ) -> Option<&'a ToolPluginPre<CallState>> {
        component.instance_pre(&self.inner.engines, worker, set)
    }

    pub(crate) fn least_busy_worker(&self) -> usize {
        self.inner.workers.least_busy()
    }

    /// Returns the engine of the first worker. What is compiled or cached for it is valid for all engines,
    /// since they have the same configuration.
    pub(crate) fn first_engine(&self) -> Result<&wasmtime::Engine, LoadError> {
        let no_engine = || LoadError::Compile(wasmtime::Error::msg("there is no engine"));
        self.inner
            .engines
            .first()
            .map(|worker_engine| &worker_engine.engine)
            .ok_or_else(no_engine)
    }

    pub(crate) fn engines(&self) -> &[WorkerEngine] {
        &self.inner.engines
    }

    pub(crate) fn worker_threads(&self) -> &Workers {
        &self.inner.workers
    }

    /// Returns the time that a cancelled call of this component still has: none if it does not ask whether it is cancelled.
    pub(crate) fn cancel_grace(&self, component: &LinkedComponent) -> Duration {
        if component.asks_whether_cancelled() {
            self.inner.cancel_grace
        } else {
            Duration::ZERO
        }
    }

    pub(crate) fn network(&self) -> &Arc<Network> {
        &self.inner.network
    }

    /// Returns the secrets of the host for a call with these grants. Which of them are sent depends on the grants; all are
    /// redacted.
    pub(crate) fn secrets(&self, grants: &CallGrants) -> Arc<Secrets> {
        let call_uses_secrets = || grants.http.iter().any(|http_right| http_right.grant.secret.is_some());
        let source = self.inner.secrets.as_ref();
        source.map_or_else(Secrets::none, |source| source.secrets(call_uses_secrets()))
    }

    /// Notes that a component must not be loaded again because it sent, returned or logged the canary with this name.
    pub(crate) fn quarantine(&self, digest: &str, tool: &str, canary: &str) {
        tracing::error!(digest, tool, canary, "a canary was seen; the tool is in quarantine");
        if let Some(source) = &self.inner.secrets {
            source.quarantine(digest, tool, canary);
        }
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

    /// Returns an upper bound of the memory of the programs that are loaded or being loaded, in bytes and without their
    /// compiled code.
    #[must_use]
    pub fn program_memory(&self) -> u64 {
        self.inner.resident.bytes()
    }

    pub(crate) fn resident(&self) -> &ResidentPrograms {
        &self.inner.resident
    }

    pub(crate) fn programs(&self) -> &Mutex<HashMap<blake3::Hash, Weak<Program>>> {
        &self.inner.programs
    }
}
