use art_core::hitl::FeedbackSchema;
use serde_json::json;

use super::*;
use crate::shape::MAX_DEPTH;

/// Returns an admitted form, to which a prompt was added.
fn form(mut form: Value) -> FeedbackSchema {
    form["prompt"] = "?".into();
    crate::form::admit(serde_json::from_value(form).unwrap()).unwrap()
}

/// Returns the problems of an answer, or `valid`.
fn problems(form: &FeedbackSchema, answer: &Value) -> String {
    match check_answer(form, answer, "value") {
        Ok(()) => "valid".to_owned(),
        Err(violations) => violations.to_string(),
    }
}

/// Asserts that each of `valid` is an answer to the form and none of `invalid` is.
fn assert_answers(form_json: Value, valid: &[Value], invalid: &[Value]) {
    let form = form(form_json);
    for answer in valid {
        assert_eq!(problems(&form, answer), "valid", "{answer}");
    }
    for answer in invalid {
        assert_ne!(problems(&form, answer), "valid", "{answer}");
    }
}

fn colours() -> Value {
    json!([
        {"value": "red", "label": "Red"},
        {"value": 2, "label": "Green"},
        {"value": true, "label": "Blue"},
        {"value": "black", "label": "Black", "disabled": true},
    ])
}

#[test]
fn a_boolean_is_true_or_false() {
    assert_answers(
        json!({"inputType": "boolean"}),
        &[json!(true), json!(false)],
        &[json!("true"), json!(1), json!([])],
    );
}

#[test]
fn a_text_has_the_required_length_and_pattern() {
    let rules = json!({"minLength": 2, "maxLength": 3, "pattern": "^[a-zé]+$"});
    assert_answers(
        json!({"inputType": "text", "validation": rules}),
        &[json!("ab"), json!("éé"), json!("abc")],
        &[
            json!(""),
            json!("a"),
            json!("abcd"),
            json!("AB"),
            json!(12),
            json!(["ab"]),
        ],
    );
}

#[test]
fn an_empty_text_is_valid_only_if_the_answer_is_optional() {
    assert_answers(json!({"inputType": "text"}), &[json!(" ")], &[json!("")]);
    assert_answers(
        json!({"inputType": "text", "validation": {"required": false}}),
        &[json!("")],
        &[],
    );
}

#[test]
fn a_choice_is_the_value_of_an_enabled_option() {
    assert_answers(
        json!({"inputType": "select", "options": colours()}),
        &[json!("red"), json!(2), json!(true)],
        &[json!("Red"), json!("2"), json!("black"), json!(["red"]), json!("")],
    );
}

#[test]
fn several_choices_are_distinct_values_of_enabled_options() {
    assert_answers(
        json!({"inputType": "multiselect", "options": colours(), "validation": {"minSelections": 1, "maxSelections": 2}}),
        &[json!(["red"]), json!([true, 2])],
        &[
            json!([]),
            json!(["red", "red"]),
            json!(["red", 2, true]),
            json!(["black"]),
            json!("red"),
        ],
    );
    assert_answers(
        json!({"inputType": "multiselect", "options": colours()}),
        &[json!(["red"])],
        &[json!([])],
    );
    let optional = json!({"inputType": "multiselect", "options": colours(), "validation": {"required": false}});
    assert_answers(optional, &[json!([])], &[]);
}

#[test]
fn a_number_is_within_its_bounds() {
    assert_answers(
        json!({"inputType": "number", "validation": {"min": -1, "max": 2.5}}),
        &[json!(-1), json!(2.5), json!(0)],
        &[json!(-1.1), json!(3), json!("1"), json!(1e300)],
    );
}

#[test]
fn a_date_is_a_real_day_within_its_bounds() {
    assert_answers(
        json!({"inputType": "date", "validation": {"min": "2024-02-28", "max": "2024-03-01"}}),
        &[json!("2024-02-28"), json!("2024-02-29"), json!("2024-03-01")],
        &[
            json!("2024-02-27"),
            json!("2024-03-02"),
            json!("2023-02-29"),
            json!("2024-2-29"),
            json!(20_240_229),
            json!(""),
        ],
    );
}

#[test]
fn a_time_is_compared_by_its_instant() {
    assert_answers(
        json!({"inputType": "datetime", "validation": {"min": "2024-01-01T12:00:00Z"}}),
        &[json!("2024-01-01T12:00:00Z"), json!("2024-01-01T13:00:00+01:00")],
        &[
            json!("2024-01-01T12:30:00+01:00"),
            json!("2024-01-01"),
            json!("2024-01-01T12:00:00"),
        ],
    );
}

#[test]
fn a_file_has_a_name_a_media_type_and_content() {
    let file =
        |name: &str, media_type: &str, data: &str| json!({"filename": name, "mediaType": media_type, "data": data});
    let mut with_path = file("a.csv", "text/csv", "eCx5");
    with_path["path"] = json!("/etc/passwd");
    assert_answers(
        json!({"inputType": "file"}),
        &[file("a.csv", "text/csv", "eCx5"), file("empty", "text/plain", "")],
        &[
            file("../a", "text/csv", ""),
            file("a", "text", ""),
            file("a", "a/b", "?"),
            with_path,
            json!("eCx5"),
            json!({}),
        ],
    );
}

// The approval is given apart from the answer.
#[test]
fn a_confirmation_has_no_answer() {
    assert_answers(
        json!({"inputType": "confirm"}),
        &[],
        &[json!(true), json!({}), json!("")],
    );
}

#[test]
fn a_custom_answer_is_valid_under_its_schema() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {"n": {"type": "integer", "minimum": 1}}});
    assert_answers(
        json!({"inputType": "custom", "customSchema": schema}),
        &[json!({"n": 1}), json!({"n": 2, "m": []})],
        &[json!({}), json!({"n": 0}), json!([]), json!("")],
    );
    assert_answers(json!({"inputType": "custom"}), &[json!({"any": [1]}), json!(0)], &[]);
}

#[test]
fn an_answer_is_bounded_in_size_and_depth() {
    let depth = MAX_DEPTH + 1;
    let deep = serde_json::from_str::<Value>(&format!("{}{}", "[".repeat(depth), "]".repeat(depth))).unwrap();
    let long = json!("x".repeat(MAX_ANSWER_BYTES));
    // The quotes of a JSON string are two of its bytes.
    assert_answers(
        json!({"inputType": "custom"}),
        &[json!("x".repeat(MAX_ANSWER_BYTES - 2))],
        &[deep, long.clone()],
    );
    assert_answers(json!({"inputType": "text"}), &[], &[long]);
    let file = json!({"filename": "f", "mediaType": "a/b", "data": "A".repeat(MAX_FILE_JSON_BYTES)});
    assert_answers(json!({"inputType": "file"}), &[], &[file]);
}

#[test]
fn a_file_of_the_maximum_size_is_an_answer() {
    let file = crate::form::file_answer(&"n".repeat(255), "text/plain", &vec![1; MAX_FILE_BYTES]).unwrap();
    assert_answers(json!({"inputType": "file"}), &[file], &[]);
}

#[test]
fn messages_name_each_problem_but_never_quote_the_answer() {
    let text_form = |rules: Value| json!({"inputType": "text", "validation": rules});
    let person = json!({"type": "object", "required": ["name"], "properties": {"age": {"type": "integer"}}});
    let secret = "Secret-1";
    let cases = [
        (text_form(json!({"maxLength": 3, "pattern": "^[a-z]+$"})), json!(secret)),
        (
            text_form(json!({"pattern": "^[a-z]+$", "patternMessage": "lower case letters only"})),
            json!(secret),
        ),
        (json!({"inputType": "select", "options": colours()}), json!(secret)),
        (
            json!({"inputType": "multiselect", "options": colours(), "validation": {"maxSelections": 1}}),
            json!(["red", secret]),
        ),
        (json!({"inputType": "number", "validation": {"min": 10}}), json!(9)),
        (json!({"inputType": "date"}), json!(secret)),
        (
            json!({"inputType": "date", "validation": {"max": "2024-01-01"}}),
            json!("2024-01-02"),
        ),
        (
            json!({"inputType": "datetime", "validation": {"min": "2024-01-01T00:00:00Z"}}),
            json!("2023-01-02T00:00:00Z"),
        ),
        (
            json!({"inputType": "file"}),
            json!({"filename": "a/b", "mediaType": secret, "data": secret}),
        ),
        (json!({"inputType": "file"}), json!({"filename": 1})),
        (json!({"inputType": "confirm"}), json!(secret)),
        (
            json!({"inputType": "custom", "customSchema": person}),
            json!({"age": secret}),
        ),
        (json!({"inputType": "text"}), json!("")),
        (json!({"inputType": "text"}), json!("x".repeat(70_000))),
    ];
    let lines = cases.map(|(form_json, answer)| problems(&form(form_json), &answer));
    assert!(lines.iter().all(|line| !line.contains(secret)), "{lines:?}");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_answer_that_is_too_long_for_its_costly_pattern_is_refused() {
    let form =
        form(json!({"inputType": "text", "validation": {"pattern": "(a|b)*a(a|b){500}c", "patternMessage": "no"}}));
    let text = problems(&form, &json!("a".repeat(60_000)));
    assert!(text.contains("too large"), "{text}");
}
