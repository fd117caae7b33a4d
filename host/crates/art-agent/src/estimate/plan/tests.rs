use art_core::agent::AgentProps;
use art_core::price::Price;
use art_core::provider::{ContextWindow, RuntimeProviderConfig};
use art_core::usage::ToolUsage;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::plan::tests::item;

fn tool(name: &str, input_schema: &Value) -> ToolSchema {
    serde_json::from_value(json!({"name": name, "description": "d", "inputSchema": input_schema})).unwrap()
}

/// The tools of the run.
const TOOLS: [&str; 3] = ["read", "displayed", "new"];

/// Sizes of the outputs of the two recorded calls of `read` and `displayed`, in bytes: their median and their 95th percentile.
const RECORDED_OUTPUT_BYTES: Quantiles = Quantiles { median: 30, p95: 60 };

/// Fuel that each recorded call used.
const RECORDED_FUEL: u64 = 7;

/// Returns the start of a run with the tools `read` and `displayed`, each of which has two recorded calls with inputs of 40
/// bytes, and the tool `new`, which has no record.
fn start() -> RunStart {
    let mut start = RunStart::new(AgentProps::default(), RuntimeProviderConfig::new("p", "m"));
    let input = json!({"type": "object", "properties": {"order": {"default": "newest"}, "x": {}}});
    let mut displayed = tool("displayed", &input);
    displayed.execution_mode = ExecutionMode::Display;
    start.tools = vec![tool("read", &input), displayed, tool("new", &input)];
    start.context = ContextWindow::Tokens(100_000);
    let recorded_call = |bytes_out| ToolUsage {
        fuel: RECORDED_FUEL,
        wall_us: 5,
        bytes_in: 40,
        bytes_out,
        ..ToolUsage::default()
    };
    for name in ["read", "displayed"] {
        let calls = [RECORDED_OUTPUT_BYTES.median, RECORDED_OUTPUT_BYTES.p95].map(recorded_call);
        let record = ToolRecord::new(Some("digest".to_owned()), &Limits::EXECUTE, &calls);
        start.records.insert(name.to_owned(), record);
    }
    start
}

/// Returns a pending step with one planned call.
fn step(id: &str, tool: &str, arguments: Value) -> TodoItem {
    TodoItem {
        tool_calls: vec![PlannedCall {
            tool_name: tool.to_owned(),
            arguments,
        }],
        ..item(id, &[])
    }
}

/// Size of the file `a.csv`, the only file.
const FILE_BYTES: u64 = 1_000;

/// Size of each output that exists already.
const EXISTING_OUTPUT_BYTES: u64 = 9;

/// Estimates the calls of `items`.
fn estimate(items: &[TodoItem]) -> Vec<CallEstimate> {
    let file_bytes = |name: &str| (name == "a.csv").then_some(FILE_BYTES);
    Estimator::new(&start(), items, &|_| Some(EXISTING_OUTPUT_BYTES), &file_bytes).estimate_calls(&BTreeSet::new())
}

/// Returns the estimated size of the input of the last call of `items`.
fn last_bytes_in(items: &[TodoItem]) -> Option<Quantiles> {
    estimate(items).pop().unwrap().bytes_in
}

/// Size of the argument that the host fills in as a default: `"order":"newest",`.
const DEFAULT_BYTES: u64 = 17;

/// Returns the size of the arguments `{"x": ..}` and of the default, without the value of `x`.
fn bytes_around_x() -> u64 {
    json_bytes(&json!({"x": 0})) - json_bytes(&json!(0)) + DEFAULT_BYTES
}

#[test]
fn a_reference_counts_as_the_recorded_outputs_of_the_tool_that_it_refers_to() {
    let items = [
        step("a", "read", json!({"x": 1})),
        step("b", "read", json!({"x": {"$from": "a", "path": "/rows"}})),
    ];
    let expected = RECORDED_OUTPUT_BYTES.plus(Quantiles::exactly(bytes_around_x()));
    assert_eq!(last_bytes_in(&items), Some(expected));
}

#[test]
fn the_name_of_a_file_counts_as_its_content_and_an_unknown_file_has_no_size() {
    for argument in [json!({"$attachment": "a.csv"}), json!("attachment:a.csv")] {
        let items = [step("a", "read", json!({"x": argument}))];
        assert_eq!(
            last_bytes_in(&items),
            Some(Quantiles::exactly(FILE_BYTES + bytes_around_x()))
        );
    }
    assert_eq!(
        last_bytes_in(&[step("a", "read", json!({"x": {"$attachment": "b.csv"}}))]),
        None
    );
}

#[test]
fn a_reference_to_an_existing_output_counts_with_the_exact_size() {
    let mut completed = step("a", "new", json!({}));
    completed.status = TodoItemStatus::Completed;
    let items = [completed, step("b", "read", json!({"x": {"$from": "a"}}))];
    assert_eq!(
        last_bytes_in(&items),
        Some(Quantiles::exactly(EXISTING_OUTPUT_BYTES + bytes_around_x()))
    );
}

#[test]
fn a_call_without_records_and_one_that_takes_its_output_are_estimated_by_limits() {
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
    assert_eq!(calls[2].usage.fuel, Quantiles::exactly(RECORDED_FUEL));
}

#[test]
fn a_step_that_will_not_run_is_not_estimated() {
    let items = [step("a", "read", json!({})), step("b", "read", json!({}))];
    let start = start();
    let calls = Estimator::new(&start, &items, &|_| None, &|_| None).estimate_calls(&BTreeSet::from(["a"]));
    assert_eq!(calls.len(), 1);
}

/// Tokens that the request for the answer has if it contains no outputs of calls.
const BASE_TOKENS: u64 = 100;

/// Tokens that the request for the answer has if it contains the output of one call of `read`: [`BASE_TOKENS`], and one token for
/// each three bytes of [`RECORDED_OUTPUT_BYTES`].
const INPUT_TOKENS: Quantiles = Quantiles { median: 110, p95: 120 };

#[test]
fn only_outputs_that_are_not_displayed_and_have_a_known_size_count_for_the_answer() {
    let items = TOOLS.map(|tool| step(tool, tool, json!({"x": 1})));
    let estimated = estimate_answer(&start(), BASE_TOKENS, &estimate(&items), &[]);
    assert_eq!(estimated.input_tokens, INPUT_TOKENS);
    assert_eq!((estimated.known_outputs, estimated.unknown_outputs), (1, 1));
    assert_eq!(estimated.cost_usd, None);
}

#[test]
fn the_answer_of_a_model_with_an_unbounded_context_is_estimated_as_free() {
    let mut start = start();
    start.context = ContextWindow::Unbounded;
    let items = [step("a", "read", json!({"x": 1}))];
    assert_eq!(
        estimate_answer(&start, BASE_TOKENS, &estimate(&items), &[]),
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
    let cost = estimate_answer(&start, BASE_TOKENS, &estimate(&items), &[])
        .cost_usd
        .unwrap();
    // One dollar per million of the 110 or 120 input tokens, and ten per million of the 300 or 1,000 assumed output tokens.
    assert!(
        (cost.median - (110.0 * 1.0 + 300.0 * 10.0) / 1e6).abs() < 1e-12,
        "{cost:?}"
    );
    assert!(
        (cost.p95 - (120.0 * 1.0 + 1_000.0 * 10.0) / 1e6).abs() < 1e-12,
        "{cost:?}"
    );
}

/// Generates JSON of any shape without references.
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
    fn a_value_without_references_is_as_large_as_its_json(value in data()) {
        // The run has no tool of this name, so no default values are added to the arguments.
        let items = [step("a", "unknown_tool", json!({"x": value}))];
        let exact = json_bytes(&json!({"x": value}));
        prop_assert_eq!(last_bytes_in(&items), Some(Quantiles::exactly(exact)));
    }

    #[test]
    fn a_further_call_never_makes_the_estimate_of_the_answer_smaller(tools in prop::collection::vec(0..TOOLS.len(), 1..6)) {
        let items: Vec<TodoItem> = (0..).zip(&tools).map(|(n, tool): (u32, _)| step(&n.to_string(), TOOLS[*tool], json!({"x": 1}))).collect();
        let answer_tokens = |items: &[TodoItem]| estimate_answer(&start(), BASE_TOKENS, &estimate(items), &[]).tokens();
        let (before, after) = (answer_tokens(&items[1..]), answer_tokens(&items));
        prop_assert!(before.median <= after.median && before.p95 <= after.p95);
    }
}
