//! A run of one tool call that a person makes. No model is asked in it.

use art_core::agent::RunStatus;
use art_core::error::{ErrorCode, ToolErrorCode};
use art_core::tool::{ToolResult, ToolStatus};

use super::finish::RunEnding;
use super::{Run, Stage};
use crate::attachment::FileNamePointers;
use crate::call::RawCall;
use crate::effect::Outbox;
use crate::event::CallToMake;
use crate::parse::{DraftItem, PlanDraft};
use crate::report;

/// Identifier of the only step.
const STEP_ID: &str = "call";

impl Run {
    /// Begins a run that makes one call of `tool`: adopts a plan of one step. When the step starts, it makes the call that
    /// the start of the run contains. This call is checked in the same way as every other.
    pub(super) fn begin_direct_call(&mut self, tool: &str, out: &mut Outbox) {
        self.stage = Stage::Planning;
        let step = DraftItem {
            id: STEP_ID.to_owned(),
            description: format!("Call `{tool}`."),
            required_tools: vec![tool.to_owned()],
            ..DraftItem::default()
        };
        let draft = PlanDraft {
            title: Some(format!("Direct call of {tool}")),
            intent: Some("Call a tool".to_owned()),
            items: Some(vec![step]),
            ..PlanDraft::default()
        };
        // No model wrote this plan, so it has no text of a reply.
        self.adopt_plan(draft, "", out);
        self.advance(out);
    }

    /// Returns the call of the only step. Its arguments are data: nothing in them is a reference or names a file.
    pub(super) fn direct_call(call: &CallToMake) -> RawCall {
        RawCall {
            call_id: None,
            tool_name: call.tool_name.clone(),
            arguments: call.arguments.clone(),
            file_name_pointers: FileNamePointers::NONE,
            problem: None,
        }
    }

    /// Returns how the run ends: with the output of the call as it is, or with the reason why there is none.
    pub(super) fn direct_ending(&self, tool: &str) -> RunEnding {
        let step = self.own_items().first();
        let Some((step, result)) = step.and_then(|step| Some((step, step.tool_results.last()?))) else {
            return self.error_ending(&format!("`{tool}` was not called"));
        };
        if result.metadata.rejected {
            return self.error_ending(&format!("a person rejected the call of `{tool}`"));
        }
        if result.status != ToolStatus::Success {
            return self.ending_after_unsuccessful_call(tool, result);
        }
        match report::only_output(step) {
            Some(output) => RunEnding::with_output(output),
            None if result.metadata.for_display => {
                RunEnding::new(RunStatus::Success, format!("`{tool}` has drawn its output."))
            }
            None => RunEnding::new(RunStatus::Success, format!("`{tool}` returned no output.")),
        }
    }

    /// Returns how the run ends if its call was cancelled or failed.
    fn ending_after_unsuccessful_call(&self, tool: &str, result: &ToolResult) -> RunEnding {
        if result.code == Some(ToolErrorCode::Cancelled) {
            return RunEnding::new(RunStatus::Cancelled, format!("The call of `{tool}` was cancelled."));
        }
        let reason = result.error.as_deref().unwrap_or("no reason was given");
        self.error_ending(&format!("the call of `{tool}` failed: {reason}"))
    }

    fn error_ending(&self, reason: &str) -> RunEnding {
        let error = self.art_error(ErrorCode::ToolExecutionFailed, reason);
        RunEnding::new(RunStatus::Error, format!("There is no output: {reason}.")).with_error(error)
    }
}
