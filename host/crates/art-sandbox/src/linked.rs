//! A component that is compiled and linked, ready to be instantiated on every worker.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use wasmtime::component::Component;

use crate::bindings::ToolPluginPre;
use crate::engine::Shard;
use crate::error::LoadError;
use crate::state::CallState;
use crate::stubs::link_stubs;

/// The compiled code of a component.
pub(crate) enum CompiledCode {
    /// An authenticated file of the cache.
    Cached(File),
    /// Output of the compiler.
    InMemory(Vec<u8>),
}

impl CompiledCode {
    /// Loads the code for the engine of a worker. A cached file is mapped, so only the parts that are used are read.
    #[expect(unsafe_code, reason = "compiled code is native code; see the safety comment")]
    fn load(&self, shard: &Shard) -> wasmtime::Result<Component> {
        // SAFETY: the code was compiled by this process or by one that it started, or has a tag which proves that this
        // host stored it. A cached file is opened again through its descriptor, so it is the same file, and no file of
        // the private cache is written to after it has its final name.
        unsafe {
            match self {
                Self::InMemory(code) => Component::deserialize(&shard.engine, code),
                Self::Cached(file) => Component::deserialize_file(&shard.engine, path_of_descriptor(file))
                    // Code in a file system that is mounted without the right to execute cannot be mapped.
                    .or_else(|_| Component::deserialize(&shard.engine, read_all(file)?)),
            }
        }
    }
}

fn path_of_descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn read_all(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A component that is linked for one worker at first, and for each other worker when a call first runs there.
pub(crate) struct LinkedComponent {
    component: Component,
    /// For each worker, the component that is linked to its engine, or `None` if linking failed.
    by_worker: Vec<OnceLock<Option<ToolPluginPre<CallState>>>>,
}

impl LinkedComponent {
    /// Loads compiled code and links it for worker `index`.
    ///
    /// # Errors
    /// Fails with [`LoadError::Compile`] when the code cannot be loaded, and with [`LoadError::Link`] when it cannot be
    /// linked.
    pub(crate) fn new(shards: &[Shard], index: usize, code: &CompiledCode) -> Result<Self, LoadError> {
        let no_worker = || LoadError::Link(wasmtime::Error::msg(format!("there is no worker {index}")));
        let shard = shards.get(index).ok_or_else(no_worker)?;
        let component = code.load(shard).map_err(LoadError::Compile)?;
        let instance_pre = link(shard, &component).map_err(LoadError::Link)?;
        let mut by_worker: Vec<_> = shards.iter().map(|_| OnceLock::new()).collect();
        if let Some(slot) = by_worker.get_mut(index) {
            *slot = OnceLock::from(Some(instance_pre));
        }
        Ok(Self { component, by_worker })
    }

    /// Returns the component that is linked for worker `index`. Links it first if necessary, and returns `None` if that
    /// fails.
    pub(crate) fn instance_pre(&self, shards: &[Shard], index: usize) -> Option<&ToolPluginPre<CallState>> {
        let (slot, shard) = (self.by_worker.get(index)?, shards.get(index)?);
        let instance_pre = slot.get_or_init(|| {
            let linked = self
                .component
                .serialize()
                .and_then(|code| CompiledCode::InMemory(code).load(shard))
                .and_then(|component| link(shard, &component));
            linked
                .inspect_err(|error| tracing::error!(%error, "failed to link a loaded component"))
                .ok()
        });
        instance_pre.as_ref()
    }
}

fn link(shard: &Shard, component: &Component) -> wasmtime::Result<ToolPluginPre<CallState>> {
    let linker = link_stubs(&shard.linker, component)?;
    ToolPluginPre::new(linker.instantiate_pre(component)?)
}
