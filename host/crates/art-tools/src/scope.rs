//! The context of a batch of calls: their conversation, run and person, and the tools that may be called.

use std::fmt;
use std::sync::Arc;

use art_core::Timestamp;
use art_core::tool::ExecutionContext;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::progress::CallProgress;

/// The tools that may be called. The default is none.
#[derive(Clone, Debug)]
pub enum EnabledTools {
    /// The tools with these names.
    Named(Vec<String>),
    /// The tools that the lookup allows at the time of each call (contract S004).
    Lookup(Arc<dyn EnabledLookup>),
}

/// Decides which tools a conversation may call.
pub trait EnabledLookup: Send + Sync + fmt::Debug {
    /// Returns whether the tool may be called now. Returns false if this cannot be determined.
    fn is_enabled<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, bool>;
}

impl EnabledTools {
    /// Enables the tools with these names.
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::Named(names.into_iter().map(Into::into).collect())
    }

    /// Returns whether the tool with this name may be called now.
    pub(crate) async fn is_enabled(&self, tool: &str) -> bool {
        match self {
            Self::Named(names) => names.iter().any(|name| name == tool),
            Self::Lookup(lookup) => lookup.is_enabled(tool).await,
        }
    }
}

impl Default for EnabledTools {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// The context that the calls of one batch share. The host creates every identifier.
#[derive(Clone, Debug, Default)]
pub struct CallScope {
    /// Identifier of the conversation.
    pub thread_id: String,
    /// Identifier of the run.
    pub trace_id: String,
    /// Identifier of the person.
    pub user_id: Option<String>,
    /// Identifier of the person's session.
    pub session_id: Option<String>,
    /// Tools that may be called.
    pub enabled_tools: EnabledTools,
    /// Identifier of the plan item for which the calls are made. It is the parent of their progress reports, and of
    /// their observations, which record how they ended.
    pub parent_id: Option<String>,
    /// Wall-clock time at which the calls start, given by the caller because this crate reads no wall clock. If a call is
    /// suspended to ask a person, the time limit of the question begins at this time plus the time that the call took until then.
    pub now: Timestamp,
    /// Cancels all calls of the batch.
    pub cancel: CancellationToken,
    /// Receives the start and the progress of each call that runs. Messages to a closed receiver are lost.
    pub progress: Option<UnboundedSender<CallProgress>>,
}

impl CallScope {
    /// Creates progress and sends it to the receiver, if there is one.
    pub(crate) fn send_progress(&self, create_progress: impl FnOnce() -> CallProgress) {
        if let Some(sender) = &self.progress {
            // Ignore send errors: progress is best effort, results are stored.
            drop(sender.send(create_progress()));
        }
    }

    pub(crate) fn context(&self, call_id: &str) -> ExecutionContext {
        ExecutionContext {
            thread_id: self.thread_id.clone(),
            trace_id: self.trace_id.clone(),
            call_id: call_id.to_owned(),
            user_id: self.user_id.clone(),
            session_id: self.session_id.clone(),
            hitl_context: None,
        }
    }
}
