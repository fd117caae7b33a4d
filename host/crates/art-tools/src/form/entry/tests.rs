use art_core::hitl::Feedback;
use art_core::suspension::SuspendedCall;
use art_core::tool::ParsedToolCall;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::form::{admit, check_feedback, file_answer};
use crate::shape::MAX_DEPTH;

/// Returns an admitted form of this type, with a prompt and the members of `more`.
fn form(input_type: &str, more: Value) -> FeedbackSchema {
    let mut members = match more {
        Value::Object(members) => members,
        _ => art_core::JsonObject::new(),
    };
    members.insert("inputType".to_owned(), input_type.into());
    members.insert("prompt".to_owned(), "?".into());
    admit(serde_json::from_value(Value::Object(members)).unwrap()).unwrap()
}

/// Returns the answer that a person gives by typing `text`.
fn parsed_answer(form: &FeedbackSchema, text: &str) -> Value {
    match parse_entry(form, text) {
        Ok(Entry::Value(value)) => value,
        other => panic!("{text}: {other:?}"),
    }
}

/// Returns the error message that a person gets after typing `text`.
fn entry_error(form: &FeedbackSchema, text: &str) -> String {
    parse_entry(form, text).unwrap_err()
}

fn colour_options() -> Value {
    json!({"options": [
        {"value": "r", "label": "Red"},
        {"value": 7, "label": "Green, light"},
        {"value": "b", "label": "Blue", "disabled": true},
        {"value": 1, "label": "Black"},
    ]})
}

#[test]
fn yes_and_no_have_several_spellings() {
    let form = form("boolean", json!({}));
    for text in ["yes", "Y", " true \n"] {
        assert_eq!(parsed_answer(&form, text), json!(true));
    }
    for text in ["no", "N", "FALSE"] {
        assert_eq!(parsed_answer(&form, text), json!(false));
    }
    assert_eq!(entry_error(&form, "maybe"), "type `yes` or `no`");
}

#[test]
fn a_text_keeps_its_spaces_but_not_its_end_of_line() {
    let form = form("text", json!({}));
    assert_eq!(parsed_answer(&form, " a \"b\" \r\n"), json!(" a \"b\" "));
    assert_eq!(parsed_answer(&form, " "), json!(" "));
}

#[test]
fn an_empty_line_is_no_answer() {
    let forms = [
        ("text", json!({})),
        ("number", json!({})),
        ("multiselect", colour_options()),
        ("file", json!({})),
        ("confirm", json!({})),
    ];
    for (input_type, more) in forms {
        assert_eq!(parse_entry(&form(input_type, more), "\n"), Ok(Entry::Nothing));
    }
    assert_eq!(parse_entry(&form("date", json!({})), "  "), Ok(Entry::Nothing));
}

#[test]
fn a_number_may_be_written_in_several_ways() {
    let form = form("number", json!({}));
    for (text, number) in [
        ("12", json!(12)),
        ("-0.5", json!(-0.5)),
        ("+5", json!(5.0)),
        (".5", json!(0.5)),
        ("1e3", json!(1000.0)),
    ] {
        assert_eq!(parsed_answer(&form, text), number);
    }
    for text in ["twelve", "1,5", "NaN", "inf", "1e999", "0x10"] {
        assert_eq!(entry_error(&form, text), "type a number such as 12 or 0.5", "{text}");
    }
}

#[test]
fn an_option_is_chosen_by_its_label_its_value_or_its_number() {
    let form = form("select", colour_options());
    for text in ["Red", "red", "r", "#1"] {
        assert_eq!(parsed_answer(&form, text), json!("r"), "{text}");
    }
    for text in ["green, light", "7", "2", "#2"] {
        assert_eq!(parsed_answer(&form, text), json!(7), "{text}");
    }
}

#[test]
fn an_entry_that_may_mean_several_options_is_refused() {
    let form = form("select", colour_options());
    // `1` is the number of the first option and the value of the fourth.
    let text = entry_error(&form, "1");
    insta::assert_snapshot!(text, @"`1` may mean several options: type `#` and a number, as in #1 (Red), #2 (Green, light), #4 (Black)");
    assert_eq!(parsed_answer(&form, "#1"), json!("r"));
    assert_eq!(parsed_answer(&form, "#4"), json!(1));
}

#[test]
fn options_whose_values_differ_only_in_case_are_distinct() {
    let options = json!({"options": [{"value": "a", "label": "first"}, {"value": "A", "label": "second"}]});
    let form = form("select", options);
    assert_eq!(parsed_answer(&form, "a"), json!("a"));
    assert_eq!(parsed_answer(&form, "A"), json!("A"));
}

#[test]
fn an_option_that_is_disabled_or_unknown_is_refused() {
    let form = form("select", colour_options());
    assert_eq!(
        entry_error(&form, "Blue"),
        "`Blue` cannot be chosen now: choose another option"
    );
    assert_eq!(
        entry_error(&form, "3"),
        "`Blue` cannot be chosen now: choose another option"
    );
    insta::assert_snapshot!(entry_error(&form, "pi\u{1b}nk"), @r"no option is named `pi\u{1b}nk`: type #1 (Red), #2 (Green, light), #4 (Black)");
    for text in ["#0", "#5", "0", "-1", "#", "99999999999999999999"] {
        assert!(entry_error(&form, text).starts_with("no option"), "{text}");
    }
}

#[test]
fn a_message_lists_at_most_ten_options() {
    let options: Value = (0..50)
        .map(|n| json!({"value": format!("v{n}"), "label": format!("label {n}")}))
        .collect();
    let text = entry_error(&form("select", json!({"options": options})), "?");
    assert!(text.ends_with("#10 (label 9) or one of 40 more"), "{text}");
}

#[test]
fn several_options_are_separated_by_commas() {
    let form = form("multiselect", colour_options());
    assert_eq!(parsed_answer(&form, "red, #2"), json!(["r", 7]));
    assert_eq!(parsed_answer(&form, "Red,r,"), json!(["r"]));
    assert_eq!(parsed_answer(&form, "Green, light"), json!([7]));
    assert_eq!(parsed_answer(&form, "none"), json!([]));
    assert!(entry_error(&form, "red, pink").contains("`pink`"));
}

#[test]
fn dates_and_times_are_those_of_rfc_3339() {
    assert_eq!(
        parsed_answer(&form("date", json!({})), " 2024-02-29"),
        json!("2024-02-29")
    );
    assert_eq!(
        entry_error(&form("date", json!({})), "2023-02-29"),
        "type a date such as 2026-01-31"
    );
    let time = form("datetime", json!({}));
    assert_eq!(
        parsed_answer(&time, "2024-02-29 10:00:00Z"),
        json!("2024-02-29T10:00:00Z")
    );
    assert_eq!(
        entry_error(&time, "2024-02-29 10:00"),
        "type a date and time such as 2026-01-31T14:30:00+01:00"
    );
}

#[test]
fn parsing_the_path_of_a_file_does_not_read_the_file() {
    assert_eq!(
        parse_entry(&form("file", json!({})), " /no/such file \n"),
        Ok(Entry::File("/no/such file".to_owned()))
    );
}

#[test]
fn any_text_typed_into_a_confirmation_is_refused() {
    assert_eq!(
        entry_error(&form("confirm", json!({})), "yes"),
        "nothing is asked for: only approve or reject"
    );
}

#[test]
fn a_custom_answer_is_json() {
    let custom = form("custom", json!({}));
    assert_eq!(parsed_answer(&custom, " {\"n\": [1]} "), json!({"n": [1]}));
    insta::assert_snapshot!(
        entry_error(&custom, "{n: 1}"),
        @r#"this is not JSON: key must be a string at line 1 column 2; type a value such as {"name": "value"}, [1, 2] or "text""#
    );
    assert!(entry_error(&custom, "{\"a\": 1, \"a\": 2}").contains("two properties named"));
    assert!(entry_error(&custom, &"[".repeat(MAX_DEPTH + 1)).contains("nested"));
}

#[test]
fn a_custom_text_needs_no_quotes() {
    let text = form("custom", json!({"customSchema": {"type": "string"}}));
    assert_eq!(parsed_answer(&text, "plain"), json!("plain"));
    assert_eq!(parsed_answer(&text, "\"quoted\""), json!("quoted"));
    assert_eq!(parsed_answer(&text, "5"), json!("5"));
}

#[test]
fn an_entry_that_is_too_long_is_refused() {
    let text = "x".repeat(MAX_ANSWER_BYTES + 1);
    assert!(entry_error(&form("text", json!({})), &text).contains("shorten it"));
}

/// Returns a question with this form.
fn question(form: &FeedbackSchema) -> SuspendedCall {
    serde_json::from_value(json!({
        "suspensionId": "s",
        "call": ParsedToolCall { call_id: "c".to_owned(), tool_name: "t".to_owned(), arguments: json!({}) },
        "input": "blake3:0",
        "cause": {"kind": "tool"},
        "form": form,
        "runsOnApproval": true,
        "allowRetry": true,
    }))
    .unwrap()
}

/// Types `text`, and returns the answer if it is accepted.
fn accepted_answer(form: &FeedbackSchema, text: &str) -> Option<Value> {
    let mut feedback = Feedback::new(true, 0);
    feedback.value = match parse_entry(form, text).ok()? {
        Entry::Nothing => None,
        Entry::Value(value) => Some(value),
        Entry::File(path) => Some(file_answer(&path, "text/plain", b"content").ok()?),
    };
    check_feedback(&question(form), None, feedback).ok()?.value
}

fn every_form() -> Vec<FeedbackSchema> {
    let types = [
        "boolean", "text", "number", "date", "datetime", "file", "confirm", "custom",
    ];
    let plain = types.into_iter().map(|input_type| form(input_type, json!({})));
    plain
        .chain([form("select", colour_options()), form("multiselect", colour_options())])
        .collect()
}

proptest! {
    #[test]
    fn no_entry_panics_and_a_second_check_leaves_an_accepted_answer_unchanged(text in any::<String>()) {
        for form in every_form() {
            if let Some(answer) = accepted_answer(&form, &text) {
                let mut feedback = Feedback::new(true, 0);
                feedback.value = Some(answer.clone());
                prop_assert_eq!(check_feedback(&question(&form), None, feedback).unwrap().value, Some(answer));
            }
        }
    }

    #[test]
    fn an_answer_typed_as_text_is_parsed_as_the_same_answer(number in any::<f64>(), yes in any::<bool>(), text in "\\PC{1,40}") {
        prop_assume!(number.is_finite());
        prop_assert_eq!(accepted_answer(&form("number", json!({})), &json!(number).to_string()), Some(json!(number)));
        prop_assert_eq!(accepted_answer(&form("boolean", json!({})), &yes.to_string()), Some(json!(yes)));
        prop_assert_eq!(accepted_answer(&form("text", json!({})), &text), Some(json!(text)));
        let custom = json!({"text": text, "list": [yes, null]});
        prop_assert_eq!(accepted_answer(&form("custom", json!({})), &custom.to_string()), Some(custom));
    }

    #[test]
    fn days_of_the_calendar_are_accepted_in_dates_and_times(year in 0_i16..=9_999, day in 1_i16..=365) {
        let date = jiff::civil::Date::new(year, 1, 1).unwrap().with().day_of_year(day).build().unwrap();
        let time = format!("{date}T12:34:56.789+01:00");
        prop_assert_eq!(accepted_answer(&form("date", json!({})), &date.to_string()), Some(json!(date.to_string())));
        prop_assert_eq!(accepted_answer(&form("datetime", json!({})), &time), Some(json!(time)));
    }

    #[test]
    fn each_option_can_be_typed_by_its_number(labels in proptest::collection::vec("\\PC{1,8}", 1..8), values_are_numbers in any::<bool>()) {
        let option = |(n, label): (usize, &String)| {
            let value = if values_are_numbers { json!(n) } else { json!(format!("v{n}")) };
            // The full stop keeps a label from being a number.
            json!({"value": value, "label": format!("{label}.")})
        };
        let options: Vec<Value> = labels.iter().enumerate().map(option).collect();
        let select = form("select", json!({"options": options}));
        let multiselect = form("multiselect", json!({"options": options}));
        let mut typed = Vec::new();
        for (n, option) in options.iter().enumerate() {
            typed.push(format!("#{}", n + 1));
            prop_assert_eq!(accepted_answer(&select, &typed[n]), Some(option["value"].clone()));
        }
        let values: Value = options.iter().map(|option| option["value"].clone()).collect();
        prop_assert_eq!(accepted_answer(&multiselect, &typed.join(", ")), Some(values));
    }
}
