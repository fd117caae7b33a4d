//! Loads the compiled code of a component into the engines of the workers, and links the component there.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::OnceLock;

use art_core::capability::{CallGrants, LinkSet};
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::bindings::ToolPluginPre;
use crate::engine::WorkerEngine;
use crate::error::LoadError;
use crate::inspect::HOST_INTERFACE;
use crate::state::CallState;
use crate::stubs::link_stubs;

/// The compiled code of a component.
pub(crate) enum CompiledCode {
    /// A file of the cache, with a tag which proves that this host stored it.
    Cached(File),
    /// Output of the compiler.
    InMemory(Vec<u8>),
}

impl CompiledCode {
    /// Loads the code into the engine of a worker. A cached file is mapped, so only the parts that are used are read.
    #[expect(unsafe_code, reason = "compiled code is native code; see the safety comment")]
    fn load(&self, worker_engine: &WorkerEngine) -> wasmtime::Result<Component> {
        // SAFETY: the code was compiled by this process or by one that it started, or has a tag which proves that this
        // host stored it. A cached file is opened again through its descriptor, so it is the same file, and no file of
        // the private cache is written to after it has its final name.
        unsafe {
            match self {
                Self::InMemory(code) => Component::deserialize(&worker_engine.engine, code),
                Self::Cached(file) => Component::deserialize_file(&worker_engine.engine, descriptor_path(file))
                    // Code in a file system that is mounted without the right to execute cannot be mapped.
                    .or_else(|_| Component::deserialize(&worker_engine.engine, read_all(file)?)),
            }
        }
    }
}

fn descriptor_path(file: &File) -> PathBuf {
    format!("/proc/self/fd/{}", file.as_raw_fd()).into()
}

fn read_all(mut file: &File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A component that is linked once for each pair of a worker and a set of interfaces, when a call first needs the pair. For
/// one worker, the default interfaces are linked from the start.
pub(crate) struct LinkedComponent {
    /// The component in the engine of the worker for which it was first linked.
    component: Component,
    by_worker: Vec<WorkerLinks>,
    asks_whether_cancelled: bool,
}

/// The component in the engine of one worker, as far as it was loaded and linked there.
#[derive(Default)]
struct WorkerLinks {
    /// The component, or `None` if its code could not be loaded.
    component: OnceLock<Option<Component>>,
    /// For each set of interfaces, the linked component, or `None` if linking failed.
    by_set: [OnceLock<Option<ToolPluginPre<CallState>>>; LinkSet::COUNT],
}

impl LinkedComponent {
    /// Loads compiled code and links it for one worker with the interfaces that every tool has.
    ///
    /// # Errors
    /// Fails with [`LoadError::Compile`] when the code cannot be loaded, and with [`LoadError::Link`] when it cannot be
    /// linked.
    pub(crate) fn new(engines: &[WorkerEngine], worker: usize, code: &CompiledCode) -> Result<Self, LoadError> {
        let no_worker = || LoadError::Link(wasmtime::Error::msg(format!("there is no worker {worker}")));
        let worker_engine = engines.get(worker).ok_or_else(no_worker)?;
        let component = code.load(worker_engine).map_err(LoadError::Compile)?;
        let set = CallGrants::by_default().link_set();
        let instance_pre = link(worker_engine, &component, set).map_err(LoadError::Link)?;
        let mut by_worker: Vec<_> = engines.iter().map(|_| WorkerLinks::default()).collect();
        if let Some(links) = by_worker.get_mut(worker) {
            links.component = OnceLock::from(Some(component.clone()));
            if let Some(cell) = links.by_set.get_mut(set.index()) {
                *cell = OnceLock::from(Some(instance_pre));
            }
        }
        Ok(Self {
            asks_whether_cancelled: imports_cancelled(&component, &worker_engine.engine),
            component,
            by_worker,
        })
    }

    /// Returns whether the component can ask whether its call is cancelled.
    pub(crate) const fn asks_whether_cancelled(&self) -> bool {
        self.asks_whether_cancelled
    }

    /// Returns the component that is linked for a worker with the interfaces of `set`. Links it first if necessary, and
    /// returns `None` if that fails.
    pub(crate) fn instance_pre(
        &self,
        engines: &[WorkerEngine],
        worker: usize,
        set: LinkSet,
    ) -> Option<&ToolPluginPre<CallState>> {
        let (links, worker_engine) = (self.by_worker.get(worker)?, engines.get(worker)?);
        let cell = links.by_set.get(set.index())?;
        let instance_pre = cell.get_or_init(|| {
            let component = links.component.get_or_init(|| ok_or_log(self.load_for(worker_engine)));
            ok_or_log(link(worker_engine, component.as_ref()?, set))
        });
        instance_pre.as_ref()
    }

    /// Loads the component into the engine of another worker.
    fn load_for(&self, worker_engine: &WorkerEngine) -> wasmtime::Result<Component> {
        CompiledCode::InMemory(self.component.serialize()?).load(worker_engine)
    }
}

/// Returns whether a component imports the function `cancelled` of the host.
fn imports_cancelled(component: &Component, engine: &wasmtime::Engine) -> bool {
    component.component_type().imports(engine).any(|(name, item)| {
        let ComponentItem::ComponentInstance(interface) = item.ty else {
            return false;
        };
        name.starts_with(HOST_INTERFACE) && interface.exports(engine).any(|(function, _)| function == "cancelled")
    })
}

fn ok_or_log<T>(result: wasmtime::Result<T>) -> Option<T> {
    result
        .inspect_err(|error| tracing::error!(%error, "failed to load or link a component for a worker"))
        .ok()
}

/// Links a component with the interfaces of `set`, and with stubs for the other interfaces that it imports.
fn link(
    worker_engine: &WorkerEngine,
    component: &Component,
    set: LinkSet,
) -> wasmtime::Result<ToolPluginPre<CallState>> {
    let linker = link_stubs(worker_engine.linker(set)?, component, set)?;
    ToolPluginPre::new(linker.instantiate_pre(component)?)
}
