//! Executors of calls, and the type that proves that a call was checked.

use std::sync::Arc;

use art_core::capability::{CallGrants, Denial};
use art_core::hitl::HitlContext;
use art_core::intake::{Intake, Replayed};
use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_core::tool::{ExecutionContext, ParsedToolCall, ToolSchema};
use futures_util::future::BoxFuture;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::progress::NewestProgress;

/// A call that passed all checks: its tool is enabled for the thread and registered, its arguments are valid, and it has the
/// grants that it needs. Only a replay of a recorded call, which touches nothing, may lack grants.
///
/// Only [`ToolSystem`](crate::system::ToolSystem) creates one, and [`ToolExecutor`] accepts nothing else, so no
/// unchecked call reaches a sandbox.
#[derive(Clone, Debug)]
pub struct CheckedCall {
    call: ParsedToolCall,
    input_json: String,
    context: ExecutionContext,
    limits: Limits,
    grants: Arc<CallGrants>,
    cancel: CancellationToken,
    progress: NewestProgress,
}

impl CheckedCall {
    pub(crate) fn new(
        call: ParsedToolCall,
        input_json: String,
        context: ExecutionContext,
        limits: Limits,
        grants: Arc<CallGrants>,
        cancel: CancellationToken,
    ) -> Self {
        Self {
            call,
            input_json,
            context,
            limits,
            grants,
            cancel,
            progress: NewestProgress::default(),
        }
    }

    /// Adds the decision that the call waited for.
    pub(crate) fn set_decision(&mut self, context: HitlContext) {
        self.context.hitl_context = Some(context);
    }

    /// Creates a `CheckedCall` without making any check, for tests and benches of executors.
    ///
    /// Exists only with debug assertions, so that no release has it. The input is the arguments without
    /// added defaults, the thread is named `thread`, the run is named `trace`, and the token is never cancelled.
    #[cfg(any(test, debug_assertions))]
    #[must_use]
    pub fn for_test(call: ParsedToolCall, limits: Limits) -> Self {
        Self::for_test_with_cancel(call, limits, CancellationToken::new())
    }

    /// Creates a checked call as [`for_test`](Self::for_test) does, with a token that the test can cancel.
    #[cfg(any(test, debug_assertions))]
    #[must_use]
    pub fn for_test_with_cancel(call: ParsedToolCall, limits: Limits, cancel: CancellationToken) -> Self {
        Self::for_test_with_grants(call, limits, CallGrants::by_default(), cancel)
    }

    /// Creates a checked call as [`for_test`](Self::for_test) does, with these grants and with a token that the test can
    /// cancel.
    #[cfg(any(test, debug_assertions))]
    #[must_use]
    pub fn for_test_with_grants(
        call: ParsedToolCall,
        limits: Limits,
        grants: Arc<CallGrants>,
        cancel: CancellationToken,
    ) -> Self {
        let context = ExecutionContext {
            thread_id: "thread".to_owned(),
            trace_id: "trace".to_owned(),
            call_id: call.call_id.clone(),
            ..ExecutionContext::default()
        };
        let input_json = call.arguments.to_string();
        Self::new(call, input_json, context, limits, grants, cancel)
    }

    /// Returns the call. Its arguments are the validated ones, defaults included.
    #[must_use]
    pub const fn call(&self) -> &ParsedToolCall {
        &self.call
    }

    /// Returns the validated arguments with defaults, as compact JSON text.
    #[must_use]
    pub fn input_json(&self) -> &str {
        &self.input_json
    }

    /// Returns the run and the person for which the call is made. The host created every identifier in the context.
    #[must_use]
    pub const fn context(&self) -> &ExecutionContext {
        &self.context
    }

    /// Returns the limits of the call.
    #[must_use]
    pub const fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Returns what the call may touch.
    #[must_use]
    pub const fn grants(&self) -> &Arc<CallGrants> {
        &self.grants
    }

    /// Returns the token that is cancelled when the caller gives up. An executor that observes it ends with
    /// `Ending::Cancelled` and the usage so far; one that does not is dropped after
    /// [`SystemConfig::grace`](crate::config::SystemConfig::grace).
    #[must_use]
    pub const fn cancel(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Returns the receiver of progress reports. A report may be dropped unread.
    #[must_use]
    pub const fn progress(&self) -> &NewestProgress {
        &self.progress
    }
}

/// A tool that the host can run (contract C1).
///
/// [`schema`](Self::schema), [`limits`](Self::limits), [`owner`](Self::owner), [`digest`](Self::digest) and
/// [`is_repeatable`](Self::is_repeatable) are read once, at registration; later values are ignored.
pub trait ToolExecutor: Send + Sync + std::fmt::Debug {
    /// Returns the schema of the tool.
    fn schema(&self) -> &ToolSchema;

    /// Returns the limits of one call. The executor enforces them; the host also enforces the time limit.
    fn limits(&self) -> Limits {
        Limits::EXECUTE
    }

    /// Returns the owner of the tool: a plugin's identifier, or `host`.
    fn owner(&self) -> &str;

    /// Returns the digest of the code of the tool, which tells its versions apart, or `None` if there is none.
    fn digest(&self) -> Option<String> {
        None
    }

    /// Returns whether a call during which the host stopped may be made again. True if calls of the tool have no effect, or if a
    /// second call with the same arguments has no further effect. By default false.
    fn is_repeatable(&self) -> bool {
        false
    }

    /// Returns what a call with these valid arguments may touch. By default that is the time and random numbers,
    /// because tools that are functions of the host program need no grant.
    ///
    /// # Errors
    /// Fails with what the call needs and is not granted. The call is then not made.
    fn authorize(&self, arguments: &Value) -> Result<Arc<CallGrants>, Vec<Denial>> {
        let _ = arguments;
        Ok(CallGrants::by_default())
    }

    /// Returns a future that prepares the tool before its first call, or `None` if nothing has to be prepared. The
    /// preparation may take far longer than a call; the time limit of the call starts after it. It must observe the
    /// cancellation.
    fn prepare<'a>(&'a self, call: &'a CheckedCall) -> Option<BoxFuture<'a, Result<(), Box<Ending>>>> {
        let _ = call;
        None
    }

    /// Runs a checked call. Failures are part of the [`Outcome`]; a panic counts as a failure of the host.
    ///
    /// The future is polled on the caller's task together with the other calls of the batch, so it must not block.
    fn execute<'a>(&'a self, call: &'a CheckedCall) -> BoxFuture<'a, Outcome>;

    /// Runs a recorded call again, or returns `None` if the tool cannot do that. When the tool asks the host for something, such
    /// as the time or the response to a request, it gets the recorded answer.
    ///
    /// `recorded` is the [`intake`](Outcome::intake) of the call, which holds these answers. The output, log and fuel are the
    /// same as before, unless the call was stopped by its time limit or a cancellation, because no record contains when that
    /// happened.
    fn replay<'a>(&'a self, call: &'a CheckedCall, recorded: &'a Intake) -> Option<BoxFuture<'a, Replayed>> {
        let _ = (call, recorded);
        None
    }
}
