//! A dry run, which calls a model but no tools.

use art_agent::{Action, ActionId, Run, RunEvent, RunStage, RunStart, sample_output};
use art_core::agent::{AgentProps, ThreadConfig};
use art_core::error::ModelErrorCode;
use art_core::provider::{ModelRequest, RuntimeProviderConfig};
use art_core::stream::PartialReply;
use art_core::tool::{ParsedToolCall, ToolResult, ToolSchema};
use art_core::usage::Usage;
use art_model::ReasoningEngine;
use serde_json::{Value, json};

use crate::config::Config;
use crate::drive::clock::now;
use crate::drive::prepare::{merge_settings, start_for_model};
use crate::drive::{CallSettings, Question};

/// Returns the tool calls that the model makes for `query` with `tools`. The run has the settings of `config` in a new
/// thread. Each call gets a value as its result that its tool may return (see [`sample_output`]), so that the calls that take it
/// are made as well; no tool runs, and nothing is stored.
///
/// # Errors
/// Fails if the model fails, with its message, or if the question is too long.
pub async fn proposed_calls(
    config: &Config,
    engine: &ReasoningEngine,
    model: &RuntimeProviderConfig,
    query: &str,
    tools: &[ToolSchema],
) -> Result<Vec<ParsedToolCall>, String> {
    Question::check(query).map_err(|error| error.to_string())?;
    let props = AgentProps {
        query: query.to_owned(),
        thread_id: "dry run".to_owned(),
        ..AgentProps::default()
    };
    let start = RunStart {
        tools: tools.to_vec(),
        ..start_for_model(&engine.describe(model).map_err(|error| error.to_string())?, props)
    };
    let start = merge_settings(config, ThreadConfig::default(), CallSettings::default(), start);
    let started = RunEvent::Started {
        at: 0,
        start: Box::new(start),
    };
    let (mut run, _) = Run::start(&started).map_err(|error| error.to_string())?;
    let mut proposed = Vec::new();
    while !matches!(run.stage(), RunStage::Synthesis | RunStage::Finished) {
        let Some(action) = run.open_actions().next().and_then(|id| run.action(id)) else {
            break;
        };
        let event = match action {
            Action::CallModel { id, request, .. } => {
                let event = reply_event(engine, model, id, *request).await;
                match &event {
                    // The run retries with the tools in the prompt.
                    RunEvent::ModelFailed { error, .. } if error.code != ModelErrorCode::ToolsNotSupported => {
                        return Err(error.to_string());
                    }
                    _ => event,
                }
            }
            Action::CallTools { id, calls, .. } => {
                let results = calls
                    .iter()
                    .map(|call| ToolResult::success(call, sample_of(call, tools)))
                    .collect();
                proposed.extend(calls);
                RunEvent::ToolsReturned {
                    at: 0,
                    action: id,
                    results,
                    usage: Usage::default(),
                }
            }
        };
        run.apply(&event).map_err(|error| error.to_string())?;
    }
    Ok(proposed)
}

/// Returns a value that a call may return.
fn sample_of(call: &ParsedToolCall, tools: &[ToolSchema]) -> Value {
    let tool = tools.iter().find(|tool| tool.name == call.tool_name);
    tool.map_or_else(|| json!({}), |tool| sample_output(tool, &call.arguments))
}

/// Calls the model, and returns its reply or its error as an event of a run.
pub(crate) async fn reply_event(
    engine: &ReasoningEngine,
    model: &RuntimeProviderConfig,
    action: ActionId,
    request: ModelRequest,
) -> RunEvent {
    let at = now();
    match art_model::collect(engine.call(model, request)).await {
        Ok(reply) => RunEvent::ModelReplied { at, action, reply },
        Err(error) => RunEvent::ModelFailed {
            at,
            action,
            error,
            received: PartialReply::default(),
        },
    }
}
