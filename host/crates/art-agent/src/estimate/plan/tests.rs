use art_core::agent::AgentProps;
use art_core::price::Price;
use art_core::provider::{ContextWindow, RuntimeProviderConfig};
use art_core::usage::Usage;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::plan::tests::item;

fn tool(name: &str, input: &Value) -> ToolSchema {
    serde_json::from_value(json!({"name": name, "description": "d", "inputSchema": input})).unwrap()
}

/// Returns the start of a run with the tools `read` and `displayed`, whose recorded calls had inputs of 40 bytes, and the tool `new`,
/// which has no record.
fn start() -> RunStart {
    let mut start = RunStart::new(AgentProps::default(), RuntimeProviderConfig::new("p", "m"));
    let input = json!({"type": "object", "properties": {"order": {"default": "newest"}, "x": {}}});
    let mut displayed = tool("displayed", &input);
    displayed.execution_mode = ExecutionMode::Display;
    start.tools = vec![tool("read", &input), displayed, tool("new", &input)];
    start.context = ContextWindow::Tokens(100_000);
    let used = |bytes_out| Usage {
        fuel: 7,
        wall_us: 5,
        bytes_in: 40,
        bytes_out,
        ..Usage::default()
    };
    for name in ["read", "displayed"] {
        let record = ToolRecord::new(Some("d".to_owned()), &Limits::EXECUTE, &[used(30), used(60)]);
        start.records.insert(name.to_owned(), record);
    }
    start
}

fn step(id: &str, tool: &str, arguments: Value) -> TodoItem {
    TodoItem {
        tool_calls: vec![PlannedCall {
            tool_name: tool.to_owned(),
            arguments,
        }],
        ..item(id, &[])
    }
}

/// Estimates the calls of `items`. The file `a.csv` has 1,000 bytes, and a step that has ended has an output of 9 bytes.
fn estimate(items: &[TodoItem]) -> Vec<CallEstimate> {
    let file = |name: &str| (name == "a.csv").then_some(1_000);
    Estimator::new(&start(), items, &|_| Some(9), &file).estimate_calls(&BTreeSet::new())
}

/// Returns the estimated size of the input of the last call.
fn bytes_in(items: &[TodoItem]) -> Option<Quantiles> {
    estimate(items).pop().unwrap().bytes_in
}

/// Size of the default that is filled in: `"order":"newest",`.
const DEFAULT_BYTES: u64 = 17;

#[test]
fn a_reference_is_as_large_as_the_recorded_outputs_of_its_tool() {
    let items = [
        step("a", "read", json!({"x": 1})),
        step("b", "read", json!({"x": {"$from": "a", "path": "/rows"}})),
    ];
    let other_bytes = json_bytes(&json!({"x": 0})) - 1 + DEFAULT_BYTES;
    let expected = Quantiles { median: 30, p95: 60 }.plus(Quantiles::exactly(other_bytes));
    assert_eq!(bytes_in(&items), Some(expected));
}

#[test]
fn a_file_is_as_large_as_its_content() {
    let other_bytes = json_bytes(&json!({"x": 0})) - 1 + DEFAULT_BYTES;
    for argument in [json!({"$attachment": "a.csv"}), json!("attachment:a.csv")] {
        let items = [step("a", "read", json!({"x": argument}))];
        assert_eq!(bytes_in(&items), Some(Quantiles::exactly(1_000 + other_bytes)));
    }
    assert_eq!(
        bytes_in(&[step("a", "read", json!({"x": {"$attachment": "b.csv"}}))]),
        None
    );
}

#[test]
fn an_existing_output_counts_with_its_exact_size() {
    let mut completed = step("a", "new", json!({}));
    completed.status = TodoItemStatus::Completed;
    let items = [completed, step("b", "read", json!({"x": {"$from": "a"}}))];
    let other_bytes = json_bytes(&json!({"x": 0})) - 1 + DEFAULT_BYTES;
    assert_eq!(bytes_in(&items), Some(Quantiles::exactly(9 + other_bytes)));
}

#[test]
fn calls_without_records_and_calls_that_take_their_outputs_are_estimated_by_limits() {
    let items = [
        step("a", "new", json!({"x": 1})),
        step("b", "read", json!({"x": {"$from": "a"}})),
        step("c", "read", json!({"x": 1})),
    ];
    let calls = estimate(&items);
    let bases: Vec<Basis> = calls.iter().map(|call| call.basis).collect();
    assert_eq!(bases, [Basis::Limits, Basis::Limits, Basis::Records { calls: 2 }]);
    assert_eq!(calls[1].bytes_in, None);
    assert_eq!(calls[0].usage.fuel, Quantiles::exactly(Limits::EXECUTE.fuel));
    assert_eq!(calls[2].usage.fuel, Quantiles::exactly(7));
}

#[test]
fn a_step_that_will_not_run_is_not_estimated() {
    let items = [step("a", "read", json!({})), step("b", "read", json!({}))];
    let start = start();
    let calls = Estimator::new(&start, &items, &|_| None, &|_| None).estimate_calls(&BTreeSet::from(["a"]));
    assert_eq!(calls.len(), 1);
}

#[test]
fn the_answer_reads_all_outputs_except_displayed_and_unknown_ones() {
    let items = ["read", "displayed", "new"].map(|tool| step(tool, tool, json!({"x": 1})));
    let estimated = estimate_answer(&start(), 100, &estimate(&items), &[]);
    assert_eq!(estimated.input_tokens, Quantiles { median: 110, p95: 120 });
    assert_eq!((estimated.known_outputs, estimated.unknown_outputs), (1, 1));
    assert_eq!(estimated.cost_usd, None);
}

#[test]
fn the_answer_of_a_model_with_an_unbounded_context_is_estimated_as_free() {
    let mut start = start();
    start.context = ContextWindow::Unbounded;
    let items = [step("a", "read", json!({"x": 1}))];
    assert_eq!(
        estimate_answer(&start, 100, &estimate(&items), &[]),
        AnswerEstimate::default()
    );
}

#[test]
fn the_cost_of_the_answer_follows_from_the_price() {
    let mut start = start();
    start.price = Some(Price {
        input: 1.0,
        output: 10.0,
        cached_input: None,
        cache_write: None,
        long: None,
    });
    let items = [step("a", "read", json!({"x": 1}))];
    let cost = estimate_answer(&start, 100, &estimate(&items), &[]).cost_usd.unwrap();
    assert!((cost.median - (110.0 + 3_000.0) / 1e6).abs() < 1e-12, "{cost:?}");
    assert!((cost.p95 - (120.0 + 10_000.0) / 1e6).abs() < 1e-12, "{cost:?}");
}

/// Returns JSON of any shape without references.
fn data() -> impl Strategy<Value = Value> {
    let scalar = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z\"é]{0,6}".prop_map(Value::from),
    ];
    scalar.prop_recursive(3, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-c]{1,2}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn data_is_as_large_as_its_json(value in data()) {
        let items = [step("a", "unknown", json!({"x": value}))];
        let exact = json_bytes(&json!({"x": value}));
        prop_assert_eq!(bytes_in(&items), Some(Quantiles::exactly(exact)));
    }

    #[test]
    fn a_further_call_never_makes_the_estimate_of_the_answer_smaller(tools in prop::collection::vec(0_usize..3, 1..6)) {
        let names = ["read", "displayed", "new"];
        let items: Vec<TodoItem> = (0..).zip(&tools).map(|(n, tool): (u32, _)| step(&n.to_string(), names[*tool], json!({"x": 1}))).collect();
        let answer_tokens = |items: &[TodoItem]| estimate_answer(&start(), 10, &estimate(items), &[]).tokens();
        let (before, after) = (answer_tokens(&items[1..]), answer_tokens(&items));
        prop_assert!(before.median <= after.median && before.p95 <= after.p95);
    }
}
