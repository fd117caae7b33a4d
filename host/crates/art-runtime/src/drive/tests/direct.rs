//! Direct calls: calls that a person makes, without a model.

use art_agent::CallToMake;
use art_core::tool::ToolStatus;

use super::*;

/// Returns a runtime without a model whose tool `echo` returns its arguments.
async fn echoing_runtime() -> Runtime {
    let schema = json!({"name": "echo", "description": "Returns its arguments.", "inputSchema": {"type": "object"}});
    let tool = DirectTool::new(serde_json::from_value(schema).unwrap(), async |call: DirectCall| {
        success(&call.arguments)
    });
    Runtime::builder().without_model().tool(tool).build().await.unwrap()
}

async fn call(runtime: &Runtime, tool: &str, arguments: Value) -> Result<Answer, RuntimeError> {
    let call = CallToMake {
        tool_name: tool.to_owned(),
        arguments,
    };
    runtime.call_tool(call, CancellationToken::new(), &mut Unwatched).await
}

#[tokio::test]
async fn the_arguments_of_a_direct_call_reach_the_tool_as_they_are() {
    let runtime = echoing_runtime().await;
    // In the calls of a plan, these would be references and literals, which are replaced.
    for arguments in [
        json!({"a": {"$from": "call", "path": "/x"}, "b": [{"$param": "p"}]}),
        json!({"$literal": {"$literal": 1}}),
        json!({"$attachment": "a.csv"}),
        json!({"a": "attachment:a.csv", "b": {"$concat": ["x"]}}),
    ] {
        let answer = call(&runtime, "echo", arguments.clone()).await.unwrap();
        assert_eq!(answer.direct_call_report.unwrap().result.output, Some(arguments.into()));
        assert_eq!(answer.report.response.metadata.llm_calls, 0);
    }
}

#[tokio::test]
async fn the_event_that_announces_a_direct_call_is_committed_before_the_call_is_made() {
    let runtime = Arc::new(echoing_runtime().await);
    let store = Arc::clone(&runtime.store);
    let tool = DirectTool::typed(
        "list_events",
        "Returns the kinds of the events in the journal of the run.",
        move |_: BTreeMap<String, Value>| {
            let store = Arc::clone(&store);
            async move {
                let runs = store.list_runs(RunFilter::default()).await.unwrap();
                let journal = store.read_journal(&runs[0].trace_id).await.unwrap();
                Ok::<_, String>(journal.iter().map(|entry| entry.kind.clone()).collect::<Vec<_>>())
            }
        },
    );
    runtime.tools.registry().register(Arc::new(tool)).unwrap();
    let answer = call(&runtime, "list_events", json!({})).await.unwrap();
    assert_eq!(
        answer.direct_call_report.unwrap().result.output,
        Some(json!(["started", "tool_called"]).into())
    );
}

#[tokio::test]
async fn an_observation_of_a_direct_call_is_stored() {
    let runtime = echoing_runtime().await;
    let answer = call(&runtime, "echo", json!({})).await.unwrap();
    let only_tool_calls = ObservationFilter {
        types: vec![ObservationType::ToolExecution],
        ..ObservationFilter::default()
    };
    let observed = runtime
        .store
        .list_observations(&answer.thread_id, only_tool_calls)
        .await
        .unwrap();
    assert_eq!(observed.len(), 1);
    assert_eq!(observed[0].body.trace_id.as_ref(), Some(&answer.trace_id));
}

#[tokio::test]
async fn a_direct_call_of_a_tool_that_does_not_exist_ends_its_run_with_an_error() {
    let runtime = echoing_runtime().await;
    let answer = call(&runtime, "unknown", json!({})).await.unwrap();
    assert_eq!(
        answer.direct_call_report.as_ref().unwrap().result.status,
        ToolStatus::Error
    );
    let run = runtime.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!((run.status, run.model), (RunState::Error, None));
}

#[tokio::test]
async fn the_run_of_a_question_has_a_model_and_no_report_of_a_direct_call() {
    let (_home, runtime) = runtime_with_population_tool();
    let answer = runtime.ask(question()).await.unwrap();
    let run = runtime.store.get_run(&answer.trace_id).await.unwrap().unwrap();
    assert_eq!(
        (answer.direct_call_report.is_none(), answer.is_direct_call()),
        (true, false)
    );
    assert_eq!(run.model.as_deref(), Some("embedded:lexical"));
}
