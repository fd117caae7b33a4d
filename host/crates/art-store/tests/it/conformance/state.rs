//! Conformance tests of the agent state: one JSON value in each thread, with a version. `test_each_store!` runs each listed test
//! once with each store.

use std::sync::Arc;

use art_store::StoreError;
use serde_json::{Value, json};

use crate::fixture::{START_TIME, TestStore};

test_each_store! {
    there_is_no_state_until_one_is_saved,
    each_write_increments_the_version,
    a_write_that_expects_another_version_is_refused_and_changes_nothing,
    exactly_one_of_64_writers_that_expect_the_same_version_succeeds,
    null_can_be_stored_as_a_state,
}

async fn there_is_no_state_until_one_is_saved(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    assert_eq!(fixture.store.load_state("t").await.unwrap(), None);
}

async fn each_write_increments_the_version(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    assert_eq!(fixture.store.save_state("t", json!("a"), None).await.unwrap(), 1);
    fixture.clock.advance(3);
    assert_eq!(fixture.store.save_state("t", json!("b"), Some(1)).await.unwrap(), 2);
    let state = fixture.store.load_state("t").await.unwrap().unwrap();
    assert_eq!(
        (state.data, state.version, state.modified),
        (json!("b"), 2, START_TIME + 3)
    );
}

async fn a_write_that_expects_another_version_is_refused_and_changes_nothing(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let no_state_yet = fixture.store.save_state("t", json!(0), Some(1)).await.unwrap_err();
    assert_eq!(
        no_state_yet.to_string(),
        "the state of thread `t` has changed (expected `1`, found none): read it again before writing"
    );
    fixture.store.save_state("t", json!("stored"), None).await.unwrap();
    for expected in [None, Some(0), Some(2), Some(u64::MAX)] {
        let error = fixture
            .store
            .save_state("t", json!("lost"), expected)
            .await
            .unwrap_err();
        assert!(matches!(
            error,
            StoreError::Conflict { expected: e, actual: Some(1), .. } if e == expected
        ));
    }
    let state = fixture.store.load_state("t").await.unwrap().unwrap();
    assert_eq!((state.data, state.version), (json!("stored"), 1));
}

async fn exactly_one_of_64_writers_that_expect_the_same_version_succeeds(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let writers: Vec<_> = (0..64)
        .map(|number| {
            let store = Arc::clone(&fixture.store);
            tokio::spawn(async move { store.save_state("t", json!(number), None).await.map(|_| number) })
        })
        .collect();
    let mut winners = Vec::new();
    for writer in writers {
        winners.extend(writer.await.unwrap());
    }
    let state = fixture.store.load_state("t").await.unwrap().unwrap();
    assert_eq!(
        winners.iter().map(|number| json!(number)).collect::<Vec<_>>(),
        [state.data]
    );
}

async fn null_can_be_stored_as_a_state(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    fixture.store.save_state("t", Value::Null, None).await.unwrap();
    assert_eq!(fixture.store.load_state("t").await.unwrap().unwrap().data, Value::Null);
}
