//! The calls of one reply: how far each is, and in the end what the journal keeps of them.

use art_agent::{RunEvent, StepId};
use art_core::tool::ParsedToolCall;
use art_core::usage::Usage;
use art_tools::{CallProgress, CallScope, ToolReport};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::Progress;
use crate::compose::Host;
use crate::drive::{CallCost, now};

/// Calls that go on.
struct Batch<'a> {
    /// Has the only sender of `progress`, and drops it when it ends.
    running: BoxFuture<'a, Progress>,
    /// Filled only while `running` is polled, so a driver that is slow lets nothing pile up.
    progress: UnboundedReceiver<CallProgress>,
    /// The end, until all that came before it was given.
    ended: Option<Progress>,
}

/// Gives the progress of each call that runs, and then the results of all of them, exactly once.
pub(super) fn call(
    host: &Host,
    step: StepId,
    item_id: String,
    calls: Vec<ParsedToolCall>,
    scope: CallScope,
) -> BoxStream<'_, Progress> {
    let (sender, progress) = unbounded_channel();
    let running = async move {
        let scope = CallScope {
            parent_id: Some(item_id.clone()),
            progress: Some(sender),
            ..scope
        };
        returned(step, &item_id, host.tools.execute_batch(calls, &scope).await)
    };
    let batch = Batch {
        running: running.boxed(),
        progress,
        ended: None,
    };
    stream::unfold(batch, async |mut batch| Some((batch.next().await?, batch))).boxed()
}

impl Batch<'_> {
    async fn next(&mut self) -> Option<Progress> {
        loop {
            tokio::select! {
                biased;
                progress = self.progress.recv() => match progress {
                    Some(progress) => return Some(Progress::Call(progress)),
                    None => return self.ended.take(),
                },
                ended = &mut self.running, if self.ended.is_none() => self.ended = Some(ended),
            }
        }
    }
}

fn returned(step: StepId, item_id: &str, reports: Vec<ToolReport>) -> Progress {
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
    Progress::Ended(Box::new(event), costs)
}
