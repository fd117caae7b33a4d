//! The tools that a thread may call during its run.

use std::sync::Arc;

use art_agent::RunStart;
use art_store::Store;
use art_tools::EnabledLookup;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::runtime::Runtime;

/// Looks up whether a thread enables a tool. It reads the settings of the thread at each call, so that a tool which is disabled
/// during a run is refused from then on.
#[derive(Debug)]
pub(super) struct ThreadTools {
    store: Arc<dyn Store>,
    thread_id: String,
}

impl ThreadTools {
    pub(super) fn new(runtime: &Runtime, start: &RunStart) -> Self {
        Self {
            store: Arc::clone(&runtime.store),
            thread_id: start.props.thread_id.clone(),
        }
    }
}

impl EnabledLookup for ThreadTools {
    fn is_enabled<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, bool> {
        async move {
            match self.store.get_thread(&self.thread_id).await {
                Ok(thread) => thread.is_some_and(|thread| thread.config.enables(tool)),
                Err(error) => {
                    tracing::error!(thread = self.thread_id, tool, %error, "a call is refused: its thread cannot be read");
                    false
                }
            }
        }
        .boxed()
    }
}
