//! The program of a component: its compiled and linked code. It is loaded when a call first needs it, since most tools of a
//! folder are never called while a host runs, and may be unloaded when no call uses it.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
/// any more once the component is compiled.
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

    /// Loads the program with `load` on a separate thread, since it may have to be compiled. If an earlier call has
    /// started to load it, returns that call's future. After a failure, the next call tries again.
    pub(crate) fn load(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> Loading {
        let mut loading = self.loading();
        if let Some(started) = &*loading {
            return started.clone();
        }
        match self.start(load) {
            Ok(started) => loading.insert(started).clone(),
            Err(error) => {
                let reason: Arc<str> = error.to_string().into();
                async { Err(reason) }.boxed().shared()
            }
        }
    }

    /// Starts a thread that loads the program with `load`, and returns the future that waits for it. Fails if the thread cannot
    /// be started.
    fn start(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> io::Result<Loading> {
        let (sender, receiver) = oneshot::channel();
        let program = Arc::clone(self);
        // The thread enters this span, so that its log events belong to the call that started it.
        let span = tracing::Span::current();
        let work = move || {
            let _span = span.entered();
            let Ok(loaded) = catch_unwind(AssertUnwindSafe(|| load(&program))) else {
                // Without a result, the receiver reports the panic. The next call tries again.
                *program.loading() = None;
                return;
            };
            let result = program.finish(loaded);
            // Sending fails if no call waits any more.
            drop(sender.send(result));
        };
        thread::Builder::new().name("art-load".to_owned()).spawn(work)?;
        let result = async {
            let received = receiver.await;
            received.unwrap_or_else(|_| Err("the host panicked while it loaded the tool".into()))
        };
        Ok(result.boxed().shared())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> Arc<Program> {
        let no_source = Arc::new(|| Err(io::ErrorKind::NotFound.into()));
        Arc::new(Program::new(blake3::hash(b""), no_source, 0))
    }

    #[tokio::test]
    async fn after_a_panic_while_a_program_is_loaded_the_next_call_tries_again() {
        let program = program();
        let panicked = program.load(|_| std::panic::panic_any("test")).await;
        assert_eq!(
            panicked.unwrap_err().as_ref(),
            "the host panicked while it loaded the tool"
        );
        let failed = program.load(|_| Err(LoadError::Replaced)).await;
        assert_eq!(failed.unwrap_err().as_ref(), LoadError::Replaced.to_string());
    }
}
