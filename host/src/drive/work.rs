//! What is under way: the open steps of a run, and how they are done.

use std::collections::BTreeSet;
use std::time::Duration;

use art_agent::{Run, RunEvent, RunStart, Step, StepId};
use art_core::provider::ModelRequest;
use art_core::tool::ParsedToolCall;
use art_core::usage::Usage;
use art_tools::{CallScope, ToolReport};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use super::{CallCost, now};
use crate::compose::Host;

/// How long calls that were cancelled may take until they have ended.
const DRAIN: Duration = Duration::from_secs(3);

/// What a step came to, before it is an event.
pub(super) type Done = (RunEvent, Vec<CallCost>);

/// The steps that were begun and have not ended. Calls of tools are apart, because they must not be dropped: what they did
/// has to be recorded.
pub(super) struct Work<'a> {
    host: &'a Host,
    scope: CallScope,
    begun: BTreeSet<StepId>,
    models: FuturesUnordered<BoxFuture<'a, RunEvent>>,
    tools: FuturesUnordered<BoxFuture<'a, Done>>,
}

impl<'a> Work<'a> {
    pub(super) fn new(host: &'a Host, start: &RunStart, trace_id: &str, cancel: &CancellationToken) -> Self {
        let scope = CallScope {
            thread_id: start.props.thread_id.clone(),
            trace_id: trace_id.to_owned(),
            enabled_tools: start.tools.iter().map(|tool| tool.name.clone()).collect(),
            cancel: cancel.child_token(),
            ..CallScope::default()
        };
        Self {
            host,
            scope,
            begun: BTreeSet::new(),
            models: FuturesUnordered::new(),
            tools: FuturesUnordered::new(),
        }
    }

    /// Begins every open step that has not begun.
    pub(super) fn begin(&mut self, run: &Run) {
        for id in run.open_steps() {
            if !self.begun.insert(id) {
                continue;
            }
            match run.step(id) {
                Some(Step::CallModel { id, request, .. }) => self.models.push(ask(self.host, id, *request)),
                Some(Step::CallTools { id, item_id, calls }) => {
                    self.tools.push(call(self.host, id, item_id, calls, self.scope.clone()));
                }
                // The loop ends before it asks for the end.
                Some(Step::Finish(_)) | None => {}
            }
        }
    }

    /// The next step that ends; none when nothing is under way.
    pub(super) async fn next(&mut self) -> Option<Done> {
        tokio::select! {
            Some(event) = self.models.next(), if !self.models.is_empty() => Some((event, Vec::new())),
            Some(done) = self.tools.next(), if !self.tools.is_empty() => Some(done),
            else => None,
        }
    }

    /// Cancels what is under way and waits until the tools have ended; gives what their calls cost.
    pub(super) async fn drain(&mut self) -> Vec<CallCost> {
        self.scope.cancel.cancel();
        self.models.clear();
        let mut calls = Vec::new();
        let ended = async {
            while let Some((_, costs)) = self.tools.next().await {
                calls.extend(costs);
            }
        };
        if tokio::time::timeout(DRAIN, ended).await.is_err() {
            tracing::warn!("tool calls did not end when they were cancelled, so they are not recorded");
        }
        calls
    }
}

/// Never fails: what went wrong is an event as well.
fn ask(host: &Host, step: StepId, request: ModelRequest) -> BoxFuture<'_, RunEvent> {
    async move {
        match art_model::reply(host.model.as_ref(), request).await {
            Ok(reply) => RunEvent::ModelReplied { at: now(), step, reply },
            Err(error) => RunEvent::ModelFailed { at: now(), step, error },
        }
    }
    .boxed()
}

fn call(
    host: &Host,
    step: StepId,
    item_id: String,
    calls: Vec<ParsedToolCall>,
    scope: CallScope,
) -> BoxFuture<'_, Done> {
    async move {
        let scope = CallScope {
            parent_id: Some(item_id.clone()),
            ..scope
        };
        returned(step, &item_id, host.tools.execute_batch(calls, &scope).await)
    }
    .boxed()
}

fn returned(step: StepId, item_id: &str, reports: Vec<ToolReport>) -> Done {
    let mut usage = Usage::default();
    let mut costs = Vec::new();
    let mut results = Vec::new();
    for report in reports {
        usage += report.usage;
        costs.push(CallCost {
            item_id: item_id.to_owned(),
            tool: report.result.tool_name.clone(),
            ending: report.ending.as_str(),
            usage: report.usage,
        });
        results.push(report.result);
    }
    let at = now();
    let event = RunEvent::ToolsReturned {
        at,
        step,
        results,
        usage,
    };
    (event, costs)
}
