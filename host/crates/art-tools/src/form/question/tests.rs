use std::sync::Arc;

use art_core::hitl::InputType;
use art_core::tool::RiskLevel;
use serde_json::json;

use super::*;
use crate::testing::{ScriptedTool, call};

/// The time at which each rule asks.
const NOW: Timestamp = 1_000;

/// Returns a tool with this `blocking_config`, its settings for questions.
fn tool(config: Option<Value>) -> RegisteredTool {
    let mut executor = ScriptedTool::echo("send");
    executor.schema.blocking_config = config.map(|config| serde_json::from_value(config).unwrap());
    RegisteredTool::compile(Arc::new(executor)).unwrap()
}

/// Returns what a tool asks if it gives this message and this form, and neither details nor a preview.
fn tool_question(message: &str, form: Option<Value>) -> ToolQuestion {
    ToolQuestion {
        message: message.to_owned(),
        form,
        ..ToolQuestion::default()
    }
}

/// Returns the question that a tool with this `blocking_config` asks.
fn question_with(config: Option<Value>, asked: ToolQuestion) -> SuspendedCall {
    let call = call("send", json!({"to": "Bob", "amount": 10}));
    question_of_tool(&call, &tool(config), asked).unwrap()
}

/// Returns the form of the question that a tool with this `blocking_config` asks with this message and form.
fn form_with(config: Option<Value>, message: &str, form: Option<Value>) -> FeedbackSchema {
    question_with(config, tool_question(message, form)).form
}

#[test]
fn a_question_has_the_call_and_the_digest_of_its_input() {
    let question = question_with(None, tool_question("sure?", None));
    let input = r#"{"to":"Bob","amount":10}"#;
    assert_eq!(question.call.arguments.to_string(), input);
    assert_eq!(
        question.input_digest,
        format!("blake3:{}", blake3::hash(input.as_bytes()).to_hex())
    );
    assert_eq!(question.cause, SuspensionCause::Tool);
    assert_eq!(question.on_expiry, ExpiryAction::Reject);
}

#[test]
fn each_question_has_an_identifier_of_its_own() {
    let id = || question_with(None, tool_question("sure?", None)).suspension_id;
    assert_eq!(id().len(), 36);
    assert_ne!(id(), id());
}

#[test]
fn details_and_preview_are_part_of_the_question() {
    let asked = ToolQuestion {
        details: Some(json!({"files": 3})),
        preview: Some(json!("gone")),
        ..tool_question("sure?", None)
    };
    let question = question_with(None, asked);
    assert_eq!(
        (question.details, question.preview),
        (Some(json!({"files": 3})), Some(json!("gone")))
    );
}

#[test]
fn without_a_form_the_person_approves_or_rejects() {
    assert_eq!(form_with(None, "sure?", None), FeedbackSchema::confirm("sure?"));
    assert_eq!(
        form_with(Some(json!({})), "sure?", Some(json!(null))),
        FeedbackSchema::confirm("sure?")
    );
}

#[test]
fn the_form_of_the_suspension_wins_over_that_of_the_settings() {
    let config = json!({"feedbackSchema": {"inputType": "text", "prompt": ""}});
    assert_eq!(
        form_with(Some(config.clone()), "sure?", None).input_type,
        InputType::Text
    );
    let form = json!({"inputType": "boolean"});
    assert_eq!(
        form_with(Some(config), "sure?", Some(form)).input_type,
        InputType::Boolean
    );
}

#[test]
fn a_form_without_an_input_type_is_the_json_schema_of_a_custom_answer() {
    let schema =
        json!({"type": "object", "properties": {"n": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "integer"}}});
    let form = form_with(None, "sure?", Some(schema));
    assert_eq!(form.input_type, InputType::Custom);
    // The `$ref` is replaced by its target.
    assert_eq!(
        form.custom_schema.unwrap()["properties"]["n"],
        json!({"type": "integer"})
    );
}

#[test]
fn the_message_is_the_prompt_and_the_prompt_of_the_form_becomes_a_hint() {
    let form = json!({"inputType": "text", "prompt": "Name of the branch", "hint": "like main"});
    let form = form_with(None, "Push?", Some(form));
    assert_eq!(form.prompt, "Push?");
    assert_eq!(form.hint.as_deref(), Some("Name of the branch\nlike main"));
    let same = form_with(None, "Push?", Some(json!({"inputType": "text", "prompt": "Push?"})));
    assert_eq!((same.prompt.as_str(), same.hint), ("Push?", None));
}

#[test]
fn without_a_message_the_prompt_is_that_of_the_settings_with_the_arguments() {
    let config = json!({"approvalPrompt": "Send {{amount}} to {{to}}?"});
    assert_eq!(form_with(Some(config.clone()), " ", None).prompt, "Send 10 to Bob?");
    assert_eq!(form_with(Some(config), "sure?", None).prompt, "sure?");
    let form = json!({"inputType": "text", "prompt": "Name of the branch"});
    assert_eq!(form_with(None, "", Some(form)).prompt, "Name of the branch");
    assert_eq!(form_with(None, "", None).prompt, "The tool asks for a decision.");
}

#[test]
fn an_approved_call_runs_unless_the_approval_completes_it() {
    let runs = |config| question_with(config, tool_question("sure?", None)).runs_on_approval;
    assert!(runs(None));
    // `completesOnApproval` is true by default.
    assert!(!runs(Some(json!({}))));
    assert!(!runs(Some(json!({"completesOnApproval": true}))));
    assert!(runs(Some(json!({"completesOnApproval": false}))));
}

#[test]
fn risk_and_retry_are_those_of_the_settings() {
    let question = question_with(
        Some(json!({"riskLevel": "high", "allowRetryOnReject": false})),
        tool_question("sure?", None),
    );
    assert_eq!(
        (question.risk_level, question.allow_retry),
        (Some(RiskLevel::High), false)
    );
    let question = question_with(None, tool_question("sure?", None));
    assert_eq!((question.risk_level, question.allow_retry), (None, true));
}

/// Returns the question of a rule about a call of a tool with this `blocking_config`.
fn rule_question(config: Option<Value>) -> SuspendedCall {
    let call = call("send", json!({"to": "Bob\nApproved."}));
    question_of_rule(&call, &tool(config), "rule 1\nApproved.", NOW)
}

#[test]
fn a_rule_asks_whether_to_approve_a_call_which_then_runs() {
    let question = rule_question(Some(json!({"riskLevel": "high", "allowRetryOnReject": false})));
    let reason = "rule 1\\nApproved.".to_owned();
    assert_eq!(question.cause, SuspensionCause::Rule { reason });
    assert!(question.runs_on_approval && question.form.allow_modify_args && !question.allow_retry);
    assert_eq!(question.form.input_type, InputType::Confirm);
    assert_eq!(
        question.input_digest,
        input_digest(question.call.arguments.to_string().as_bytes())
    );
}

#[test]
fn the_prompt_of_a_rule_is_that_of_the_settings_or_names_the_tool_and_its_risk() {
    let prompt = |config| rule_question(config).form.prompt;
    assert_eq!(
        prompt(Some(json!({"approvalPrompt": "Send to {{to}}?"}))),
        "Send to Bob\\nApproved.?"
    );
    assert_eq!(
        prompt(Some(json!({"riskLevel": "critical"}))),
        "Run `send`? Its risk is critical."
    );
    assert_eq!(prompt(None), "Run `send`?");
}

#[test]
fn the_time_limit_of_the_settings_holds_for_the_question_of_a_rule() {
    assert_eq!(rule_question(Some(json!({"timeoutMs": 500}))).expires, Some(NOW + 500));
    assert_eq!(rule_question(None).expires, None);
}
