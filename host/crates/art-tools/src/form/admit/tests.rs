use serde_json::json;

use super::*;
use crate::admission::MAX_PATTERN_BYTES;

/// Admits a form, to which a prompt is added.
fn admit_form(form: Value) -> Result<FeedbackSchema, FormProblem> {
    let mut form = form;
    form["prompt"] = "?".into();
    admit(serde_json::from_value(form).unwrap())
}

fn admit_blocking_config(config: Value) -> Result<BlockingToolConfig, FormProblem> {
    let mut config = serde_json::from_value(config).unwrap();
    admit_config(&mut config)?;
    Ok(config)
}

fn options(count: usize) -> Value {
    (0..count)
        .map(|n| json!({"value": n, "label": format!("option {n}")}))
        .collect()
}

#[test]
fn each_kind_of_form_is_admitted() {
    let forms = [
        json!({"inputType": "boolean", "defaultValue": false}),
        json!({"inputType": "text", "validation": {"pattern": "^[a-z]+$", "minLength": 1, "maxLength": 1}}),
        json!({"inputType": "select", "options": options(MAX_OPTIONS), "defaultValue": MAX_OPTIONS - 1}),
        json!({"inputType": "multiselect", "options": options(3), "validation": {"minSelections": 3}}),
        json!({"inputType": "number", "validation": {"min": 0.5, "max": 0.5}}),
        json!({"inputType": "date", "validation": {"min": "2026-01-31", "max": "2026-02-01"}}),
        json!({"inputType": "datetime", "validation": {"min": "2026-01-31T00:00:00Z"}}),
        json!({"inputType": "file"}),
        json!({"inputType": "confirm"}),
        json!({"inputType": "custom", "customSchema": {"type": "array", "items": {"type": "integer"}}, "defaultValue": [1]}),
        json!({"inputType": "custom"}),
    ];
    for form in forms {
        assert!(admit_form(form.clone()).is_ok(), "{form}");
    }
}

#[test]
fn each_invalid_form_is_refused_with_its_reason() {
    let long = |chars: usize| "x".repeat(chars);
    let too_long = long(MAX_TEXT_CHARS + 1);
    let depth = MAX_DEPTH + 1;
    let nested = serde_json::from_str::<Value>(&format!("{}{}", "[".repeat(depth), "]".repeat(depth))).unwrap();
    let forms = [
        json!({"inputType": "text", "title": too_long}),
        json!({"inputType": "text", "confirmLabel": long(MAX_LABEL_CHARS + 1)}),
        json!({"inputType": "text", "confirmLabel": "OK", "cancelLabel": " OK"}),
        json!({"inputType": "text", "cancelLabel": ""}),
        json!({"inputType": "text", "validation": {"pattern": "a{1000}{1000}"}}),
        json!({"inputType": "text", "validation": {"pattern": "x".repeat(MAX_PATTERN_BYTES + 1)}}),
        json!({"inputType": "text", "validation": {"minLength": 2, "maxLength": 1}}),
        json!({"inputType": "select", "options": options(MAX_OPTIONS + 1)}),
        json!({"inputType": "select"}),
        json!({"inputType": "select", "options": [{"value": 1, "label": "a", "disabled": true}]}),
        json!({"inputType": "select", "options": [{"value": [], "label": "a"}]}),
        json!({"inputType": "select", "options": [{"value": 1, "label": " "}]}),
        json!({"inputType": "select", "options": [{"value": 1, "label": "a"}, {"value": 1.0, "label": "b"}]}),
        json!({"inputType": "select", "options": [{"value": "a", "label": "a", "description": too_long}]}),
        json!({"inputType": "multiselect", "options": options(2), "validation": {"minSelections": 3}}),
        json!({"inputType": "multiselect", "options": options(2), "validation": {"minSelections": 2, "maxSelections": 1}}),
        json!({"inputType": "number", "validation": {"min": "1"}}),
        json!({"inputType": "date", "validation": {"max": "2026-02-30"}}),
        json!({"inputType": "date", "validation": {"min": "2026-02-02", "max": "2026-02-01"}}),
        json!({"inputType": "datetime", "validation": {"min": 5}}),
        json!({"inputType": "number", "defaultValue": "secret"}),
        json!({"inputType": "text", "defaultValue": nested}),
        json!({"inputType": "custom", "customSchema": {"type": "text"}}),
        json!({"inputType": "custom", "customSchema": {"enum": [long(70_000)]}}),
    ];
    let lines = forms.map(|form| admit_form(form).unwrap_err().to_string());
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_form_is_bounded_in_bytes() {
    let form_with = |bytes| json!({"inputType": "custom", "customSchema": {"description": "x".repeat(bytes)}});
    assert!(admit_form(form_with(60_000)).is_ok());
    assert!(matches!(admit_form(form_with(66_000)), Err(FormProblem::TooLarge(_))));
}

#[test]
fn the_default_of_a_confirmation_is_dropped() {
    assert_eq!(
        admit_form(json!({"inputType": "confirm", "defaultValue": true}))
            .unwrap()
            .default_value,
        None
    );
}

#[test]
fn the_blocking_config_of_a_tool_is_bounded() {
    assert_eq!(
        admit_blocking_config(json!({"timeoutMs": 0})),
        Err(FormProblem::Timeout(0))
    );
    assert!(admit_blocking_config(json!({"timeoutMs": 1})).is_ok());
    assert!(admit_blocking_config(json!({"timeoutMs": MAX_WAIT_MS})).is_ok());
    assert_eq!(
        admit_blocking_config(json!({"timeoutMs": MAX_WAIT_MS + 1})),
        Err(FormProblem::Timeout(MAX_WAIT_MS + 1))
    );
    assert!(admit_blocking_config(json!({"approvalPrompt": "x".repeat(MAX_PROMPT_CHARS + 1)})).is_err());
    assert!(admit_blocking_config(json!({"category": "x".repeat(MAX_LABEL_CHARS + 1)})).is_err());
    assert!(admit_blocking_config(json!({"feedbackSchema": {"inputType": "select", "prompt": "?"}})).is_err());
}

#[test]
fn the_references_of_a_schema_are_replaced() {
    let schema = json!({"$defs": {"a": {"type": "integer"}}, "items": {"$ref": "#/$defs/a"}});
    let form = admit_form(json!({"inputType": "custom", "customSchema": schema})).unwrap();
    assert_eq!(form.custom_schema.unwrap()["items"], json!({"type": "integer"}));
}
