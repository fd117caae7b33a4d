//! The calls in progress of a run. A call is admitted if it passes all checks, then announced in the journal, then started, and
//! it ends with an event for the journal.

mod ask;
mod enabled;
pub(super) mod event;
pub(crate) mod files;
mod tool;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use art_agent::{ActionId, FileArgument, InterruptedCall, ModelCall, RunEvent, RunStart, ToolCall};
use art_core::stream::PartialReply;
use art_core::suspension::SuspendedCall;
use art_core::tool::ParsedToolCall;
use art_tools::{CallScope, EnabledTools, EndingKind, ToolReport};
use futures_util::stream::{BoxStream, SelectAll};
use futures_util::{FutureExt, StreamExt};
use tokio_util::sync::CancellationToken;

use super::notifier::Notifier;
use crate::runtime::Runtime;
use enabled::ThreadTools;
use event::{EndedToolCall, WorkEvent};

pub(super) use tool::{Admission, AnnouncedCall};

/// Maximum time to wait for the ends of cancelled tool calls.
const MAX_STOP_TIME: Duration = Duration::from_secs(3);

/// The calls in progress. Tool calls are kept apart from model calls: a model call may be dropped, but the result of a tool
/// call must be recorded.
pub(super) struct Work<'a> {
    runtime: &'a Runtime,
    /// The thread, the run and the person of the tool calls, and the token that cancels these calls.
    scope: CallScope,
    /// The model calls. They are polled only when the driver is ready for the next piece, so nothing is buffered here.
    model_calls: SelectAll<BoxStream<'static, WorkEvent>>,
    /// What has arrived so far of the reply of each model call in progress.
    received: BTreeMap<ActionId, PartialReply>,
    tool_calls: SelectAll<BoxStream<'a, WorkEvent>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(runtime: &'a Runtime, start: &RunStart, trace_id: &str, cancel: &CancellationToken) -> Self {
        let scope = CallScope {
            thread_id: start.props.thread_id.clone(),
            trace_id: trace_id.to_owned(),
            user_id: start.props.user_id.clone(),
            session_id: start.props.session_id.clone(),
            enabled_tools: EnabledTools::Lookup(Arc::new(ThreadTools::new(runtime, start))),
            cancel: cancel.child_token(),
            ..CallScope::default()
        };
        Self {
            runtime,
            scope,
            model_calls: SelectAll::new(),
            received: BTreeMap::new(),
            tool_calls: SelectAll::new(),
        }
    }

    /// Prepares a tool call: gives its tool the grants that a person approved, inserts the files that the arguments name, and
    /// checks the call. Returns what happens next to the call, or the report of a refused call.
    pub(super) async fn admit(&mut self, call: ToolCall) -> Result<Admission, Box<ToolReport>> {
        tool::admit(self.runtime, call, &self.scope).await
    }

    /// Returns the question to a person about a call of the plan that is not made yet; `None` if nobody has to decide about the
    /// call.
    pub(super) async fn question_about_call(
        &mut self,
        item_id: &str,
        call: ParsedToolCall,
        files: &[FileArgument],
    ) -> Option<Box<SuspendedCall>> {
        tool::question_about_call(self.runtime, item_id, call, files, &self.scope).await
    }

    /// Starts a model call, which is already announced in the journal.
    pub(super) fn start_model_call(
        &mut self,
        call: ModelCall,
        model: &art_core::provider::RuntimeProviderConfig,
        notifier: &mut Notifier<'_>,
    ) {
        notifier.model_called(call.id, &call.request);
        self.received.insert(call.id, PartialReply::default());
        self.model_calls.push(ask::call_model(self.runtime, model, call));
    }

    /// Starts a tool call, which is already announced in the journal.
    pub(super) fn start_tool_call(&mut self, call: AnnouncedCall) {
        self.tool_calls.push(tool::run_call(self.runtime, call));
    }

    /// Waits for the next event of a call. Returns `None` if no call is in progress.
    pub(super) async fn next(&mut self) -> Option<WorkEvent> {
        tokio::select! {
            Some(event) = self.model_calls.next(), if !self.model_calls.is_empty() => {
                self.track_reply(&event);
                Some(event)
            }
            Some(event) = self.tool_calls.next(), if !self.tool_calls.is_empty() => Some(event),
            else => None,
        }
    }

    /// Returns a tool call that has already ended, or `None` if there is none. Passes progress on to `notifier`.
    pub(super) fn next_ended_tool(&mut self, notifier: &mut Notifier<'_>) -> Option<EndedToolCall> {
        loop {
            match self.tool_calls.next().now_or_never()?? {
                WorkEvent::ToolEnded(call) => return Some(*call),
                WorkEvent::ToolProgress(progress) => notifier.tool_progressed(&progress),
                WorkEvent::Piece { .. } | WorkEvent::ModelEnded(_) => {}
            }
        }
    }

    /// Keeps what has arrived of a reply, until its model call has ended.
    fn track_reply(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::Piece { call, piece } => self.received.entry(call.id).or_default().push(piece),
            WorkEvent::ModelEnded(event) => {
                if let RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } = event.as_ref() {
                    self.received.remove(action);
                }
            }
            WorkEvent::ToolEnded(_) | WorkEvent::ToolProgress(_) => {}
        }
    }

    /// Returns the model calls in progress, which are about to be dropped, each with what has arrived of its reply.
    pub(super) fn interrupted_model_calls(&self) -> Vec<InterruptedCall> {
        let calls = self.received.iter().map(|(action, received)| InterruptedCall {
            action: *action,
            received: received.clone(),
        });
        calls.collect()
    }

    /// Drops the model calls, cancels the tool calls, and waits up to [`MAX_STOP_TIME`] until the tool calls have ended.
    /// Returns the tool calls that ended.
    pub(super) async fn stop_calls(&mut self, notifier: &mut Notifier<'_>) -> Vec<EndedToolCall> {
        self.scope.cancel.cancel();
        self.model_calls.clear();
        let mut ended = Vec::new();
        let collect_ends = async {
            while let Some(event) = self.tool_calls.next().await {
                match event {
                    WorkEvent::ToolEnded(call) => ended.push(*call),
                    WorkEvent::ToolProgress(progress) => notifier.tool_progressed(&progress),
                    WorkEvent::Piece { .. } | WorkEvent::ModelEnded(_) => {}
                }
            }
        };
        if tokio::time::timeout(MAX_STOP_TIME, collect_ends).await.is_err() {
            tracing::warn!("tool calls did not end when they were cancelled, so they are not recorded");
            // Do not wait for the remaining calls a second time.
            self.tool_calls.clear();
        }
        // Calls that ended on their own come before those that the cancellation ended, in whatever order they were read.
        ended.sort_by_key(|call| call.report.ending == EndingKind::Cancelled);
        ended
    }
}
