//! Carries out the open actions of a run.

mod ask;
mod batch;
mod enabled;
pub(super) mod event;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use art_agent::{Action, ActionId, InterruptedCall, Run, RunEvent, RunStart};
use art_core::stream::PartialReply;
use art_tools::{CallScope, EnabledTools};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll};
use tokio_util::sync::CancellationToken;

use super::answer::CallCost;
use super::notifier::Notifier;
use crate::runtime::Runtime;
use enabled::ThreadTools;
use event::WorkEvent;

/// Maximum time to wait for cancelled tool calls.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(3);

/// The actions in progress. Tool calls are kept apart from model calls: a model call may be dropped, but the result of a tool
/// call must be recorded.
pub(super) struct Work<'a> {
    runtime: &'a Runtime,
    scope: CallScope,
    started: BTreeSet<ActionId>,
    /// Polled only when the driver is ready for the next piece, so nothing is buffered here.
    models: SelectAll<BoxStream<'static, WorkEvent>>,
    /// How much of each reply in progress has arrived.
    received: BTreeMap<ActionId, PartialReply>,
    tools: SelectAll<BoxStream<'a, WorkEvent>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(runtime: &'a Runtime, start: &RunStart, trace_id: &str, cancel: &CancellationToken) -> Self {
        let scope = CallScope {
            thread_id: start.props.thread_id.clone(),
            trace_id: trace_id.to_owned(),
            enabled_tools: EnabledTools::Lookup(Arc::new(ThreadTools::new(runtime, start))),
            cancel: cancel.child_token(),
            ..CallScope::default()
        };
        Self {
            runtime,
            scope,
            started: BTreeSet::new(),
            models: SelectAll::new(),
            received: BTreeMap::new(),
            tools: SelectAll::new(),
        }
    }

    /// Starts every open action that was not started yet.
    pub(super) fn start_open_actions(&mut self, run: &Run, notifier: &mut Notifier<'_>) {
        for id in run.open_actions() {
            if !self.started.insert(id) {
                continue;
            }
            match run.action(id) {
                Some(Action::CallModel {
                    id,
                    request,
                    may_answer,
                    ..
                }) => {
                    notifier.model_called(id, &request);
                    self.received.insert(id, PartialReply::default());
                    self.models
                        .push(ask::call_model(self.runtime, id, may_answer, *request));
                }
                Some(Action::CallTools {
                    id,
                    item_id,
                    calls,
                    files,
                }) => {
                    let scope = self.scope.clone();
                    self.tools
                        .push(batch::call_tools(self.runtime, id, item_id, (calls, files), scope));
                }
                None => {}
            }
        }
    }

    /// Waits for the next event. Returns `None` if no action is in progress.
    pub(super) async fn next(&mut self) -> Option<WorkEvent> {
        tokio::select! {
            Some(event) = self.models.next(), if !self.models.is_empty() => {
                self.track(&event);
                Some(event)
            }
            Some(event) = self.tools.next(), if !self.tools.is_empty() => Some(event),
            else => None,
        }
    }

    fn track(&mut self, event: &WorkEvent) {
        match event {
            WorkEvent::Piece { call, event } => self.received.entry(call.id).or_default().push(event),
            WorkEvent::Ended(event, _) => {
                if let RunEvent::ModelReplied { action, .. } | RunEvent::ModelFailed { action, .. } = event.as_ref() {
                    self.received.remove(action);
                }
            }
            WorkEvent::ToolProgress(_) => {}
        }
    }

    /// Returns the model calls in progress.
    pub(super) fn model_calls(&self) -> Vec<InterruptedCall> {
        let calls = self.received.iter().map(|(action, received)| InterruptedCall {
            action: *action,
            received: received.clone(),
        });
        calls.collect()
    }

    /// Cancels all actions and waits until the tool calls have ended. Returns their events and their costs.
    pub(super) async fn drain(&mut self, notifier: &mut Notifier<'_>) -> Vec<(RunEvent, Vec<CallCost>)> {
        self.scope.cancel.cancel();
        self.models.clear();
        let mut events = Vec::new();
        let all_ended = async {
            while let Some(event) = self.tools.next().await {
                match event {
                    WorkEvent::Ended(event, costs) => events.push((*event, costs)),
                    WorkEvent::ToolProgress(progress) => notifier.call_progressed(&progress),
                    WorkEvent::Piece { .. } => {}
                }
            }
        };
        if tokio::time::timeout(DRAIN_TIMEOUT, all_ended).await.is_err() {
            tracing::warn!("tool calls did not end when they were cancelled, so they are not recorded");
            // Do not wait for them a second time.
            self.tools.clear();
        }
        events
    }
}
