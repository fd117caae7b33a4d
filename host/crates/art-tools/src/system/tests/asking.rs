//! Tests of calls that wait for the decision of a person, because the tool asks for it or because a rule of the approval policy
//! does. A blocking tool declares that it needs decisions. A functional tool, the default, declares nothing, but can ask too.

use std::sync::Arc;

use art_core::hitl::Feedback;
use art_core::outcome::{Ending, Suspension};
use art_core::suspension::SuspendedCall;
use serde_json::{Value, json};

use crate::testing::{ScriptedTool, TestHost, call, schema, success_with};
use crate::{ApprovalPolicy, Verdict};

/// Time of each decision of a person.
const DECISION_TIME: art_core::Timestamp = 5;

/// Returns a tool whose calls end with a question to a person. `form` is the form that the person fills in to answer, if the call
/// sets one. `blocking_config` is what the declaration of the tool says about questions, or null.
fn asking_tool(form: Option<Value>, blocking_config: Value) -> Arc<ScriptedTool> {
    let mut schema = schema("send");
    schema.input_schema = json!({"type": "object", "properties": {"copies": {"type": "integer", "default": 1}}}).into();
    schema.blocking_config = serde_json::from_value(blocking_config).unwrap();
    Arc::new(ScriptedTool::new(schema, move |_| {
        std::future::ready(Ending::Suspended(Suspension {
            message: "sure?".to_owned(),
            details: None,
            preview_data: None,
            feedback_schema: form.clone(),
        }))
    }))
}

/// Calls the tool, and returns the question that it asks.
async fn question(host: &TestHost) -> SuspendedCall {
    let report = host.run(vec![call("send", json!({}))]).await.remove(0);
    *report.suspension.unwrap()
}

#[tokio::test]
async fn a_functional_tool_may_ask_a_person() {
    let host = TestHost::new([asking_tool(None, json!(null))]);
    let report = host.run(vec![call("send", json!({}))]).await.remove(0);
    assert_eq!(
        report.result.metadata.suspension_id,
        report.suspension.map(|question| question.suspension_id)
    );
}

#[tokio::test]
async fn a_question_has_the_arguments_of_the_call_with_defaults() {
    // If the question has a form, the report is made on a worker thread, else on the thread of the call.
    for form in [None, Some(json!({"inputType": "text"}))] {
        let question = question(&TestHost::new([asking_tool(form, json!(null))])).await;
        assert_eq!(question.call, call("send", json!({"copies": 1})));
    }
}

#[tokio::test]
async fn the_time_limit_of_a_question_begins_when_its_call_ends() {
    let mut host = TestHost::new([asking_tool(None, json!({"timeoutMs": 60_000}))]);
    host.scope.now = 1_000_000;
    let expires = question(&host).await.expires.unwrap();
    assert!((1_060_000..1_070_000).contains(&expires), "{expires}");
    let without_limit = TestHost::new([asking_tool(None, json!({}))]);
    assert_eq!(question(&without_limit).await.expires, None);
}

#[tokio::test]
async fn edited_arguments_are_checked_against_the_schema_of_the_tool_that_was_called() {
    let host = TestHost::new([asking_tool(
        None,
        json!({"feedbackSchema": {"inputType": "confirm", "prompt": "?", "allowModifyArgs": true}}),
    )]);
    let mut question = question(&host).await;
    let mut feedback = Feedback::new(true, DECISION_TIME);
    feedback.modified_args = Some(json!({}));
    let checked = host.system.check_feedback(&question, feedback.clone()).unwrap();
    assert_eq!(checked.modified_args, Some(json!({"copies": 1})));
    question.call.tool_name = "gone".to_owned();
    let errors = host.system.check_feedback(&question, feedback).unwrap_err();
    assert!(errors.to_string().contains("does not exist any more"), "{errors}");
}

#[tokio::test]
async fn the_policy_can_ask_about_a_functional_tool_before_it_runs() {
    let mut executor = ScriptedTool::echo("send");
    executor.schema.blocking_config = serde_json::from_value(json!({"riskLevel": "high"})).unwrap();
    let executor = Arc::new(executor);
    let host = TestHost::new([Arc::clone(&executor)]);
    let admitted = host
        .system
        .admit(call("send", json!({"a": 1})), &host.scope)
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

/// Returns a tool whose output is the decision in the context of the call, or null if the call has no decision.
fn tool_returning_its_decision() -> Arc<ScriptedTool> {
    Arc::new(ScriptedTool::new(schema("send"), |call| {
        let decision = serde_json::to_string(&call.context().hitl_context).unwrap();
        std::future::ready(success_with(&decision))
    }))
}

#[tokio::test]
async fn only_the_decided_call_of_a_batch_gets_the_decision() {
    let host = TestHost::new([tool_returning_its_decision()]);
    let admit = async || {
        host.system
            .admit(call("send", json!({"a": 1})), &host.scope)
            .await
            .unwrap()
    };
    let question = admit().await.question_by_rule("a rule", 0);
    let mut feedback = Feedback::new(true, DECISION_TIME);
    feedback.value = Some(json!("main"));
    let decided = admit().await.decided(question.hitl_context(&feedback));
    let (decided, other) = tokio::join!(
        host.system.run(decided, &host.scope),
        host.system.run(admit().await, &host.scope)
    );
    let expected = json!({
        "isResuming": true, "wasApproved": true, "feedback": "main", "suspensionId": question.suspension_id, "originalArgs": {"a": 1},
    });
    assert_eq!(
        (decided.result.output, other.result.output),
        (Some(expected.into()), Some(json!(null).into()))
    );
}
