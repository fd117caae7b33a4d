//! A dry run of a question: it calls a model but no tools, and returns the tool calls that the model proposes.

use art_agent::{CallEnd, ModelCall, Run, RunEvent, RunStage, RunStart, sample_output};
use art_core::agent::{AgentProps, ThreadConfig};
use art_core::error::ModelErrorCode;
use art_core::outcome::EndingKind;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::{ParsedToolCall, ToolResult, ToolSchema};
use art_model::ReasoningEngine;
use serde_json::json;

use crate::config::Config;
use crate::drive::clock::now;
use crate::drive::prepare::{merge_settings, run_start_for_model};
use crate::drive::{Question, QuestionSettings};

/// Returns the tool calls that the model proposes for `query` with `tools`. The run has the settings of `config` in a new thread.
/// The result of each call is a sample of what its tool may return (see [`sample_output`]), so that calls that use the result are
/// proposed as well. No tool runs, and nothing is stored.
///
/// # Errors
/// Fails with the message of the model if the model fails. Also fails if the model is unknown or the question is too long.
pub async fn proposed_calls(
    config: &Config,
    engine: &ReasoningEngine,
    model: &RuntimeProviderConfig,
    query: &str,
    tools: &[ToolSchema],
) -> Result<Vec<ParsedToolCall>, String> {
    Question::check_text(query).map_err(|error| error.to_string())?;
    let props = AgentProps {
        query: query.to_owned(),
        thread_id: "dry run".to_owned(),
        ..AgentProps::default()
    };
    let start = RunStart {
        tools: tools.to_vec(),
        ..run_start_for_model(&engine.describe(model).map_err(|error| error.to_string())?, props)
    };
    let start = merge_settings(config, ThreadConfig::default(), QuestionSettings::default(), start);
    // Nothing is stored, so the events need no time, and the requests to the model need no digest.
    let at = 0;
    let started = RunEvent::Started {
        at,
        start: Box::new(start),
    };
    let (mut run, _) = Run::start(&started).map_err(|error| error.to_string())?;
    let mut proposed = Vec::new();
    // The run stops before it writes the answer, which calls no tools.
    while !matches!(run.stage(), RunStage::Synthesis | RunStage::Finished) {
        let model_calls = run.ask_models(at, |_| String::new()).calls;
        let calls = run.ready_calls();
        if model_calls.is_empty() && calls.is_empty() {
            break;
        }
        for call in model_calls {
            let event = reply_event(engine, model, call).await;
            match &event {
                // After `ToolsNotSupported` the run asks again with the tools in the prompt.
                RunEvent::ModelFailed { error, .. } if error.code != ModelErrorCode::ToolsNotSupported => {
                    return Err(error.to_string());
                }
                _ => run.apply(&event).map_err(|error| error.to_string())?,
            };
        }
        for call in calls {
            let (action, end) = (call.action, sample_end(&call.call, tools));
            for event in [call.called_event(at), RunEvent::ToolEnded { at, action, end }] {
                run.apply(&event).map_err(|error| error.to_string())?;
            }
            proposed.push(call.call);
        }
    }
    Ok(proposed)
}

/// Returns a successful end of a call with a sample of its output.
fn sample_end(call: &ParsedToolCall, tools: &[ToolSchema]) -> Box<CallEnd> {
    let tool = tools.iter().find(|tool| tool.name == call.tool_name);
    let output = tool.map_or_else(|| json!({}), |tool| sample_output(tool, &call.arguments));
    Box::new(CallEnd::new(ToolResult::success(call, output), EndingKind::Success))
}

/// Calls the model, and returns its reply or its error as an event of a run.
pub(crate) async fn reply_event(engine: &ReasoningEngine, model: &RuntimeProviderConfig, call: ModelCall) -> RunEvent {
    let reply = art_model::collect(engine.call(model, *call.request)).await;
    RunEvent::of_reply(now(), call.id, reply)
}
