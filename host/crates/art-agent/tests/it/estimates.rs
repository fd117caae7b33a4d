//! Estimates of what plans will use, plans that are refused because they would exceed a budget, and budgets that parallel steps
//! share (contract M12). An estimate is based on records: what earlier calls of a tool and earlier work of a model used.

use art_agent::{
    Basis, CallEstimate, ModelBasis, ModelRecord, PlanEstimate, PlanToRun, Quantiles, Run, RunEvent, RunStart,
    SavedPlan, ToolRecord,
};
use art_core::JsonObject;
use art_core::agent::RunStatus;
use art_core::limits::Limits;
use art_core::observation::ObservationType as Kind;
use art_core::pes::TodoItemStatus::{Completed, Failed};
use art_core::price::Price;
use art_core::provider::ContextWindow;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::harness::*;

/// Returns a step with one planned call of `tool`: a call that the plan contains, so that no model has to request it.
fn step_with_call(id: &str, tool: &str) -> Value {
    json!({"id": id, "description": format!("do {id}"), "toolCalls": [
        {"toolName": tool, "arguments": {"expression": "1 + 1"}},
    ]})
}

/// Returns the record of a tool with one recorded call, which used `fuel` and had an output of `bytes_out` bytes.
fn record(fuel: u64, bytes_out: u64) -> ToolRecord {
    let usage = ToolUsage {
        fuel,
        wall_us: 10,
        bytes_in: 22,
        bytes_out,
        ..ToolUsage::default()
    };
    ToolRecord::new(Some("digest".to_owned()), &Limits::EXECUTE, &[usage])
}

/// Fuel of the recorded call of `calculator`.
const RECORDED_FUEL: u64 = 50;

/// Returns the start of a run whose model has a limited context and a price. `calculator` has the record of one call with an
/// output of `bytes_out` bytes; `clock` has none.
fn start_with_record(bytes_out: u64) -> RunStart {
    let mut start = start("q");
    start.context = ContextWindow::Tokens(100_000);
    start.price = Some(Price {
        input: 1_000.0,
        output: 1_000.0,
        cached_input: None,
        cache_write: None,
        long: None,
    });
    start
        .records
        .insert("calculator".to_owned(), record(RECORDED_FUEL, bytes_out));
    start
}

/// Returns a driver whose planner gives a plan with one call of the calculator.
fn driver_with_one_call(start: RunStart) -> Driver {
    Driver::new(start).script("plan", [plan(&json!([step_with_call("a", "calculator")]))])
}

/// Lets the planner give its plan, and returns the estimate of the plan.
fn estimate_of_plan(driver: &mut Driver) -> PlanEstimate {
    driver.answer_all();
    driver.run.estimate().clone()
}

#[test]
fn a_planned_call_is_estimated_by_the_records_of_its_tool() {
    let estimate = estimate_of_plan(&mut driver_with_one_call(start_with_record(3_000)));
    let [call] = &estimate.calls[..] else {
        panic!("{estimate:?}")
    };
    assert_eq!(call.basis, Basis::Records { calls: 1 });
    assert_eq!(
        (call.usage.fuel, estimate.total),
        (Quantiles::exactly(RECORDED_FUEL), call.usage)
    );
    assert!(
        estimate.answer.input_tokens.p95 > 1_000,
        "the prompt for the answer contains the output of the call"
    );
}

#[test]
fn a_planned_call_without_records_is_estimated_by_its_limits() {
    let mut driver =
        Driver::new(start_with_record(3_000)).script("plan", [plan(&json!([step_with_call("a", "clock")]))]);
    let estimate = estimate_of_plan(&mut driver);
    assert_eq!(estimate.calls[0].basis, Basis::Limits);
    assert_eq!(estimate.calls[0].usage.fuel.p95, Limits::EXECUTE.fuel);
    assert_eq!((estimate.answer.known_outputs, estimate.answer.unknown_outputs), (0, 1));
}

#[test]
fn the_estimate_is_part_of_the_observation_of_the_plan() {
    let mut driver = driver_with_one_call(start_with_record(3_000));
    let expected = estimate_of_plan(&mut driver);
    let planned = driver.observations(Kind::Plan);
    let observed = planned.last().unwrap().content["estimate"].clone();
    assert_eq!(serde_json::from_value::<PlanEstimate>(observed).unwrap(), expected);
    let calls: Vec<&CallEstimate> = expected.calls.iter().collect();
    insta::assert_json_snapshot!(calls);
}

#[test]
fn a_plan_without_calls_has_no_estimate_in_its_observation() {
    let mut driver = driver_with_plan(&json!([reasoning_item("a", &[])]));
    driver.answer_all();
    let planned = driver.observations(Kind::Plan);
    assert_eq!(planned.last().unwrap().content.get("estimate"), None);
}

/// Returns the usage of a number of model calls, with the tokens of all of them together.
fn model_usage(model_calls: u64, input_tokens: u64, output_tokens: u64) -> ModelUsage {
    ModelUsage {
        model_calls,
        input_tokens,
        output_tokens,
    }
}

/// Returns a driver whose planner has given a plan of one call of the calculator and one step that is left to the model. The
/// record of the model has the usage of each of its `earlier_steps`. `change` changes the start of the run.
fn driver_with_call_and_step(earlier_steps: &[ModelUsage], change: impl Fn(&mut RunStart)) -> Driver {
    let mut start = start_with_record(3_000);
    start.model_record = ModelRecord::new(earlier_steps, &[]);
    // A refused plan is not sent back to the planner: it ends the run.
    start.config.plan_repairs = 0;
    change(&mut start);
    let items = json!([step_with_call("a", "calculator"), reasoning_item("b", &["a"])]);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&items)])
        .script("b", [calculate("1"), completes_item("x")])
        .script("answer", [says("The answer.")]);
    driver.answer_all();
    driver
}

#[test]
fn a_step_that_is_left_to_the_model_is_part_of_the_estimate_and_of_its_total() {
    let estimate = driver_with_call_and_step(&[model_usage(2, 500, 100), model_usage(4, 900, 200)], |_| {})
        .run
        .estimate()
        .clone();
    let [step] = &estimate.steps[..] else {
        panic!("{estimate:?}")
    };
    assert_eq!(
        (step.step_id.as_str(), step.basis),
        ("b", ModelBasis::Records { count: 2 })
    );
    assert_eq!(step.usage.model_calls, Quantiles { median: 2, p95: 4 });
    assert_eq!(
        step.usage.tokens,
        Some(Quantiles {
            median: 600,
            p95: 1_100
        })
    );
    // The calls for the step, and one call for the answer.
    assert_eq!(estimate.model.model_calls, Quantiles { median: 3, p95: 5 });
    let tokens = estimate.answer.tokens().plus(Quantiles {
        median: 600,
        p95: 1_100,
    });
    assert_eq!(estimate.model.tokens, Some(tokens));
    let cost = estimate.model.cost_usd.unwrap();
    // 1,100 tokens at 1,000 dollars per million.
    let step_cost = 1.1;
    let expected = estimate.answer.cost_usd.unwrap().p95 + step_cost;
    assert!((cost.p95 - expected).abs() < 1e-9, "{cost:?}");
}

#[test]
fn the_estimate_of_a_step_is_part_of_the_observation_of_the_plan() {
    let driver = driver_with_call_and_step(&[model_usage(2, 500, 100)], |_| {});
    let planned = driver.observations(Kind::Plan);
    let observed = planned.last().unwrap().content["estimate"].clone();
    assert_eq!(
        &serde_json::from_value::<PlanEstimate>(observed.clone()).unwrap(),
        driver.run.estimate()
    );
    insta::assert_json_snapshot!(observed["steps"]);
}

#[test]
fn a_plan_is_not_refused_for_a_step_that_is_estimated_only_by_limits() {
    let driver = driver_with_call_and_step(&[], |start| {
        start.config.max_model_calls = 3;
        start.config.max_tokens = Some(10_000);
        start.config.max_cost_usd = Some(20.0);
    });
    let estimate = driver.run.estimate();
    assert_eq!(estimate.steps[0].basis, ModelBasis::Limits);
    assert_eq!(estimate.steps[0].usage.model_calls, Quantiles::exactly(3));
    assert_eq!(estimate.steps[0].usage.tokens, Some(Quantiles::exactly(10_000)));
    assert!(driver.run.finished().is_none());
}

#[test]
fn a_plan_is_refused_if_its_steps_and_answer_exceed_a_budget() {
    let steps = [model_usage(2, 5_000, 500)];
    // The call of the planner has already used `TOKENS_PER_CALL`.
    let needed = TOKENS_PER_CALL
        + driver_with_call_and_step(&steps, |_| {})
            .run
            .estimate()
            .model
            .tokens
            .unwrap()
            .p95;
    let with_max_tokens = |max| driver_with_call_and_step(&steps, |start| start.config.max_tokens = Some(max));
    assert!(with_max_tokens(needed).run.finished().is_none());
    let refused = with_max_tokens(needed - 1);
    let limits = &refused.run.finished().unwrap().response.metadata.limits_hit;
    assert!(
        limits[0].starts_with("its steps and the answer will need up to "),
        "{limits:?}"
    );
    assert!(refused.tool_calls_made.is_empty());
    let with_max_model_calls = |max| driver_with_call_and_step(&steps, |start| start.config.max_model_calls = max);
    assert!(
        with_max_model_calls(4).run.finished().is_none(),
        "one for the plan, two for the step, one for the answer"
    );
    let refused = with_max_model_calls(3);
    let limits = &refused.run.finished().unwrap().response.metadata.limits_hit;
    assert!(
        limits[0].contains("up to 3 model calls (95th percentile), the run made 1, and its maximum is 3"),
        "{limits:?}"
    );
}

#[test]
fn the_length_of_an_answer_is_estimated_from_records_or_else_assumed() {
    let assumed = estimate_of_plan(&mut driver_with_one_call(start_with_record(3_000))).answer;
    assert_eq!(assumed.basis, ModelBasis::Assumption);
    assert_eq!(
        assumed.output_tokens,
        Quantiles {
            median: 300,
            p95: 1_000
        }
    );
    let mut start = start_with_record(3_000);
    let recorded_answers = [model_usage(1, 900, 20), model_usage(1, 900, 45)];
    start.model_record = ModelRecord::new(&[], &recorded_answers);
    let recorded = estimate_of_plan(&mut driver_with_one_call(start)).answer;
    assert_eq!(recorded.basis, ModelBasis::Records { count: 2 });
    assert_eq!(recorded.output_tokens, Quantiles { median: 20, p95: 45 });
    assert_eq!(recorded.input_tokens, assumed.input_tokens);
}

/// Returns the usage of `count` model calls, each with a reply of [`says`].
fn usage_of_model_replies(count: u64) -> ModelUsage {
    model_usage(count, count * INPUT_TOKENS, count * OUTPUT_TOKENS)
}

#[test]
fn a_run_knows_what_its_model_used_for_each_step_and_for_the_answer() {
    let mut driver = driver_with_call_and_step(&[], |_| {});
    driver.drive();
    let expected = [
        (ModelWork::Step, usage_of_model_replies(2)),
        (ModelWork::Answer, usage_of_model_replies(1)),
    ];
    assert_eq!(driver.run.model_work(), expected);
}

#[test]
fn what_the_model_used_for_a_failed_step_is_recorded() {
    let mut driver = Driver::new(start_with_record(10))
        .script("plan", [plan(&json!([reasoning_item("a", &[])]))])
        .script("a", [fails_item("I cannot")])
        .script("answer", [says("The answer.")]);
    driver.drive();
    assert_eq!(driver.run.model_work(), [(ModelWork::Step, usage_of_model_replies(1))]);
}

// Only steps without planned calls are recorded.
#[test]
fn model_calls_after_failed_planned_calls_are_not_recorded_as_a_step() {
    let mut failing = step_with_call("a", "calculator");
    failing["toolCalls"][0]["arguments"]["expression"] = json!(FAILS);
    let mut driver = Driver::new(start_with_record(10))
        .script("plan", [plan(&json!([failing]))])
        .script("a", [completes_item("x")])
        .script("answer", [says("The answer.")]);
    driver.drive();
    assert_eq!(
        driver.run.model_work(),
        [(ModelWork::Answer, usage_of_model_replies(1))]
    );
}

#[test]
fn the_answer_of_a_run_without_tool_calls_is_not_recorded() {
    let mut driver = Driver::new(start_with_record(10)).script("plan", [says("Hello!")]);
    driver.drive();
    assert!(driver.run.model_work().is_empty());
}

#[test]
fn nothing_is_recorded_for_a_model_with_an_unbounded_context() {
    let mut driver = driver_with_call_and_step(&[], |start| start.context = ContextWindow::Unbounded);
    driver.drive();
    assert!(driver.run.model_work().is_empty());
}

#[test]
fn a_cancelled_step_is_not_recorded() {
    let mut driver = driver_with_parallel_steps(2, LARGE_BUDGET);
    driver.cancel();
    assert!(driver.run.model_work().is_empty());
}

/// Returns whether a plan with one call is refused, and the exceeded limits, in words, that the run reports. The recorded output
/// of the called tool has `bytes_out` bytes. `set_budget` sets the budget of the run.
fn refusal_and_limits(bytes_out: u64, set_budget: impl Fn(&mut RunStart)) -> (bool, Vec<String>) {
    let mut start = start_with_record(bytes_out);
    start.config.plan_repairs = 0;
    set_budget(&mut start);
    let mut driver = driver_with_one_call(start);
    driver.answer_all();
    let limits = driver.run.view().limits_hit.to_vec();
    if driver.run.finished().is_some() {
        assert!(driver.tool_calls_made.is_empty() && driver.statuses().is_empty());
        assert_eq!(status(driver.run.finished().unwrap()), RunStatus::Partial);
    }
    (driver.run.finished().is_some(), limits)
}

/// Returns the tokens that a run needs for its plan and its answer: those of the call of the planner, and the 95th percentile of
/// the estimate for the answer. The recorded output of the called tool has `bytes_out` bytes.
fn needed_tokens(bytes_out: u64) -> u64 {
    let estimate = estimate_of_plan(&mut driver_with_one_call(start_with_record(bytes_out)));
    TOKENS_PER_CALL + estimate.answer.tokens().p95
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_plan_is_refused_exactly_if_its_answer_needs_more_tokens_than_are_left(
        bytes_out in 0_u64..50_000,
        distance in 0_u64..2_000,
    ) {
        let needed = needed_tokens(bytes_out);
        let is_refused = |max: u64| refusal_and_limits(bytes_out, |start| start.config.max_tokens = Some(max)).0;
        prop_assert!(!is_refused(needed) && !is_refused(needed + distance));
        prop_assert!(is_refused(needed - 1) && is_refused(needed - 1 - distance.min(needed - 1)));
    }
}

#[test]
fn a_plan_that_costs_too_much_is_refused_with_the_figures() {
    let refusal_with_max_cost = |max: f64| refusal_and_limits(3_000, |start| start.config.max_cost_usd = Some(max));
    assert!(!refusal_with_max_cost(100.0).0);
    let (is_refused, limits) = refusal_with_max_cost(1.0);
    assert!(
        is_refused && limits[0].starts_with("the answer will cost up to $"),
        "{limits:?}"
    );
    assert!(limits[0].contains("its maximum is $1.0000"), "{limits:?}");
}

#[test]
fn the_estimate_of_the_answer_takes_the_size_of_the_planning_request_from_the_journal() {
    let mut driver = driver_with_one_call(start_with_record(3_000));
    let before = estimate_of_plan(&mut driver).answer.input_tokens;
    let mut journal = driver.journal.clone();
    // As if the prompts had been longer when the journal was written.
    let request_tokens = journal.iter_mut().find_map(|event| match event {
        RunEvent::ModelAsked { tokens, .. } => Some(tokens),
        _ => None,
    });
    *request_tokens.unwrap() += 5_000;
    let replayed = Run::replay(&journal).unwrap();
    let after = replayed.estimate().answer.input_tokens;
    assert_eq!((after.median, after.p95), (before.median + 5_000, before.p95 + 5_000));
}

// The request for the answer begins like a request to the planner. A run with a saved plan makes no request to a planner, so the
// estimate needs a computed size.
#[test]
fn without_a_planner_the_estimate_uses_the_size_that_a_request_to_a_planner_would_have() {
    let plan = json!({"version": 1, "question": "q", "intent": "i", "steps": [step_with_call("a", "calculator")]});
    let plan = SavedPlan::parse(&plan.to_string()).unwrap();
    let mut start = start_with_record(3_000);
    assert_eq!(
        start.clone().with_request_tokens().request_tokens,
        0,
        "a run without a saved plan asks a planner and needs no computed size"
    );
    start.plan = Some(Box::new(PlanToRun {
        plan,
        values: JsonObject::new(),
    }));
    let start = start.with_request_tokens();
    let without_request_tokens = RunStart {
        request_tokens: 0,
        ..start.clone()
    };
    let answer_input_tokens = |start: RunStart| Driver::new(start).run.estimate().answer.input_tokens.p95;
    assert!(start.request_tokens > 100);
    assert_eq!(
        answer_input_tokens(start.clone()),
        answer_input_tokens(without_request_tokens) + start.request_tokens
    );
}

#[test]
fn a_plan_whose_output_is_the_answer_needs_no_budget_for_an_answer() {
    let is_refused = |raw: bool| {
        refusal_and_limits(3_000, |start| {
            start.config.max_cost_usd = Some(1.0);
            start.props.raw = raw;
        })
        .0
    };
    assert!(is_refused(false) && !is_refused(true));
}

#[test]
fn a_plan_is_not_refused_if_its_tools_have_no_records() {
    let mut start = start_with_record(3_000);
    start.records.clear();
    start.config.max_tokens = Some(100);
    let mut driver = driver_with_one_call(start);
    driver.answer_all();
    assert!(driver.run.finished().is_none());
}

#[test]
fn a_plan_over_a_budget_is_sent_back_with_the_figures_and_refused_if_not_corrected() {
    let large_plan = || plan(&json!([step_with_call("a", "calculator")]));
    let mut limited = start_with_record(50_000);
    limited.config.max_tokens = Some(10_000);
    limited.config.plan_repairs = 1;
    let mut refused = Driver::new(limited.clone()).script("plan", [large_plan(), large_plan()]);
    let report = refused.drive();
    let limits = &report.response.metadata.limits_hit;
    assert_eq!((status(&report), limits.len()), (RunStatus::Partial, 1));
    assert!(refused.last_message("plan", 1).contains("the answer will need up to "));
    assert_eq!(content(&report), format!("The run ended early: {}.", limits[0]));
    assert!(refused.tool_calls_made.is_empty() && refused.statuses().is_empty());
    let mut repaired = Driver::new(limited)
        .script("plan", [large_plan(), plan(&json!([step_with_call("a", "clock")]))])
        .script("answer", [says("ok")]);
    assert_eq!(status(&repaired.drive()), RunStatus::Success);
    assert_eq!(repaired.tool_calls_made.len(), 1);
}

#[test]
fn a_call_that_needs_more_than_its_tool_may_use_fails_its_step_and_the_rest_runs() {
    let mut start = start_with_record(10);
    start.config.plan_repairs = 0;
    let record = start.records.get_mut("calculator").unwrap();
    record.limits.fuel = RECORDED_FUEL - 1;
    let steps = json!([step_with_call("a", "calculator"), step_with_call("b", "clock")]);
    let mut driver = Driver::new(start)
        .script("plan", [plan(&steps)])
        .script("answer", [says("ok")]);
    driver.drive();
    assert_eq!(driver.statuses(), [("a", Failed), ("b", Completed)]);
    let error = driver.item("a").error.clone().unwrap();
    assert!(error.contains("needs up to 50 units of fuel"), "{error}");
    assert!(error.contains("may use 49"), "{error}");
    assert_eq!(driver.run.estimate().calls.len(), 1, "only `b` has an estimate");
}

/// Token budget that the reservation of one model call of [`driver_with_parallel_steps`] uses up.
const BUDGET_FOR_ONE_CALL: u64 = 1_100;

/// Token budget that is enough for all model calls of [`driver_with_parallel_steps`].
const LARGE_BUDGET: u64 = 100_000;

/// Returns a driver whose planner has given a plan of `count` parallel steps. The run may use `max_tokens` tokens. Until its
/// reply, a model call reserves the tokens of its request, which are some hundreds here, and 1,000 for the reply.
fn driver_with_parallel_steps(count: usize, max_tokens: u64) -> Driver {
    let mut start = start_with_record(10);
    start.config.max_tokens = Some(max_tokens);
    let ids: Vec<String> = (0..count).map(|n| format!("s{n}")).collect();
    let items: Vec<Value> = ids.iter().map(|id| reasoning_item(id, &[])).collect();
    let mut driver = Driver::new(start).script("plan", [plan(&json!(items))]);
    for id in &ids {
        driver = driver.script(id, [completes_item("x")]);
    }
    driver.answer_all();
    driver
}

#[test]
fn a_model_call_waits_while_others_have_reserved_the_rest_of_the_budget() {
    let mut driver = driver_with_parallel_steps(2, BUDGET_FOR_ONE_CALL);
    assert_eq!(driver.open_actions().len(), 1, "the second call waits");
    driver.answer_all();
    assert_eq!(driver.open_actions().len(), 1, "only the second call is open");
    driver.answer_all();
    assert_eq!(driver.statuses(), [("s0", Completed), ("s1", Completed)]);
    assert!(driver.run.view().limits_hit.is_empty());
}

#[test]
fn model_calls_are_made_at_the_same_time_if_the_budget_is_enough_for_all() {
    assert_eq!(driver_with_parallel_steps(2, LARGE_BUDGET).open_actions().len(), 2);
}

#[test]
fn a_model_call_that_waited_is_not_made_if_the_budget_is_used_up_meanwhile() {
    let mut driver = driver_with_parallel_steps(2, BUDGET_FOR_ONE_CALL);
    let id = driver.first_open_action();
    let mut reply = completes_item("x").unwrap();
    // More than the budget.
    reply.metadata.input_tokens = Some(5_000);
    driver.apply(&RunEvent::ModelReplied {
        at: 2_000,
        action: id,
        reply,
    });
    let report = driver.run.finished().unwrap();
    // A little over 5,000 tokens.
    assert!(report.response.metadata.limits_hit[0].starts_with("the run used 50"));
    assert_eq!(driver.item("s0").status, Completed);
}

#[test]
fn a_cancelled_run_drops_the_model_calls_that_wait_for_the_budget() {
    let mut driver = driver_with_parallel_steps(2, BUDGET_FOR_ONE_CALL);
    driver.cancel();
    assert_eq!(driver.open_actions(), []);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Every model call uses 1,000 tokens, which is less than it reserves. Four of the six steps run at the same time, so without
    /// reservations their calls together could exceed the limit by up to four calls.
    #[test]
    fn parallel_model_calls_exceed_a_budget_by_less_than_one_call(
        max_tokens in 100_u64..9_000,
        picks in prop::collection::vec(0_usize..4, 12),
    ) {
        let mut driver = driver_with_parallel_steps(6, max_tokens);
        for pick in picks {
            let mut open = driver.open_actions();
            if open.is_empty() || driver.run.stage() != art_agent::RunStage::Execution {
                break;
            }
            let action = open.swap_remove(pick % open.len());
            for mut event in driver.answer(action) {
                if let RunEvent::ModelReplied { reply, .. } = &mut event {
                    reply.metadata.input_tokens = Some(1_000 - OUTPUT_TOKENS);
                }
                driver.apply(&event);
            }
        }
        prop_assert!(driver.run.stage() != art_agent::RunStage::Execution, "no step is stuck");
        prop_assert!(driver.run.view().tokens.total_tokens < max_tokens + 1_000);
    }
}
