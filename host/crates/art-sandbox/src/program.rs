//! The program of a component, loaded when a call first needs it: most tools of a folder are never called while a host runs.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use art_core::error::in_one_line;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::oneshot;

use crate::error::LoadError;
use crate::inspect::take_apart;
use crate::linked::Linked;
use crate::schema_text::SchemaText;

/// Reads the bytes of a component again. They are not kept in memory, since a component that was compiled needs them no more.
pub type ComponentSource = Arc<dyn Fn() -> io::Result<Vec<u8>> + Send + Sync>;

/// The loading of a program, for all calls that wait for it.
pub(crate) type Loading = Shared<BoxFuture<'static, Result<(), Arc<str>>>>;

/// What loading a program gives.
type LoadResult = Result<LoadedProgram, LoadError>;

/// A program that can be run.
pub(crate) struct LoadedProgram {
    pub(crate) linked: Linked,
    /// Its answer to `schema()`.
    pub(crate) answer: SchemaText,
}

/// The program of all components with the same code, whatever schema the files claim to have.
pub(crate) struct Program {
    digest: blake3::Hash,
    source: ComponentSource,
    loaded: OnceLock<LoadedProgram>,
    loading: Mutex<Option<Loading>>,
}

impl Program {
    pub(crate) fn new(digest: blake3::Hash, source: ComponentSource) -> Self {
        Self {
            digest,
            source,
            loaded: OnceLock::new(),
            loading: Mutex::new(None),
        }
    }

    /// Returns the digest of the code.
    pub(crate) const fn digest(&self) -> &blake3::Hash {
        &self.digest
    }

    /// Returns the program, if it was loaded before.
    pub(crate) fn loaded(&self) -> Option<&LoadedProgram> {
        self.loaded.get()
    }

    /// Keeps a program that was loaded already.
    pub(crate) fn keep(&self, loaded: LoadedProgram) {
        // Another caller may have been first; one is as good as the other.
        drop(self.loaded.set(loaded));
    }

    /// Loads the program with `load` on a thread of its own, since it may have to be compiled. Calls that come meanwhile wait
    /// for the same loading. After a failure the next call tries again.
    pub(crate) fn load(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> Loading {
        let mut loading = self.loading();
        loading.get_or_insert_with(|| self.start(load)).clone()
    }

    fn start(self: &Arc<Self>, load: impl FnOnce(&Self) -> LoadResult + Send + 'static) -> Loading {
        let (sender, receiver) = oneshot::channel();
        let program = Arc::clone(self);
        // Events of that thread belong to the span of the call that began the loading.
        let span = tracing::Span::current();
        let work = move || {
            let _span = span.entered();
            let ended = program.finish(load(&program));
            // The receiver is gone when no call waits any more.
            drop(sender.send(ended));
        };
        let spawned = thread::Builder::new().name("art-load".to_owned()).spawn(work);
        let not_started = spawned.err().map(|error| Arc::from(error.to_string()));
        let ended = async move {
            match not_started {
                Some(reason) => Err(reason),
                None => receiver
                    .await
                    .unwrap_or_else(|_| Err("the host panicked while it was loaded".into())),
            }
        };
        ended.boxed().shared()
    }

    fn finish(&self, loaded: LoadResult) -> Result<(), Arc<str>> {
        let ended = loaded.map(|loaded| self.keep(loaded));
        if ended.is_err() {
            *self.loading() = None;
        }
        ended.map_err(|error| in_one_line(&error).into())
    }

    /// Reads the code again.
    ///
    /// # Errors
    /// [`LoadError::Replaced`] when the file has other code by now.
    pub(crate) fn code(&self) -> Result<Vec<u8>, LoadError> {
        let wasm = (self.source)().map_err(LoadError::Source)?;
        let code = take_apart(&wasm)?.1.code;
        if blake3::hash(code) == self.digest {
            Ok(code.to_vec())
        } else {
            Err(LoadError::Replaced)
        }
    }

    fn loading(&self) -> MutexGuard<'_, Option<Loading>> {
        self.loading.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
