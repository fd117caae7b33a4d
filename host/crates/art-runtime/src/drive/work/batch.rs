//! Carries out the tool calls of one reply.

use art_agent::{ActionId, FileArgument, RunEvent};
use art_core::error::ToolErrorCode;
use art_core::tool::{ParsedToolCall, ToolResultMetadata, ToolStatus};
use art_core::usage::Usage;
use art_tools::{CallEnding, CallProgress, CallScope, ToolReport};
use futures_util::StreamExt;
use futures_util::future::{BoxFuture, FutureExt};
use futures_util::stream::{self, BoxStream};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::event::WorkEvent;
use super::files;
use crate::drive::answer::CallCost;
use crate::drive::clock::now;
use crate::runtime::Runtime;

/// Maximum size of the results of one reply as JSON, in bytes. They are one entry of the journal, of which a store
/// accepts 16 MiB. The difference is for the messages that replace omitted outputs.
const MAX_RESULTS: usize = 12 << 20;

/// Tool calls in progress.
struct Batch<'a> {
    /// The calls. When they end, `progress` closes, because they own its only sender.
    running: BoxFuture<'a, WorkEvent>,
    /// Receives progress only while `running` is polled, so a slow driver does not let it grow.
    progress: UnboundedReceiver<CallProgress>,
    /// The result of `running`, kept until all progress was returned.
    ended: Option<WorkEvent>,
}

/// Calls the tools. Returns a stream of their progress, and then exactly one event for the journal.
pub(super) fn call_tools(
    runtime: &Runtime,
    action: ActionId,
    item_id: String,
    (calls, files): (Vec<ParsedToolCall>, Vec<FileArgument>),
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
        let (calls, refused) = files::insert_files(store, &scope.thread_id, calls, &files).await;
        let mut reports = refused;
        reports.extend(runtime.tools.execute_batch(calls, &scope).await);
        files::store_files(store, &scope.trace_id, &mut reports).await;
        end_event(action, &item_id, reports)
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
                    Some(progress) => return Some(WorkEvent::ToolProgress(progress)),
                    None => return self.ended.take(),
                },
                ended = &mut self.running, if self.ended.is_none() => self.ended = Some(ended),
            }
        }
    }
}

/// Creates the journal event of the reports, with the cost of each call.
fn end_event(action: ActionId, item_id: &str, reports: Vec<ToolReport>) -> WorkEvent {
    let mut usage = Usage::default();
    let mut costs = Vec::new();
    let mut results = Vec::with_capacity(reports.len());
    let mut remaining = MAX_RESULTS;
    for report in reports {
        let report = limit_output(&mut remaining, report);
        usage += report.usage;
        costs.push(CallCost {
            item_id: item_id.to_owned(),
            tool: report.result.tool_name.clone(),
            ending: report.ending,
            usage: report.usage,
            tool_digest: report.digest.clone(),
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

/// Returns the report, without its output if its result exceeds the `remaining` bytes. Otherwise subtracts the size of the
/// result from `remaining`. The result of a suspended call is small and always kept.
fn limit_output(remaining: &mut usize, mut report: ToolReport) -> ToolReport {
    let result = &mut report.result;
    let bytes = serde_json::to_vec(result).map_or(usize::MAX, |json| json.len());
    if bytes <= *remaining || result.status == ToolStatus::Suspended {
        *remaining = remaining.saturating_sub(bytes);
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
