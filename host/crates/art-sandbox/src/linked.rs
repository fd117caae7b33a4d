//! A component, ready to be instantiated on every worker.

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

/// Compiled code.
pub(crate) enum Code {
    /// In a file of the cache that was found to be genuine.
    Stored(File),
    /// As the compiler gave it.
    Fresh(Vec<u8>),
}

impl Code {
    /// Loads the code. Stored code is mapped, so that only the used parts of it are read.
    #[expect(unsafe_code, reason = "compiled code is native code; see the safety comment")]
    fn load(&self, shard: &Shard) -> wasmtime::Result<Component> {
        // SAFETY: the code was compiled by this process or one that it started, or has a tag which proves that this
        // host stored it. A stored file is opened again by its descriptor, so it is the same file, and nothing writes
        // to a file of the private cache once it has its name.
        unsafe {
            match self {
                Self::Fresh(code) => Component::deserialize(&shard.engine, code),
                Self::Stored(file) => Component::deserialize_file(&shard.engine, by_descriptor(file))
                    // Where code may not be run from that file system, it is copied.
                    .or_else(|_| Component::deserialize(&shard.engine, all_of(file)?)),
            }
        }
    }
}

fn by_descriptor(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn all_of(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A component linked for the worker that it was loaded on, and for the others when they first run it: most tools of a
/// folder are never called in the life of a host.
pub(crate) struct Linked {
    component: Component,
    /// One for each worker; none inside when linking failed.
    instances: Vec<OnceLock<Option<ToolPluginPre<CallState>>>>,
}

impl Linked {
    /// Links compiled code for worker `home`.
    pub(crate) fn new(shards: &[Shard], home: usize, code: &Code) -> Result<Self, LoadError> {
        let no_worker = || LoadError::Link(wasmtime::Error::msg(format!("there is no worker {home}")));
        let shard = shards.get(home).ok_or_else(no_worker)?;
        let component = code.load(shard).map_err(LoadError::Compile)?;
        let instance = link(shard, &component).map_err(LoadError::Link)?;
        let mut instances: Vec<_> = shards.iter().map(|_| OnceLock::new()).collect();
        if let Some(slot) = instances.get_mut(home) {
            *slot = OnceLock::from(Some(instance));
        }
        Ok(Self { component, instances })
    }

    /// Returns what worker `index` instantiates.
    pub(crate) fn on(&self, shards: &[Shard], index: usize) -> Option<&ToolPluginPre<CallState>> {
        let (slot, shard) = (self.instances.get(index)?, shards.get(index)?);
        let instance = slot.get_or_init(|| {
            let linked = self
                .component
                .serialize()
                .and_then(|code| Code::Fresh(code).load(shard))
                .and_then(|component| link(shard, &component));
            linked
                .inspect_err(|error| tracing::error!(%error, "failed to link a loaded component"))
                .ok()
        });
        instance.as_ref()
    }
}

fn link(shard: &Shard, component: &Component) -> wasmtime::Result<ToolPluginPre<CallState>> {
    let linker = link_stubs(&shard.linker, component)?;
    ToolPluginPre::new(linker.instantiate_pre(component)?)
}
