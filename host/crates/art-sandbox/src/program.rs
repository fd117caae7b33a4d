//! The program of a component: its compiled and linked code. It is loaded when a call first needs it, since most tools of a
//! folder are never called while a host runs, and may be unloaded when no call uses it.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;

use art_core::error::in_one_line;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::oneshot;

use crate::error::LoadError;
use crate::inspect::inspect_and_split;
use crate::linked::LinkedComponent;
use crate::schema_text::SchemaText;

/// A function that reads the file of a component again. The host does not keep the bytes of the file, since they are not needed
/// any more when the component is compiled.
pub type ComponentSource = Arc<dyn Fn() -> io::Result<Vec<u8>> + Send + Sync>;

/// The future that loads a program. All calls that need the program wait for the same future. Its error is the reason of the
/// failure.
pub(crate) type Loading = Shared<BoxFuture<'static, Result<(), Arc<str>>>>;

type LoadResult = Result<LoadedProgram, LoadError>;

/// A loaded program, of which instances can be created.
pub(crate) struct LoadedProgram {
    pub(crate) component: LinkedComponent,
    /// The result of `schema()`.
    pub(crate) schema: SchemaText,
}

/// The program of a component. Files that differ only in their `art:schema` section share it.
pub(crate) struct Program {
    digest: blake3::Hash,
    source: ComponentSource,
    /// Upper bound of the memory that the host needs for the loaded program, in addition to its compiled code.
    bytes: u64,
    loaded: RwLock<Option<Arc<LoadedProgram>>>,
    /// The future that loads the program, which stays here after it has succeeded, until the program is unloaded.
    loading: Mutex<Option<Loading>>,
}

impl Program {
    pub(crate) fn new(digest: blake3::Hash, source: ComponentSource, bytes: u64) -> Self {
        Self {
            digest,
            source,
            bytes,
            loaded: RwLock::default(),
            loading: Mutex::new(None),
        }
    }

    /// Returns the digest of the component.
    pub(crate) const fn digest(&self) -> &blake3::Hash {
        &self.digest
    }

    /// Returns an upper bound of the memory that the host needs for the loaded program, in bytes, in addition to its compiled
    /// code.
    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the loaded program, or `None` if it is not loaded.
    pub(crate) fn loaded(&self) -> Option<Arc<LoadedProgram>> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Stores the program after it was loaded, unless it is stored already.
    pub(crate) fn set_loaded(&self, loaded: LoadedProgram) {
        let mut slot = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        // If another caller was first, its program is equivalent to this one.
        slot.get_or_insert_with(|| Arc::new(loaded));
    }

    /// Returns whether the program is loaded.
    pub(crate) fn is_loaded(&self) -> bool {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Returns whether the program is loaded or being loaded.
    pub(crate) fn is_resident(&self) -> bool {
        self.loading().is_some() || self.is_loaded()
    }

    /// Unloads the program, unless a call uses it or it is being loaded. Returns whether it was unloaded.
    pub(crate) fn unload_if_idle(&self) -> bool {
        let mut loading = self.loading();
        let mut slot = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        let is_idle = slot.as_ref().is_some_and(|loaded| Arc::strong_count(loaded) == 1);
        if is_idle {
            *slot = None;
            *loading = None;
        }
        is_idle
    }

    /// Loads the program with `load` on a separate thread, since it may have to be compiled. If it is being loaded
    /// already, returns the future that loads it. After a failure, the next call tries again.
    pub(crate) fn load(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> Loading {
        let mut loading = self.loading();
        loading.get_or_insert_with(|| self.start(load)).clone()
    }

    /// Starts a thread that loads the program with `load`, and returns the future that waits for it.
    fn start(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> Loading {
        let (sender, receiver) = oneshot::channel();
        let program = Arc::clone(self);
        // So the log events of the thread belong to the call that started it.
        let span = tracing::Span::current();
        let work = move || {
            let _span = span.entered();
            let result = program.finish(load(&program));
            // Sending fails if no call waits any more.
            drop(sender.send(result));
        };
        let spawned = thread::Builder::new().name("art-load".to_owned()).spawn(work);
        let spawn_error = spawned.err().map(|error| Arc::from(error.to_string()));
        let result = async move {
            match spawn_error {
                Some(reason) => Err(reason),
                None => receiver
                    .await
                    .unwrap_or_else(|_| Err("the host panicked while it loaded the tool".into())),
            }
        };
        result.boxed().shared()
    }

    /// Stores the program that was loaded. After a failure, lets the next call try again.
    fn finish(&self, loaded: LoadResult) -> Result<(), Arc<str>> {
        let result = loaded.map(|loaded| self.set_loaded(loaded));
        if result.is_err() {
            *self.loading() = None;
        }
        result.map_err(|error| in_one_line(&error).into())
    }

    /// Reads the component from its file again.
    ///
    /// # Errors
    /// Fails with [`LoadError::Unreadable`] when the file cannot be read, and with [`LoadError::Replaced`] when it now
    /// contains another component.
    pub(crate) fn read_component(&self) -> Result<Vec<u8>, LoadError> {
        let wasm = (self.source)().map_err(LoadError::Unreadable)?;
        let component = inspect_and_split(&wasm)?.1.component;
        if blake3::hash(component) == self.digest {
            Ok(component.to_vec())
        } else {
            Err(LoadError::Replaced)
        }
    }

    fn loading(&self) -> MutexGuard<'_, Option<Loading>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
