//! Runs of the agent with the lexical model.

use art_agent::{CallEnd, Run, RunEvent, RunReport, RunStart};
use art_core::agent::{AgentProps, RunStatus};
use art_core::error::ToolErrorCode;
use art_core::outcome::EndingKind;
use art_core::pes::PesAgentStateData;
use art_core::provider::RuntimeProviderConfig;
use art_core::tool::{ParsedToolCall, ToolResult};
use art_model::{Model, reply};

use super::*;

/// Asks `query` in a conversation with the state `prior`. Every tool call returns 42, but a call with the text `fail` fails.
/// Returns the report, the state afterwards and the tool calls.
fn ask(query: &str, prior: Option<PesAgentStateData>) -> (RunReport, PesAgentStateData, Vec<ParsedToolCall>) {
    let (model, tools) = (model(), tools_with_outputs());
    let props = AgentProps {
        query: query.to_owned(),
        thread_id: "thread".to_owned(),
        ..AgentProps::default()
    };
    let start = RunStart {
        tools,
        prior,
        plans_only: model.plans_only(),
        ..RunStart::new(props, RuntimeProviderConfig::new("embedded", "lexical"))
    };
    let start = Box::new(start);
    let (mut run, _) = Run::start(&RunEvent::Started { at: 0, start }).unwrap();
    let mut calls = Vec::new();
    while run.finished().is_none() {
        // No test needs the digests of the requests, so they are empty.
        for model_call in run.ask_models(0, |_| String::new()).calls {
            let reply = reply(&model, *model_call.request).now_or_never().unwrap().unwrap();
            let action = model_call.id;
            run.apply(&RunEvent::ModelReplied { at: 0, action, reply }).unwrap();
        }
        for ready in run.ready_calls() {
            run.apply(&ready.called_event(0)).unwrap();
            let (action, result) = (ready.action, result_of(&ready.call));
            // A call with an error may say `Success` here: the run decides by the result.
            let end = Box::new(CallEnd::new(result, EndingKind::Success));
            run.apply(&RunEvent::ToolEnded { at: 0, action, end }).unwrap();
            calls.push(ready.call);
        }
    }
    (run.finished().unwrap().clone(), run.state().clone(), calls)
}

fn tools_with_outputs() -> Vec<ToolSchema> {
    let output = json!({"type": "object", "properties": {"result": {"type": "number"}}, "required": ["result"]});
    let with_output = |tool: ToolSchema| ToolSchema {
        output_schema: Some(output.clone().into()),
        ..tool
    };
    tools().into_iter().map(with_output).collect()
}

fn result_of(call: &ParsedToolCall) -> ToolResult {
    if call.arguments["text"] == "fail" {
        return ToolResult::error(call, ToolErrorCode::IoError, "the text is unreadable");
    }
    ToolResult::success(call, json!({"result": 42}))
}

#[test]
fn a_question_costs_two_model_calls_however_many_parts_it_has() {
    let (report, _, calls) = ask(
        "What is 6*7? What is that divided by 2? Convert 3 miles to kilometres",
        None,
    );
    let metadata = &report.response.metadata;
    assert_eq!((metadata.status, metadata.llm_calls), (RunStatus::Success, 2));
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[2].arguments["expression"], "(42) divided by 2");
}

#[test]
fn each_follow_up_in_a_thread_takes_two_model_calls_and_calls_its_tools_again() {
    let mut state = None;
    for query in [
        "What is 6*7?",
        "What is 6*7?",
        "What is that divided by 2?",
        "What is that divided by 2?",
        "How many kilograms are 150 pounds? What is the result divided by 3?",
        "What is 6*7?",
    ] {
        let (report, after, calls) = ask(query, state);
        assert_eq!(report.response.metadata.status, RunStatus::Success, "{query}");
        assert_eq!(report.response.metadata.llm_calls, 2, "{query}");
        assert_eq!(calls.len(), query.matches('?').count(), "{query}");
        state = Some(after);
    }
}

#[test]
fn the_step_of_a_failed_tool_call_fails_without_another_model_call() {
    let (report, ..) = ask("How many words are in \"fail\"? What is 6*7?", None);
    let metadata = &report.response.metadata;
    assert_eq!((metadata.status, metadata.llm_calls), (RunStatus::Partial, 2));
    insta::assert_snapshot!(report.response.response.content, @r#"
    How many words are in "fail": failed, the text is unreadable

    6*7: 42
    "#);
}

#[test]
fn a_step_that_waits_for_one_that_failed_is_not_done() {
    let (report, _, calls) = ask("How many words are in \"fail\"? What is that divided by 2?", None);
    assert_eq!((report.response.metadata.llm_calls, calls.len()), (2, 1));
    insta::assert_snapshot!(report.response.response.content, @r#"
    How many words are in "fail": failed, the text is unreadable

    That divided by 2: not done, it was not started: it depends on `step_1`, which was not completed
    "#);
}
