//! What is under way: the open steps of a run, and how they are done.

mod ask;
mod batch;
mod enabled;
mod kept;
pub(super) mod progress;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use art_agent::{Action, ActionId, Run, RunEvent, RunStart};
use art_tools::{CallScope, EnabledTools};
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, SelectAll};
use tokio_util::sync::CancellationToken;

use super::answer::CallCost;
use super::watched::Watched;
use crate::runtime::Runtime;
use enabled::ToolsOfThread;
use progress::WorkEvent;

/// How long calls that were cancelled may take until they have ended.
const DRAIN: Duration = Duration::from_secs(3);

/// The steps that were begun and have not ended. Calls of tools are apart, because they must not be dropped: what they did
/// has to be recorded.
pub(super) struct Work<'a> {
    runtime: &'a Runtime,
    scope: CallScope,
    begun: BTreeSet<ActionId>,
    /// Polled when the driver is ready for the next piece, so nothing is buffered here.
    models: SelectAll<BoxStream<'static, WorkEvent>>,
    tools: SelectAll<BoxStream<'a, WorkEvent>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(runtime: &'a Runtime, start: &RunStart, trace_id: &str, cancel: &CancellationToken) -> Self {
        let scope = CallScope {
            thread_id: start.props.thread_id.clone(),
            trace_id: trace_id.to_owned(),
            enabled_tools: EnabledTools::Asked(Arc::new(ToolsOfThread::new(runtime, start))),
            cancel: cancel.child_token(),
            ..CallScope::default()
        };
        Self {
            runtime,
            scope,
            begun: BTreeSet::new(),
            models: SelectAll::new(),
            tools: SelectAll::new(),
        }
    }

    /// Begins every open step that has not begun. A model's call has begun with this; a tool's is told of when it runs.
    pub(super) fn begin(&mut self, run: &Run, watched: &mut Watched<'_>) {
        for id in run.open_actions() {
            if !self.begun.insert(id) {
                continue;
            }
            match run.action(id) {
                Some(Action::CallModel { id, request, .. }) => {
                    watched.model_called(id, &request);
                    self.models.push(ask::ask(self.runtime, id, *request));
                }
                Some(Action::CallTools {
                    id,
                    item_id,
                    calls,
                    files,
                }) => {
                    let scope = self.scope.clone();
                    self.tools
                        .push(batch::call(self.runtime, id, item_id, (calls, files), scope));
                }
                None => {}
            }
        }
    }

    /// The next piece, or the next step that ends; none when nothing is under way.
    pub(super) async fn next(&mut self) -> Option<WorkEvent> {
        tokio::select! {
            Some(progress) = self.models.next(), if !self.models.is_empty() => Some(progress),
            Some(progress) = self.tools.next(), if !self.tools.is_empty() => Some(progress),
            else => None,
        }
    }

    /// Cancels what is under way and waits until the tools have ended; gives what came of their steps, and what their calls
    /// cost.
    pub(super) async fn drain(&mut self, watched: &mut Watched<'_>) -> Vec<(RunEvent, Vec<CallCost>)> {
        self.scope.cancel.cancel();
        self.models.clear();
        let mut steps = Vec::new();
        let ended = async {
            while let Some(progress) = self.tools.next().await {
                match progress {
                    WorkEvent::Ended(event, costs) => steps.push((*event, costs)),
                    WorkEvent::Call(progress) => watched.tool(&progress),
                    WorkEvent::Piece { .. } => {}
                }
            }
        };
        if tokio::time::timeout(DRAIN, ended).await.is_err() {
            tracing::warn!("tool calls did not end when they were cancelled, so they are not recorded");
            // Nobody waits for them once more.
            self.tools.clear();
        }
        steps
    }
}
