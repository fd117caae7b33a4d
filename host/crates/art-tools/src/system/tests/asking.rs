use std::sync::Arc;

use art_core::hitl::Feedback;
use art_core::outcome::{Ending, Suspension};
use art_core::suspension::SuspendedCall;
use serde_json::{Value, json};

use crate::testing::{Bench, ScriptedTool, answer, call, schema};
use crate::{ApprovalPolicy, Verdict};

/// Returns a tool that has these settings and asks with this form.
fn asking_tool(form: Option<Value>, config: Value) -> Arc<ScriptedTool> {
    let mut schema = schema("send");
    schema.input_schema = json!({"type": "object", "properties": {"copies": {"type": "integer", "default": 1}}}).into();
    schema.blocking_config = serde_json::from_value(config).unwrap();
    Arc::new(ScriptedTool::new(schema, move |_| {
        std::future::ready(Ending::Suspended(Suspension {
            message: "sure?".to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: form.clone(),
        }))
    }))
}

async fn question(bench: &Bench) -> SuspendedCall {
    let report = bench.run(vec![call("send", json!({}))]).await.remove(0);
    *report.suspension.unwrap()
}

#[tokio::test]
async fn a_functional_tool_may_ask_a_person() {
    let bench = Bench::new([asking_tool(None, json!(null))]);
    let report = bench.run(vec![call("send", json!({}))]).await.remove(0);
    assert_eq!(
        report.result.metadata.suspension_id,
        report.suspension.map(|question| question.suspension_id)
    );
}

#[tokio::test]
async fn a_question_has_the_arguments_of_the_call_with_defaults() {
    for form in [None, Some(json!({"inputType": "text"}))] {
        let question = question(&Bench::new([asking_tool(form, json!(null))])).await;
        assert_eq!(question.call, call("send", json!({"copies": 1})));
    }
}

#[tokio::test]
async fn the_time_limit_of_a_question_begins_when_its_call_ends() {
    let mut bench = Bench::new([asking_tool(None, json!({"timeoutMs": 60_000}))]);
    bench.scope.now = 1_000_000;
    let expires = question(&bench).await.expires.unwrap();
    assert!((1_060_000..1_070_000).contains(&expires), "{expires}");
    let without = Bench::new([asking_tool(None, json!({}))]);
    assert_eq!(question(&without).await.expires, None);
}

#[tokio::test]
async fn edited_arguments_are_checked_against_the_tool_of_the_question() {
    let bench = Bench::new([asking_tool(
        None,
        json!({"feedbackSchema": {"inputType": "confirm", "prompt": "?", "allowModifyArgs": true}}),
    )]);
    let mut question = question(&bench).await;
    let mut feedback = Feedback::new(true, 5);
    feedback.modified_args = Some(json!({}));
    let checked = bench.system.check_feedback(&question, feedback.clone()).unwrap();
    assert_eq!(checked.modified_args, Some(json!({"copies": 1})));
    question.call.tool_name = "gone".to_owned();
    let errors = bench.system.check_feedback(&question, feedback).unwrap_err();
    assert!(errors.to_string().contains("does not exist any more"), "{errors}");
}

#[tokio::test]
async fn the_policy_can_ask_about_a_functional_tool_before_it_runs() {
    let mut executor = ScriptedTool::echo("send");
    executor.schema.blocking_config = serde_json::from_value(json!({"riskLevel": "high"})).unwrap();
    let executor = Arc::new(executor);
    let bench = Bench::new([Arc::clone(&executor)]);
    let admitted = bench
        .system
        .admit(call("send", json!({"a": 1})), &bench.scope)
        .await
        .unwrap();
    let Verdict::Ask { reason } = ApprovalPolicy::default().verdict(admitted.schema(), &admitted.call().arguments)
    else {
        panic!("the policy does not ask");
    };
    let question = admitted.question_by_rule(&reason, 1_000);
    assert_eq!(
        (question.call, executor.call_count()),
        (call("send", json!({"a": 1})), 0)
    );
}

/// Returns a tool whose output is the decision in its context.
fn tool_returning_its_decision() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema("send"), |call| {
        let decision = serde_json::to_string(&call.context().hitl_context).unwrap();
        std::future::ready(answer(&decision))
    }))
}

#[tokio::test]
async fn only_the_decided_call_of_a_batch_gets_the_decision() {
    let bench = Bench::new([tool_returning_its_decision()]);
    let admit = async || {
        bench
            .system
            .admit(call("send", json!({"a": 1})), &bench.scope)
            .await
            .unwrap()
    };
    let question = admit().await.question_by_rule("a rule", 0);
    let mut feedback = Feedback::new(true, 5);
    feedback.value = Some(json!("main"));
    let decided = admit().await.decided(question.context(&feedback));
    let (decided, other) = tokio::join!(
        bench.system.run(decided, &bench.scope),
        bench.system.run(admit().await, &bench.scope)
    );
    let expected = json!({
        "isResuming": true, "wasApproved": true, "feedback": "main", "suspensionId": question.suspension_id, "originalArgs": {"a": 1},
    });
    assert_eq!(
        (decided.result.output, other.result.output),
        (Some(expected), Some(json!(null)))
    );
}
