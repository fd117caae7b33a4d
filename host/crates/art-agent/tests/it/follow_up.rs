//! Several questions in one thread: each has a plan of its own, and may use the results of the earlier ones.

use art_agent::{Run, RunEvent};
use art_core::agent::RunStatus;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Failed, InProgress, Pending};
use art_core::pes::{EarlierQuestion, PesAgentStateData};
use serde_json::{Value, json};

use crate::harness::*;

/// Returns the state after a question whose step `a` gave 42.
fn prior_state() -> PesAgentStateData {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    driver.saved_state().clone()
}

fn follow_up(query: &str, prior: PesAgentStateData) -> Driver {
    let mut start = start(query);
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(prior);
    Driver::new(start)
}

/// Returns an item with one planned call of the calculator.
fn calculator_step(id: &str, expression: impl Into<Value>) -> Value {
    let expression = expression.into();
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": "calculator", "arguments": {"expression": expression}},
    ]})
}

/// Asks a question that the plan of `items` answers. All of its steps have planned calls.
fn ask(query: &str, prior: PesAgentStateData, items: &Value) -> Driver {
    let mut driver = follow_up(query, prior)
        .script("plan", [plan(items)])
        .script("answer", [says("ok")]);
    driver.drive();
    driver
}

/// Returns the texts of all messages of the first request of `step`.
fn prompt(driver: &Driver, step: &str) -> String {
    let messages = driver.messages(step, 0);
    let texts: Vec<_> = messages.iter().map(|message| message.content_text()).collect();
    texts.join("\n\n")
}

/// Returns the JSON of a section.
fn section(prompt: &str, heading: &str) -> Value {
    let rest = prompt.split(&format!("## {heading}\n")).nth(1).unwrap();
    serde_json::from_str(rest.lines().next().unwrap()).unwrap()
}

#[test]
fn the_same_question_twice_runs_its_tools_twice() {
    let items = json!([
        calculator_step("a", "1"),
        calculator_step("b", json!({"$concat": [{"$from": "a", "path": "/result"}]}))
    ]);
    let first = ask("q", PesAgentStateData::default(), &items);
    let second = ask("q", first.saved_state().clone(), &items);
    for driver in [&first, &second] {
        assert_eq!(driver.tool_calls_made.len(), 2);
        let metadata = &driver.run.finished().unwrap().response.metadata;
        assert_eq!((metadata.tool_calls, metadata.llm_calls), (2, 2));
        assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    }
}

#[test]
fn a_step_may_have_the_id_of_a_step_of_an_earlier_question() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([reasoning_item("a", &[])]))])
        .script("a", [completes_item("21")])
        .script("answer", [says("21")]);
    driver.drive();
    assert_eq!(driver.item("a").result, Some(json!("21")));
    assert_eq!(driver.run.finished().unwrap().items.len(), 1);
    let EarlierQuestion { number, query, items } = &driver.saved_state().earlier_questions[0];
    assert_eq!((*number, query.as_str()), (1, "What is 6 times 7?"));
    assert_eq!(items[0].result, Some(json!("42")));
    assert_eq!(driver.saved_state().step_outputs["a"].raw_result, Some(json!("21")));
}

#[test]
fn five_follow_ups_need_no_repair() {
    let items = json!([calculator_step("step_1", "1")]);
    let mut state = PesAgentStateData::default();
    for n in 1..=6 {
        let driver = ask(&format!("question {n}"), state, &items);
        assert_eq!(driver.run.finished().unwrap().response.metadata.llm_calls, 2);
        state = driver.saved_state().clone();
    }
    let questions: Vec<_> = state
        .earlier_questions
        .iter()
        .map(|asked| asked.query.as_str())
        .collect();
    assert_eq!(
        questions,
        ["question 1", "question 2", "question 3", "question 4", "question 5"]
    );
}

#[test]
fn a_planned_call_takes_an_output_of_an_earlier_question() {
    let first = ask("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]));
    let value = json!({"$concat": ["halve ", {"$from": "q1.a", "path": "/result"}]});
    let second = ask(
        "And half of it?",
        first.saved_state().clone(),
        &json!([calculator_step("a", value)]),
    );
    assert_eq!(second.tool_calls_made[0].arguments, json!({"expression": "halve 42"}));
    assert_eq!(second.item("a").dependencies, ["q1.a"]);
    assert_eq!(status(second.run.finished().unwrap()), RunStatus::Success);
}

#[test]
fn a_reference_to_a_missing_or_unfit_earlier_result_is_a_fault() {
    let first = ask("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]));
    let faults = [
        ("q1.a", "/gone", "the output of `q1.a` has nothing at `/gone`"),
        ("q1.a", "/result", "a string is asked for, `/result` of `q1.a` is `42`"),
        (
            "q2.a",
            "/result",
            "`$from` names `q2.a`, which is not in the plan; did you mean `q1.a`?",
        ),
    ];
    for (name, path, expected) in faults {
        let taken = json!({"$from": name, "path": path});
        let mut driver = follow_up("And half of it?", first.saved_state().clone())
            .script("plan", [plan(&json!([calculator_step("b", taken)])), plan(&json!([]))])
            .script("answer", [says("ok")]);
        driver.drive();
        let message = driver.last_message("plan", 1);
        assert!(message.contains(expected), "{message}");
        assert!(driver.tool_calls_made.is_empty());
    }
}

#[test]
fn an_output_that_was_cut_for_the_store_cannot_be_referenced() {
    let mut state = ask("q", PesAgentStateData::default(), &json!([calculator_step("a", "1")]))
        .saved_state()
        .clone();
    state.todo_list[0].tool_results[0].output = Some(json!("xxx... [kept 3 of 9 bytes]"));
    let taken = json!({"$from": "q1.a"});
    let mut driver = follow_up("And now?", state)
        .script("plan", [plan(&json!([calculator_step("b", taken)])), plan(&json!([]))])
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
    let mut driver = follow_up("And half of it?", prior_state())
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
fn a_step_of_a_model_reads_the_earlier_results_that_it_depends_on() {
    let first = ask(
        "first",
        PesAgentStateData::default(),
        &json!([calculator_step("a", "1"), calculator_step("b", "2")]),
    );
    let items = json!([
        reasoning_item("c", &["q1.b"]),
        reasoning_item("d", &["c"]),
        reasoning_item("e", &[])
    ]);
    let mut driver = follow_up("second", first.saved_state().clone())
        .script("plan", [plan(&items)])
        .script("c", [completes_item("x")])
        .script("d", [completes_item("y")])
        .script("e", [completes_item("z")])
        .script("answer", [says("ok")]);
    driver.drive();
    let read = |step: &str| -> Vec<Value> {
        let prompt = driver.last_message(step, 0);
        let entries = section(&prompt, "Results of earlier questions");
        assert_eq!(entries[0]["question"], "first");
        let steps = entries[0]["steps"].as_array().unwrap();
        steps.iter().map(|step| step["stepId"].clone()).collect()
    };
    assert_eq!(read("c"), ["q1.b"]);
    assert_eq!(read("d"), ["q1.b"]);
    assert_eq!(read("e"), ["q1.a", "q1.b"]);
}

#[test]
fn the_planner_sees_earlier_results_with_their_question_and_no_current_plan() {
    let mut driver = follow_up("And half of it?", prior_state())
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
    assert!(driver.observations(Kind::PlanUpdate)[0].content["changes"]["changes"] == json!([]));
}

#[test]
fn earlier_results_are_bounded_in_the_prompts() {
    let first = ask("q", PesAgentStateData::default(), &json!([calculator_step("a", "big")]));
    let second = ask("And now?", first.saved_state().clone(), &json!([]));
    let prompt = second.last_message("plan", 0);
    assert!(prompt.contains("[truncated 6"), "{prompt}");
    assert!(prompt.len() < 8_000, "{}", prompt.len());
}

#[test]
fn the_answer_lists_earlier_results_apart_from_those_of_its_plan() {
    let second = ask("And now?", prior_state(), &json!([calculator_step("b", "1")]));
    let prompt = prompt(&second, "answer");
    assert_eq!(section(&prompt, "Completed steps")[0]["stepId"], "b");
    assert_eq!(section(&prompt, "Completed steps").as_array().unwrap().len(), 1);
    let earlier = section(&prompt, "Results of earlier questions");
    assert_eq!(earlier[0]["question"], "What is 6 times 7?");
    assert_eq!(earlier[0]["steps"][0]["stepId"], "q1.a");
}

#[test]
fn a_report_has_only_the_steps_and_sources_of_its_question() {
    let second = ask("Thanks.", prior_state(), &json!([]));
    let report = second.run.finished().unwrap();
    assert_eq!((report.items.len(), report.sources.len()), (0, 0));
    assert_eq!(second.run.view().items.len(), 0);
}

#[test]
fn a_failure_of_an_earlier_question_does_not_make_this_answer_partial() {
    let mut first = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [fails_item("no")])
        .script("answer", [says("It failed.")]);
    assert_eq!(status(&first.drive()), RunStatus::Partial);
    let second = ask("Thanks.", first.saved_state().clone(), &json!([]));
    assert_eq!(status(second.run.finished().unwrap()), RunStatus::Success);
    let earlier = section(&prompt(&second, "answer"), "Results of earlier questions");
    assert_eq!(earlier[0]["steps"][0]["error"], "no");
}

/// Asks a second question whose budget allows only two model calls: one for the plan and one for its step `b`.
fn driver_stopped_early() -> Driver {
    let mut start = start("And half of it?");
    start.props.trace_id = Some("second".to_owned());
    start.prior = Some(prior_state());
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
    let driver = driver_stopped_early();
    let text = content(driver.run.finished().unwrap());
    insta::assert_snapshot!(text, @r#"
    The run ended early: the run made its maximum of 2 model calls.

    - do a: {"result":42}
    - do b: not done: the budget of the run was used up before it was finished
    "#);
    assert_eq!(driver.run.finished().unwrap().response.metadata.tool_calls, 2);
}

#[test]
fn a_failed_answer_is_not_partial_because_of_earlier_results() {
    let mut driver = follow_up("And half of it?", prior_state())
        .script("plan", [plan(&json!([tool_item("b", &[])]))])
        .script("b", [times_out()])
        .script("answer", [times_out()]);
    let report = driver.drive();
    assert_eq!(status(&report), RunStatus::Error);
    assert!(!content(&report).contains("do a"), "{report:?}");
}

#[test]
fn a_run_without_a_question_finishes_the_plan_and_answers_its_question() {
    let mut driver = follow_up("", driver_stopped_early().saved_state().clone())
        .script("b", [calculate("2"), completes_item("21")])
        .script("answer", [says("21")]);
    let report = driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Completed)]);
    assert_eq!((status(&report), report.items.len()), (RunStatus::Success, 2));
    assert!(prompt(&driver, "answer").contains("## Query\n> And half of it?"));
    assert_eq!(driver.saved_state().earlier_questions.len(), 1);
}

// B36, B37: a changed plan keeps results and creation times.
#[test]
fn a_question_may_continue_an_unfinished_plan() {
    let before = driver_stopped_early();
    let completed_item = json!({"id": "a", "description": "changed", "status": "completed"});
    let mut driver = follow_up("Go on.", before.saved_state().clone())
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
    insta::assert_snapshot!(prompt.split("## Current plan").nth(1).unwrap().lines().nth(1).unwrap(), @r#"{"question":"And half of it?","intent":"Intent","todoList":[{"id":"a","description":"do a","status":"completed","stepType":"tool","requiredTools":["calculator"],"dependencies":[],"toolCalls":[{"toolName":"calculator","arguments":{"expression":"1"}}]},{"id":"b","description":"do b","status":"pending","stepType":"tool","requiredTools":["calculator"],"dependencies":["a"]}]}"#);
}

#[test]
fn another_question_replaces_an_unfinished_plan() {
    let driver = ask(
        "Something else.",
        driver_stopped_early().saved_state().clone(),
        &json!([calculator_step("a", "2")]),
    );
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "2"}));
    let state = driver.saved_state();
    assert_eq!(state.query, "Something else.");
    let asked: Vec<_> = state
        .earlier_questions
        .iter()
        .map(|asked| asked.query.as_str())
        .collect();
    assert_eq!(asked, ["What is 6 times 7?", "And half of it?"]);
}

#[test]
fn a_continued_plan_may_leave_out_a_completed_step_that_it_depends_on() {
    let mut driver = follow_up("Go on.", driver_stopped_early().saved_state().clone())
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
fn an_item_in_progress_at_a_crash_is_run_again() {
    let mut state = prior_state();
    state.todo_list[0].status = InProgress;
    state.current_step_id = Some("a".to_owned());
    let mut driver = follow_up("", state)
        .script("a", [calculate("6 * 7"), completes_item("42")])
        .script("answer", [says("42")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert_eq!(driver.item("a").actual_tool_calls.len(), 1);
}

/// Returns a state as version 0.1 stored it: without earlier questions, and with the steps of all questions in one plan.
fn old_state(last: art_core::pes::TodoItemStatus) -> PesAgentStateData {
    serde_json::from_value(json!({
        "threadId": "thread", "intent": "I", "title": "T", "plan": "P", "currentStepId": null, "isPaused": false,
        "todoList": [
            {"id": "step_1", "description": "one", "status": "completed", "result": {"result": 4}},
            {"id": "step_2", "description": "two", "status": last, "dependencies": ["step_1"]},
        ],
        "stepOutputs": {},
    }))
    .unwrap()
}

#[test]
fn results_that_an_older_host_stored_are_available_to_the_next_question() {
    let half = json!({"$concat": [{"$from": "q1.step_1", "path": "/result"}, " / 2"]});
    let driver = ask(
        "And half of it?",
        old_state(Failed),
        &json!([calculator_step("step_1", half)]),
    );
    assert_eq!(driver.tool_calls_made[0].arguments, json!({"expression": "4 / 2"}));
    assert_eq!(driver.statuses(), [("step_1", Completed)]);
}

#[test]
fn a_thread_that_an_older_host_left_unfinished_can_be_continued() {
    let mut driver = follow_up("", old_state(Pending))
        .script("step_2", [completes_item("2")])
        .script("answer", [says("2")]);
    assert_eq!(status(&driver.drive()), RunStatus::Success);
    assert_eq!(driver.statuses(), [("step_1", Completed), ("step_2", Completed)]);
}

// A45: follow-up questions, also twice in a row.
#[test]
fn a_call_may_take_outputs_of_two_earlier_questions() {
    let second = ask(
        "And half of it?",
        prior_state(),
        &json!([calculator_step("b", "42 / 2")]),
    );
    let taken = json!({"$concat": [{"$from": "q1.a", "path": "/result"}, {"$from": "q2.b", "path": "/result"}]});
    let third = ask(
        "And a third?",
        second.saved_state().clone(),
        &json!([calculator_step("b", taken)]),
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
fn an_answer_without_a_plan_leaves_an_unfinished_plan_and_does_not_count_it() {
    let mut driver = follow_up("Thanks.", driver_stopped_early().saved_state().clone())
        .script("plan", [says(r#"{"answer": "You are welcome."}"#)]);
    let report = driver.drive();
    assert_eq!((status(&report), report.items.len()), (RunStatus::Success, 0));
    assert_eq!(driver.statuses(), [("a", Completed), ("b", Pending)]);
    assert_eq!(driver.saved_state().query, "And half of it?");
}
