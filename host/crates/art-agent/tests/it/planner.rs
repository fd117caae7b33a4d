//! The conversation with the planner, the model that plans: answers without a plan, plans as function calls, and calls of tools
//! that the planner makes itself. A model with native tools gets the tools as functions in the format of its provider. It submits
//! its plan by a call of the function `submit_plan`. Other models write the plan as text.

use art_agent::RunStart;
use art_core::agent::RunStatus;
use art_core::error::{ModelError, ModelErrorCode};
use art_core::pes::TodoItemStatus;
use art_core::prompt::{Message, Role};
use art_core::provider::ToolChoice;
use art_core::stream::StopReason;
use art_core::tool::{FunctionCall, FunctionKind, ToolCallRequest};
use serde_json::{Value, json};

use crate::harness::*;
use crate::prompts::transcript;

fn driver_with_native_tools(query: &str) -> Driver {
    let mut start = start(query);
    start.native_tools = true;
    Driver::new(start)
}

/// Returns a reply that calls the functions with these names, each with its arguments.
fn calls_functions(calls: &[(&str, Value)]) -> Reply {
    says("").map(|mut reply| {
        reply.tool_calls = calls
            .iter()
            .enumerate()
            .map(|(n, (name, arguments))| ToolCallRequest {
                // The identifiers differ within a reply. Another reply may have the same ones.
                id: format!("f{n}_{}", name.len()),
                kind: FunctionKind::Function,
                function: FunctionCall {
                    name: (*name).to_owned(),
                    arguments: arguments.to_string(),
                },
            })
            .collect();
        reply
    })
}

/// Returns a reply that submits a plan of these steps by a call of `submit_plan`.
fn submits(steps: &[Value]) -> Reply {
    calls_functions(&[("submit_plan", submission(steps))])
}

/// Returns the arguments of `submit_plan` for a plan of these steps, in the form of the schema of this function.
fn submission(steps: &[Value]) -> Value {
    json!({"title": null, "intent": "a number", "plan": null, "todoList": steps})
}

/// Returns a step with a planned call of the calculator. The arguments of the call are a JSON text.
fn step(id: &str, expression: &Value) -> Value {
    let arguments = json!({"expression": expression}).to_string();
    json!({
        "id": id, "description": format!("do {id}"), "stepType": null, "requiredTools": null, "dependencies": null,
        "expectedOutcome": null, "toolCalls": [{"toolName": "calculator", "arguments": arguments}],
    })
}

/// Returns a step that the model carries out with the calculator after the step `dependency`.
fn model_step(id: &str, dependency: &str) -> Value {
    json!({
        "id": id, "description": "choose", "stepType": "tool", "requiredTools": ["calculator"],
        "dependencies": [dependency], "expectedOutcome": null, "toolCalls": null,
    })
}

fn expression_arguments(text: &str) -> Value {
    json!({ "expression": text })
}

/// Carries out the run, and returns its numbers of model calls and tool calls and its status.
fn drive_and_count(driver: &mut Driver) -> (u32, u32, RunStatus) {
    let metadata = driver.drive().response.metadata;
    (metadata.llm_calls, metadata.tool_calls, metadata.status)
}

#[test]
fn prose_without_a_plan_is_the_answer() {
    for mut driver in [Driver::new(start("Hello")), driver_with_native_tools("Hello")] {
        driver = driver.script("plan", [says("Hello! What can I do for you?")]);
        let report = driver.drive();
        assert_eq!(content(&report), "Hello! What can I do for you?");
        assert_eq!(
            (report.response.metadata.llm_calls, status(&report)),
            (1, RunStatus::Success)
        );
    }
}

#[test]
fn the_answer_field_of_a_plan_without_steps_is_the_answer() {
    let mut driver = Driver::new(start("What is Rust?")).script(
        "plan",
        [says(r#"{"answer": "A programming language.", "todoList": []}"#)],
    );
    let report = driver.drive();
    assert_eq!(content(&report), "A programming language.");
    assert_eq!(report.response.metadata.llm_calls, 1);
}

#[test]
fn an_answer_of_the_planner_may_suggest_questions() {
    let text = "It is 42.\n<uiMetadata>{\"suggestedQuestions\": [\"Why?\"]}</uiMetadata>";
    let calls = [("calculator", expression_arguments("6 * 7"))];
    for mut driver in [
        Driver::new(start("q")).script("plan", [says(json!({"answer": text}).to_string())]),
        driver_with_native_tools("q").script("plan", [calls_functions(&calls), says(text)]),
    ] {
        let report = driver.drive();
        assert_eq!(
            (content(&report), report.suggested_questions()),
            ("It is 42.", vec!["Why?".to_owned()])
        );
    }
}

#[test]
fn an_answer_beside_steps_is_not_used() {
    let text = json!({"answer": "43", "todoList": [tool_item("a", &[])]}).to_string();
    let mut driver = Driver::new(start("q"))
        .script("plan", [says(text)])
        .script("a", [calculate("1"), completes_item("42")])
        .script("answer", [says("42")]);
    assert_eq!(content(&driver.drive()), "42");
}

#[test]
fn an_answer_that_was_cut_off_makes_the_run_partial() {
    let mut driver =
        driver_with_native_tools("q").script("plan", [with_stop_reason(says("It is"), StopReason::Length)]);
    let report = driver.drive();
    assert_eq!((content(&report), status(&report)), ("It is", RunStatus::Partial));
}

#[test]
fn after_json_that_is_no_plan_the_planner_is_asked_again() {
    for text in ["{\"todoList\": [", "{\"reply\": \"Hello\"}", "```json\n{\"a\": 1}\n```"] {
        let mut driver = Driver::new(start("q")).script("plan", [says(text), says("Hello")]);
        let (model_calls, _, _) = drive_and_count(&mut driver);
        assert_eq!(model_calls, 2, "{text}");
    }
}

#[test]
fn a_chain_of_five_calls_is_submitted_and_answered_in_two_model_calls() {
    let previous = |n: u32| json!({"$concat": [{"$from": format!("s{}", n - 1), "path": "/result"}, " + 1"]});
    let steps: Vec<_> = (1..=5)
        .map(|n| step(&format!("s{n}"), &if n == 1 { json!("1") } else { previous(n) }))
        .collect();
    let mut driver = driver_with_native_tools("q")
        .script("plan", [submits(&steps)])
        .script("answer", [says("42")]);
    assert_eq!(drive_and_count(&mut driver), (2, 5, RunStatus::Success));
    // The result of every call here is 42, because the stand-in tool does not compute.
    assert_eq!(driver.tool_calls_made[4].arguments, expression_arguments("42 + 1"));
}

#[test]
fn a_step_that_the_model_carries_out_costs_two_model_calls_more() {
    let steps = [
        step("s1", &json!("1")),
        step("s2", &json!("2")),
        model_step("s3", "s2"),
        step("s4", &json!("4")),
        step("s5", &json!("5")),
    ];
    let mut driver = driver_with_native_tools("q")
        .script("plan", [submits(&steps)])
        .script(
            "s3",
            [
                calls_functions(&[("calculator", expression_arguments("3"))]),
                completes_item(""),
            ],
        )
        .script("answer", [says("42")]);
    assert_eq!(drive_and_count(&mut driver), (4, 5, RunStatus::Success));
}

#[test]
fn calls_of_the_planner_become_steps_and_the_planner_answers_from_their_results() {
    let calls = [
        ("calculator", expression_arguments("6 * 7")),
        ("clock", expression_arguments("now")),
    ];
    let mut driver = driver_with_native_tools("q").script("plan", [calls_functions(&calls), says("It is 42.")]);
    let report = driver.drive();
    assert_eq!(content(&report), "It is 42.");
    assert_eq!(
        (
            report.response.metadata.llm_calls,
            report.response.metadata.tool_calls,
            status(&report)
        ),
        (2, 2, RunStatus::Success)
    );
    assert_eq!(driver.max_open_actions, 2, "the calls run at the same time");
    use TodoItemStatus::Completed;
    assert_eq!(driver.statuses(), [("step_1", Completed), ("step_2", Completed)]);
    let messages = driver.messages("plan", 1);
    let roles: Vec<Role> = messages.iter().rev().take(3).map(|message| message.role).collect();
    assert_eq!(roles, [Role::ToolResult, Role::ToolResult, Role::Assistant]);
}

#[test]
fn after_its_calls_the_planner_may_call_more_and_submit_a_plan_that_uses_their_results() {
    let text = json!({"$concat": [{"$from": "step_1", "path": "/result"}]});
    let last = json!({"id": "end", "description": "use it", "toolCalls": [
        {"toolName": "calculator", "arguments": json!({"expression": text}).to_string()}]});
    let mut driver = driver_with_native_tools("q")
        .script(
            "plan",
            [
                calls_functions(&[("calculator", expression_arguments("1"))]),
                calls_functions(&[("clock", expression_arguments("2"))]),
                submits(&[last]),
            ],
        )
        .script("answer", [says("42")]);
    assert_eq!(drive_and_count(&mut driver), (4, 3, RunStatus::Success));
    assert_eq!(driver.tool_calls_made[2].arguments, expression_arguments("42"));
}

#[test]
fn the_planner_reads_that_its_call_failed_and_may_try_again() {
    let mut driver = driver_with_native_tools("q").script(
        "plan",
        [
            calls_functions(&[("calculator", expression_arguments(FAILS))]),
            calls_functions(&[("calculator", expression_arguments("6 * 7"))]),
            says("It is 42."),
        ],
    );
    assert_eq!(drive_and_count(&mut driver), (3, 2, RunStatus::Success));
    let message = driver.last_message("plan", 1);
    assert!(message.contains("the abacus is broken"), "{message}");
}

#[test]
fn a_failed_call_that_is_not_tried_again_makes_the_run_partial() {
    let calls = calls_functions(&[("calculator", expression_arguments(FAILS))]);
    let mut driver = driver_with_native_tools("q").script("plan", [calls, says("I could not compute it.")]);
    assert_eq!(drive_and_count(&mut driver), (2, 1, RunStatus::Partial));
}

/// Returns a driver whose planner calls the calculator with these expressions, once in each reply.
fn driver_of_planner_that_calls(start: RunStart, expressions: impl IntoIterator<Item = &'static str>) -> Driver {
    let calls = expressions
        .into_iter()
        .map(|text| calls_functions(&[("calculator", expression_arguments(text))]));
    Driver::new(start).script("plan", calls.collect::<Vec<_>>())
}

fn start_with_native_tools() -> RunStart {
    let mut start = start("q");
    start.native_tools = true;
    start
}

#[test]
fn a_planner_that_makes_one_call_again_and_again_is_stopped_and_has_to_answer() {
    // Two calls are made. The next two are sent back for correction, and after the fifth the planner has to answer.
    let mut driver =
        driver_of_planner_that_calls(start_with_native_tools(), ["1"; 5]).script("answer", [says("It is 42.")]);
    let report = driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 2);
    assert_eq!(report.response.metadata.llm_calls, 6);
    assert_eq!(report.response.metadata.status, RunStatus::Partial);
    let message = driver.last_message("plan", 3);
    assert!(
        message.contains("`calculator` was called with exactly these arguments 2 times"),
        "{message}"
    );
}

#[test]
fn a_planner_that_never_stops_calling_has_to_answer() {
    let mut start = start_with_native_tools();
    start.config.max_items = 3;
    // Each call becomes a step, so three calls are made. The next two are sent back for correction, and after the sixth the
    // planner has to answer.
    let mut driver =
        driver_of_planner_that_calls(start, ["1", "2", "3", "4", "5", "6"]).script("answer", [says("It is 42.")]);
    let report = driver.drive();
    assert_eq!(
        (driver.tool_calls_made.len(), report.response.metadata.llm_calls),
        (3, 7)
    );
    let [limit] = report.response.metadata.limits_hit.as_slice() else {
        panic!("one limit was hit");
    };
    assert!(
        limit.contains("the plan has too many open steps: 1, and the run may start only 0 (`maxItems`)"),
        "{limit}"
    );
}

#[test]
fn a_planner_that_calls_only_unknown_tools_has_to_answer() {
    let mut start = start_with_native_tools();
    start.config.max_items = 2;
    // Two calls are sent back for correction. The others become steps that fail, and the third of these exceeds
    // `max_items`.
    let unknown = |n: u32| calls_functions(&[("nothing", json!({"n": n}))]);
    let mut driver = Driver::new(start)
        .script("plan", (1..=5).map(unknown).collect::<Vec<_>>())
        .script("answer", [says("I cannot say.")]);
    let report = driver.drive();
    assert_eq!(
        (driver.tool_calls_made.len(), report.response.metadata.llm_calls),
        (0, 6)
    );
    assert_eq!(report.response.metadata.status, RunStatus::Partial);
}

#[test]
fn if_one_call_of_the_planner_is_faulty_none_is_made_and_the_fault_is_its_result() {
    let calls = [
        ("calculator", expression_arguments("1")),
        ("calculator", json!({"expression": 2})),
    ];
    let mut driver = driver_with_native_tools("q").script("plan", [calls_functions(&calls), says("I give up.")]);
    let (_, tool_calls, _) = drive_and_count(&mut driver);
    assert_eq!(tool_calls, 0);
    let messages = driver.messages("plan", 1);
    let results: Vec<&Message> = messages
        .iter()
        .filter(|message| message.role == Role::ToolResult)
        .collect();
    assert_eq!(results.len(), 2);
    let fault = "`step_2.arguments.expression`: a string is asked for, `2` is given";
    assert!(results[1].content_text().contains(fault), "{results:?}");
}

#[test]
fn a_submitted_plan_with_faults_is_corrected_by_another_call_of_submit_plan() {
    let mut driver = driver_with_native_tools("q")
        .script(
            "plan",
            [submits(&[step("a", &json!(1))]), submits(&[step("a", &json!("1"))])],
        )
        .script("answer", [says("42")]);
    assert_eq!(drive_and_count(&mut driver), (3, 1, RunStatus::Success));
    let last = driver.messages("plan", 1).pop().unwrap();
    assert_eq!(
        (last.role, last.name.as_deref()),
        (Role::ToolResult, Some("submit_plan"))
    );
    assert!(last.content_text().starts_with("The plan cannot be used:"), "{last:?}");
}

#[test]
fn arguments_that_are_no_json_object_are_a_fault_of_the_submitted_plan() {
    let mut bad = step("a", &json!("1"));
    bad["toolCalls"][0]["arguments"] = json!("{\"expression\": ");
    let mut driver = driver_with_native_tools("q").script("plan", [submits(&[bad]), says("sorry")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("`a.arguments`: an object is asked for, the text is not valid JSON"),
        "{message}"
    );
}

#[test]
fn a_plan_and_calls_in_one_reply_are_one_plan() {
    let reply = calls_functions(&[
        ("calculator", expression_arguments("1")),
        ("submit_plan", submission(&[step("a", &json!("2"))])),
    ]);
    let mut driver = driver_with_native_tools("q")
        .script("plan", [reply])
        .script("answer", [says("42")]);
    assert_eq!(drive_and_count(&mut driver), (2, 2, RunStatus::Success));
    let messages = driver.messages("answer", 0);
    let results = messages.iter().filter(|message| message.role == Role::ToolResult);
    let names: Vec<_> = results.map(|message| message.name.clone().unwrap()).collect();
    assert_eq!(names, ["calculator", "submit_plan"]);
}

#[test]
fn the_request_for_the_answer_begins_like_the_one_for_the_plan_and_has_the_same_tools() {
    for native_tools in [false, true] {
        let mut start = start("q");
        start.native_tools = native_tools;
        let reply = if native_tools {
            submits(&[step("a", &json!("1"))])
        } else {
            plan(&json!([step("a", &json!("1"))]))
        };
        let mut driver = Driver::new(start)
            .script("plan", [reply])
            .script("answer", [says("42")]);
        driver.drive();
        let (for_plan, for_answer) = (driver.request("plan", 0), driver.request("answer", 0));
        assert_eq!(for_answer.prompt.0[..for_plan.prompt.0.len()], for_plan.prompt.0[..]);
        assert_eq!(for_answer.tools, for_plan.tools);
        assert_eq!(
            (for_plan.tool_choice, for_answer.tool_choice),
            (ToolChoice::Auto, ToolChoice::None)
        );
    }
}

#[test]
fn a_step_that_requires_a_tool_has_to_call_it_and_then_may_end() {
    let mut driver = driver_with_native_tools("q")
        .script("plan", [submits(&[step("a", &json!("1")), model_step("b", "a")])])
        .script(
            "b",
            [
                calls_functions(&[("calculator", expression_arguments("2"))]),
                completes_item("42"),
            ],
        )
        .script("answer", [says("42")]);
    driver.drive();
    let choice = |n| driver.request("b", n).tool_choice;
    assert_eq!((choice(0), choice(1)), (ToolChoice::Required, ToolChoice::Auto));
}

#[test]
fn a_model_that_refuses_functions_is_asked_for_a_plan_in_text() {
    let refused = Err(ModelError {
        code: ModelErrorCode::ToolsNotSupported,
        message: "no tools".to_owned(),
        retry_after_ms: None,
        request_not_read: false,
    });
    let mut driver = driver_with_native_tools("q")
        .script("plan", [refused, plan(&json!([step("a", &json!("1"))]))])
        .script("answer", [says("42")]);
    assert_eq!(driver.drive().response.metadata.tool_calls, 1);
    assert!(!driver.request("plan", 0).tools.is_empty());
    assert!(driver.request("plan", 1).tools.is_empty());
    assert!(
        driver.messages("plan", 1)[0]
            .content_text()
            .contains("---JSON_OUTPUT_START---")
    );
}

#[test]
fn a_tool_named_like_the_function_of_the_planner_is_not_offered() {
    let mut driver = driver_with_native_tools("q");
    let mut start = driver.run.started_with().clone();
    start.tools.push(tool("submit_plan"));
    driver = Driver::new(start).script("plan", [says("Hello")]);
    driver.drive();
    let names: Vec<_> = driver
        .request("plan", 0)
        .tools
        .iter()
        .map(|tool| tool.name.clone())
        .collect();
    // This `submit_plan` is the function of the planner. The tool would be a second one.
    assert_eq!(names, ["submit_plan", "calculator", "clock"]);
}

// The host may show the text of a call with `may_answer` as the answer while the model writes it. It may not show the text of a
// planner without functions, which is told to write JSON. The synthesis is the model call after the steps.
#[test]
fn the_text_of_a_planner_with_functions_or_of_a_synthesis_may_be_shown_as_the_answer() {
    let may_answer = |driver: &Driver| match driver.open_actions().remove(0) {
        Action::CallModel(call) => call.may_answer,
        Action::CallTools { .. } => panic!("no model is called"),
    };
    let calls = [("calculator", expression_arguments("6 * 7"))];
    let mut driver = driver_with_native_tools("q").script("plan", [calls_functions(&calls)]);
    assert!(may_answer(&driver), "the planner");
    driver.answer_all();
    driver.answer_all();
    assert!(may_answer(&driver), "the planner after its calls");

    let mut driver = driver_with_plan(&json!([tool_item("a", &[])])).script("a", [calculate("1"), completes_item("")]);
    assert!(!may_answer(&driver), "a planner without functions");
    driver.answer_all();
    assert!(!may_answer(&driver), "a step");
    // The step requests its call, the call is made, and the step ends.
    (0..3).for_each(|_| driver.answer_all());
    assert!(may_answer(&driver), "the synthesis");
}

#[test]
fn the_messages_of_a_run_whose_plan_is_submitted_match_their_snapshot() {
    let mut driver = driver_with_native_tools("What is 6 times 7?")
        .script("plan", [submits(&[step("a", &json!("6 * 7"))])])
        .script("answer", [says("42")]);
    driver.drive();
    insta::assert_snapshot!(transcript(&driver.messages("answer", 0)));
}

/// Returns every schema in `value` that describes an object.
fn object_schemas(value: &Value) -> Vec<&Value> {
    let children: Vec<&Value> = match value {
        Value::Object(map) => map.values().collect(),
        Value::Array(values) => values.iter().collect(),
        _ => Vec::new(),
    };
    let this = value["properties"].is_object().then_some(value);
    this.into_iter()
        .chain(children.into_iter().flat_map(object_schemas))
        .collect()
}

// In strict mode, a provider accepts only schemas whose objects require every property and allow no other one. Some keywords are
// not allowed either.
#[test]
fn the_schema_of_a_plan_is_one_that_strict_providers_accept() {
    let mut driver = driver_with_native_tools("q").script("plan", [says("Hello")]);
    driver.drive();
    let schema = driver.request("plan", 0).tools[0].input_schema.clone();
    let object_schemas = object_schemas(&schema);
    assert_eq!(object_schemas.len(), 3, "the plan, a step and a call");
    for object in object_schemas {
        let names: Vec<&str> = object["properties"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert_eq!(object["required"], json!(names));
        assert_eq!(object["additionalProperties"], json!(false));
    }
    let text = schema.to_string();
    for keyword in [
        "minimum",
        "maximum",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "pattern",
        "$ref",
        "default",
    ] {
        assert!(!text.contains(&format!("\"{keyword}\"")), "{keyword}");
    }
}
