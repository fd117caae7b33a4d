//! Errors of starting a sandbox and of loading a component.

use std::path::PathBuf;

use art_core::capability::Capability;
use art_core::limits::{LimitTooHigh, LimitsNotGranted};
use rustix::io::Errno;
use wasmtime::PoolConcurrencyLimitError;

/// A sandbox could not start.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The engine could not be created.
    #[error("failed to start the WebAssembly engine")]
    Engine(#[source] wasmtime::Error),
    /// A worker thread could not be started.
    #[error("failed to start a sandbox thread")]
    Thread(#[source] std::io::Error),
    /// The directory for compiled code cannot be used.
    #[error(transparent)]
    Cache(#[from] CacheError),
}

/// The directory for compiled code cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The directory, or a file in it, cannot be read or written.
    #[error("failed to use the cache directory `{path}`")]
    Io {
        /// The directory or a file in it.
        path: PathBuf,
        /// Cause.
        #[source]
        source: std::io::Error,
    },
    /// Another user could put native code into the cache.
    #[error("the cache `{path}` is not private: {reason} (hint: remove it, or choose another with `--home`)")]
    NotPrivate {
        /// The directory, or the key in it.
        path: PathBuf,
        /// Why it is not private.
        reason: &'static str,
    },
}

/// A component could not be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is empty.
    #[error("the file is empty")]
    Empty,
    /// The file is over the size limit.
    #[error("the file has {bytes} bytes, more than the {limit} allowed")]
    TooLarge {
        /// Size of the file, in bytes.
        bytes: u64,
        /// Maximum size.
        limit: u64,
    },
    /// The file is not a component.
    #[error(
        "not a WebAssembly component: {found} (hint: build it with `art plugin build PATH` or `--target wasm32-wasip2`)"
    )]
    NotAComponent {
        /// The kind of file that was found.
        found: &'static str,
    },
    /// The file is damaged.
    #[error("the component is damaged")]
    Damaged(#[source] wasmparser::BinaryReaderError),
    /// The component does not export the tool interface.
    #[error("does not export `{expected}`, so it is not a tool")]
    NotATool {
        /// The interface that a tool has to export.
        expected: &'static str,
    },
    /// The component was built against a version of the contract, the WIT package `art:tool`, that this host does not support.
    #[error("built against `{found}`; this host supports `{supported}` (hint: rebuild it with the SDK of this host)")]
    ContractVersion {
        /// The version that the component imports or exports.
        found: String,
        /// The version that the host supports.
        supported: &'static str,
    },
    /// The modules of the component have too many imports.
    #[error("has more than {limit} imports (hint: link its modules into one)")]
    TooManyImports {
        /// Maximum number of imports.
        limit: u64,
    },
    /// The loaded component would take too much memory of the host.
    #[error(
        "would take more than {} MiB of the host's memory (hint: remove what it does not use; imports, exports and types count)",
        limit >> 20
    )]
    FootprintTooLarge {
        /// Maximum size in memory, in bytes.
        limit: u64,
    },
    /// The component imports an interface that the host does not provide.
    #[error("imports `{import}`, which this host does not grant to any tool")]
    ImportRefused {
        /// The import.
        import: String,
    },
    /// The operator's grants cannot be used.
    #[error("its grants are invalid: {0}")]
    InvalidGrants(String),
    /// The operator grants a capability that the component can never use, because it does not import the interface or its
    /// manifest does not request the capability.
    #[error(
        "`{capability}` cannot be granted to `{tool}`: the tool does not ask for it (hint: `art grant list {tool}` shows what it \
         asks for and what it is granted)"
    )]
    UnusableGrant {
        /// The capability.
        capability: Capability,
        /// Name of the tool.
        tool: String,
    },
    /// A capability that the manifest requests refers to an argument that no call has.
    #[error(
        "`{{args.{name}}}` in its capabilities names no argument of the tool (hint: its arguments are {}; correct `capabilities(..)` \
         in `#[tool(..)]`, and build it again)",
        quoted_list(arguments)
    )]
    UnknownArgument {
        /// Name of the argument.
        name: String,
        /// Names of the arguments that the tool has.
        arguments: Vec<String>,
    },
    /// The `art:manifest` section is not valid JSON or has wrong fields.
    #[error("the `art:manifest` section is invalid")]
    InvalidManifest(#[source] serde_json::Error),
    /// The `art:manifest` section is too large.
    #[error("the `art:manifest` section has {bytes} bytes, more than the {limit} allowed")]
    ManifestTooLarge {
        /// Size of the section, in bytes.
        bytes: usize,
        /// Maximum size.
        limit: usize,
    },
    /// A component cannot be loaded on a worker thread, because that would block the calls on the thread.
    #[error("components cannot be loaded on a sandbox thread; load them on another thread")]
    OnWorkerThread,
    /// The component has more than one `art:manifest` section.
    #[error("has more than one `art:manifest` section")]
    DuplicateManifest,
    /// The manifest requests a limit above the hard maximum.
    #[error("the manifest requests a limit that is too high")]
    LimitTooHigh(#[from] LimitTooHigh),
    /// The manifest requests a limit above what the operator allows.
    #[error(transparent)]
    LimitsNotGranted(#[from] LimitsNotGranted),
    /// The component could not be compiled.
    #[error("failed to compile the component")]
    Compile(#[source] wasmtime::Error),
    /// The compiler used more processor time or memory than one component may use.
    #[error("takes more than {limit} to compile (hint: split the tool, or remove what it does not use)")]
    CompileLimit {
        /// The limit that was exceeded, such as `10 s of processor time`.
        limit: String,
    },
    /// Compiling the component was put off for a day: the processor time that a start of the host may spend on compiling was
    /// already used up, or compiling took longer than the component's share of it.
    #[error(
        "was not compiled: all tools of the folder together take longer to compile than a start of the host may take; the host \
         tries again in a day (hint: `art tool list --retry` compiles it now)"
    )]
    Postponed,
    /// The compiler exceeded the wall-clock time, in most cases because the machine is busy.
    #[error("was not compiled within {seconds} s (hint: start again when the machine is less busy)")]
    CompileTimeout {
        /// How long the host waited, in seconds.
        seconds: u64,
    },
    /// An earlier start of this host refused the same component. The text is the reason that it stored.
    #[error("{0}")]
    RefusedBefore(String),
    /// The file of a component that is already offered as a tool cannot be read again.
    #[error("failed to read its file again")]
    Unreadable(#[source] std::io::Error),
    /// The file of a component that is already offered as a tool has other content than before.
    #[error("its file was replaced after the host had started (hint: restart the host)")]
    Replaced,
    /// No memory is left to load this component: all of it is taken by components that running calls use.
    #[error("the tools that run now take all {} MiB that the host has for tools (hint: try again later)", limit >> 20)]
    NoMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The `art:schema` section is not valid JSON or has wrong fields.
    #[error("the `art:schema` section is invalid (hint: rebuild the tool)")]
    InvalidSchemaSection(#[source] serde_json::Error),
    /// The `art:schema` section is too large.
    #[error("the `art:schema` section has {bytes} bytes, more than the {limit} allowed")]
    SchemaSectionTooLarge {
        /// Size of the section, in bytes.
        bytes: usize,
        /// Maximum size.
        limit: usize,
    },
    /// The tool returned another schema than the one in its `art:schema` section.
    #[error(
        "`schema()` returned another schema than the `art:schema` section of its file has (hint: rebuild the tool)"
    )]
    SchemaMismatch,
    /// The compiler process could not be started, or the compiler crashed.
    #[error("the compiler failed")]
    CompilerProcess(#[source] std::io::Error),
    /// The types of the component's imports or exports do not match those of the host.
    #[error("failed to link the component")]
    Link(#[source] wasmtime::Error),
    /// The call of `schema()` failed, or returned something invalid.
    #[error("`schema()` {reason}")]
    SchemaCall {
        /// What happened; completes a sentence whose subject is `schema()`.
        reason: String,
    },
}

/// How long the cache keeps the refusal of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Retention {
    /// As long as the component and the build of the host stay the same.
    Always,
    /// One day, for a postponed component, so that not every start of the host tries to compile it again.
    OneDay,
    /// Not at all, because the component may be accepted the next time.
    Never,
}

impl LoadError {
    /// Returns how long the cache keeps this error of compiling or linking a component.
    pub(crate) fn retention(&self) -> Retention {
        match self {
            Self::Compile(error) | Self::Link(error) if is_transient(error) => Retention::Never,
            Self::Compile(_) | Self::Link(_) | Self::CompileLimit { .. } => Retention::Always,
            Self::Postponed => Retention::OneDay,
            _ => Retention::Never,
        }
    }
}

/// Returns whether the engine failed for lack of memory, files or instances, rather than because of the component.
pub(crate) fn is_transient(error: &wasmtime::Error) -> bool {
    error.is::<PoolConcurrencyLimitError>()
        || error
            .chain()
            .any(|cause| cause.is::<std::io::Error>() || cause.is::<Errno>())
}

/// Returns the names in quotes, or a text that says that there are none.
fn quoted_list(names: &[String]) -> String {
    match names.is_empty() {
        true => "none".to_owned(),
        false => format!("`{}`", names.join("`, `")),
    }
}
