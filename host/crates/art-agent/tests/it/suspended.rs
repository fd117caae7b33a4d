//! Calls that wait for a person, and what follows from the decision.

use art_agent::{ApplyError, RunEvent, ToolCall};
use art_core::agent::RunStatus;
use art_core::hitl::Feedback;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Failed, InProgress, Pending, Waiting};
use art_core::prompt::Message;
use art_core::suspension::{DecidedBy, Decision, SuspendedCall, SuspensionCause};
use art_core::tool::{ExecutionMode, ToolStatus};
use serde_json::{Value, json};

use crate::harness::*;

/// Identifier of the suspension that the expression `ask` of the calculator causes. Those of `ask1` and `ask2` are `s1` and `s2`.
const TOOL_SUSPENSION: &str = "s";
/// Identifier of the suspension that [`suspend_by_rule`] causes.
const RULE_SUSPENSION: &str = "r1";

/// Returns the driver of a run whose only step calls the calculator with these expressions, and which waits for the decisions
/// about those calls whose expressions begin with `ask`.
fn waiting_run(expressions: &[&str]) -> Driver {
    let mut start = start("q");
    // When a call asks a person, the other calls of the reply that were not made yet are dropped, except those of blocking
    // tools, which need the decision of a person. So that no call is dropped, all tools are blocking here.
    start
        .tools
        .iter_mut()
        .for_each(|tool| tool.execution_mode = ExecutionMode::Blocking);
    let calls_of_step: Vec<_> = expressions
        .iter()
        .map(|text| ("calculator", json!({"expression": text})))
        .collect();
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calls(&calls_of_step)]);
    driver.drive_to_decision();
    driver
}

/// Returns the messages of the last request for the step.
fn last_messages(driver: &Driver, step: &str) -> Vec<Message> {
    let mut requests = driver.requests.iter().rev();
    let request = requests.find(|request| request.step == step).unwrap();
    request.request.prompt.0.clone()
}

/// Returns the first call that may be made. Fails if no person approved it.
fn approved_call(driver: &Driver) -> ToolCall {
    let call = driver.run.ready_calls().remove(0);
    assert!(call.approval.is_some());
    call
}

/// Suspends the first ready call because a rule of the operator asks for an approval. `change` alters the suspension first.
fn suspend_by_rule(driver: &mut Driver, change: impl FnOnce(&mut SuspendedCall)) {
    let ready = driver.run.ready_calls().remove(0);
    // Starts from the suspension that a tool would cause. No tool has run: the result only names the call.
    let mut suspension = suspension_by_tool(RULE_SUSPENSION, &stand_in_result(&ready.call));
    suspension.cause = SuspensionCause::Rule {
        reason: "the risk of the tool is high".to_owned(),
    };
    suspension.runs_on_approval = true;
    change(&mut suspension);
    driver.apply(&RunEvent::CallSuspended {
        at: 2_000,
        action: ready.action,
        suspension: Box::new(suspension),
    });
}

/// Returns the driver of a run whose only call may be made now.
fn run_with_ready_call() -> Driver {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[])]))
        .script("a", [calculate("1")])
        .script("answer", [says("ok")]);
    while driver.run.ready_calls().is_empty() {
        driver.answer_all();
    }
    driver
}

// The suspension is observed, the run has the status `suspended`, and it has no answer yet (contract P65).
#[test]
fn a_run_whose_only_open_call_asks_a_person_waits_and_says_for_what() {
    let driver = waiting_run(&["ask"]);
    let report = driver.run.waiting_report().unwrap();
    assert_eq!(status(&report), RunStatus::Suspended);
    assert_eq!(
        report.ui_metadata,
        Some(json!({"status": "suspended", "suspensionId": TOOL_SUSPENSION, "suspensionIds": [TOOL_SUSPENSION]}))
    );
    assert!(content(&report).starts_with("The run waits for a decision about `calculator`."));
    assert_eq!(driver.statuses(), [("a", Waiting)]);
    assert!(driver.saved_state().is_paused);
    let observed = &driver.observations(Kind::AgentSuspended)[0].content;
    assert_eq!(observed["suspensionId"], TOOL_SUSPENSION);
    assert_eq!(observed["toolOutput"]["message"], "go on?");
    assert_eq!(driver.observations(Kind::FinalResponse).len(), 0);
}

// The model reads a result that says that the call was approved (contract A35). The step continues and is completed,
// and nothing waits any more (contract A44).
#[test]
fn after_an_approval_the_model_reads_a_result_with_the_approval_and_its_value() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    driver.apply(&decision_event(
        TOOL_SUSPENSION,
        Feedback {
            value: Some(json!("blue")),
            ..approval()
        },
    ));
    assert_eq!(driver.statuses(), [("a", InProgress)]);
    driver.drive();
    let result = last_messages(&driver, "a").pop().unwrap();
    assert_eq!(result.name.as_deref(), Some("calculator"));
    let output: Value = serde_json::from_str(result.content_text()).unwrap();
    assert_eq!(output["approved"], true);
    assert_eq!(output["value"], "blue");
    assert_eq!(output["message"], "User approved with input: \"blue\"");
    assert_eq!(driver.statuses(), [("a", Completed)]);
    assert!(!driver.saved_state().is_paused);
}

// The conversation goes on with the result and a message that begins with IMPORTANT (contract A36).
#[test]
fn after_a_rejection_the_model_reads_the_result_and_what_it_means() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [fails_item("no")])
        .script("answer", [says("ok")]);
    let before = last_messages(&driver, "a");
    driver.apply(&decision_event(TOOL_SUSPENSION, rejection("too dangerous")));
    driver.drive();
    let after = last_messages(&driver, "a");
    assert_eq!(after[..before.len()], before, "the conversation goes on");
    let [_, result, important] = &after[before.len()..] else {
        panic!("{after:?}")
    };
    let output: Value = serde_json::from_str(result.content_text()).unwrap();
    assert_eq!(
        (&output["approved"], &output["message"]),
        (&json!(false), &json!("User rejected: too dangerous"))
    );
    let text = important.content_text();
    assert!(
        text.starts_with("IMPORTANT: The user has REJECTED the call of `calculator`"),
        "{text}"
    );
}

// A rejected call completes no step (contract X15).
#[test]
fn a_rejected_planned_call_does_not_complete_its_step() {
    let mut item = tool_item("a", &[]);
    item["toolCalls"] = json!([{"toolName": "calculator", "arguments": {"expression": "ask"}}]);
    let mut driver = driver_with_plan(&json!([item]))
        .script("a", [fails_item("the user said no")])
        .script("answer", [says("ok")]);
    driver.drive_to_decision();
    driver.apply(&decision_event(TOOL_SUSPENSION, rejection("no")));
    // `fallback` is the reason why the model goes on with a step whose calls were planned.
    assert_eq!(
        driver.item("a").fallback.as_deref(),
        Some("a person rejected the call of `calculator`")
    );
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Failed)]);
}

// A decision with a deeply nested answer completes its call (contract A37).
#[test]
fn a_decision_with_a_deeply_nested_value_completes_the_call_as_any_other() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    let nested = (0..60).fold(json!("blue"), |value, _| json!([value]));
    driver.apply(&decision_event(
        TOOL_SUSPENSION,
        Feedback {
            value: Some(nested),
            ..approval()
        },
    ));
    driver.drive();
    let result = last_messages(&driver, "a").pop().unwrap();
    assert!(result.content_text().contains("\"approved\":true"), "{result:?}");
    assert_eq!(driver.statuses(), [("a", Completed)]);
}

// A call that a person answered is not made again with the same arguments (contract A39).
#[test]
fn a_call_that_a_person_answered_is_not_made_again_with_the_same_arguments() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [calculate("ask"), completes_item("x")])
        .script("answer", [says("ok")]);
    driver.apply(&decision_event(TOOL_SUSPENSION, approval()));
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
    let refusal = last_messages(&driver, "a").pop().unwrap();
    assert!(
        refusal.content_text().contains("this step called `calculator`"),
        "{refusal:?}"
    );
}

// A tool that a person answered may be called with other arguments (contract P71).
#[test]
fn a_tool_that_a_person_answered_may_be_called_with_other_arguments() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [calculate("2"), completes_item("x")])
        .script("answer", [says("ok")]);
    driver.apply(&decision_event(TOOL_SUSPENSION, approval()));
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 2);
}

// The setting `allowRetryOnReject` of a tool decides this (contract C16).
#[test]
fn a_rejected_tool_may_be_called_again_only_if_its_settings_allow_it() {
    for (allow_retry, calls_made) in [(true, 1), (false, 0)] {
        let mut driver = run_with_ready_call().script("a", [calculate("2"), completes_item("x")]);
        suspend_by_rule(&mut driver, |suspension| suspension.allow_retry = allow_retry);
        driver.apply(&decision_event(RULE_SUSPENSION, rejection("no")));
        driver.drive();
        assert_eq!(driver.tool_calls_made.len(), calls_made);
    }
}

#[test]
fn a_rejected_call_is_not_asked_about_again_in_another_step() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[]), tool_item("b", &["a"])]))
        .script("a", [calculate("1"), completes_item("x")])
        .script("b", [calculate("1"), fails_item("no")])
        .script("answer", [says("ok")]);
    while driver.run.ready_calls().is_empty() {
        driver.answer_all();
    }
    suspend_by_rule(&mut driver, |_| {});
    driver.apply(&decision_event(RULE_SUSPENSION, rejection("no")));
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 0);
}

// A rule of the operator asks for the approval.
#[test]
fn an_approved_call_runs_with_the_arguments_that_were_asked_about() {
    let mut driver = run_with_ready_call().script("a", [completes_item("x")]);
    suspend_by_rule(&mut driver, |_| {});
    assert!(driver.run.waits_for_decision());
    driver.apply(&decision_event(RULE_SUSPENSION, approval()));
    assert_eq!(approved_call(&driver).call.arguments, json!({"expression": "1"}));
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Completed)]);
}

// The call was counted when the model requested it.
#[test]
fn an_approved_call_counts_only_once_towards_the_call_limit() {
    let mut start = start("q");
    start.config.max_tool_calls = 1;
    let mut driver = Driver::new(start)
        .script("plan", [plan(&json!([tool_item("a", &[])]))])
        .script("a", [calculate("1"), completes_item("x")])
        .script("answer", [says("ok")]);
    while driver.run.ready_calls().is_empty() {
        driver.answer_all();
    }
    suspend_by_rule(&mut driver, |_| {});
    driver.apply(&decision_event(RULE_SUSPENSION, approval()));
    driver.drive();
    assert_eq!(driver.tool_calls_made.len(), 1);
}

// The person may edit the arguments of a call about which a rule asks, and those of other calls if `allowModifyArgs` is set
// (contract C12). A text `attachment:NAME` from the model stands for the content of the file with this name.
#[test]
fn an_approved_call_runs_with_the_arguments_that_the_person_gave() {
    let mut driver = run_with_ready_call().script("a", [completes_item("x")]);
    suspend_by_rule(&mut driver, |_| {});
    let arguments = json!({"expression": "attachment:secret.txt"});
    let feedback = Feedback {
        modified_args: Some(arguments.clone()),
        ..approval()
    };
    driver.apply(&decision_event(RULE_SUSPENSION, feedback));
    let call = approved_call(&driver);
    assert_eq!(
        (call.call.arguments, call.files),
        (arguments.clone(), Vec::new()),
        "a text from the person does not stand for a file"
    );
    driver.drive();
    assert_eq!(driver.item("a").actual_tool_calls[0].arguments, arguments);
}

// A tool that runs after its approval may ask again, which is another suspension (contract P72).
#[test]
fn a_tool_that_runs_after_its_approval_may_ask_again() {
    let mut driver = run_with_ready_call().script("a", [completes_item("x")]);
    suspend_by_rule(&mut driver, |_| {});
    driver.apply(&decision_event(RULE_SUSPENSION, approval()));
    let call = approved_call(&driver);
    driver.apply(&call_event(6_000, call.action, &call.call));
    let mut result = stand_in_result(&call.call);
    result.status = ToolStatus::Suspended;
    result.metadata.suspension_id = Some("s2".to_owned());
    driver.apply(&end_event(6_000, call.action, result));
    assert!(driver.run.waits_for_decision());
    driver.apply(&decision_event("s2", approval()));
    driver.drive();
    let ids: Vec<_> = driver
        .observations(Kind::AgentSuspended)
        .iter()
        .map(|seen| seen.content["suspensionId"].clone())
        .collect();
    assert_eq!(ids, [RULE_SUSPENSION, "s2"]);
}

#[test]
fn several_calls_wait_at_once_and_the_model_reads_all_results_together() {
    let mut driver = waiting_run(&["1", "ask1", "ask2"])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    let ids: Vec<_> = driver
        .run
        .suspensions()
        .iter()
        .map(|open| open.suspension.suspension_id.clone())
        .collect();
    assert_eq!(ids, ["s1", "s2"]);
    driver.apply(&decision_event("s2", rejection("no")));
    assert_eq!(driver.statuses(), [("a", Waiting)]);
    assert!(driver.saved_state().is_paused);
    driver.apply(&decision_event("s1", approval()));
    driver.drive();
    let results: Vec<_> = driver
        .item("a")
        .tool_results
        .iter()
        .map(|result| result.output.clone().unwrap())
        .collect();
    assert_eq!(results[0], json!({"result": 42}), "the result of `1` is kept");
    assert_eq!(
        (&results[1]["approved"], &results[2]["approved"]),
        (&json!(true), &json!(false))
    );
}

#[test]
fn other_steps_go_on_while_a_call_of_one_step_waits() {
    let mut driver = driver_with_plan(&json!([tool_item("a", &[]), tool_item("b", &[])]))
        .script("a", [calculate("ask")])
        .script("b", [calculate("1"), completes_item("1")]);
    driver.drive_to_decision();
    assert_eq!(driver.statuses(), [("a", Waiting), ("b", Completed)]);
}

#[test]
fn a_decision_is_accepted_once_and_only_for_a_call_that_waits() {
    let mut driver = waiting_run(&["ask1", "ask2"]);
    let unknown = decision_event("s9", approval());
    let not_suspended = |id: &str| {
        Err(ApplyError::NotSuspended {
            suspension_id: id.to_owned(),
        })
    };
    assert_eq!(driver.run.apply(&unknown), not_suspended("s9"));
    driver.apply(&decision_event("s1", approval()));
    assert_eq!(
        driver.run.apply(&decision_event("s1", rejection("no"))),
        not_suspended("s1")
    );
}

// A call that waits for a person counts as rejected when its time limit is over (contract Q4). This is observed as a timeout, not
// as a decision of the person.
#[test]
fn a_call_about_which_nobody_decides_in_time_counts_as_rejected() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [fails_item("no")])
        .script("answer", [says("ok")]);
    driver.apply(&RunEvent::CallDecided {
        at: 9_000,
        suspension_id: TOOL_SUSPENSION.to_owned(),
        decision: Box::new(Decision {
            feedback: Feedback::new(false, 9_000),
            by: DecidedBy::Expiry,
        }),
    });
    driver.drive();
    assert_eq!(driver.observations(Kind::SuspensionTimeout).len(), 1);
    assert_eq!(driver.observations(Kind::AgentResumed).len(), 0);
    let output = driver.item("a").tool_results[0].output.clone().unwrap();
    assert_eq!(
        output["message"],
        "Nobody decided in time, so the action counts as rejected."
    );
}

// The time that a person took runs from the suspension of the call to the decision (contract X18).
#[test]
fn the_result_of_a_decision_says_how_long_the_person_took() {
    let mut driver = waiting_run(&["ask"])
        .script("a", [completes_item("x")])
        .script("answer", [says("ok")]);
    let since = driver.run.suspensions()[0].since;
    driver.apply(&decision_event(TOOL_SUSPENSION, approval()));
    driver.drive();
    let metadata = &driver.item("a").tool_results[0].metadata.extra;
    assert_eq!(metadata["waitDurationMs"], json!(DECIDED_AT - since));
}

#[test]
fn a_run_that_waits_can_be_cancelled() {
    let mut driver = waiting_run(&["1", "ask"]);
    driver.cancel();
    assert_eq!(status(driver.run.finished().unwrap()), RunStatus::Cancelled);
    assert_eq!(driver.statuses(), [("a", Pending)]);
    assert!(!driver.saved_state().is_paused);
    assert_eq!(driver.item("a").tool_results.len(), 1, "the result of `1` is kept");
}
