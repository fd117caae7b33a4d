//! The run and the person for which calls are made.

use std::fmt;
use std::sync::Arc;

use art_core::hitl::HitlContext;
use art_core::tool::ExecutionContext;
use futures_util::future::BoxFuture;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::progress::CallProgress;

/// Which tools may be called. Without anything said there are none.
#[derive(Clone, Debug)]
pub enum EnabledTools {
    /// Those of these names.
    Named(Vec<String>),
    /// Decided by the given object at each call (S004).
    Asked(Arc<dyn AskEnabled>),
}

/// Knows which tools a thread may use now.
pub trait AskEnabled: Send + Sync + fmt::Debug {
    /// Returns whether the tool of that name may be called. If that cannot be found out, it may not.
    fn is_enabled<'a>(&'a self, tool: &'a str) -> BoxFuture<'a, bool>;
}

impl EnabledTools {
    /// Creates the tools of those names.
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        Self::Named(names.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn allow(&self, tool: &str) -> bool {
        match self {
            Self::Named(names) => names.iter().any(|name| name == tool),
            Self::Asked(knows) => knows.is_enabled(tool).await,
        }
    }
}

impl Default for EnabledTools {
    fn default() -> Self {
        Self::Named(Vec::new())
    }
}

/// Fields that the calls of one batch share. The host makes every identifier.
#[derive(Clone, Debug, Default)]
pub struct CallScope {
    /// Conversation.
    pub thread_id: String,
    /// Run.
    pub trace_id: String,
    /// Person for whom the calls are made.
    pub user_id: Option<String>,
    /// Session of that person.
    pub session_id: Option<String>,
    /// Tools that may be called; every other one is refused.
    pub enabled_tools: EnabledTools,
    /// Parent of the observations: the todo item.
    pub parent_id: Option<String>,
    /// Set when a suspended call is run again after its decision; such a batch has that one call.
    pub hitl_context: Option<HitlContext>,
    /// Cancels every call of the batch.
    pub cancel: CancellationToken,
    /// Receives the start, the progress and the end of each call of the batch that runs. Messages to a closed receiver
    /// are lost.
    pub progress: Option<UnboundedSender<CallProgress>>,
}

impl CallScope {
    /// Sends the progress of a call to the receiver, if there is one; `progress` is made only then.
    pub(crate) fn tell(&self, progress: impl FnOnce() -> CallProgress) {
        if let Some(listener) = &self.progress {
            // Ignore send errors: progress is best effort, results are stored.
            drop(listener.send(progress()));
        }
    }

    pub(crate) fn context(&self, call_id: &str) -> ExecutionContext {
        ExecutionContext {
            thread_id: self.thread_id.clone(),
            trace_id: self.trace_id.clone(),
            call_id: call_id.to_owned(),
            user_id: self.user_id.clone(),
            session_id: self.session_id.clone(),
            hitl_context: self.hitl_context.clone(),
        }
    }
}
