//! Conformance tests of model work: the model calls and tokens of steps and answers. `test_each_store!` runs each listed test
//! once with each store.

use art_core::agent::RunStatus;
use art_core::usage::{ModelUsage, ModelWork};
use art_store::{StoreError, WorkRecord, limits};
use serde_json::json;

use crate::fixture::{TestStore, new_run};

test_each_store! {
    the_newest_work_of_a_model_comes_first,
    a_list_of_work_has_one_kind_and_one_model,
    a_list_of_work_exceeds_neither_the_requested_nor_the_maximum_length,
    every_count_of_a_work_record_is_stored,
    work_is_deleted_with_its_thread,
    work_of_a_run_that_ended_or_does_not_exist_is_refused,
    work_without_a_model_is_refused,
}

/// Returns a record of model work. The tests tell records apart by their output tokens.
fn record(model: &str, work: ModelWork, output_tokens: u64) -> WorkRecord {
    WorkRecord {
        model: model.to_owned(),
        work,
        usage: ModelUsage {
            output_tokens,
            ..ModelUsage::default()
        },
    }
}

/// Returns the record of a step of the model `m`.
fn step(output_tokens: u64) -> WorkRecord {
    record("m", ModelWork::Step, output_tokens)
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

async fn add(fixture: &TestStore, records: Vec<WorkRecord>) {
    fixture.record_work("r", records).await.unwrap();
}

/// Lists the records of a model that are of this kind of work, and returns the output tokens of each record.
async fn list_tokens(fixture: &TestStore, model: &str, work: ModelWork, limit: Option<usize>) -> Vec<u64> {
    let listed = fixture.store.list_model_usage(model, work, limit).await.unwrap();
    listed.into_iter().map(|usage| usage.output_tokens).collect()
}

async fn the_newest_work_of_a_model_comes_first(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    add(&fixture, vec![step(3), step(1)]).await;
    add(&fixture, vec![step(2)]).await;
    assert_eq!(list_tokens(&fixture, "m", ModelWork::Step, None).await, [2, 1, 3]);
}

async fn a_list_of_work_has_one_kind_and_one_model(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let other = record("other", ModelWork::Step, 3);
    add(&fixture, vec![step(1), record("m", ModelWork::Answer, 2), other]).await;
    assert_eq!(list_tokens(&fixture, "m", ModelWork::Step, None).await, [1]);
    assert_eq!(list_tokens(&fixture, "m", ModelWork::Answer, None).await, [2]);
    assert_eq!(list_tokens(&fixture, "other", ModelWork::Step, None).await, [3]);
    assert!(list_tokens(&fixture, "other", ModelWork::Answer, None).await.is_empty());
}

async fn a_list_of_work_exceeds_neither_the_requested_nor_the_maximum_length(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let newest_tokens = limits::MAX_LIST as u64;
    add(&fixture, (0..=newest_tokens).map(step).collect()).await;
    assert_eq!(
        list_tokens(&fixture, "m", ModelWork::Step, Some(2)).await,
        [newest_tokens, newest_tokens - 1]
    );
    let all = list_tokens(&fixture, "m", ModelWork::Step, Some(usize::MAX)).await;
    assert_eq!(all.len(), limits::MAX_LIST);
}

async fn every_count_of_a_work_record_is_stored(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let usage = ModelUsage {
        model_calls: 1,
        input_tokens: 2,
        output_tokens: 3,
    };
    add(&fixture, vec![WorkRecord { usage, ..step(0) }]).await;
    let listed = fixture
        .store
        .list_model_usage("m", ModelWork::Step, None)
        .await
        .unwrap();
    assert_eq!(listed, [usage]);
}

async fn work_is_deleted_with_its_thread(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    add(&fixture, vec![step(1)]).await;
    fixture.release_lease("t").await;
    assert!(fixture.store.delete_thread("t").await.unwrap());
    assert!(list_tokens(&fixture, "m", ModelWork::Step, None).await.is_empty());
}

async fn work_of_a_run_that_ended_or_does_not_exist_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.end_run("r", RunStatus::Success, json!({})).await.unwrap();
    let refused = fixture.record_work("r", vec![step(1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::RunEnded { .. }), "{refused}");
    let refused = fixture.record_work("nowhere", vec![step(1)]).await.unwrap_err();
    assert!(matches!(refused, StoreError::UnknownRun { .. }), "{refused}");
    assert!(list_tokens(&fixture, "m", ModelWork::Step, None).await.is_empty());
}

async fn work_without_a_model_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let nameless = record("", ModelWork::Step, 1);
    let refused = fixture.record_work("r", vec![step(1), nameless]).await.unwrap_err();
    assert!(matches!(refused, StoreError::Invalid { .. }), "{refused}");
    let listed = list_tokens(&fixture, "m", ModelWork::Step, None).await;
    assert!(listed.is_empty(), "a write is atomic");
}
