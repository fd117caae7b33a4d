//! Conformance tests of the records of tool calls. `test_each_store!` runs each listed test once with each store.

use art_core::agent::RunStatus;
use art_core::usage::ToolUsage;
use art_store::{CallRecord, StoreError, limits};
use serde_json::json;

use crate::fixture::{TestStore, new_run};

test_each_store! {
    the_newest_calls_of_a_tool_come_first,
    a_list_of_calls_exceeds_neither_the_requested_nor_the_maximum_length,
    calls_of_all_threads_are_listed,
    every_usage_count_of_a_call_except_those_of_http_is_stored,
    calls_are_deleted_with_their_thread,
    calls_of_a_run_that_ended_or_does_not_exist_are_refused,
    a_call_without_a_tool_digest_is_refused,
}

/// Returns the record of a call of a tool. The tests tell calls apart by their fuel.
fn call(tool_digest: &str, fuel: u64) -> CallRecord {
    CallRecord {
        tool_digest: tool_digest.to_owned(),
        usage: ToolUsage {
            fuel,
            ..ToolUsage::default()
        },
    }
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

/// Lists the calls of a tool, and returns the fuel of each.
async fn list_fuel(fixture: &TestStore, tool_digest: &str, limit: Option<usize>) -> Vec<u64> {
    let calls = fixture.store.list_calls(tool_digest, limit).await.unwrap();
    calls.into_iter().map(|usage| usage.fuel).collect()
}

async fn the_newest_calls_of_a_tool_come_first(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let calls = vec![call("a", 3), call("b", 9), call("a", 1)];
    fixture.record_calls("r", calls).await.unwrap();
    fixture.record_calls("r", vec![call("a", 2)]).await.unwrap();
    assert_eq!(list_fuel(&fixture, "a", None).await, [2, 1, 3]);
    assert_eq!(list_fuel(&fixture, "b", None).await, [9]);
    assert!(list_fuel(&fixture, "other", None).await.is_empty());
}

async fn a_list_of_calls_exceeds_neither_the_requested_nor_the_maximum_length(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let calls = (0..limits::MAX_LIST as u64 + 1).map(|fuel| call("a", fuel)).collect();
    fixture.record_calls("r", calls).await.unwrap();
    let newest_fuel = limits::MAX_LIST as u64;
    assert_eq!(list_fuel(&fixture, "a", Some(2)).await, [newest_fuel, newest_fuel - 1]);
    assert_eq!(list_fuel(&fixture, "a", Some(usize::MAX)).await.len(), limits::MAX_LIST);
}

async fn calls_of_all_threads_are_listed(fixture: TestStore) {
    let fixture = with_run(fixture).await.with_thread("other").await;
    fixture.begin_run(new_run("later", "other")).await.unwrap();
    for (trace_id, fuel) in [("r", 1), ("later", 2)] {
        fixture.record_calls(trace_id, vec![call("a", fuel)]).await.unwrap();
    }
    assert_eq!(list_fuel(&fixture, "a", None).await, [2, 1]);
}

async fn every_usage_count_of_a_call_except_those_of_http_is_stored(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    // A store need not store the counts of HTTP requests and their bytes, since the host does not use them to estimate the cost
    // of later calls.
    let usage = ToolUsage {
        fuel: 1,
        peak_memory_bytes: 2,
        wall_us: 3,
        cpu_us: 4,
        bytes_in: 5,
        bytes_out: 6,
        host_calls: 7,
        ..ToolUsage::default()
    };
    let record = CallRecord { usage, ..call("a", 0) };
    fixture.record_calls("r", vec![record]).await.unwrap();
    assert_eq!(fixture.store.list_calls("a", None).await.unwrap(), [usage]);
}

async fn calls_are_deleted_with_their_thread(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.record_calls("r", vec![call("a", 1)]).await.unwrap();
    fixture.release_lease("t").await;
    assert!(fixture.store.delete_thread("t").await.unwrap());
    assert!(list_fuel(&fixture, "a", None).await.is_empty());
}

async fn calls_of_a_run_that_ended_or_does_not_exist_are_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.end_run("r", RunStatus::Success, json!({})).await.unwrap();
    let refused = fixture.record_calls("r", vec![call("a", 1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::RunEnded { .. }), "{refused}");
    let refused = fixture.record_calls("nowhere", vec![call("a", 1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::UnknownRun { .. }), "{refused}");
    assert!(list_fuel(&fixture, "a", None).await.is_empty());
}

async fn a_call_without_a_tool_digest_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let refused = fixture
        .record_calls("r", vec![call("a", 1), call("", 1)])
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::Invalid { .. }), "{refused}");
    assert!(list_fuel(&fixture, "a", None).await.is_empty(), "a write is atomic");
}
