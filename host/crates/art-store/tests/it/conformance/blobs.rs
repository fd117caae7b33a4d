//! Conformance tests of blobs. `test_each_store!` runs each listed test once with each store.

use art_core::agent::RunStatus;
use art_store::{StoreError, digest, limits};
use serde_json::json;

use crate::fixture::{TestStore, new_run, new_thread};

test_each_store! {
    a_blob_is_found_by_its_digest,
    equal_blobs_count_once_against_the_maximum_of_a_run,
    a_blob_is_found_in_its_own_thread_only,
    blobs_are_deleted_with_their_thread,
    a_blob_that_is_too_large_alone_or_with_the_others_of_its_run_is_refused,
    each_blob_counts_with_its_size_and_an_overhead,
    blobs_of_a_run_that_ended_or_does_not_exist_are_refused,
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

async fn a_blob_is_found_by_its_digest(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    for bytes in [&b""[..], b"\0\xff", "täxt".as_bytes()] {
        let blob_digest = fixture.put_blob("r", bytes.to_vec()).await.unwrap();
        assert_eq!(blob_digest, digest(bytes));
        assert_eq!(
            fixture.store.get_blob("t", &blob_digest).await.unwrap().as_deref(),
            Some(bytes)
        );
    }
    assert_eq!(fixture.store.get_blob("t", &digest(b"other")).await.unwrap(), None);
}

async fn equal_blobs_count_once_against_the_maximum_of_a_run(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    // If equal blobs counted each time, these 40 would have ten times the maximum size of all blobs of a run.
    for _ in 0..40 {
        fixture.put_blob("r", vec![7; limits::MAX_VALUE_BYTES]).await.unwrap();
    }
}

async fn a_blob_is_found_in_its_own_thread_only(fixture: TestStore) {
    let fixture = with_run(fixture).await.with_thread("other").await;
    let blob_digest = fixture.put_blob("r", b"x".to_vec()).await.unwrap();
    // The thread still finds the blob of its first run when it has a later run.
    fixture.begin_run(new_run("later", "t")).await.unwrap();
    assert!(fixture.store.get_blob("t", &blob_digest).await.unwrap().is_some());
    assert_eq!(fixture.store.get_blob("other", &blob_digest).await.unwrap(), None);
    assert_eq!(fixture.store.get_blob("nowhere", &blob_digest).await.unwrap(), None);
}

async fn blobs_are_deleted_with_their_thread(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let blob_digest = fixture.put_blob("r", b"x".to_vec()).await.unwrap();
    fixture.release_lease("t").await;
    assert!(fixture.store.delete_thread("t").await.unwrap());
    fixture.store.create_thread(new_thread("t")).await.unwrap();
    assert_eq!(fixture.store.get_blob("t", &blob_digest).await.unwrap(), None);
}

async fn a_blob_that_is_too_large_alone_or_with_the_others_of_its_run_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let too_large = vec![0; limits::MAX_VALUE_BYTES + 1];
    let refused = fixture.put_blob("r", too_large).await.unwrap_err();
    assert!(matches!(refused, StoreError::TooLarge { .. }), "{refused}");
    // Three of the largest blobs fit into a run; four do not, because `BLOB_OVERHEAD_BYTES` is added to the size of each.
    for content in 0..3 {
        fixture
            .put_blob("r", vec![content; limits::MAX_VALUE_BYTES])
            .await
            .unwrap();
    }
    let refused = fixture
        .put_blob("r", vec![9; limits::MAX_VALUE_BYTES])
        .await
        .unwrap_err();
    assert!(matches!(refused, StoreError::BlobsFull { .. }), "{refused}");
    // The limit of a run does not apply to other runs.
    fixture.begin_run(new_run("other", "t")).await.unwrap();
    fixture
        .put_blob("other", vec![9; limits::MAX_VALUE_BYTES])
        .await
        .unwrap();
}

async fn each_blob_counts_with_its_size_and_an_overhead(fixture: TestStore) {
    const OVERHEAD: usize = limits::BLOB_OVERHEAD_BYTES as usize;
    let fixture = with_run(fixture).await;
    // With its overhead, each of these takes a quarter of the maximum size of all blobs of a run.
    for content in 0..3 {
        fixture
            .put_blob("r", vec![content; limits::MAX_VALUE_BYTES - OVERHEAD])
            .await
            .unwrap();
    }
    // Leaves room for the overhead of one empty blob.
    let size = limits::MAX_VALUE_BYTES - 2 * OVERHEAD;
    fixture.put_blob("r", vec![9; size]).await.unwrap();
    fixture.put_blob("r", Vec::new()).await.unwrap();
    let refused = fixture.put_blob("r", b"x".to_vec()).await.unwrap_err();
    assert!(matches!(refused, StoreError::BlobsFull { .. }), "{refused}");
}

async fn blobs_of_a_run_that_ended_or_does_not_exist_are_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.end_run("r", RunStatus::Success, json!({})).await.unwrap();
    let refused = fixture.put_blob("r", b"x".to_vec()).await.unwrap_err();
    assert!(matches!(refused, StoreError::RunEnded { .. }), "{refused}");
    let refused = fixture.put_blob("nowhere", b"x".to_vec()).await.unwrap_err();
    assert!(matches!(refused, StoreError::UnknownRun { .. }), "{refused}");
}
