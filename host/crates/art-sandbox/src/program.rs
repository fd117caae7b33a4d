//! The code of a component, brought when a call first needs it: most tools of a folder are never called in the life of a host.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use art_core::error::in_one_line;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use tokio::sync::oneshot;

use crate::error::LoadError;
use crate::linked::Linked;
use crate::sandbox::Sandbox;
use crate::schema_text::SchemaText;

/// Where the bytes of a component can be read again. They are not kept: what is compiled once does not need them any more.
pub type Source = Arc<dyn Fn() -> io::Result<Vec<u8>> + Send + Sync>;

/// The end of bringing a program, for all calls that wait for it.
pub(crate) type Bringing = Shared<BoxFuture<'static, Result<(), Arc<str>>>>;

/// A program that can be run.
pub(crate) struct Brought {
    pub(crate) linked: Linked,
    /// What it answered when it was asked for its schema.
    pub(crate) answer: SchemaText,
}

/// The program of all components with the same code. What they promise is no part of it.
pub(crate) struct Program {
    digest: blake3::Hash,
    source: Source,
    brought: OnceLock<Brought>,
    bringing: Mutex<Option<Bringing>>,
}

impl Program {
    pub(crate) fn new(digest: blake3::Hash, source: Source) -> Self {
        Self {
            digest,
            source,
            brought: OnceLock::new(),
            bringing: Mutex::new(None),
        }
    }

    /// Digest of the code.
    pub(crate) const fn digest(&self) -> &blake3::Hash {
        &self.digest
    }

    pub(crate) fn brought(&self) -> Option<&Brought> {
        self.brought.get()
    }

    /// Takes what was brought by a caller who could wait for it.
    pub(crate) fn keep(&self, brought: Brought) {
        // Another caller may have been first; one is as good as the other.
        drop(self.brought.set(brought));
    }

    /// Brings the program on a thread of its own, since it may have to be compiled. Calls that come meanwhile wait for the
    /// same end. What failed is tried again by the next call.
    pub(crate) fn bring(self: &Arc<Self>, sandbox: &Sandbox) -> Bringing {
        let mut bringing = self.bringing();
        bringing.get_or_insert_with(|| self.start(sandbox.clone())).clone()
    }

    fn start(self: &Arc<Self>, sandbox: Sandbox) -> Bringing {
        let (sender, receiver) = oneshot::channel();
        let program = Arc::clone(self);
        // What is told on that thread is told of whoever asked.
        let asked = tracing::Span::current();
        let work = move || {
            let _span = asked.entered();
            let brought = program.bring_now(&sandbox);
            // Nobody may be waiting any more.
            drop(sender.send(brought));
        };
        let spawned = thread::Builder::new().name("art-bring".to_owned()).spawn(work);
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

    fn bring_now(&self, sandbox: &Sandbox) -> Result<(), Arc<str>> {
        let brought = sandbox.bring(&self.digest, None, || self.code());
        let ended = brought.map(|brought| self.keep(brought));
        if ended.is_err() {
            *self.bringing() = None;
        }
        ended.map_err(|error| in_one_line(&error).into())
    }

    /// Reads the code again. The file may have been replaced since.
    fn code(&self) -> Result<Vec<u8>, LoadError> {
        let wasm = (self.source)().map_err(LoadError::Source)?;
        let code = Sandbox::code_of(&wasm)?;
        if blake3::hash(code) == self.digest {
            Ok(code.to_vec())
        } else {
            Err(LoadError::Replaced)
        }
    }

    fn bringing(&self) -> MutexGuard<'_, Option<Bringing>> {
        self.bringing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
