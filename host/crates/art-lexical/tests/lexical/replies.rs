use art_core::error::ToolErrorCode;
use art_core::task::AnswerTask;
use art_core::tool::{ParsedToolCall, ToolResult};

use super::*;

fn call() -> ParsedToolCall {
    ParsedToolCall {
        call_id: "c".to_owned(),
        tool_name: "calculate".to_owned(),
        arguments: json!({}),
    }
}

fn after(result: ToolResult) -> Value {
    let task = StepTask {
        description: "What is 2+2?".to_owned(),
        tools: tools(),
        results: vec![result],
        ..StepTask::default()
    };
    serde_json::from_str(&reply(Task::Step(task), Phase::Execution).text).unwrap()
}

#[test]
fn a_step_ends_with_the_result_of_its_call() {
    let ended = after(ToolResult::success(&call(), json!({"result": 4})));
    assert_eq!(ended, json!({"content": "", "nextStepDecision": "complete_item"}));
}

#[test]
fn a_step_fails_with_the_reason_of_its_tool() {
    let ended = after(ToolResult::error(
        &call(),
        ToolErrorCode::ValidationError,
        "division by zero",
    ));
    assert_eq!(
        ended,
        json!({"content": "division by zero", "nextStepDecision": "fail_item"})
    );
}

#[test]
fn new_steps_are_numbered_on_and_may_refer_to_the_last_one_that_is_done() {
    let done = TaskStep {
        id: "step_4".to_owned(),
        description: "What is 2+2?".to_owned(),
        outcome: StepOutcome::Completed {
            result: json!({"result": 4}),
            sources: Vec::new(),
        },
    };
    let task = PlanTask {
        query: "What is that divided by 2?".to_owned(),
        tools: tools(),
        earlier: vec![done],
        ..PlanTask::default()
    };
    let step = &plan(task)["todoList"][0];
    assert_eq!(
        (&step["id"], &step["dependencies"]),
        (&json!("step_5"), &json!(["step_4"]))
    );
}

#[test]
fn the_answer_shows_results_failures_and_what_no_tool_can_do() {
    let step = |id: &str, description: &str, outcome| TaskStep {
        id: id.to_owned(),
        description: description.to_owned(),
        outcome,
    };
    let done = StepOutcome::Completed {
        result: json!({"result": 4}),
        sources: Vec::new(),
    };
    let task = AnswerTask {
        query: "q".to_owned(),
        plan: "Call `calculate` for \"2+2\".\nNo tool fits \"x\": no example is like it.".to_owned(),
        steps: vec![
            step("a", "What is 2+2?", done),
            step("b", "What is 1/0?", StepOutcome::Failed("division by zero".to_owned())),
            step("c", "1+1", StepOutcome::Unfinished("it waits".to_owned())),
        ],
    };
    let reply = reply(Task::Answer(task), Phase::Synthesis);
    insta::assert_snapshot!(reply.text, @r#"
    <mainContent>
    2+2: 4

    1/0: failed, division by zero

    1+1: not done, it waits

    No tool fits "x": no example is like it.
    </mainContent>
    <uiMetadata>{"sources":[]}</uiMetadata>
    "#);
    assert_eq!(reply.unanswered, ["No tool fits \"x\": no example is like it."]);
}

#[test]
fn a_request_without_a_task_is_told_what_the_model_cannot_do() {
    let request = ModelRequest::new(ArtStandardPrompt::default(), Phase::Synthesis);
    let reply = art_model::reply(&crate::model(), request)
        .now_or_never()
        .unwrap()
        .unwrap();
    assert!(reply.text.contains("cannot reply to a prompt"));
}

#[test]
fn that_refers_to_the_value_that_the_answer_shows() {
    let table = json!({"rows": [{"sum_price": 16}], "columns": ["sum_price"], "row_count": 1});
    let task = StepTask {
        description: "What is that divided by 2?".to_owned(),
        tools: tools(),
        earlier: vec![TaskStep {
            id: "step_1".to_owned(),
            description: "What is the sum of price?".to_owned(),
            outcome: StepOutcome::Completed {
                result: table,
                sources: Vec::new(),
            },
        }],
        ..StepTask::default()
    };
    let reply: Value = serde_json::from_str(&reply(Task::Step(task), Phase::Execution).text).unwrap();
    assert_eq!(
        reply["toolCalls"][0]["arguments"],
        json!({"expression": "16 divided by 2"})
    );
}
