//! Checks a call before it runs: whether its tool is enabled and registered (contract M06), whether its arguments are
//! valid (contract M07), and whether it has the grants that it needs. Each refusal has a fixed text (contract T4).

use std::sync::Arc;
use std::time::Duration;

use art_core::capability::CallGrants;
use art_core::error::ToolErrorCode as Code;
use art_core::outcome::{Ending, EndingKind};
use art_core::text::truncate;
use art_core::tool::ParsedToolCall;
use serde_json::Value;
use tokio::time::Instant;

use crate::compiled::RegisteredTool;
use crate::executor::CheckedCall;
use crate::offload::{TimeBudget, offload};
use crate::output::{denial_report, report_without_tool_result};
use crate::registry::ToolRegistry;
use crate::report::{ToolReport, about_tool};
use crate::schema::CompiledSchema;
use crate::scope::CallScope;
use crate::shape::JsonSize;
use crate::violation::Violations;

/// Whether a call must be authorised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Authorization {
    /// The call runs only with the grants that it needs.
    Required,
    /// The call needs no grants, because it is replayed with recorded answers and touches nothing.
    NotRequired,
}

/// Admits a call, or returns the report of its refusal. Only this function creates a [`CheckedCall`], except in tests.
pub(crate) async fn check(
    registry: &ToolRegistry,
    mut call: ParsedToolCall,
    scope: &CallScope,
    authorization: Authorization,
) -> Result<(Arc<RegisteredTool>, CheckedCall), Box<ToolReport>> {
    let refuse = |call, ending, code, text| Box::new(ToolReport::error(call, ending, code, text));
    if !scope.enabled_tools.is_enabled(&call.tool_name).await {
        let text = about_tool(
            &call.tool_name,
            &format!("is not enabled for thread \"{}\".", scope.thread_id),
        );
        return Err(refuse(&call, EndingKind::Disabled, Code::ToolDisabled, text));
    }
    let Some(tool) = registry.tool(&call.tool_name) else {
        let text = about_tool(&call.tool_name, "not found in registry.");
        return Err(refuse(&call, EndingKind::NotFound, Code::ToolNotFound, text));
    };
    let start = Instant::now();
    match check_without_blocking(&tool, call.arguments.take(), scope).await {
        Ok(Ok(valid)) => {
            call.arguments = valid.arguments;
            let grants = match tool.executor.authorize(&call.arguments) {
                Ok(grants) => grants,
                // A replay touches nothing, so it runs with the grants that need no authorisation.
                Err(_) if authorization == Authorization::NotRequired => CallGrants::by_default(),
                Err(denials) => return Err(Box::new(denial_report(&call, &tool, denials))),
            };
            let mut limits = tool.limits;
            // The check used a part of the time limit.
            limits.timeout_ms = limits.timeout_ms.saturating_sub(elapsed_ms(start)).max(1);
            let context = scope.context(&call.call_id);
            let admitted = CheckedCall::new(call, valid.input_json, context, limits, grants, scope.cancel.clone());
            Ok((tool, admitted))
        }
        Ok(Err(violations)) => {
            let name = truncate(&call.tool_name, 200);
            let text = format!("Invalid arguments for tool \"{name}\": {violations}");
            Err(refuse(&call, EndingKind::InvalidArguments, Code::ValidationError, text))
        }
        Err(ending) => Err(Box::new(report_without_tool_result(&call, &ending))),
    }
}

fn elapsed_ms(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Arguments that were filled with defaults and validated.
pub(crate) struct ValidArguments {
    pub(crate) arguments: Value,
    /// The arguments as compact JSON text, which is the input of the tool.
    pub(crate) input_json: String,
}

/// Checks the arguments without blocking other calls: on another thread, unless the check is fast. The inner error
/// describes the violations. The outer error is the ending of the call if the check did not complete.
async fn check_without_blocking(
    tool: &Arc<RegisteredTool>,
    arguments: Value,
    scope: &CallScope,
) -> Result<Result<ValidArguments, String>, Ending> {
    let size = match JsonSize::of_payload(&arguments) {
        Ok(size) => size,
        Err(problem) => return Ok(Err(format!("input is {problem}"))),
    };
    if tool.input_schema.is_light(&size) {
        return Ok(check_arguments(tool, arguments, size));
    }
    let budget = TimeBudget {
        remaining: Duration::from_millis(tool.limits.timeout_ms),
        limit_ms: tool.limits.timeout_ms,
        cancel: &scope.cancel,
    };
    let tool = Arc::clone(tool);
    offload(budget, move || check_arguments(&tool, arguments, size)).await
}

/// Checks arguments as [`check_input`] does, with the schema and the limit of a tool. The error describes the violations.
pub(crate) fn check_arguments(
    tool: &RegisteredTool,
    arguments: Value,
    size: JsonSize,
) -> Result<ValidArguments, String> {
    check_input(&tool.input_schema, tool.limits.input_bytes, "input", arguments, size)
        .map_err(|violations| violations.to_string())
}

/// Fills in the defaults, validates the arguments, and serialises them. The arguments are called `name` in messages.
pub(crate) fn check_input(
    schema: &CompiledSchema,
    max_bytes: u64,
    name: &str,
    mut arguments: Value,
    size: JsonSize,
) -> Result<ValidArguments, Violations> {
    let size = schema
        .fill(&mut arguments, size, usize::try_from(max_bytes).unwrap_or(usize::MAX))
        .map_err(|problem| Violations::of_root(name, &problem.to_string()))?;
    schema.check(&arguments, &size, name)?;
    let input_json = arguments.to_string();
    let bytes = u64::try_from(input_json.len()).unwrap_or(u64::MAX);
    if bytes > max_bytes {
        let text = format!("has {bytes} bytes, more than {max_bytes}");
        return Err(Violations::of_root(name, &text));
    }
    Ok(ValidArguments { arguments, input_json })
}
