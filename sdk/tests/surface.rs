//! Defines tools with the options and the signatures that `#[tool]` accepts, and runs them natively, not as WebAssembly.

use art_sdk::{Mode, prelude::*, testing};

#[args]
#[output]
#[derive(Clone, Copy, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Unit {
    /// One thousandth.
    Milli,
    /// One.
    Whole,
}

#[args]
struct Rows {
    /// How many rows to delete.
    count: u32,
    #[serde(default)]
    unit: Option<Unit>,
}

#[output]
struct Deleted {
    rows: u32,
    unit: Unit,
}

/// Deletes rows.
///
/// Asks a person first.
#[tool(
    name = "delete_rows",
    blocking = r#"{"riskLevel": "high"}"#,
    example(
        ask = "Delete 0 rows",
        ask = "Remove 0 rows, please",
        input = r#"{"count": 0}"#,
        output = r#"{"rows": 0, "unit": "whole"}"#
    ),
    example(input = r#"{"count": 2}"#),
    limits(fuel = 2_000_000, memory = "16 MiB", timeout = "5s", output = "1 MiB"),
    capabilities(
        fs(read_write, reason = "the table is a \"file\""),
        http("https://example.com:8443/rows", methods("GET", "DELETE")),
    )
)]
fn delete(input: Rows, ctx: &Context) -> Result<Outcome<Deleted>> {
    ctx.info(format_args!("{} rows", input.count));
    let unit = input.unit.unwrap_or(Unit::Whole);
    let done = Reply::new(Deleted {
        rows: input.count,
        unit,
    })
    .title("deleted")
    .metadata("table", "t");
    match ctx.hitl() {
        None if input.count == 0 => Ok(done.into()),
        None => Ok(Suspension::new(format!("delete {} rows?", input.count))
            .preview(input.count)
            .into()),
        Some(answer) if answer.approved => Ok(done.into()),
        Some(_) => Err(ToolError::permission_denied("the person said no").metadata("asked", true)),
    }
}

#[test]
fn the_declaration_of_a_tool_follows_from_the_function_and_its_types() {
    assert_eq!(DELETE.name(), "delete_rows");
    assert_eq!(DELETE.description(), "Deletes rows.\n\nAsks a person first.");
    assert_eq!(DELETE.mode(), Mode::Blocking);
    assert_eq!(DELETE.blocking_config().as_deref(), Some(r#"{"riskLevel": "high"}"#));
    assert_eq!(DELETE.display_config(), None);
    assert_eq!(
        DELETE.output_schema().unwrap(),
        json!({
            "type": "object",
            "properties": {
                "rows": {"type": "integer", "minimum": 0},
                "unit": {"oneOf": [
                    {"description": "One thousandth.", "type": "string", "const": "milli"},
                    {"description": "One.", "type": "string", "const": "whole"},
                ]},
            },
            "required": ["rows", "unit"],
        })
    );
}

#[test]
fn the_manifest_has_the_limits_and_the_capabilities() {
    let manifest: Value = serde_json::from_str(DELETE.manifest()).unwrap();
    assert_eq!(
        manifest,
        json!({
            "contract": "0.1.0",
            "tool": "delete_rows",
            "version": env!("CARGO_PKG_VERSION"),
            "license": env!("CARGO_PKG_LICENSE"),
            "limits": {"fuel": 2_000_000, "memoryBytes": 16 << 20, "timeoutMs": 5000, "outputBytes": 1 << 20},
            "capabilities": [
                {"kind": "fs", "access": "read-write", "reason": "the table is a \"file\""},
                {"kind": "http", "url": "https://example.com:8443/rows", "methods": ["GET", "DELETE"]},
            ],
        })
    );
    // `PARSE`, which is defined below, requests no limits and no capabilities.
    assert!(PARSE.manifest().ends_with(r#""limits":{},"capabilities":[]}"#));
}

// The capabilities of this tool name arguments that it does not have. It still compiles, because only the host checks that.
/// Copies a page into a file.
#[tool(capabilities(
    fs(read_write, path = "{args.path}"),
    http("{args.url}", methods("GET", "HEAD")),
    http(any, reason = "asks a mirror"),
    env("LANG", "TZ")
))]
fn copy_page(_: NoArgs) -> Result<bool> {
    Ok(true)
}

#[test]
fn a_capability_may_take_its_path_or_url_from_an_argument() {
    let manifest: Value = serde_json::from_str(COPY_PAGE.manifest()).unwrap();
    assert_eq!(
        manifest["capabilities"],
        json!([
            {"kind": "fs", "access": "read-write", "path": "{args.path}"},
            {"kind": "http", "url": "{args.url}", "methods": ["GET", "HEAD"]},
            {"kind": "http", "methods": ["GET"], "reason": "asks a mirror"},
            {"kind": "env", "names": ["LANG", "TZ"]},
        ])
    );
}

#[test]
fn each_ask_of_an_example_becomes_a_separate_example() {
    let examples: Vec<_> = DELETE
        .examples()
        .iter()
        .map(|example| (example.ask, example.input))
        .collect();
    let expected = [
        (Some("Delete 0 rows"), r#"{"count": 0}"#),
        (Some("Remove 0 rows, please"), r#"{"count": 0}"#),
        (None, r#"{"count": 2}"#),
    ];
    assert_eq!(examples, expected);
}

#[test]
fn the_examples_of_delete_do_not_fail() {
    testing::check(&DELETE);
}

#[test]
fn a_call_can_wait_for_a_person() {
    let ctx = Context::for_test();
    let Outcome::Suspended(suspension) = testing::call_with(&DELETE, json!({"count": 3}), &ctx) else {
        panic!("not suspended")
    };
    assert_eq!(
        (suspension.message.as_str(), suspension.preview),
        ("delete 3 rows?", Some(json!(3)))
    );
    assert_eq!(ctx.logged(), [(Level::Info, "3 rows".to_owned())]);
}

#[test]
fn the_decision_of_a_person_determines_the_outcome() {
    let decide = |approved| {
        let ctx = Context::for_test().with_hitl(Hitl::for_test(approved, ()));
        testing::call_with(&DELETE, json!({"count": 3, "unit": "milli"}), &ctx)
    };
    let Outcome::Success(reply) = decide(true) else {
        panic!("not a success")
    };
    assert_eq!(reply.output, json!({"rows": 3, "unit": "milli"}));
    assert_eq!(
        (reply.title.as_deref(), reply.metadata["table"].as_str()),
        (Some("deleted"), Some("t"))
    );
    let Outcome::Failure(error) = decide(false) else {
        panic!("not a failure")
    };
    assert_eq!(
        (error.code, error.metadata["asked"].as_bool()),
        (ErrorCode::PermissionDenied, Some(true))
    );
}

#[test]
fn the_feedback_of_a_person_is_deserialized() {
    assert_eq!(Hitl::for_test(true, 7).feedback::<u8>(), Ok(7));
    let error = Hitl::for_test(true, "seven").feedback::<u8>().unwrap_err();
    assert_eq!(error.code, ErrorCode::ValidationError);
}

#[args]
struct Numbers {
    count: u8,
    signed: Option<i64>,
    list: Vec<usize>,
    text: String,
}

/// Counts.
#[tool]
fn counts(input: Numbers) -> Result<String> {
    let Numbers {
        count,
        signed,
        list,
        text,
    } = input;
    Ok(format!("{count} {signed:?} {list:?} {text}"))
}

#[test]
fn an_integer_may_be_written_with_a_fraction_of_zero() {
    let output = testing::output(
        &COUNTS,
        json!({"count": 2.0, "signed": -3.0, "list": [4.0, 5], "text": "6.0"}),
    );
    assert_eq!(output, "2 Some(-3) [4, 5] 6.0");
    let error = testing::failure(&COUNTS, json!({"count": 2.0, "signed": 0.5, "list": [], "text": ""}));
    assert!(error.message.contains("`0.5`, expected i64"), "{error:?}");
}

#[test]
fn invalid_arguments_are_a_validation_error() {
    let error = testing::failure(&DELETE, json!({"count": -1}));
    assert_eq!(error.code, ErrorCode::ValidationError);
    assert!(
        error
            .message
            .starts_with("the arguments of `delete_rows` are not valid: "),
        "{}",
        error.message
    );
    assert!(
        testing::failure(&DELETE, json!({"count": 1, "sort": true}))
            .message
            .contains("unknown field `sort`")
    );
}

/// A row as a server describes it, with any further fields.
#[args(ignore_unknown)]
#[output]
struct ServerRow {
    id: u32,
    #[serde(default)]
    cells: Vec<ServerCell>,
    #[serde(default)]
    owner: Option<Owner>,
}

#[args(ignore_unknown)]
#[output]
#[serde(tag = "kind", rename_all = "snake_case")]
enum ServerCell {
    Text { text: String },
}

#[args]
#[output]
struct Owner {
    name: String,
}

/// Returns a row as it is.
#[tool]
fn same_row(input: ServerRow) -> Result<ServerRow> {
    Ok(input)
}

#[test]
fn a_type_that_ignores_unknown_fields_reads_what_it_knows() {
    let row = json!({"id": 1, "etag": "x", "cells": [{"kind": "text", "text": "a", "style": {}}]});
    let output = testing::output(&SAME_ROW, row);
    assert_eq!(
        output,
        json!({"id": 1, "cells": [{"kind": "text", "text": "a"}], "owner": null})
    );
    let schema = SAME_ROW.input_schema();
    assert_eq!(schema.get("additionalProperties"), None, "{schema}");
    let cell = &schema["properties"]["cells"]["items"]["oneOf"][0];
    assert_eq!(
        (&cell["type"], cell.get("additionalProperties")),
        (&json!("object"), None),
        "{schema}"
    );
}

#[test]
fn a_type_inside_one_that_ignores_unknown_fields_refuses_them_itself() {
    let error = testing::failure(&SAME_ROW, json!({"id": 1, "owner": {"name": "a", "age": 7}}));
    assert!(error.message.contains("unknown field `age`"), "{error}");
    let schema = SAME_ROW.input_schema().to_string();
    assert_eq!(schema.matches(r#""additionalProperties":false"#).count(), 1, "{schema}");
}

/// A tool with an error type of the standard library, its input by reference, and an output that is not an object.
#[tool(display = json!({"displayMode": "modal"}), risk = "low")]
pub fn parse(input: &Text) -> Result<i64, std::num::ParseIntError> {
    input.text.parse()
}

/// The input of several tools.
#[args]
pub struct Text {
    text: String,
}

#[test]
fn a_risk_sets_the_blocking_config_but_not_the_blocking_mode() {
    assert_eq!(PARSE.mode(), Mode::Display);
    let config = serde_json::from_str::<serde_json::Value>(&PARSE.blocking_config().unwrap()).unwrap();
    assert_eq!(config, json!({"riskLevel": "low", "completesOnApproval": false}));
}

#[test]
fn an_error_of_the_standard_library_is_reported_with_its_text() {
    assert_eq!(testing::output(&PARSE, json!({"text": "42"})), 42);
    assert_eq!(
        testing::failure(&PARSE, json!({"text": "x"})).message,
        "invalid digit found in string"
    );
    assert_eq!(parse(&Text { text: "7".to_owned() }), Ok(7));
}

/// Fails with an error whose type does not implement `std::error::Error`.
#[tool]
fn fails_with_text(input: &Text) -> Result<i64, String> {
    Err(format!("`{}` is not a number", input.text))
}

struct CodedError(ErrorCode);

impl IntoToolError for CodedError {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(self.0, "an error with a code").retryable()
    }
}

/// Fails with an error whose type chooses the error code.
#[tool]
fn fails_with_code(_: NoArgs) -> Result<i64, CodedError> {
    Err(CodedError(ErrorCode::RateLimited))
}

#[test]
fn an_error_that_is_only_text_keeps_its_text() {
    let error = testing::failure(&FAILS_WITH_TEXT, json!({"text": "x"}));
    assert_eq!(
        (error.code, error.message.as_str()),
        (ErrorCode::Unknown, "`x` is not a number")
    );
}

#[test]
fn an_error_type_of_the_tool_chooses_the_error_code() {
    let error = testing::failure(&FAILS_WITH_CODE, json!({}));
    assert_eq!((error.code, error.retryable), (ErrorCode::RateLimited, true));
}

#[test]
fn a_display_config_implies_the_display_mode() {
    assert_eq!(PARSE.mode(), Mode::Display);
    assert_eq!(PARSE.display_config().as_deref(), Some(r#"{"displayMode":"modal"}"#));
}

/// Delegates its work.
#[tool]
fn delegate(Text { text }: Text, ctx: &Context) -> Result<Outcome<Value>> {
    ctx.progress("delegating", json!({"length": text.len()}));
    if ctx.cancelled() {
        return Err(ToolError::timeout("the call was cancelled"));
    }
    Ok(Subtask::new("read it", json!({"text": text}))
        .template_hint("reader")
        .max_depth(1)
        .into())
}

#[test]
fn a_call_can_delegate_its_work() {
    let ctx = Context::for_test().with_user("u").with_session("s");
    let Outcome::Continuation(subtask) = testing::call_with(&DELEGATE, json!({"text": "abc"}), &ctx) else {
        panic!("not delegated")
    };
    assert_eq!(subtask.inputs, json!({"text": "abc"}));
    assert_eq!(
        (subtask.template_hints, subtask.max_depth),
        (vec!["reader".to_owned()], Some(1))
    );
    assert_eq!(ctx.progressed()[0].metadata["length"], 3);
    assert_eq!(
        (ctx.user_id(), ctx.session_id(), ctx.call_id()),
        (Some("u"), Some("s"), "call-test")
    );
    assert_eq!(DELEGATE.output_schema(), None);
}

#[test]
fn a_tool_can_see_that_its_call_was_cancelled() {
    let ctx = Context::for_test();
    ctx.cancel();
    let Outcome::Failure(error) = testing::call_with(&DELEGATE, json!({"text": ""}), &ctx) else {
        panic!("not a failure")
    };
    assert_eq!((error.code, error.retryable), (ErrorCode::Timeout, true));
}

/// Says hello.
#[tool]
fn hello(_: NoArgs) -> Result<&'static str> {
    Ok("hello")
}

#[test]
fn a_tool_may_take_no_arguments() {
    assert_eq!(testing::output(&HELLO, json!({})), "hello");
    assert_eq!(
        testing::failure(&HELLO, json!({"a": 1})).code,
        ErrorCode::ValidationError
    );
    assert_eq!(
        HELLO.input_schema(),
        json!({"type": "object", "additionalProperties": false})
    );
    testing::check(&HELLO);
}

/// A tool whose input derives `Deserialize` and `JsonSchema` itself, without `#[args]`.
mod input_without_args_attribute {
    use art_sdk::{prelude::*, schemars, serde};

    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[serde(crate = "art_sdk::serde")]
    #[schemars(crate = "art_sdk::schemars")]
    struct In {
        text: String,
        #[serde(flatten)]
        rest: Rest,
    }

    #[args]
    #[derive(Debug, Clone)]
    struct Rest {
        #[serde(default)]
        upper: bool,
    }

    // The `r#` of the function's name is not part of the tool's name.
    /// Changes the case of a text.
    #[tool]
    fn r#case(input: In) -> Result<Reply<String>> {
        let text = if input.rest.upper {
            input.text.to_uppercase()
        } else {
            input.text
        };
        Ok(Reply::new(text))
    }

    #[test]
    fn an_input_type_may_derive_its_traits_without_the_attribute_args() {
        let input = json!({"text": "a", "upper": true});
        assert_eq!(art_sdk::testing::output(&CASE, input), "A");
        assert_eq!(CASE.name(), "case");
    }
}
