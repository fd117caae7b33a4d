//! Why a sandbox cannot start or a component cannot be loaded.

use std::path::PathBuf;

use art_core::limits::{LimitTooHigh, LimitsNotGranted};
use rustix::io::Errno;
use wasmtime::PoolConcurrencyLimitError;

/// A sandbox could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The engine refuses its settings.
    #[error("failed to start the WebAssembly engine")]
    Engine(#[source] wasmtime::Error),
    /// A thread could not be made.
    #[error("failed to start a sandbox thread")]
    Thread(#[source] std::io::Error),
    /// The directory for compiled code cannot be trusted.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// The directory for compiled code cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// It cannot be read or written.
    #[error("failed to use the cache directory `{path}`")]
    Io {
        /// The directory or a file in it.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Somebody else could put native code there.
    #[error("the cache directory `{path}` is not private: {reason} (hint: remove it, or choose another with `--home`)")]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
}

/// A component was refused.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is over the size limit.
    #[error("the file has {bytes} bytes, more than the {limit} allowed")]
    TooLarge {
        /// Size of the file.
        bytes: u64,
        /// Largest size allowed.
        limit: u64,
    },
    /// The file is something else.
    #[error(
        "not a WebAssembly component: {found} (hint: build it with `art plugin build` or `--target wasm32-wasip2`)"
    )]
    NotAComponent {
        /// What it is instead.
        found: &'static str,
    },
    /// The file is damaged.
    #[error("the component is damaged")]
    Damaged(#[source] wasmparser::BinaryReaderError),
    /// The component does not export the tool interface.
    #[error("does not export `{expected}`, so it is not a tool")]
    NotATool {
        /// The interface a tool exports.
        expected: &'static str,
    },
    /// The component speaks a version of the contract that this host does not know.
    #[error("built against `{found}`; this host supports `{supported}` (hint: rebuild it with the SDK of this host)")]
    ContractVersion {
        /// What the component names.
        found: String,
        /// What the host has.
        supported: &'static str,
    },
    /// The modules of the component import more than any tool needs.
    #[error("has more than {limit} imports (hint: link what it is made of into one module)")]
    TooManyImports {
        /// Most imports allowed.
        limit: u64,
    },
    /// The host would have to keep too much of the component in memory.
    #[error(
        "would take more than {} MiB of the host's memory (hint: leave out what it does not need; imports, exports and types count)",
        limit >> 20
    )]
    TooHeavy {
        /// Most bytes allowed.
        limit: u64,
    },
    /// The component needs an interface that it was not granted.
    #[error("imports `{import}`, which no tool is granted by this host")]
    ImportRefused {
        /// The import.
        import: String,
    },
    /// The manifest inside the component is wrong.
    #[error("the `art:manifest` section is invalid")]
    Manifest(#[source] serde_json::Error),
    /// The manifest inside the component is too large.
    #[error("the `art:manifest` section has {bytes} bytes, more than the {limit} allowed")]
    ManifestTooLarge {
        /// Size of the section.
        bytes: usize,
        /// Largest size allowed.
        limit: usize,
    },
    /// Components are loaded from other threads than those that run them.
    #[error("components cannot be loaded on a sandbox thread; load them before the job starts")]
    OnWorker,
    /// The component carries more than one manifest.
    #[error("has more than one `art:manifest` section")]
    ManifestTwice,
    /// The manifest asks for more than the host ever gives.
    #[error("the manifest asks for too much")]
    Limits(#[from] LimitTooHigh),
    /// The tool asks for more than its operator allows.
    #[error(transparent)]
    LimitsNotGranted(#[from] LimitsNotGranted),
    /// The compiler refuses the component.
    #[error("failed to compile the component")]
    Compile(#[source] wasmtime::Error),
    /// The compiler used up what one component may cost.
    #[error("takes more than {limit} to compile (hint: split the tool, or leave out what it does not need)")]
    CompileLimit {
        /// What was used up.
        limit: String,
    },
    /// Compiling the component did not fit into the time of a start.
    #[error(
        "was not compiled: the tools of the folder take longer together than a start may compile; it is tried again in a day \
         (hint: `art tool list --retry` compiles it now)"
    )]
    PutOff,
    /// The compiler took too long on this machine.
    #[error("was not compiled within {seconds} s (hint: start again when the machine is less busy)")]
    Slow {
        /// How long the host waited.
        seconds: u64,
    },
    /// The component was refused before, by this host and for what it is.
    #[error("{0}")]
    Remembered(String),
    /// The file of the component cannot be read again.
    #[error("its file cannot be read any more")]
    Source(#[source] std::io::Error),
    /// The file of the component is another one than was loaded.
    #[error("its file was replaced after the host had started (hint: start the host again)")]
    Replaced,
    /// The promise at the end of the file is wrong.
    #[error("the `art:schema` section is invalid (hint: build the tool again)")]
    Promise(#[source] serde_json::Error),
    /// The promise at the end of the file is too large.
    #[error("the `art:schema` section has {bytes} bytes, more than the {limit} allowed")]
    PromiseTooLarge {
        /// Size of the section.
        bytes: usize,
        /// Largest size allowed.
        limit: usize,
    },
    /// The tool does not answer what its file says that it does.
    #[error("`schema()` answers something else than the `art:schema` section of its file (hint: build the tool again)")]
    PromiseBroken,
    /// The process that compiles could not be started, or the compiler broke.
    #[error("the compiler failed")]
    CompilerProcess(#[source] std::io::Error),
    /// The component does not fit the interfaces of the host.
    #[error("failed to link the component")]
    Link(#[source] wasmtime::Error),
    /// `schema()` did not give a schema.
    #[error("`schema()` {reason}")]
    Schema {
        /// What happened instead.
        reason: String,
    },
}

/// How long a refusal is remembered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// As long as the host and the component are what they are.
    Always,
    /// A start had no more time for it: a day, so that not each start has to wait for the same end.
    ForADay,
    /// The machine decided, or something else that may have passed.
    Not,
}

impl LoadError {
    /// How long it is remembered of a component that was to be compiled and linked.
    pub(crate) fn retention(&self) -> Retention {
        match self {
            Self::Compile(error) | Self::Link(error) if is_of_the_machine(error) => Retention::Not,
            Self::Compile(_) | Self::Link(_) | Self::CompileLimit { .. } => Retention::Always,
            Self::PutOff => Retention::ForADay,
            _ => Retention::Not,
        }
    }
}

/// Whether the engine failed for want of memory, files or instances, and not over the component.
pub(crate) fn is_of_the_machine(error: &wasmtime::Error) -> bool {
    error.is::<PoolConcurrencyLimitError>()
        || error
            .chain()
            .any(|cause| cause.is::<std::io::Error>() || cause.is::<Errno>())
}
