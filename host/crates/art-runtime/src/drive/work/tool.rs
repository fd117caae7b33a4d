//! Carries out a tool call.

use art_agent::{ActionId, RunEvent, ToolCall};
use art_core::error::ToolErrorCode;
use art_store::digest;
use art_tools::{AdmittedCall, CallProgress, CallScope, ToolReport};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream, StreamExt};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::event::{EndedCall, WorkEvent};
use super::files;
use crate::drive::clock::now;
use crate::runtime::Runtime;

/// A call that passed all checks, to be made once the event that announces it is committed.
pub(in crate::drive) struct AnnouncedCall {
    action: ActionId,
    item_id: String,
    admitted: AdmittedCall,
    scope: CallScope,
}

/// Inserts the files that a call names, and checks it. Returns the call with the event that announces it, or the report of its refusal.
pub(super) async fn admit(
    runtime: &Runtime,
    call: ToolCall,
    scope: &CallScope,
) -> Result<(AnnouncedCall, RunEvent), Box<ToolReport>> {
    let ToolCall {
        action,
        item_id,
        mut call,
        files,
    } = call;
    let scope = CallScope {
        parent_id: Some(item_id.clone()),
        ..scope.clone()
    };
    let inserted = files::insert_files(runtime.store.as_ref(), &scope.thread_id, &mut call.arguments, &files).await;
    if let Err(reason) = inserted {
        return Err(Box::new(ToolReport::not_run(&call, ToolErrorCode::IoError, reason)));
    }
    let admitted = runtime.tools.admit(call, &scope).await?;
    let event = RunEvent::ToolCalled {
        at: now(),
        action,
        item_id: item_id.clone(),
        call_id: admitted.call().call_id.clone(),
        tool_name: admitted.call().tool_name.clone(),
        tool_digest: admitted.tool_digest().map(str::to_owned),
        input: digest(admitted.input_json().as_bytes()),
    };
    let announced = AnnouncedCall {
        action,
        item_id,
        admitted,
        scope,
    };
    Ok((announced, event))
}

/// A tool call in progress.
struct RunningCall<'a> {
    /// The call. When it ends, `progress` closes, because it owns its only sender.
    running: BoxFuture<'a, WorkEvent>,
    /// Receives progress only while `running` is polled, so a slow driver does not let it grow.
    progress: UnboundedReceiver<CallProgress>,
    /// The result of `running`, kept until all progress was returned.
    ended: Option<WorkEvent>,
}

/// Runs the call. Returns a stream of its progress, and then exactly one event of its end.
pub(super) fn run(runtime: &Runtime, call: AnnouncedCall) -> BoxStream<'_, WorkEvent> {
    let (sender, progress) = unbounded_channel();
    let AnnouncedCall {
        action,
        item_id,
        admitted,
        scope,
    } = call;
    let running = async move {
        let scope = CallScope {
            progress: Some(sender),
            ..scope
        };
        let report = runtime.tools.run(admitted, &scope).await;
        WorkEvent::ToolEnded(Box::new(EndedCall {
            action,
            item_id,
            report,
        }))
    };
    let call = RunningCall {
        running: running.boxed(),
        progress,
        ended: None,
    };
    stream::unfold(call, async |mut call| Some((call.next().await?, call))).boxed()
}

impl RunningCall<'_> {
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
