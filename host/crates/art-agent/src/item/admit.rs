//! Admits the calls of a reply. Calls that are not admitted get an error as their result (B29).

use art_core::agent::{ExecutionConfig, QueryAttachment};
use art_core::error::ToolErrorCode;
use art_core::prompt::Message;
use art_core::tool::{ParsedToolCall, ToolResult};

use super::{ItemRun, Next, bounded};
use crate::call::{CallIds, RawCall, as_request, fingerprint};
use crate::file::Files;
use crate::parse::ExecutionReply;
use crate::{attachment, prompt};

/// Maximum number of identical calls for one item (B30).
const MAX_SAME_CALLS: u32 = 2;

/// What all items of a run share when calls are admitted.
#[derive(Debug)]
pub(crate) struct Gate<'a> {
    pub(crate) trace_id: &'a str,
    pub(crate) attachments: &'a [QueryAttachment],
    pub(crate) files: &'a Files,
    pub(crate) ids: &'a mut CallIds,
    /// Number of calls that the run may still make.
    pub(crate) left: u32,
    pub(crate) config: ExecutionConfig,
}

impl ItemRun {
    pub(super) fn start_batch(&mut self, reply: &ExecutionReply, gate: &mut Gate<'_>) -> Next {
        let mut accepted = Vec::new();
        self.batch.problems.clone_from(&reply.problems);
        for raw in &reply.calls {
            let call = gate.ids.identify(gate.trace_id, raw);
            match self.admit(&call, raw, gate) {
                Ok(()) => accepted.push(call.clone()),
                Err((code, reason)) => self.batch.refused.push(ToolResult::error(&call, code, reason)),
            }
            self.batch.calls.push(call);
        }
        let text = reply
            .content
            .as_str()
            .map_or_else(String::new, |text| prompt::defuse(&bounded(text)));
        let requests = self.batch.calls.iter().map(as_request).collect();
        self.messages.push(Message {
            provider_state: reply.state.clone(),
            ..Message::assistant_calls(&text, requests)
        });
        if accepted.is_empty() {
            return self.returned(&[], &[], gate.config);
        }
        self.calls.extend_from_slice(&accepted);
        Next::Call(accepted)
    }

    fn admit(
        &mut self,
        call: &ParsedToolCall,
        raw: &RawCall,
        gate: &mut Gate<'_>,
    ) -> Result<(), (ToolErrorCode, String)> {
        if let Some(problem) = &raw.problem {
            return Err((ToolErrorCode::ValidationError, problem.clone()));
        }
        if let Some(fault) = attachment::fault(&call.arguments, gate.attachments, gate.files) {
            return Err(fault);
        }
        let same = fingerprint(call);
        if self.denied.contains(&same) {
            let reason = format!(
                "not called: `{}` was denied with exactly these arguments; change them, use another tool, or end the step",
                call.tool_name
            );
            return Err((ToolErrorCode::PermissionDenied, reason));
        }
        let times = self.made.entry(same).or_default();
        if *times >= MAX_SAME_CALLS {
            let reason = format!(
                "not called: this step called `{}` with exactly these arguments {MAX_SAME_CALLS} times before; use the \
                 results above, change the arguments, or end the step",
                call.tool_name
            );
            return Err((ToolErrorCode::ValidationError, reason));
        }
        if gate.left == 0 {
            let limit = format!("the run made its maximum of {} tool calls", gate.config.max_tool_calls);
            self.out_of_calls = true;
            return Err((ToolErrorCode::Cancelled, format!("not called: {limit}")));
        }
        *times += 1;
        gate.left -= 1;
        Ok(())
    }
}
