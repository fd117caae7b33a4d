//! A component, ready to be instantiated on every worker.

use std::sync::OnceLock;

use wasmtime::component::Component;

use crate::absent::link_absent;
use crate::bindings::ToolPluginPre;
use crate::engine::Shard;
use crate::error::LoadError;
use crate::state::CallState;

/// A component linked for the worker that it was loaded on, and for the others when they first run it: most tools of a
/// folder are never called in the life of a host.
pub(crate) struct Linked {
    component: Component,
    /// One for each worker; none inside when linking failed.
    instances: Vec<OnceLock<Option<ToolPluginPre<CallState>>>>,
}

impl Linked {
    /// Links compiled code for worker `home`.
    pub(crate) fn new(shards: &[Shard], home: usize, code: &[u8]) -> Result<Self, LoadError> {
        let no_worker = || LoadError::Link(wasmtime::Error::msg(format!("there is no worker {home}")));
        let shard = shards.get(home).ok_or_else(no_worker)?;
        let component = deserialize(shard, code).map_err(LoadError::Compile)?;
        let instance = link(shard, &component).map_err(LoadError::Link)?;
        let mut instances: Vec<_> = shards.iter().map(|_| OnceLock::new()).collect();
        if let Some(slot) = instances.get_mut(home) {
            *slot = OnceLock::from(Some(instance));
        }
        Ok(Self { component, instances })
    }

    /// What worker `index` instantiates.
    pub(crate) fn on(&self, shards: &[Shard], index: usize) -> Option<&ToolPluginPre<CallState>> {
        let (slot, shard) = (self.instances.get(index)?, shards.get(index)?);
        let instance = slot.get_or_init(|| {
            let linked = self
                .component
                .serialize()
                .and_then(|code| deserialize(shard, &code))
                .and_then(|component| link(shard, &component));
            linked
                .inspect_err(|error| tracing::error!(%error, "failed to link a loaded component"))
                .ok()
        });
        instance.as_ref()
    }
}

fn link(shard: &Shard, component: &Component) -> wasmtime::Result<ToolPluginPre<CallState>> {
    let linker = link_absent(&shard.linker, component)?;
    ToolPluginPre::new(linker.instantiate_pre(component)?)
}

#[expect(unsafe_code, reason = "compiled code is native code; see the safety comment")]
fn deserialize(shard: &Shard, code: &[u8]) -> wasmtime::Result<Component> {
    // SAFETY: `code` was compiled by this process, or carries a tag that proves that this host stored it.
    unsafe { Component::deserialize(&shard.engine, code) }
}
