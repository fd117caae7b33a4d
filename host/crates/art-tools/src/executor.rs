//! What runs a call, and the proof that the call may be run.

use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_core::tool::{ExecutionContext, ParsedToolCall, ToolSchema};
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use crate::progress::NewestProgress;

/// A call that passed every check of T4: enabled for its thread, registered, its arguments valid.
///
/// Only [`ToolSystem`](crate::system::ToolSystem) makes one and [`ToolExecutor`] accepts nothing else, so a call cannot
/// reach a sandbox unchecked.
#[derive(Clone, Debug)]
pub struct Admitted {
    call: ParsedToolCall,
    input_json: String,
    context: ExecutionContext,
    limits: Limits,
    cancel: CancellationToken,
    progress: NewestProgress,
}

impl Admitted {
    pub(crate) fn new(
        call: ParsedToolCall,
        input_json: String,
        context: ExecutionContext,
        limits: Limits,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            call,
            input_json,
            context,
            limits,
            cancel,
            progress: NewestProgress::default(),
        }
    }

    /// An admitted call that nothing checked, for tests and benches of executors.
    ///
    /// Needs the cargo feature `test-util`, which no build that is shipped turns on. The input is the arguments as they
    /// are; the context names the thread `thread` and the run `trace`; the token is never cancelled.
    #[cfg(any(test, feature = "test-util"))]
    #[must_use]
    pub fn for_test(call: ParsedToolCall, limits: Limits) -> Self {
        Self::for_test_with_cancel(call, limits, CancellationToken::new())
    }

    /// [`for_test`](Self::for_test) with a token that the test can cancel.
    #[cfg(any(test, feature = "test-util"))]
    #[must_use]
    pub fn for_test_with_cancel(call: ParsedToolCall, limits: Limits, cancel: CancellationToken) -> Self {
        let context = ExecutionContext {
            thread_id: "thread".to_owned(),
            trace_id: "trace".to_owned(),
            call_id: call.call_id.clone(),
            ..ExecutionContext::default()
        };
        let input_json = call.arguments.to_string();
        Self::new(call, input_json, context, limits, cancel)
    }

    pub(crate) fn into_call(self) -> ParsedToolCall {
        self.call
    }

    /// The call. Its arguments are the validated ones, defaults included.
    #[must_use]
    pub const fn call(&self) -> &ParsedToolCall {
        &self.call
    }

    /// The validated arguments with defaults, as compact JSON text.
    #[must_use]
    pub fn input_json(&self) -> &str {
        &self.input_json
    }

    /// Who calls, and in which run (C7). The host made every identifier.
    #[must_use]
    pub const fn context(&self) -> &ExecutionContext {
        &self.context
    }

    /// What the call may use.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Cancelled when the caller gives up. An executor that sees it ends with `Ending::Cancelled` and the usage so far; one
    /// that does not is dropped after [`SystemConfig::grace`](crate::config::SystemConfig::grace).
    #[must_use]
    pub const fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Where an executor puts what its tool says of its work. Nobody may be listening.
    #[must_use]
    pub const fn progress(&self) -> &NewestProgress {
        &self.progress
    }
}

/// A tool as the host runs it (C1).
///
/// [`schema`](Self::schema), [`limits`](Self::limits) and [`owner`](Self::owner) are read once, at registration; what they
/// return later is not looked at.
pub trait ToolExecutor: Send + Sync + std::fmt::Debug {
    /// What the tool says of itself.
    fn schema(&self) -> &ToolSchema;

    /// What one call may use. The executor enforces it; the host adds a backstop for the time.
    fn limits(&self) -> Limits {
        Limits::EXECUTE
    }

    /// Whose tool it is: a plugin's identifier, or `host` (X3).
    fn owner(&self) -> &str;

    /// What has to be done before the first call of the tool can begin, and may take far longer than a call: its time begins
    /// after it. None, as for every call but the first, when there is nothing to do. It sees the cancellation itself.
    fn prepare<'a>(&'a self, call: &'a Admitted) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let _ = call;
        None
    }

    /// Runs an admitted call to its end. Never fails: every way to end is an [`Outcome`]. A panic counts as a failure of the
    /// host.
    ///
    /// The future is polled on the task of the caller beside the other calls of the batch, so it must not block.
    fn execute<'a>(&'a self, call: &'a Admitted) -> BoxFuture<'a, Outcome>;
}
