//! The steps of a plan, also called items: the replies of their models, their calls, results, failures, attachments and files.
//!
//! The calculator of the tests returns 42, except for the expressions that the constants of `harness` name, such as `FAILS` and
//! `BIG_OUTPUT`.

use art_agent::{RunEvent, RunStart};
use art_core::agent::{QueryAttachment, RunStatus};
use art_core::error::{ModelError, ModelErrorCode};
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus;
use art_core::prompt::Role;
use art_core::provider::{ModelCapability, ModelRequest};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a driver of a plan with the item `a`, which requires the calculator.
fn driver_with_tool_item() -> Driver {
    driver_with_plan(&json!([tool_item("a", &[])])).script("answer", [says("The answer.")])
}

#[test]
fn calls_and_results_are_messages_of_the_next_request() {
    let mut driver = driver_with_tool_item().script("a", [calculate("6 * 7"), completes_item("42")]);
    driver.drive();
    let messages = driver.messages("a", 1);
    let roles: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::System, Role::User, Role::Assistant, Role::ToolResult]);
    assert_eq!(Some(&messages[2].tool_calls[0].id), messages[3].tool_call_id.as_ref());
    assert_eq!(messages[3].content_text(), "{\"result\":42}");
}

#[test]
fn the_id_of_a_call_is_derived_from_the_trace_id_and_the_number_of_the_call() {
    let mut driver = driver_with_tool_item().script("a", [calculate("6 * 7"), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made[0].call_id, art_core::id::nth_call_id("trace", 1));
}

#[test]
fn native_calls_keep_the_ids_that_the_model_gave_them() {
    let mut driver =
        driver_with_tool_item().script("a", [native_call("toolu_1", "calculator", "{}"), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made[0].call_id, "toolu_1");
}

#[test]
fn the_last_output_is_the_result_if_the_model_gives_no_content() {
    let mut driver = driver_with_tool_item().script("a", [calculate("6 * 7"), completes_item("")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!({"result": 42}).into()));
    assert_eq!(
        driver.saved_state().step_outputs["a"].raw_result,
        Some(json!({"result": 42}).into())
    );
}

#[test]
fn the_status_change_of_a_completed_item_carries_its_output() {
    let mut driver = driver_with_tool_item().script("a", [calculate("6 * 7"), completes_item("42")]);
    driver.drive();
    let changes = driver.observations(Kind::ItemStatusChange);
    assert_eq!(changes[0].content, json!({"itemId": "a", "status": "in_progress"}));
    assert_eq!(changes[1].content["stepOutput"]["rawResult"], json!("42"));
    assert_eq!(changes[1].parent_id.as_deref(), Some("a"));
}

// An iteration of a step is a model call for it. A step at its last iteration ends with its latest content (contract A42). The
// run reports the limit, so its status is partial.
#[test]
fn a_step_at_its_last_iteration_keeps_its_latest_content_and_reports_the_limit() {
    let mut start = start("q");
    start.config.max_iterations = 2;
    let replies = [
        says("{\"content\":\"so far\",\"toolCalls\":[{\"toolName\":\"calculator\"}]}"),
        calculate("2"),
    ];
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", replies)
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!("so far").into()));
    assert_eq!(
        report.response.metadata.limits_hit,
        ["step `a` used all of its 2 model calls"]
    );
    assert_eq!(status(&report), RunStatus::Partial);
    assert!(
        driver
            .last_message("answer", 0)
            .contains("## Limits reached\n[\"step `a` used")
    );
}

// A step without content has the output of its tool as its result (contract A41). The stored item is completed, and has the
// result of the call.
#[test]
fn a_step_without_content_has_the_output_of_its_tool_as_its_result() {
    let mut driver = driver_with_tool_item().script("a", [calculate("6 * 7"), completes_item("")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!({"result": 42}).into()));
    let state = driver.saved_state();
    let stored = state.todo_list.first().unwrap();
    assert_eq!(stored.status, TodoItemStatus::Completed);
    assert_eq!(stored.tool_results.len(), 1);
}

#[test]
fn the_third_identical_call_is_refused_with_a_reason() {
    let replies = [calculate("1"), calculate("1"), calculate("1"), completes_item("42")];
    let mut driver = driver_with_tool_item().script("a", replies);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 2);
    assert!(
        driver
            .last_message("a", 3)
            .contains("not called: this step called `calculator`")
    );
}

#[test]
fn a_call_that_was_denied_is_not_made_again() {
    let mut driver =
        driver_with_tool_item().script("a", [calculate(IS_DENIED), calculate(IS_DENIED), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    let message = driver.last_message("a", 2);
    assert!(
        message.contains("PERMISSION_DENIED") && message.contains("was denied with exactly these arguments"),
        "{message}"
    );
}

#[test]
fn a_denied_call_is_made_again_after_the_grants_of_its_tool_have_changed() {
    // The model makes the same call in each reply, and the grants of `tool` change whenever a call was denied.
    for (tool, expected_calls) in [("calculator", 3), ("another_tool", 1)] {
        let denied = || calculate(IS_DENIED);
        let mut driver = driver_with_tool_item().script("a", [denied(), denied(), denied(), completes_item("42")]);
        while driver.run.finished().is_none() {
            if driver.run.denied_tools().contains("calculator") {
                driver.apply(&RunEvent::GrantsChanged {
                    at: 2_000,
                    tools: vec![tool.to_owned()],
                });
            }
            driver.answer_all();
        }
        assert_eq!(driver.tool_calls_made.len(), expected_calls, "{tool}");
    }
}

#[test]
fn a_denied_call_may_be_made_with_other_arguments() {
    let mut driver = driver_with_tool_item().script("a", [calculate(IS_DENIED), calculate("1"), completes_item("42")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 2);
}

#[test]
fn malformed_calls_are_reported_to_the_model() {
    let mut driver = driver_without_reminders([says("{\"toolCalls\":[{]}"), calculate("1"), completes_item("42")]);
    driver.drive();
    let message = driver.last_message("a", 1);
    assert!(message.contains("the JSON of the reply is not valid"), "{message}");
}

/// Returns a driver of a plan with the item `a`, which requires the calculator. Its model is never reminded to call the
/// calculator.
fn driver_without_reminders(replies: [Reply; 3]) -> Driver {
    let mut start = start("q");
    start.config.taef_max_retries = 0;
    Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", replies)
        .script("answer", [says("ok")])
}

#[test]
fn a_native_call_with_invalid_arguments_gets_an_error_result_and_is_not_made() {
    let mut driver = driver_without_reminders([
        native_call("x", "calculator", "{\"a\":"),
        calculate("1"),
        completes_item("42"),
    ]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    let result = driver.last_message("a", 1);
    assert!(
        result.contains("VALIDATION_ERROR") && result.contains("not valid JSON"),
        "{result}"
    );
}

#[test]
fn a_tool_error_is_a_result_that_the_model_reads() {
    let mut driver = driver_with_tool_item().script("a", [calculate(FAILS), calculate("1"), completes_item("42")]);
    let report = driver.drive();
    assert_eq!(
        driver.last_message("a", 1),
        "{\"error\":\"the abacus is broken\",\"code\":\"IO_ERROR\"}"
    );
    assert_eq!(status(&report), RunStatus::Success);
}

// A run with a failed tool still answers (contract A49).
#[test]
fn a_required_tool_whose_calls_all_failed_is_reported() {
    let mut driver = driver_with_tool_item().script("a", [calculate(FAILS), completes_item("about 40")]);
    let report = driver.drive();
    assert_eq!(report.items[0].status, TodoItemStatus::Completed);
    let error = "its required tool `calculator` only failed: the abacus is broken";
    assert_eq!(report.items[0].error.as_deref(), Some(error));
    assert!(driver.last_message("answer", 0).contains(error));
    assert_eq!(status(&report), RunStatus::Partial);
}

#[test]
fn a_step_with_neither_content_nor_output_fails_with_the_error_of_its_tool() {
    let mut driver = driver_with_tool_item().script("a", [calculate(FAILS), completes_item("")]);
    let report = driver.drive();
    assert_eq!(
        report.items[0].error.as_deref(),
        Some("`calculator` failed: the abacus is broken")
    );
}

#[test]
fn a_model_may_declare_that_its_step_failed() {
    let mut driver = driver_with_tool_item().script("a", [fails_item("there is no table")]);
    let report = driver.drive();
    assert_eq!(report.items[0].status, TodoItemStatus::Failed);
    assert_eq!(report.items[0].error.as_deref(), Some("there is no table"));
    assert_eq!(
        driver.observations(Kind::Error)[0].content["error"],
        json!("there is no table")
    );
}

#[test]
fn tool_results_are_truncated_in_prompts_and_stored_in_full() {
    let mut start = start("q");
    start.config.tool_result_max_length = 100;
    let mut driver = Driver::new(start)
        .script(
            "plan",
            [plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))],
        )
        .script("a", [calculate(BIG_OUTPUT), completes_item("")])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    // The JSON text of the output has two quotes around its 10,000 characters.
    assert!(
        driver
            .last_message("a", 1)
            .ends_with("[truncated 9902 of 10002 characters]")
    );
    assert!(driver.last_message("b", 0).contains("\"outputText\":\"xxx"));
    assert_eq!(report.items[0].result, Some(json!("x".repeat(10_000)).into()));
}

/// Returns a driver of a run with the attachment `sales.csv`. The model of its step `a` calls the calculator with `argument`,
/// and then gives `replies`.
fn driver_with_attachment(argument: &str, replies: &[Reply]) -> Driver {
    let mut start = start("Sum it up.");
    start.props.attachments = vec![QueryAttachment {
        name: "sales.csv".to_owned(),
        media_type: "text/csv".to_owned(),
        text: "a\n1\n2".to_owned(),
        base64: None,
        keep: false,
    }];
    Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calls(&[("calculator", json!({"csv": argument}))])])
        .script("a", replies.to_vec())
        .script("answer", [says("ok")])
}

#[test]
fn a_tool_receives_the_attachment_and_the_prompts_contain_its_name() {
    let mut driver = driver_with_attachment("attachment:sales.csv", &[completes_item("3")]);
    let report = driver.drive();
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"csv": "a\n1\n2"}));
    assert!(
        driver.messages("a", 1)[2].tool_calls[0]
            .function
            .arguments
            .contains("attachment:sales.csv")
    );
    assert_eq!(
        report.items[0].actual_tool_calls[0].arguments,
        json!({"csv": "attachment:sales.csv"})
    );
}

#[test]
fn a_picture_is_named_and_sent_in_every_phase() {
    let mut start = start("What is on the picture?");
    start.vision = true;
    start.props.attachments = vec![QueryAttachment {
        name: "a.png".to_owned(),
        media_type: "image/png".to_owned(),
        base64: Some("iVBORw==".to_owned()),
        ..QueryAttachment::default()
    }];
    let call = calls(&[("calculator", json!({"image": "attachment:a.png"}))]);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [call, completes_item("a cat")])
        .script("answer", [says("ok")]);
    driver.drive();
    for StepRequest { step, request } in &driver.requests {
        assert_eq!(request.media[0].base64, "iVBORw==", "{step}");
        let texts: String = request.prompt.0.iter().map(|message| message.content_text()).collect();
        let listed = "[{\"name\":\"a.png\",\"mediaType\":\"image/png\",\"bytes\":4}]";
        assert!(texts.contains(listed) && !texts.contains("iVBORw"), "{texts}");
    }
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"image": "iVBORw=="}));
}

#[test]
fn the_error_for_an_unknown_attachment_lists_the_known_ones() {
    let mut driver = driver_with_attachment("attachment:x", &[calculate("1"), completes_item("3")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    assert!(
        driver
            .last_message("a", 1)
            .contains("there is no attachment `x`; use one of `sales.csv`")
    );
}

#[test]
fn a_call_whose_attachments_are_too_large_gets_an_error_result_and_is_not_made() {
    let mut start = start("Sum it up.");
    start.props.attachments = vec![QueryAttachment {
        name: "a".to_owned(),
        media_type: "text/plain".to_owned(),
        text: "x".repeat(1 << 20),
        base64: None,
        keep: false,
    }];
    let with_thousand_attachments = calls(&[("calculator", json!({"csv": vec!["attachment:a"; 1_000]}))]);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [with_thousand_attachments, calculate("1"), completes_item("3")])
        .script("answer", [says("ok")]);
    driver.checks_replay = false;
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    let result = driver.last_message("a", 1);
    assert!(result.contains("no tool takes more than 4194304"), "{result}");
}

/// Returns a reply that calls the calculator with the attachment `name`. The JSON pointer of this argument is `/more/0/a~1b`.
fn call_with_attachment(name: &str) -> Reply {
    calls(&[(
        "calculator",
        json!({"expression": "1", "more": [{"a/b": format!("attachment:{name}")}]}),
    )])
}

#[test]
fn a_file_of_a_tool_is_passed_to_a_later_step() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))
        .script("a", [calculate(SAVES_FILE), completes_item("saved")])
        .script("b", [call_with_attachment("out.csv"), completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    let message = driver.last_message("a", 1);
    assert!(
        message.starts_with("{\"result\":42}\nFiles, ") && message.contains("\"name\":\"out.csv\""),
        "{message}"
    );
    for prompt in [
        driver.messages("b", 0).pop().unwrap(),
        driver.messages("answer", 0).pop().unwrap(),
    ] {
        let listed = r#"{"name":"out.csv","mediaType":"text/csv","bytes":4,"leftBy":"a"}"#;
        assert!(prompt.content_text().contains(listed), "{prompt:?}");
    }
    let [(call_id, file)] = driver.file_arguments.as_slice() else {
        panic!("{:?}", driver.file_arguments)
    };
    assert_eq!(
        (file.pointer.as_str(), file.digest.as_str()),
        ("/more/0/a~1b", "blake3:a")
    );
    assert_eq!(*call_id, driver.tool_calls_made[1].call_id);
    let files: Vec<_> = report
        .files
        .iter()
        .map(|file| (file.name.as_str(), file.step_id.as_str()))
        .collect();
    assert_eq!(files, [("out.csv", "a")]);
}

#[test]
fn a_file_of_the_question_is_not_replaced_by_a_file_of_a_tool_with_the_same_name() {
    let mut start = start("q");
    start.props.attachments = vec![QueryAttachment {
        name: "out.csv".to_owned(),
        text: "the person's".to_owned(),
        ..QueryAttachment::default()
    }];
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script(
            "a",
            [
                calculate(SAVES_FILE),
                call_with_attachment("out.csv"),
                // The name that the file of the tool gets, because `out.csv` is taken.
                call_with_attachment("out-2.csv"),
                call_with_attachment("none"),
                completes_item("x"),
            ],
        )
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.tool_calls_made[1].arguments["more"][0]["a/b"], "the person's");
    assert_eq!(driver.file_arguments.len(), 1);
    assert_eq!(driver.file_arguments[0].0, driver.tool_calls_made[2].call_id);
    let refused = driver.last_message("a", 4);
    assert!(refused.contains("use one of `out.csv`, `out-2.csv`"), "{refused}");
}

#[test]
fn a_later_question_can_take_a_file_of_an_earlier_one() {
    let mut first = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate(SAVES_FILE), completes_item("saved")])
        .script("answer", [says("ok")]);
    first.drive();
    let mut start = start("and now?");
    start.prior = Some(first.saved_state().clone());
    let mut later = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("b", &[])]))])
        .script("b", [call_with_attachment("out.csv"), completes_item("x")])
        .script("answer", [says("ok")]);
    let report = later.drive();
    assert!(later.last_message("plan", 0).contains("out.csv"));
    assert_eq!(later.file_arguments.len(), 1);
    assert_eq!(report.files, [], "the file is not of this run");
}

#[test]
fn after_an_empty_reply_the_model_is_called_again() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [says(""), completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!("x").into()));
}

#[test]
fn an_output_for_display_is_not_shown_to_the_model() {
    let mut driver = Driver::new(start("q"))
        .script(
            "plan",
            [plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))],
        )
        .script("a", [calculate(DRAWS), completes_item("shown")])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.last_message("a", 1), "{\"displayed\":true}");
    let task = driver.last_message("b", 0);
    assert!(task.contains("\"output\":{\"displayed\":true}"), "{task}");
}

#[test]
fn an_output_for_display_is_in_no_prompt_even_if_the_model_gives_no_content() {
    let mut driver = Driver::new(start("q"))
        .script(
            "plan",
            [plan(&json!([tool_item("a", &[]), reasoning_item("b", &["a"])]))],
        )
        .script("a", [calculate(DRAWS), completes_item("")])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!({"displayed": true}).into()));
    assert_eq!(
        report.items[0].tool_results[0].output,
        Some(json!({"bars": DRAWN_TEXT}).into())
    );
    let answer = driver.last_message("answer", 0);
    assert!(answer.contains("{\"displayed\":true}"), "{answer}");
    for StepRequest { request, .. } in &driver.requests {
        assert!(!format!("{:?}", request.prompt).contains(DRAWN_TEXT), "{request:?}");
    }
}

#[test]
fn an_output_for_display_is_neither_in_the_answer_nor_in_the_prompts_of_a_later_run() {
    // If the model fails to write the answer, the run lists the results of its steps in place of the answer.
    let mut first = Driver::new(start("q"))
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calculate(DRAWS), completes_item("")])
        .script("answer", [times_out()]);
    let answer = content(&first.drive()).to_owned();
    assert!(!answer.contains(DRAWN_TEXT), "{answer}");
    let mut start = start("q");
    // Without the tool, only the stored result says that its output is for display.
    start.tools.clear();
    start.prior = Some(first.saved_state().clone());
    let mut later = Driver::new(start)
        .script("plan", [plan(&json!([reasoning_item("b", &[])]))])
        .script("b", [completes_item("x")])
        .script("answer", [says("ok")]);
    later.drive();
    for StepRequest { request, .. } in &later.requests {
        assert!(!format!("{:?}", request.prompt).contains(DRAWN_TEXT), "{request:?}");
    }
}

/// Returns the names of the tools whose schemas the model gets for the step `item`, which has the id `a`: as functions of the
/// request if `native_tools` is set, otherwise in the text of the prompt.
fn offered_tools(item: &Value, native_tools: bool) -> Vec<String> {
    let mut start = start("What is 6 times 7?");
    start.native_tools = native_tools;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([item]))])
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("ok")]);
    driver.drive();
    let request = driver.request("a", 0);
    assert_eq!(request.step.as_ref().unwrap().step_id, "a");
    let requires_tool_use = request.required_capabilities.contains(&ModelCapability::ToolUse);
    assert_eq!(
        (requires_tool_use, request.tools.is_empty()),
        (native_tools, !native_tools)
    );
    tools_with_schemas(request)
}

#[test]
fn a_step_is_offered_its_required_tools_only() {
    for native_tools in [true, false] {
        assert_eq!(offered_tools(&tool_item("a", &[]), native_tools), ["calculator"]);
    }
}

#[test]
fn a_tool_step_that_names_no_tool_is_offered_all() {
    let item = json!({"id": "a", "description": "do", "stepType": "tool"});
    for native_tools in [true, false] {
        assert_eq!(offered_tools(&item, native_tools), ["calculator", "clock"]);
    }
}

/// Returns the error of a model that does not support function calls.
fn refuses_function_calls() -> Reply {
    Err(ModelError {
        code: ModelErrorCode::ToolsNotSupported,
        message: "this model does not support tools".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    })
}

fn start_with_native_tools() -> RunStart {
    let mut start = start("What is 6 times 7?");
    start.native_tools = true;
    start
}

#[test]
fn a_model_that_refuses_function_calls_is_asked_again_with_the_tools_in_the_prompt() {
    let mut driver = Driver::new(start_with_native_tools())
        .script("plan", [plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))])
        .script(
            "a",
            [refuses_function_calls(), calculate("6 * 7"), completes_item("42")],
        )
        .script("b", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Success);
    assert_eq!((driver.tool_calls_made.len(), report.model_error), (2, None));
    let step_requests = driver
        .requests
        .iter()
        .filter(|request| request.step == "a" || request.step == "b");
    let has_schemas_in_prompt = |request: &ModelRequest| request.prompt.0[1].content_text().contains("\"inputSchema\"");
    // Whether each request has the tools as functions, and whether it has them in the text of its prompt.
    let forms_of_tools: Vec<_> = step_requests
        .map(|StepRequest { request, .. }| (!request.tools.is_empty(), has_schemas_in_prompt(request)))
        .collect();
    let (functions, text) = ((true, false), (false, true));
    assert_eq!(forms_of_tools, [functions, text, text, text, text]);
}

#[test]
fn a_step_keeps_its_results_when_the_model_then_refuses_function_calls() {
    let mut driver = Driver::new(start_with_native_tools())
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script(
            "a",
            [
                native_call("x", "calculator", "{}"),
                refuses_function_calls(),
                completes_item("42"),
            ],
        )
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    let (before, after) = (driver.messages("a", 1), driver.messages("a", 2));
    assert_eq!(before[2..], after[2..], "the call and its result are kept");
    assert_ne!(before[1], after[1], "the message with the task now describes the tools");
}

#[test]
fn a_model_that_refuses_function_calls_is_asked_again_only_once() {
    let mut driver = Driver::new(start_with_native_tools())
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [refuses_function_calls(), refuses_function_calls()])
        .script("answer", [says("it failed")]);
    assert_eq!(status(&driver.drive()), RunStatus::Partial);
}

#[test]
fn thoughts_belong_to_their_step() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]))
        .script("a", [says("<think>hm</think>{\"content\":\"x\"}")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    let thoughts = driver.observations(Kind::Thoughts);
    assert_eq!(thoughts[0].parent_id.as_deref(), Some("a"));
    assert_eq!(thoughts[0].metadata["stepDescription"], json!("think of a"));
    assert_eq!(report.items[0].thoughts, ["hm"]);
}

#[test]
fn limits_of_zero_still_let_a_run_end() {
    let mut start = start("q");
    start.config.max_iterations = 0;
    start.config.max_parallel_items = 0;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([reasoning_item("a", &[])]))])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
}

#[test]
fn a_model_that_decides_to_continue_is_called_again() {
    let continues = says("{\"content\":\"\",\"nextStepDecision\":\"continue\"}");
    let mut driver = driver_with_tool_item().script("a", [calculate("1"), continues, completes_item("42")]);
    let report = driver.drive();
    assert_eq!(report.items[0].result, Some(json!("42").into()));
    assert!(driver.last_message("a", 2).starts_with("The step is still open."));
}
