//! The calls of one reply: how far each is, and in the end what the journal keeps of them.

use art_agent::{ActionId, FilePlace, RunEvent};
use art_core::error::ToolErrorCode;
use art_core::tool::{ParsedToolCall, ToolResultMetadata, ToolStatus};
use art_core::usage::Usage;
use art_tools::{CallEnding, CallProgress, CallScope, ToolReport};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::kept;
use super::progress::WorkEvent;
use crate::drive::answer::CallCost;
use crate::drive::clock::now;
use crate::runtime::Runtime;

/// Bytes of JSON that the results of one reply may have together: they are one entry of the journal, and a store takes at
/// most 16 MiB of each. The rest is for the reasons of those that are left out.
const MAX_RESULTS: usize = 12 << 20;

/// Calls that go on.
struct Batch<'a> {
    /// Has the only sender of `progress`, and drops it when it ends.
    running: BoxFuture<'a, WorkEvent>,
    /// Filled only while `running` is polled, so a driver that is slow lets nothing pile up.
    progress: UnboundedReceiver<CallProgress>,
    /// The end, until all that came before it was given.
    ended: Option<WorkEvent>,
}

/// Gives the progress of each call that runs, and then the results of all of them, exactly once.
pub(super) fn call(
    runtime: &Runtime,
    action: ActionId,
    item_id: String,
    (calls, files): (Vec<ParsedToolCall>, Vec<FilePlace>),
    scope: CallScope,
) -> BoxStream<'_, WorkEvent> {
    let (sender, progress) = unbounded_channel();
    let running = async move {
        let scope = CallScope {
            parent_id: Some(item_id.clone()),
            progress: Some(sender),
            ..scope
        };
        let store = runtime.store.as_ref();
        let (calls, refused) = kept::put_in(store, &scope.thread_id, calls, &files).await;
        let mut reports = refused;
        reports.extend(runtime.tools.execute_batch(calls, &scope).await);
        kept::keep(store, &scope.trace_id, &mut reports).await;
        returned(action, &item_id, reports)
    };
    let batch = Batch {
        running: running.boxed(),
        progress,
        ended: None,
    };
    stream::unfold(batch, async |mut batch| Some((batch.next().await?, batch))).boxed()
}

impl Batch<'_> {
    async fn next(&mut self) -> Option<WorkEvent> {
        loop {
            tokio::select! {
                biased;
                progress = self.progress.recv() => match progress {
                    Some(progress) => return Some(WorkEvent::Call(progress)),
                    None => return self.ended.take(),
                },
                ended = &mut self.running, if self.ended.is_none() => self.ended = Some(ended),
            }
        }
    }
}

fn returned(action: ActionId, item_id: &str, reports: Vec<ToolReport>) -> WorkEvent {
    let mut usage = Usage::default();
    let mut costs = Vec::new();
    let mut results = Vec::with_capacity(reports.len());
    let mut left = MAX_RESULTS;
    for report in reports {
        let report = within(&mut left, report);
        usage += report.usage;
        costs.push(CallCost {
            item_id: item_id.to_owned(),
            tool: report.result.tool_name.clone(),
            ending: report.ending,
            usage: report.usage,
        });
        results.push(report.result);
    }
    let at = now();
    let event = RunEvent::ToolsReturned {
        at,
        action,
        results,
        usage,
    };
    WorkEvent::Ended(Box::new(event), costs)
}

/// The report without its output when that is more than the `left` bytes; else they become fewer. What waits for a
/// decision is small and is needed as it is.
fn within(left: &mut usize, mut report: ToolReport) -> ToolReport {
    let result = &mut report.result;
    let bytes = serde_json::to_vec(result).map_or(usize::MAX, |json| json.len());
    if bytes <= *left || result.status == ToolStatus::Suspended {
        *left = left.saturating_sub(bytes);
        return report;
    }
    if result.status == ToolStatus::Success {
        result.status = ToolStatus::Error;
        result.code = Some(ToolErrorCode::HostError);
        result.error = Some(format!(
            "Tool \"{}\" ran, but its output was left out: the results of one reply may have {MAX_RESULTS} bytes \
             together; ask for less, or call fewer tools in one reply",
            result.tool_name
        ));
        report.ending = CallEnding::NotRecorded;
    }
    result.output = None;
    result.metadata = ToolResultMetadata {
        retryable: result.metadata.retryable,
        log_digest: result.metadata.log_digest.take(),
        ..ToolResultMetadata::default()
    };
    report
}
