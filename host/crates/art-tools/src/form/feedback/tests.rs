use std::sync::Arc;

use art_core::hitl::InputType;
use art_core::suspension::SuspensionCause;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::admission::Root;
use crate::compiled::RegisteredTool;
use crate::form::{ToolQuestion, question_of_tool};
use crate::testing::{ScriptedTool, call};

/// Returns a question that a tool asks with this form.
fn question(mut form: Value) -> SuspendedCall {
    form["prompt"] = "?".into();
    let tool = RegisteredTool::compile(Arc::new(ScriptedTool::echo("send"))).unwrap();
    let asked = ToolQuestion {
        form: Some(form),
        ..ToolQuestion::default()
    };
    question_of_tool(&call("send", json!({"to": "Bob"})), &tool, asked).unwrap()
}

/// Returns a question that a rule of the operator asks with this form.
fn question_of_rule(form: Value) -> SuspendedCall {
    SuspendedCall {
        cause: SuspensionCause::Rule {
            reason: "its risk is high".to_owned(),
        },
        ..question(form)
    }
}

fn feedback(approved: bool, fields: Value) -> Feedback {
    let mut members = match fields {
        Value::Object(members) => members,
        _ => JsonObject::new(),
    };
    members.insert("approved".to_owned(), approved.into());
    members.insert("timestamp".to_owned(), 5.into());
    serde_json::from_value(Value::Object(members)).unwrap()
}

fn input_schema() -> CompiledSchema {
    let schema = json!({
        "type": "object",
        "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "default": 1}},
        "required": ["to"],
        "additionalProperties": false,
    });
    CompiledSchema::new(&schema, Root::Object).unwrap()
}

/// Checks an approval that has these fields besides `approved` and `timestamp`.
fn approve(question: &SuspendedCall, fields: Value) -> Result<Feedback, String> {
    check_feedback(question, Some(&input_schema()), feedback(true, fields)).map_err(|errors| errors.to_string())
}

/// Returns the answer of a valid approval after its check.
fn checked_answer(question: &SuspendedCall, fields: Value) -> Option<Value> {
    approve(question, fields).unwrap().value
}

#[test]
fn an_answer_in_text_input_or_selected_values_is_moved_to_value() {
    let text = question(json!({"inputType": "text"}));
    assert_eq!(checked_answer(&text, json!({"value": "a"})), Some(json!("a")));
    assert_eq!(checked_answer(&text, json!({"textInput": "a"})), Some(json!("a")));
    assert_eq!(
        checked_answer(&text, json!({"value": "a", "textInput": "b", "selectedValues": ["c"]})),
        Some(json!("a"))
    );
    let options = json!([{"value": 1, "label": "one"}]);
    let choices = question(json!({"inputType": "multiselect", "options": options}));
    let checked = approve(&choices, json!({"selectedValues": [1]})).unwrap();
    assert_eq!(
        (checked.value, checked.text_input, checked.selected_values),
        (Some(json!([1])), None, None)
    );
}

#[test]
fn an_approval_needs_an_answer_unless_the_form_makes_it_optional() {
    for form in [
        json!({"inputType": "text"}),
        json!({"inputType": "custom"}),
        json!({"inputType": "file"}),
    ] {
        let errors = approve(&question(form), json!({})).unwrap_err();
        assert_eq!(errors, "value is missing: the question needs an answer");
    }
    let optional = question(json!({"inputType": "text", "validation": {"required": false}}));
    assert_eq!(checked_answer(&optional, json!({})), None);
    assert_eq!(
        checked_answer(&question(json!({"inputType": "confirm"})), json!({})),
        None
    );
}

#[test]
fn null_is_no_answer() {
    let mut approval = feedback(true, json!({}));
    approval.value = Some(json!(null));
    assert!(check_feedback(&question(json!({"inputType": "custom"})), None, approval.clone()).is_err());
    let checked = check_feedback(&question(json!({"inputType": "confirm"})), None, approval).unwrap();
    assert_eq!(checked.value, None);
}

#[test]
fn a_missing_answer_becomes_the_default_answer() {
    let form = json!({"inputType": "number", "defaultValue": 3});
    assert_eq!(checked_answer(&question(form.clone()), json!({})), Some(json!(3)));
    assert_eq!(checked_answer(&question(form), json!({"value": 4})), Some(json!(4)));
}

#[test]
fn the_default_answer_of_a_stored_form_is_checked() {
    let mut stored = question(json!({"inputType": "number", "defaultValue": 3}));
    // Another program may have changed the form after its admission.
    stored.form.default_value = Some(json!("three"));
    assert_eq!(approve(&stored, json!({})).unwrap_err(), "value must be number");
}

#[test]
fn a_rejection_drops_its_answer_and_arguments_unchecked() {
    let question = question(json!({"inputType": "number"}));
    let fields = json!({"value": "not a number", "modifiedArgs": 5, "reason": "too dear"});
    let rejected = check_feedback(&question, None, feedback(false, fields)).unwrap();
    assert_eq!(
        (rejected.approved, rejected.reason.as_deref()),
        (false, Some("too dear"))
    );
    assert_eq!((rejected.value, rejected.modified_args), (None, None));
}

#[test]
fn arguments_may_be_edited_only_if_the_form_or_a_rule_allows_it() {
    let edited = json!({"modifiedArgs": {"to": "Eve"}});
    let errors = approve(&question(json!({"inputType": "confirm"})), edited.clone()).unwrap_err();
    assert_eq!(
        errors,
        "modifiedArgs must be absent: the tool does not allow to edit its arguments"
    );
    assert!(
        approve(
            &question(json!({"inputType": "confirm", "allowModifyArgs": true})),
            edited.clone()
        )
        .is_ok()
    );
    assert!(approve(&question_of_rule(json!({"inputType": "confirm"})), edited).is_ok());
}

#[test]
fn edited_arguments_are_checked_as_those_of_a_call_and_get_their_defaults() {
    let question = question_of_rule(json!({"inputType": "confirm"}));
    let checked = approve(&question, json!({"modifiedArgs": {"to": "Eve"}})).unwrap();
    assert_eq!(checked.modified_args, Some(json!({"to": "Eve", "copies": 1})));
    let errors = approve(&question, json!({"modifiedArgs": {"copies": "two", "cc": 1}})).unwrap_err();
    insta::assert_snapshot!(
        errors,
        @r#"modifiedArgs/copies must be integer, modifiedArgs must not have "cc", allowed: "to", "copies", modifiedArgs must have the property "to""#
    );
    assert_eq!(
        approve(&question, json!({"modifiedArgs": [1]})).unwrap_err(),
        "modifiedArgs must be object"
    );
}

#[test]
fn edited_arguments_of_a_tool_that_is_gone_are_refused() {
    let edited = feedback(true, json!({"modifiedArgs": {"to": "Eve"}}));
    let errors = check_feedback(&question_of_rule(json!({"inputType": "confirm"})), None, edited).unwrap_err();
    assert_eq!(
        errors.to_string(),
        "modifiedArgs cannot be checked: the tool does not exist any more"
    );
}

#[test]
fn every_problem_of_a_decision_is_named() {
    let fields = json!({
        "value": "", "modifiedArgs": {}, "reason": "x".repeat(8_001), "metadata": {"a": "x".repeat(20_000)},
    });
    let errors = approve(&question(json!({"inputType": "text"})), fields).unwrap_err();
    insta::assert_snapshot!(errors.replace(", ", "\n"), @r"
    reason has 8001 characters
    more than 8000: shorten it
    metadata has 20008 bytes as JSON
    more than 16384: leave some out
    value must not be empty
    modifiedArgs must be absent: the tool does not allow to edit its arguments
    ");
}

#[test]
fn the_reason_and_the_metadata_are_kept() {
    let fields = json!({"reason": "fine", "metadata": {"client": "web"}});
    let checked = approve(&question(json!({"inputType": "confirm"})), fields).unwrap();
    assert_eq!(
        (checked.reason.as_deref(), &checked.metadata["client"]),
        (Some("fine"), &json!("web"))
    );
}

/// Returns a strategy for any JSON values that are not too large for a test. Some are dates, and some have the members of a file,
/// so that such answers are tested too.
pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[0-9]{4}-[01][0-9]-[0-3][0-9](T[0-2][0-9]:[0-5][0-9]:[0-5][0-9]Z)?".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let name = prop_oneof![
            "[a-z]{0,3}",
            Just("filename".to_owned()),
            Just("data".to_owned()),
            Just("mediaType".to_owned())
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((name, inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn any_input_type() -> impl Strategy<Value = InputType> {
    prop_oneof![
        Just(InputType::Boolean),
        Just(InputType::Text),
        Just(InputType::Select),
        Just(InputType::Multiselect),
        Just(InputType::Number),
        Just(InputType::Date),
        Just(InputType::Datetime),
        Just(InputType::File),
        Just(InputType::Confirm),
        Just(InputType::Custom),
    ]
}

proptest! {
    #[test]
    fn checking_feedback_never_panics_and_is_idempotent(input_type in any_input_type(), schema_and_default in any_json(), value in any_json(), pattern_and_min in any_json()) {
        let mut question = question(json!({"inputType": "confirm"}));
        // The form is not admitted: another program may have changed it after it was stored.
        question.form.input_type = input_type;
        question.form.custom_schema = Some(schema_and_default.clone());
        question.form.default_value = Some(schema_and_default.clone());
        let validation = json!({"pattern": pattern_and_min.to_string(), "min": pattern_and_min, "minLength": 2});
        question.form.validation = serde_json::from_value(validation).ok();
        let fields = json!({"value": value, "modifiedArgs": value, "selectedValues": [value]});
        let checked = check_feedback(&question, Some(&input_schema()), feedback(true, fields));
        if let Ok(checked) = checked {
            prop_assert!(checked.text_input.is_none() && checked.selected_values.is_none());
            let again = check_feedback(&question, Some(&input_schema()), checked.clone()).unwrap();
            prop_assert_eq!(again, checked);
        }
    }
}
