//! Steps (the items of a plan) with planned calls: tool calls that the plan itself contains. Such a step runs without a model,
//! and is left to the model if its planned calls do not complete it.
//!
//! The calculator of the tests returns 42, except for the expressions that the constants of `harness` name, such as `FAILS` and
//! `BIG_OUTPUT`.

use art_agent::RunStart;
use art_core::agent::{QueryAttachment, RunStatus};
use art_core::pes::TodoItemStatus;
use art_core::prompt::Role;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns an item with one planned call of the calculator.
fn item_with_call(id: &str, expression: impl Into<Value>) -> Value {
    let expression = expression.into();
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": expression}},
    ]})
}

/// Returns a reference to the `result` in the output of a step.
fn reference_to(step: &str) -> Value {
    json!({"$from": step, "path": "/result"})
}

#[test]
fn planned_calls_that_use_earlier_outputs_need_a_model_only_for_plan_and_answer() {
    let last = json!({"$concat": [reference_to("a"), " + ", reference_to("b")]});
    let mut driver = driver_with_plan(&json!([
        item_with_call("a", json!("1")),
        item_with_call("b", json!("2")),
        item_with_call("c", last)
    ]))
    .script("answer", [says("It is 84.")]);
    let report = driver.drive();
    let metadata = &report.response.metadata;
    assert_eq!(
        (metadata.status, metadata.llm_calls, metadata.tool_calls),
        (RunStatus::Success, 2, 3)
    );
    let item = driver.item("c");
    assert_eq!(item.actual_tool_calls[0].arguments, json!({"expression": "42 + 42"}));
    assert_eq!(item.dependencies, ["a", "b"]);
}

#[test]
fn planned_calls_of_independent_steps_are_open_at_the_same_time() {
    let mut driver = driver_with_plan(&json!([
        item_with_call("a", json!("1")),
        item_with_call("b", json!("2"))
    ]));
    driver.answer_all();
    assert_eq!(driver.open_actions().len(), 2);
}

#[test]
fn a_planned_call_that_fails_hands_its_step_to_the_model() {
    let mut driver = driver_with_plan(&json!([
        item_with_call("a", json!("1")),
        item_with_call("b", json!(FAILS))
    ]))
    .script("b", [completes_item("about 42")])
    .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.response.metadata.tool_calls, 2);
    assert_eq!(report.response.metadata.llm_calls, 3);
    let messages = driver.messages("b", 0);
    let last = messages.last().unwrap().content_text();
    assert!(last.contains("the abacus is broken"), "{last}");
    assert_eq!(driver.item("b").status, TodoItemStatus::Completed);
}

/// Returns an item with two planned calls: the first succeeds, and the second fails.
fn item_whose_second_call_fails(id: &str) -> Value {
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": "1"}},
        {"toolName": "calculator", "arguments": {"expression": FAILS}},
    ]})
}

#[test]
fn a_planned_call_that_succeeded_is_not_made_again_by_the_model() {
    let mut driver = driver_with_plan(&json!([item_whose_second_call_fails("a")]))
        .script("a", [calculate("1"), calculate("2"), completes_item("")])
        .script("answer", [says("ok")]);
    driver.drive();
    let expressions: Vec<&Value> = driver
        .tool_calls_made
        .iter()
        .map(|call| &call.arguments["expression"])
        .collect();
    assert_eq!(expressions, [&json!("1"), &json!(FAILS), &json!("2")]);
    let message = driver.last_message("a", 1);
    assert!(
        message.contains("not called again: the plan called `calculator`"),
        "{message}"
    );
}

#[test]
fn a_reference_to_a_step_whose_last_call_failed_does_not_take_an_earlier_output() {
    let mut driver = driver_with_plan(&json!([
        item_whose_second_call_fails("a"),
        item_with_call("b", reference_to("a"))
    ]))
    .script("a", [completes_item("about 42")])
    .script("b", [calculate("2"), completes_item("")])
    .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("b", 0);
    assert!(
        message.contains("the output of `a` has nothing at `/result`"),
        "{message}"
    );
}

#[test]
fn a_reference_that_finds_nothing_hands_its_step_to_the_model() {
    let gone = json!({"$from": "a", "path": "/gone"});
    let mut driver = driver_with_plan(&json!([item_with_call("a", json!("1")), item_with_call("b", gone)]))
        .script("b", [calculate("6 * 7"), completes_item("")])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("b", 0);
    assert!(
        message.contains("`arguments/expression`: the output of `a` has nothing at `/gone`"),
        "{message}"
    );
}

#[test]
fn a_plan_with_faults_is_requested_again_with_a_list_of_all_faults() {
    let mut driver = driver_with_plan(&json!([
        item_with_call("a", json!(1)),
        item_with_call("b", reference_to("z"))
    ]))
    .script("plan", [plan(&json!([item_with_call("a", json!("1"))]))])
    .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(
        (report.response.metadata.llm_calls, report.response.metadata.tool_calls),
        (3, 1)
    );
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("`a.arguments.expression`: a string is asked for, `1` is given"),
        "{message}"
    );
    assert!(
        message.contains("`b.arguments.expression`: `$from` names `z`, which is not in the plan"),
        "{message}"
    );
}

#[test]
fn faults_of_the_calls_are_reported_together_with_those_of_the_steps() {
    let faulty = json!([item_with_call("a", json!(1)), item_with_call("a", json!("2"))]);
    let mut driver = driver_with_plan(&faulty)
        .script("plan", [plan(&json!([item_with_call("a", json!("1"))]))])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(message.contains("two items have the id `a`"), "{message}");
    assert!(
        message.contains("`a.arguments.expression`: a string is asked for"),
        "{message}"
    );
}

#[test]
fn a_fault_that_is_not_repaired_fails_its_step_and_independent_steps_run() {
    let faulty = || {
        plan(&json!([
            item_with_call("a", json!(1)),
            item_with_call("b", json!("2")),
            item_with_call("c", reference_to("a"))
        ]))
    };
    let mut driver = Driver::new(start("q"))
        .script("plan", [faulty(), faulty(), faulty()])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Partial);
    use TodoItemStatus::{Cancelled, Completed, Failed};
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Completed), ("c", Cancelled)]);
    let error = driver.item("a").error.clone().unwrap();
    assert!(error.contains("its planned calls do not fit the tools"), "{error}");
}

#[test]
fn a_plan_with_more_calls_than_the_run_may_make_is_refused_before_any_call_is_made() {
    let plan_with_two_calls = || {
        plan(&json!([
            item_with_call("a", json!("1")),
            item_with_call("b", json!("2"))
        ]))
    };
    let plan_with_one_call = plan(&json!([item_with_call("a", json!("1"))]));
    let mut start = start("q");
    start.config.max_tool_calls = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan_with_two_calls(), plan_with_one_call])
        .script("answer", [says("ok")]);
    driver.answer_all();
    assert!(driver.tool_calls_made.is_empty());
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("`b`: this is call 2 of the plan, and the run may make only 1"),
        "{message}"
    );
}

#[test]
fn a_reply_with_only_a_list_of_calls_is_a_plan_with_a_step_for_each_call() {
    let text = json!({"toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": "1"}},
        {"toolName": "clock", "arguments": "{\"expression\": \"2\"}"},
    ]});
    let mut driver = Driver::new(start("q"))
        .script("plan", [says(text.to_string())])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(
        (report.response.metadata.llm_calls, report.response.metadata.tool_calls),
        (2, 2)
    );
    assert_eq!(
        driver.item("step_2").actual_tool_calls[0].arguments,
        json!({"expression": "2"})
    );
}

#[test]
fn arguments_that_are_not_json_are_a_fault_of_the_plan() {
    let text = json!({"toolCalls": [{"toolName": "calculator", "arguments": "{\"expression\": "}]});
    let mut driver = Driver::new(start("q"))
        .script("plan", [says(text.to_string()), plan(&json!([]))])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("`step_1.arguments`: an object is asked for, the text is not valid JSON: EOF"),
        "{message}"
    );
}

#[test]
fn a_required_tool_that_no_planned_call_names_is_left_to_the_model() {
    let mut item = item_with_call("a", json!("1"));
    item["requiredTools"] = json!(["calculator", "clock"]);
    let mut driver = driver_with_plan(&json!([item]))
        .script("a", [calls(&[("clock", json!({}))]), completes_item("")])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.response.metadata.tool_calls, 2);
    assert_eq!(status(&report), RunStatus::Success);
}

#[test]
fn the_same_calls_are_made_again_if_the_model_lists_them_for_a_second_question() {
    let list_of_calls =
        || says(json!({"toolCalls": [{"toolName": "calculator", "arguments": {"expression": "1"}}]}).to_string());
    let ask = |prior| {
        let mut start = start("q");
        start.prior = prior;
        let mut driver = Driver::new(start)
            .script("plan", [list_of_calls()])
            .script("answer", [says("ok")]);
        let calls = driver.drive().response.metadata.tool_calls;
        (calls, driver.saved_state().clone())
    };
    let (_, state) = ask(None);
    let (calls, state) = ask(Some(state));
    let ids: Vec<&str> = state.todo_list.iter().map(|item| item.id.as_str()).collect();
    assert_eq!((calls, ids), (1, vec!["step_1"]));
}

// An output for display is drawn for the person. It goes neither to a model nor into the arguments of another call. Here the
// output is `{"bars": DRAWN_TEXT}`.
#[test]
fn a_reference_never_takes_output_for_display() {
    let drawn = json!({"$from": "a", "path": "/bars"});
    let mut driver = driver_with_plan(&json!([item_with_call("a", json!(DRAWS)), item_with_call("b", drawn)]))
        .script("b", [fails_item("there is nothing to use")])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("b", 0);
    assert!(
        !message.contains(DRAWN_TEXT) && message.contains("`arguments/expression`"),
        "{message}"
    );
    assert!(driver.item("b").actual_tool_calls.is_empty());
}

/// Returns the start of a run whose model can plan and answer, but cannot carry out a step.
fn start_of_model_that_only_plans() -> RunStart {
    RunStart {
        plans_only: true,
        ..start("q")
    }
}

#[test]
fn a_failed_planned_call_fails_its_step_if_the_model_only_plans() {
    let items = json!([
        item_with_call("a", json!(FAILS)),
        item_with_call("b", json!("1")),
        item_with_call("c", reference_to("a"))
    ]);
    let mut driver = Driver::new(start_of_model_that_only_plans())
        .script("plan", [plan(&items)])
        .script("answer", [says("ok")]);
    let report = driver.drive();
    assert_eq!(report.response.metadata.llm_calls, 2);
    use TodoItemStatus::{Cancelled, Completed, Failed};
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Completed), ("c", Cancelled)]);
    assert_eq!(driver.item("a").error.as_deref(), Some("the abacus is broken"));
}

#[test]
fn a_reference_that_finds_nothing_fails_its_step_if_the_model_only_plans() {
    let gone = json!({"$from": "a", "path": "/gone"});
    let mut driver = Driver::new(start_of_model_that_only_plans())
        .script(
            "plan",
            [plan(&json!([
                item_with_call("a", json!("1")),
                item_with_call("b", gone)
            ]))],
        )
        .script("answer", [says("ok")]);
    assert_eq!(driver.drive().response.metadata.llm_calls, 2);
    let error = driver.item("b").error.clone().unwrap();
    assert!(error.contains("the output of `a` has nothing at `/gone`"), "{error}");
}

#[test]
fn a_call_beyond_the_budget_fails_its_step_if_the_model_only_plans() {
    let mut start = start_of_model_that_only_plans();
    start.config.max_tool_calls = 0;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([item_with_call("a", json!("1"))]))])
        .script("answer", [says("ok")]);
    assert_eq!(
        driver.drive().response.metadata.llm_calls,
        2,
        "the plan is not sent back"
    );
    let error = driver.item("a").error.clone().unwrap();
    assert!(error.contains("the run may make only 0"), "{error}");
}

#[test]
fn a_step_without_calls_fails_if_the_model_only_plans() {
    let mut driver = Driver::new(start_of_model_that_only_plans())
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("answer", [says("ok")]);
    assert_eq!(driver.drive().response.metadata.llm_calls, 2);
    let error = driver.item("a").error.clone().unwrap();
    assert!(error.contains("the plan has no calls for this step"), "{error}");
}

#[test]
fn a_step_in_progress_shows_its_calls_with_values_in_place_of_references() {
    let mut driver = driver_with_plan(&json!([
        item_with_call("a", "1"),
        item_with_call("b", json!({"$concat": [reference_to("a"), " / 2"]}))
    ]));
    let shown = |driver: &Driver| -> Vec<Vec<Value>> {
        let items = driver.run.view().items.iter();
        let calls = items.map(|item| {
            item.actual_tool_calls
                .iter()
                .map(|call| call.arguments.clone())
                .collect()
        });
        calls.collect()
    };
    driver.answer_all();
    assert_eq!(shown(&driver), [vec![json!({"expression": "1"})], vec![]]);
    driver.answer_all();
    assert_eq!(shown(&driver)[1], [json!({"expression": "42 / 2"})]);
    assert_eq!(driver.item("b").fallback, None);
}

#[test]
fn a_step_that_falls_back_from_its_planned_calls_to_the_model_has_the_reason() {
    let gone = json!({"$from": "a", "path": "/gone"});
    let items = json!([
        item_with_call("a", "1"),
        item_with_call("b", gone),
        item_with_call("c", FAILS),
        tool_item("d", &[])
    ]);
    let mut driver = driver_with_plan(&items)
        .script("b", [calculate("2"), completes_item("")])
        .script("c", [completes_item("about 42")])
        .script("d", [calculate("3"), completes_item("")])
        .script("answer", [says("ok")]);
    driver.drive();
    let reason = |id: &str| driver.item(id).fallback.clone();
    assert_eq!(reason("a"), None);
    assert_eq!(
        reason("b").unwrap(),
        "`arguments/expression`: the output of `a` has nothing at `/gone`"
    );
    assert_eq!(reason("c").unwrap(), "the abacus is broken");
    assert_eq!(reason("d"), None, "the step has no planned calls to fall back from");
    assert_eq!(driver.item("b").actual_tool_calls.len(), 1);
}

// In the arguments of a planned call, the text `attachment:NAME` stands for the content of the file with this name, as
// `$attachment` does. In a `$literal` or `$concat`, such a text is data.
#[test]
fn an_attachment_text_in_a_literal_or_a_concat_stays_a_text() {
    let mut start = start("q");
    start.props.attachments = vec![QueryAttachment {
        name: "secret.txt".to_owned(),
        text: "hunter2".to_owned(),
        ..QueryAttachment::default()
    }];
    let concat = json!({"$concat": ["attachment:", "secret.txt"]});
    let mut driver = Driver::new(start)
        .script(
            "plan",
            [plan(&json!([
                item_with_call("a", json!({"$attachment": "secret.txt"})),
                item_with_call("b", json!({"$literal": "attachment:secret.txt"})),
                item_with_call("c", concat),
            ]))],
        )
        .script("answer", [says("ok")]);
    driver.drive();
    let mut expressions: Vec<&Value> = driver
        .tool_calls_made
        .iter()
        .map(|call| &call.arguments["expression"])
        .collect();
    expressions.sort_by_key(|value| value.to_string());
    assert_eq!(
        expressions,
        ["attachment:secret.txt", "attachment:secret.txt", "hunter2"]
    );
}

/// Returns an item with planned calls of these expressions.
fn item_with_calls(id: &str, expressions: &[Value]) -> Value {
    let call = |expression| json!({"toolName": "calculator", "arguments": {"expression": expression}});
    let calls: Vec<Value> = expressions.iter().map(call).collect();
    json!({"id": id, "description": format!("do {id}"), "toolCalls": calls})
}

/// Returns a reference to the whole output of one call of the step `a`: the call with this number, counted from 0.
fn reference_to_call_of_a(number: usize) -> Value {
    json!({"$from": "a", "call": number})
}

/// Returns whether the planned call of the step `id` was given the output of the expression `big`, which has 10,000 characters.
fn took_the_big_output(driver: &Driver, id: &str) -> bool {
    let calls = &driver.item(id).actual_tool_calls;
    let expression = calls.first().and_then(|call| call.arguments["expression"].as_str());
    expression.is_some_and(|text| text.len() == 10_000)
}

/// Returns why the planned calls of a step were not enough, so that the model had to carry the step out.
fn fallback_reason<'a>(driver: &'a Driver, id: &str) -> &'a str {
    driver.item(id).fallback.as_deref().unwrap_or_default()
}

/// Returns one value written in three ways, which the check of the plan does not recognise as the same value. When the plan
/// runs, the third call with this value is refused, because a step may make the same call only twice.
fn same_value_in_three_forms(text: &str) -> [Value; 3] {
    [json!(text), json!({"$literal": text}), json!({"$concat": [text]})]
}

/// The reason for the fallback of a step whose reference names a call of `a` that has no output.
const NO_OUTPUT_OF_A: &str = "`arguments/expression`: step `a` has no output to take a value from";

#[test]
fn the_call_number_of_a_reference_counts_refused_calls_of_the_plan() {
    let mut driver = driver_with_plan(&json!([
        item_with_calls(
            "a",
            &[&same_value_in_three_forms("1")[..], &[json!(BIG_OUTPUT)]].concat()
        ),
        item_with_call("b", reference_to_call_of_a(3)),
        item_with_call("c", reference_to_call_of_a(2)),
    ]))
    .script("a", [completes_item("done")])
    .script("c", [calculate("2"), completes_item("")])
    .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.item("a").actual_tool_calls.len(), 3);
    assert!(took_the_big_output(&driver, "b"), "{:?}", driver.item("b"));
    assert_eq!(fallback_reason(&driver, "c"), NO_OUTPUT_OF_A);
}

#[test]
fn the_call_number_of_a_reference_counts_failed_calls_of_the_plan() {
    let mut driver = driver_with_plan(&json!([
        item_with_calls("a", &[json!(FAILS), json!(BIG_OUTPUT)]),
        item_with_call("b", reference_to_call_of_a(1)),
        item_with_call("c", reference_to_call_of_a(0)),
    ]))
    .script("a", [calculate("2"), completes_item("")])
    .script("c", [calculate("2"), completes_item("")])
    .script("answer", [says("ok")]);
    driver.drive();
    assert!(took_the_big_output(&driver, "b"), "{:?}", driver.item("b"));
    assert_eq!(fallback_reason(&driver, "c"), NO_OUTPUT_OF_A);
}

#[test]
fn a_call_number_never_refers_to_a_call_that_the_model_made_instead_of_the_planned_ones() {
    let gone = json!({"$from": "z", "path": "/gone"});
    let mut driver = driver_with_plan(&json!([
        item_with_call("z", json!("1")),
        item_with_call("a", gone),
        item_with_call("b", reference_to_call_of_a(0)),
        item_with_call("c", json!({"$from": "a"})),
    ]))
    .script("a", [calculate(BIG_OUTPUT), completes_item("")])
    .script("b", [calculate("2"), completes_item("")])
    .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(fallback_reason(&driver, "b"), NO_OUTPUT_OF_A);
    assert!(
        took_the_big_output(&driver, "c"),
        "without a number, the last call is meant"
    );
}

#[test]
fn a_reference_without_a_number_takes_the_models_text_if_the_last_call_was_refused() {
    let mut driver = driver_with_plan(&json!([
        item_with_calls(
            "a",
            &[&[json!("1")], &same_value_in_three_forms(BIG_OUTPUT)[..]].concat()
        ),
        item_with_call("b", json!({"$from": "a"})),
    ]))
    .script("a", [completes_item("what the model says")])
    .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(
        driver.item("b").actual_tool_calls[0].arguments,
        json!({"expression": "what the model says"})
    );
}

#[test]
fn a_call_number_refers_to_a_call_of_the_model_if_the_step_has_no_planned_calls() {
    let mut driver = driver_with_plan(&json!([
        tool_item("a", &[]),
        item_with_call("b", reference_to_call_of_a(1))
    ]))
    .script("a", [calculate("1"), calculate(BIG_OUTPUT), completes_item("")])
    .script("answer", [says("ok")]);
    driver.drive();
    assert!(took_the_big_output(&driver, "b"), "{:?}", driver.item("b"));
}

/// Carries out a plan whose step `a`, the item `first`, fails. Then the step `b` changes the plan, so that `a` is tried again
/// with the planned calls of the item `second`. In both tries together, the model gives `replies` for the step `a`.
fn retry_step(first: &Value, second: &Value, replies: impl IntoIterator<Item = Reply>) -> Driver {
    let reply_of_b = json!({"content": "once more", "updatedPlan": {"todoList": [
        {"id": "a", "description": "do a", "status": "pending", "toolCalls": second["toolCalls"]},
        {"id": "b", "description": "do b", "stepType": "reasoning"},
    ]}});
    let mut start = start("q");
    start.config.max_parallel_items = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([first, reasoning_item("b", &[])]))])
        .script("a", replies)
        .script("b", [says(reply_of_b.to_string())])
        .script("answer", [says("ok")]);
    driver.drive();
    driver
}

#[test]
fn a_planned_call_that_succeeded_is_not_made_again_when_its_step_is_tried_again() {
    let calls = item_whose_second_call_fails("a");
    let driver = retry_step(&calls, &calls, [fails_item("no"), calculate("2"), completes_item("")]);
    let expressions: Vec<&Value> = driver
        .tool_calls_made
        .iter()
        .map(|call| &call.arguments["expression"])
        .collect();
    assert_eq!(expressions, ["1", FAILS, FAILS, "2"]);
    let item = driver.item("a");
    assert_eq!((item.status, item.tool_results.len()), (TodoItemStatus::Completed, 3));
    let messages = driver.messages("a", 2);
    let results = messages.iter().filter(|message| message.role == Role::ToolResult);
    assert_eq!(results.count(), 3, "each call has its result: {messages:?}");
}

#[test]
fn results_that_are_kept_from_a_failed_try_are_in_the_order_of_the_calls() {
    let calls = |first: &str| item_with_calls("a", &[json!(first), json!(BIG_OUTPUT)]);
    let driver = retry_step(&calls(FAILS), &calls("1"), [fails_item("no")]);
    let item = driver.item("a");
    assert_eq!(item.status, TodoItemStatus::Completed, "{item:?}");
    let ids: Vec<&String> = item.tool_results.iter().map(|result| &result.call_id).collect();
    assert_eq!(ids, item.planned_call_ids.iter().collect::<Vec<_>>());
}
