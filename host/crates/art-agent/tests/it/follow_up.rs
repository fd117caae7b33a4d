//! Several questions in one thread: each has a plan of its own, and may use the results of the earlier ones. A plan refers to the
//! step `a` of the first question as `q1.a`.

use art_agent::{Run, RunEvent};
use art_core::agent::RunStatus;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Failed, InProgress, Pending};
use art_core::pes::{EarlierQuestion, PesAgentStateData};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns the stored state of a thread after one question, whose plan had the step `a` with the result 42.
fn state_after_first_question() -> PesAgentStateData {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    driver.saved_state().clone()
}

/// Returns the driver of a run that asks a further question in a thread with the state `prior`.
fn follow_up_driver(query: &str, prior: PesAgentStateData) -> Driver {
    let mut start = start(query);
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(prior);
    Driver::new(start)
}

/// Returns a step with one planned call of the calculator: a call that the plan contains, so that no model has to request it.
fn calculator_step(id: &str, expression: impl Into<Value>) -> Value {
    let expression = expression.into();
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": expression}},
    ]})
}

/// Asks a question in a thread with the state `prior`, and drives its run to the end. The planner gives a plan of `items`, all of
/// which have planned calls.
fn run_question(query: &str, prior: PesAgentStateData, items: &Value) -> Driver {
    let mut driver = follow_up_driver(query, prior)
        .script("plan", [plan(items)])
        .script("answer", [says("ok")]);
    driver.drive();
    driver
}

/// Returns the texts of all messages of the first request for `step`: `plan`, the identifier of an item, or `answer`.
fn prompt_text(driver: &Driver, step: &str) -> String {
    let messages = driver.messages(step, 0);
    let texts: Vec<_> = messages.iter().map(|message| message.content_text()).collect();
    texts.join("\n\n")
}

/// Returns the JSON of a section of a prompt.
fn json_section(prompt: &str, heading: &str) -> Value {
    let rest = prompt.split(&format!("## {heading}\n")).nth(1).unwrap();
    serde_json::from_str(rest.lines().next().unwrap()).unwrap()
}

#[test]
fn the_same_question_twice_runs_its_tools_twice() {
    let items = json!([
        calculator_step("a", "1"),
        calculator_step("b", json!({"$concat": [{"$from": "a", "path": "/result"}]}))
    ]);
    let first = run_question("q", PesAgentStateData::default(), &items);
    let second = run_question("q", first.saved_state().clone(), &items);
    for driver in [&first, &second] {
        assert_eq!(driver.tool_calls_made.len(), 2);
        let metadata = &driver.run.finished().unwrap().response.metadata;
        assert_eq!((metadata.tool_calls, metadata.llm_calls), (2, 2));
        assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    }
}

#[test]
fn a_step_may_have_the_id_of_a_step_of_an_earlier_question() {
    let mut driver = follow_up_driver("And half of it?", state_after_first_question())
        .script("plan", [plan(&json!([reasoning_item("a", &[])]))])
        .script("a", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    assert_eq!(driver.item("a").result, Some(json!("21").into()));
    assert_eq!(driver.run.finished().unwrap().items.len(), 1);
    let EarlierQuestion { number, query, items } = &driver.saved_state().earlier_questions[0];
    assert_eq!((*number, query.as_str()), (1, "What is 6 times 7?"));
    assert_eq!(items[0].result, Some(json!("42").into()));
    assert_eq!(
        driver.saved_state().step_outputs["a"].raw_result,
        Some(json!("21").into())
    );
}

#[test]
fn five_follow_up_questions_need_no_repair_of_their_plans() {
    let items = json!([calculator_step("step_1", "1")]);
    let mut state = PesAgentStateData::default();
    for n in 1..=6 {
        let driver = run_question(&format!("question {n}"), state, &items);
        let llm_calls = driver.run.finished().unwrap().response.metadata.llm_calls;
        assert_eq!(llm_calls, 2, "one for the plan and one for the answer");
        state = driver.saved_state().clone();
    }
    let questions: Vec<_> = state
        .earlier_questions
        .iter()
        .map(|question| question.query.as_str())
        .collect();
    assert_eq!(
        questions,
        ["question 1", "question 2", "question 3", "question 4", "question 5"]
    );
}

#[test]
fn a_planned_call_takes_an_output_of_an_earlier_question() {
    let first = run_question("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]));
    let value = json!({"$concat": ["halve ", {"$from": "q1.a", "path": "/result"}]});
    let second = run_question(
        "And half of it?",
        first.saved_state().clone(),
        &json!([calculator_step("a", value)]),
    );
    assert_eq!(second.tool_calls_made[0].arguments, json!({"expression": "halve 42"}));
    assert_eq!(second.item("a").dependencies, ["q1.a"]);
    assert_eq!(status(second.run.finished().unwrap()), RunStatus::Success);
}

#[test]
fn a_plan_that_needs_a_missing_earlier_result_or_one_of_the_wrong_type_is_sent_back() {
    let first = run_question("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]));
    let faults = [
        ("q1.a", "/gone", "the output of `q1.a` has nothing at `/gone`"),
        ("q1.a", "/result", "a string is asked for, `/result` of `q1.a` is `42`"),
        (
            "q2.a",
            "/result",
            "`$from` names `q2.a`, which is not in the plan; did you mean `q1.a`?",
        ),
    ];
    for (step, path, expected) in faults {
        let reference = json!({"$from": step, "path": path});
        let mut driver = follow_up_driver("And half of it?", first.saved_state().clone())
            .script(
                "plan",
                [plan(&json!([calculator_step("b", reference)])), plan(&json!([]))],
            )
            .script("answer", [says("ok")]);
        driver.drive();
        let message = driver.last_message("plan", 1);
        assert!(message.contains(expected), "{message}");
        assert!(driver.tool_calls_made.is_empty());
    }
}

#[test]
fn an_output_that_was_cut_for_the_store_cannot_be_referenced() {
    let mut state = run_question("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]))
        .saved_state()
        .clone();
    // The store ends a text that it cuts with such a marker.
    state.todo_list[0].tool_results[0].output = Some(json!("xxx... [kept 3 of 9 bytes]").into());
    let reference = json!({"$from": "q1.a"});
    let mut driver = follow_up_driver("And now?", state)
        .script(
            "plan",
            [plan(&json!([calculator_step("b", reference)])), plan(&json!([]))],
        )
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("the output of `q1.a` was too large to be stored whole"),
        "{message}"
    );
}

#[test]
fn a_step_id_that_names_an_earlier_result_is_refused() {
    let mut driver = follow_up_driver("And half of it?", state_after_first_question())
        .script("plan", [plan(&json!([calculator_step("q1.a", "1")])), plan(&json!([]))])
        .script("answer", [says("ok")]);
    driver.drive();
    let message = driver.last_message("plan", 1);
    assert!(
        message.contains("the id `q1.a` names a result of an earlier question"),
        "{message}"
    );
}

#[test]
fn the_prompt_of_a_step_shows_the_earlier_results_that_the_step_depends_on() {
    let first = run_question(
        "first",
        PesAgentStateData::default(),
        &json!([calculator_step("a", "1"), calculator_step("b", "2")]),
    );
    let items = json!([
        reasoning_item("c", &["q1.b"]),
        reasoning_item("d", &["c"]),
        reasoning_item("e", &[])
    ]);
    let mut driver = follow_up_driver("second", first.saved_state().clone())
        .script("plan", [plan(&items)])
        .script("c", [completes_item("x")])
        .script("d", [completes_item("y")])
        .script("e", [completes_item("z")])
        .script("answer", [says("ok")]);
    driver.drive();
    let shown_earlier_steps = |step: &str| -> Vec<Value> {
        let prompt = driver.last_message(step, 0);
        let entries = json_section(&prompt, "Results of earlier questions");
        assert_eq!(entries[0]["question"], "first");
        let steps = entries[0]["steps"].as_array().unwrap();
        steps.iter().map(|step| step["stepId"].clone()).collect()
    };
    assert_eq!(shown_earlier_steps("c"), ["q1.b"]);
    // `d` depends on `q1.b` through `c`.
    assert_eq!(shown_earlier_steps("d"), ["q1.b"]);
    // A step without dependencies is shown all results of earlier questions.
    assert_eq!(shown_earlier_steps("e"), ["q1.a", "q1.b"]);
}

#[test]
fn the_planner_sees_earlier_results_with_their_question_and_no_current_plan() {
    let mut driver = follow_up_driver("And half of it?", state_after_first_question())
        .script("plan", [plan(&json!([]))])
        .script("answer", [says("21")]);
    driver.drive();
    let prompt = driver.last_message("plan", 0);
    insta::assert_snapshot!(prompt.split("\n\n## Examples").next().unwrap(), @r#"
    ## Query
    > And half of it?

    ## Results of earlier questions
    [{"question":"What is 6 times 7?","steps":[{"stepId":"q1.a","description":"do a","calls":[{"tool":"calculator","arguments":{"expression":"6 * 7"},"status":"success","output":{"result":42},"sources":[{"sourceName":"abacus"}]}],"result":"42"}]}]
    These are results of earlier questions, not steps of a plan for this query. When it asks again for what a tool gives, plan the calls again. A step that needs one of these results names its `stepId`, such as `q1.step_1`, in its `dependencies`, or as the `$from` of a planned call.
    "#);
    // The earlier step does not count as removed from the plan.
    assert!(driver.observations(Kind::PlanUpdate)[0].content["changes"]["changes"] == json!([]));
}

#[test]
fn long_earlier_results_are_cut_in_the_prompts() {
    let first = run_question(
        "q",
        PesAgentStateData::default(),
        &json!([calculator_step("a", BIG_OUTPUT)]),
    );
    let second = run_question("And now?", first.saved_state().clone(), &json!([]));
    let prompt = second.last_message("plan", 0);
    // At least 6,000 of the 10,000 characters are left out.
    assert!(prompt.contains("[truncated 6"), "{prompt}");
    assert!(prompt.len() < 8_000, "{}", prompt.len());
}

#[test]
fn the_request_for_the_answer_lists_earlier_results_and_those_of_the_plan_separately() {
    let second = run_question(
        "And now?",
        state_after_first_question(),
        &json!([calculator_step("b", "1")]),
    );
    let prompt = prompt_text(&second, "answer");
    assert_eq!(json_section(&prompt, "Completed steps")[0]["stepId"], "b");
    assert_eq!(json_section(&prompt, "Completed steps").as_array().unwrap().len(), 1);
    let earlier = json_section(&prompt, "Results of earlier questions");
    assert_eq!(earlier[0]["question"], "What is 6 times 7?");
    assert_eq!(earlier[0]["steps"][0]["stepId"], "q1.a");
}

#[test]
fn a_report_has_only_the_steps_and_sources_of_its_question() {
    let second = run_question("Thanks.", state_after_first_question(), &json!([]));
    let report = second.run.finished().unwrap();
    assert_eq!((report.items.len(), report.sources.len()), (0, 0));
    assert_eq!(second.run.view().items.len(), 0);
}

#[test]
fn a_failure_of_an_earlier_question_does_not_make_the_next_run_partial() {
    let mut first = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [fails_item("no")])
        .script("answer", [says("It failed.")]);
    assert_eq!(status(&first.drive()), RunStatus::Partial);
    let second = run_question("Thanks.", first.saved_state().clone(), &json!([]));
    assert_eq!(status(second.run.finished().unwrap()), RunStatus::Success);
    let earlier = json_section(&prompt_text(&second, "answer"), "Results of earlier questions");
    assert_eq!(earlier[0]["steps"][0]["error"], "no");
}

/// Asks a second question with a budget of only two model calls: one for the plan and one for its step `b`, which stays
/// unfinished.
fn run_with_unfinished_plan() -> Driver {
    let mut start = start("And half of it?");
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(state_after_first_question());
    start.config.max_model_calls = 2;
    let items = json!([calculator_step("a", "1"), tool_item("b", &["a"])]);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&items)])
        .script("b", [calculate("1")]);
    driver.drive();
    driver
}

#[test]
fn a_run_that_ends_early_lists_no_results_of_an_earlier_question() {
    let driver = run_with_unfinished_plan();
    let text = content(driver.run.finished().unwrap());
    insta::assert_snapshot!(text, @r#"
    The run ended early: the run made its maximum of 2 model calls.

    - do a: {"result":42}
    - do b: not done: the budget of the run was used up before it was finished
    "#);
    assert_eq!(driver.run.finished().unwrap().response.metadata.tool_calls, 2);
}

#[test]
fn a_run_that_has_only_earlier_results_ends_with_an_error_and_not_as_partial() {
    let mut driver = follow_up_driver("And half of it?", state_after_first_question())
        .script("plan", [plan(&json!([tool_item("b", &[])]))])
        .script("b", [times_out()])
        .script("answer", [times_out()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(!content(&report).contains("do a"), "{report:?}");
}

#[test]
fn a_run_without_a_question_finishes_the_unfinished_plan_and_answers_its_question() {
    let mut driver = follow_up_driver("", run_with_unfinished_plan().saved_state().clone())
        .script("b", [calculate("2"), completes_item("21")])
        .script("answer", [says("21")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    assert_eq!((status(&report), report.items.len()), (RunStatus::Success, 2));
    assert!(prompt_text(&driver, "answer").contains("## Query\n> And half of it?"));
    assert_eq!(driver.saved_state().earlier_questions.len(), 1);
}

// A changed plan keeps results and creation times (contracts B36, B37).
#[test]
fn a_question_may_continue_an_unfinished_plan() {
    let before = run_with_unfinished_plan();
    let completed_item = json!({"id": "a", "description": "changed", "status": "completed"});
    let mut driver = follow_up_driver("Go on.", before.saved_state().clone())
        .script("plan", [plan(&json!([completed_item, tool_item("b", &["a"])]))])
        .script("b", [calculate("2"), completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    assert_eq!(driver.item("a"), before.item("a"));
    assert_eq!(
        driver.saved_state().step_outputs["a"],
        before.saved_state().step_outputs["a"]
    );
    assert_eq!(driver.item("b").created_timestamp, before.item("b").created_timestamp);
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    assert_eq!(driver.saved_state().query, "And half of it?");
    assert_eq!(driver.saved_state().earlier_questions.len(), 1);
    let prompt = driver.last_message("plan", 0);
    let current_plan = prompt.split("## Current plan").nth(1).unwrap().lines().nth(1).unwrap();
    insta::assert_snapshot!(current_plan, @r#"{"question":"And half of it?","intent":"Intent","todoList":[{"id":"a","description":"do a","status":"completed","stepType":"tool","requiredTools":["calculator"],"dependencies":[],"toolCalls":[{"toolName":"calculator","arguments":{"expression":"1"}}]},{"id":"b","description":"do b","status":"pending","stepType":"tool","requiredTools":["calculator"],"dependencies":["a"]}]}"#);
}

#[test]
fn another_question_replaces_an_unfinished_plan() {
    let driver = run_question(
        "Something else.",
        run_with_unfinished_plan().saved_state().clone(),
        &json!([calculator_step("a", "2")]),
    );
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "2"}));
    let state = driver.saved_state();
    assert_eq!(state.query, "Something else.");
    let earlier_questions: Vec<_> = state
        .earlier_questions
        .iter()
        .map(|question| question.query.as_str())
        .collect();
    assert_eq!(earlier_questions, ["What is 6 times 7?", "And half of it?"]);
}

#[test]
fn a_completed_step_stays_in_a_continued_plan_if_a_new_step_depends_on_it() {
    let mut driver = follow_up_driver("Go on.", run_with_unfinished_plan().saved_state().clone())
        .script("plan", [plan(&json!([reasoning_item("c", &["a"])]))])
        .script("c", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("c", Completed)]);
    let changes = &driver.observations(Kind::PlanUpdate)[0].content["changes"];
    assert_eq!(
        (&changes["added"][0]["itemId"], &changes["removed"][0]["itemId"]),
        (&json!("c"), &json!("b"))
    );
}

#[test]
fn an_item_that_was_in_progress_at_a_crash_is_started_again() {
    let mut state = state_after_first_question();
    state.todo_list[0].status = InProgress;
    state.current_step_id = Some("a".to_owned());
    let mut driver = follow_up_driver("", state)
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert_eq!(driver.item("a").actual_tool_calls.len(), 1);
}

/// Returns a state as version 0.1 stored it: without earlier questions, and with the steps of all questions in one plan. Its last
/// step has the status `last_status`: with `Failed` the plan is finished, with `Pending` it is not.
fn state_of_version_0_1(last_status: art_core::pes::TodoItemStatus) -> PesAgentStateData {
    serde_json::from_value(json!({
        "threadId": "thread", "intent": "I", "title": "T", "plan": "P", "currentStepId": null, "isPaused": false,
        "todoList": [
            {"id": "step_1", "description": "one", "status": "completed", "result": {"result": 4}},
            {"id": "step_2", "description": "two", "status": last_status, "dependencies": ["step_1"]},
        ],
        "stepOutputs": {},
    }))
    .unwrap()
}

#[test]
fn results_that_an_older_host_stored_are_available_to_the_next_question() {
    let half = json!({"$concat": [{"$from": "q1.step_1", "path": "/result"}, " / 2"]});
    let driver = run_question(
        "And half of it?",
        state_of_version_0_1(Failed),
        &json!([calculator_step("step_1", half)]),
    );
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "4 / 2"}));
    assert_eq!(driver.statuses(), [("step_1", Completed)]);
}

#[test]
fn an_unfinished_plan_that_an_older_host_stored_can_be_continued() {
    let mut driver = follow_up_driver("", state_of_version_0_1(Pending))
        .script("step_2", [completes_item("2")])
        .script("answer", [says("2")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    assert_eq!(driver.statuses(), [("step_1", Completed), ("step_2", Completed)]);
}

// A follow-up question uses the results of earlier questions, also those of another follow-up question (contract A45).
#[test]
fn a_call_may_take_outputs_of_two_earlier_questions() {
    let second = run_question(
        "And half of it?",
        state_after_first_question(),
        &json!([calculator_step("b", "42 / 2")]),
    );
    let joined_outputs =
        json!({"$concat": [{"$from": "q1.a", "path": "/result"}, {"$from": "q2.b", "path": "/result"}]});
    let third = run_question(
        "And a third?",
        second.saved_state().clone(),
        &json!([calculator_step("b", joined_outputs)]),
    );
    assert_eq!(third.tool_calls_made[0].arguments, json!({"expression": "4242"}));
}

#[test]
fn a_run_needs_a_trace_id() {
    let mut start = start("q");
    start.props.trace_id = None;
    let event = RunEvent::Started {
        at: 0,
        start: Box::new(start),
    };
    assert_eq!(
        Run::start(&event).unwrap_err().to_string(),
        "the run has no `traceId`; give it one before it starts"
    );
}

#[test]
fn an_unfinished_plan_is_kept_but_not_reported_if_the_planner_answers_at_once() {
    let mut driver = follow_up_driver("Thanks.", run_with_unfinished_plan().saved_state().clone())
        .script("plan", [says(r#"{"answer": "You are welcome."}"#)]);
    let report = driver.drive();
    assert_eq!((status(&report), report.items.len()), (RunStatus::Success, 0));
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Pending)]);
    assert_eq!(driver.saved_state().query, "And half of it?");
}
