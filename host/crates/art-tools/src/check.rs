//! The checks before a call, in the order and with the texts of T4.

use std::sync::Arc;

use art_core::error::ToolErrorCode as Code;
use art_core::text::truncate;
use art_core::tool::ParsedToolCall;
use serde_json::Value;

use crate::compiled::Tool;
use crate::defaults;
use crate::executor::Admitted;
use crate::output::{Answer, about};
use crate::registry::ToolRegistry;
use crate::report::CallEnding;
use crate::scope::CallScope;
use crate::shape::{MAX_DEPTH, MAX_NODES, Shape};

/// A call that was refused, with its answer.
pub(crate) struct Refused {
    pub(crate) call: ParsedToolCall,
    pub(crate) answer: Answer,
}

/// Admits a call, or refuses it with the answer it gets. The only maker of an [`Admitted`].
pub(crate) async fn check(
    registry: &ToolRegistry,
    mut call: ParsedToolCall,
    scope: &CallScope,
) -> Result<(Arc<Tool>, Admitted), Box<Refused>> {
    let refuse = |call: ParsedToolCall, ending, code, text| {
        let answer = Answer::error(&call, ending, code, text);
        Box::new(Refused { call, answer })
    };
    if !scope.enabled_tools.allow(&call.tool_name).await {
        let text = about(&call, &format!("is not enabled for thread \"{}\".", scope.thread_id));
        return Err(refuse(call, CallEnding::Disabled, Code::ToolDisabled, text));
    }
    let Some(tool) = registry.tool(&call.tool_name) else {
        let text = about(&call, "not found in registry.");
        return Err(refuse(call, CallEnding::NotFound, Code::ToolNotFound, text));
    };
    match check_arguments(&tool, &mut call.arguments) {
        Ok(input_json) => {
            let context = scope.context(&call.call_id);
            let cancel = scope.cancel.clone();
            let admitted = Admitted::new(call, input_json, context, tool.limits, cancel);
            Ok((tool, admitted))
        }
        Err(violations) => {
            let name = truncate(&call.tool_name, 200);
            let text = format!("Invalid arguments for tool \"{name}\": {violations}");
            Err(refuse(call, CallEnding::InvalidArguments, Code::ValidationError, text))
        }
    }
}

/// Fills in the defaults, validates, and writes the text that the tool is given.
fn check_arguments(tool: &Tool, arguments: &mut Value) -> Result<String, String> {
    let measure = |arguments: &Value| {
        Shape::measure(arguments, MAX_DEPTH, MAX_NODES).map_err(|problem| format!("input is {problem}"))
    };
    let mut shape = measure(arguments)?;
    if tool.fills_defaults {
        let max_bytes = usize::try_from(tool.limits.input_bytes).unwrap_or(usize::MAX);
        defaults::fill(tool.input.source(), arguments, max_bytes).map_err(|problem| format!("input {problem}"))?;
        shape = measure(arguments)?;
    }
    tool.input
        .check(arguments, &shape, "input")
        .map_err(|violations| violations.to_string())?;
    let text = arguments.to_string();
    let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
    if bytes > tool.limits.input_bytes {
        return Err(format!(
            "input has {bytes} bytes, more than {}",
            tool.limits.input_bytes
        ));
    }
    Ok(text)
}
