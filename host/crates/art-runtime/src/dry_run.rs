//! A dry run, which calls a model but no tools.

use art_agent::{Action, Run, RunEvent, RunStage, RunStart};
use art_core::agent::{AgentProps, ThreadConfig};
use art_core::error::ModelErrorCode;
use art_core::provider::RuntimeProviderConfig;
use art_core::stream::PartialReply;
use art_core::tool::{ParsedToolCall, ToolResult, ToolSchema};
use art_core::usage::Usage;
use art_model::ReasoningEngine;
use serde_json::json;

use crate::config::Config;
use crate::drive::prepare::{merge_settings, start_for_model};
use crate::drive::{CallSettings, Question};

/// Returns the tool calls that the model makes for `query` with `tools`. The run has the settings of `config` in a new
/// thread. Each call gets an empty object as its result; no tool runs, and nothing is stored.
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
                match art_model::collect(engine.call(model, *request)).await {
                    Ok(reply) => RunEvent::ModelReplied {
                        at: 0,
                        action: id,
                        reply,
                    },
                    // The run retries with the tools in the prompt.
                    Err(error) if error.code == ModelErrorCode::ToolsNotSupported => RunEvent::ModelFailed {
                        at: 0,
                        action: id,
                        error,
                        received: PartialReply::default(),
                    },
                    Err(error) => return Err(error.to_string()),
                }
            }
            Action::CallTools { id, calls, .. } => {
                let results = calls.iter().map(|call| ToolResult::success(call, json!({}))).collect();
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
