//! Conformance tests of leases. A lease makes its holder the only writer of a thread, until it is released or somebody else takes
//! the thread over. Each new lease of a thread has a larger number. `test_each_store!` runs each listed test with each store.

use std::sync::Arc;

use art_core::agent::RunStatus;
use art_store::{Commit, Lease, RunFilter, StoreError, limits};
use serde_json::{Value, json};

use crate::fixture::{START_TIME, TestStore, event, new_run, new_thread};

test_each_store! {
    a_lease_that_is_held_cannot_be_acquired,
    a_released_lease_can_be_acquired_at_once,
    an_expired_lease_can_be_acquired,
    renewing_and_committing_extend_a_lease,
    an_expired_lease_that_nobody_took_can_be_renewed_and_used,
    a_lost_lease_can_neither_be_renewed_nor_used,
    a_released_lease_can_neither_be_renewed_nor_used,
    releasing_a_lost_lease_does_not_release_the_new_one,
    a_lease_of_another_thread_is_refused,
    a_thread_that_does_not_exist_has_no_lease,
    numbers_of_leases_grow_even_if_the_thread_is_deleted_and_created_again,
    exactly_one_of_64_callers_acquires_a_lease,
    a_thread_whose_lease_is_held_cannot_be_deleted,
    a_thread_whose_lease_has_expired_can_be_deleted,
    running_runs_in_threads_whose_lease_nobody_holds_are_listed_as_abandoned,
    a_commit_can_release_its_lease,
    a_refused_commit_does_not_release_its_lease,
    a_thread_can_be_created_and_leased_in_one_step,
    creating_a_leased_thread_that_exists_is_refused_and_takes_no_lease,
}

async fn acquire(fixture: &TestStore) -> Lease {
    fixture.store.acquire_lease("t").await.unwrap()
}

/// Returns a commit that begins the run `r`, for a lease of its thread `t`.
fn commit_that_begins_run(lease: &Lease) -> Commit {
    Commit {
        begin: Some(new_run("r", "t")),
        trace_id: "r".to_owned(),
        lease: lease.clone(),
        events: vec![event("k", json!(1))],
        ..Commit::default()
    }
}

async fn a_lease_that_is_held_cannot_be_acquired(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await.with_thread("other").await;
    acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS - 1);
    let busy = fixture.store.acquire_lease("t").await.unwrap_err();
    let expected = START_TIME + limits::LEASE_MS;
    assert!(matches!(busy, StoreError::ThreadBusy { until, .. } if until == expected));
    assert_eq!(
        busy.to_string(),
        "thread `t` is in use by another turn: wait for it, or use another thread"
    );
    fixture.store.acquire_lease("other").await.unwrap();
}

async fn a_released_lease_can_be_acquired_at_once(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let first = acquire(&fixture).await;
    fixture.store.release_lease(&first).await.unwrap();
    assert!(acquire(&fixture).await.number > first.number);
}

async fn an_expired_lease_can_be_acquired(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let first = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS);
    assert!(acquire(&fixture).await.number > first.number);
}

async fn renewing_and_committing_extend_a_lease(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lease = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS - 1);
    fixture.store.renew_lease(&lease).await.unwrap();
    fixture.clock.advance(limits::LEASE_MS - 1);
    fixture.store.commit(commit_that_begins_run(&lease)).await.unwrap();
    fixture.clock.advance(limits::LEASE_MS - 1);
    assert!(fixture.store.acquire_lease("t").await.is_err());
}

async fn an_expired_lease_that_nobody_took_can_be_renewed_and_used(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lease = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS * 2);
    fixture.store.commit(commit_that_begins_run(&lease)).await.unwrap();
    fixture.clock.advance(limits::LEASE_MS * 2);
    fixture.store.renew_lease(&lease).await.unwrap();
    assert!(fixture.store.acquire_lease("t").await.is_err());
}

/// Asserts that a lease of the thread `t` can neither be renewed nor used, and that a refused commit with it begins no run.
async fn assert_unusable(fixture: &TestStore, lease: &Lease) {
    let error = fixture.store.renew_lease(lease).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "thread `t` was taken over by another turn: read it again and begin another turn"
    );
    let error = fixture.store.commit(commit_that_begins_run(lease)).await.unwrap_err();
    assert!(matches!(error, StoreError::LeaseLost { .. }), "{error}");
    assert_eq!(fixture.store.get_run("r").await.unwrap(), None);
}

async fn a_lost_lease_can_neither_be_renewed_nor_used(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lost = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS);
    acquire(&fixture).await;
    assert_unusable(&fixture, &lost).await;
}

async fn a_released_lease_can_neither_be_renewed_nor_used(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let released = acquire(&fixture).await;
    fixture.store.release_lease(&released).await.unwrap();
    assert_unusable(&fixture, &released).await;
}

async fn releasing_a_lost_lease_does_not_release_the_new_one(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lost = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS);
    let current = acquire(&fixture).await;
    fixture.store.release_lease(&lost).await.unwrap();
    fixture.store.renew_lease(&current).await.unwrap();
}

async fn a_lease_of_another_thread_is_refused(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await.with_thread("other").await;
    fixture
        .store
        .commit(commit_that_begins_run(&acquire(&fixture).await))
        .await
        .unwrap();
    let lease = fixture.store.acquire_lease("other").await.unwrap();
    let commit = Commit {
        trace_id: "r".to_owned(),
        lease: lease.clone(),
        expected_last_sequence: 1,
        ..Commit::default()
    };
    let refusal = fixture.store.commit(commit).await.unwrap_err();
    assert_eq!(
        refusal.to_string(),
        "lease of thread `other` is not for the thread of the run: use the lease of the run's thread"
    );
}

async fn numbers_of_leases_grow_even_if_the_thread_is_deleted_and_created_again(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lost = acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS);
    assert!(fixture.store.delete_thread("t").await.unwrap());
    assert_unusable(&fixture, &lost).await;
    let fixture = fixture.with_thread("t").await;
    assert!(acquire(&fixture).await.number > lost.number);
    assert_unusable(&fixture, &lost).await;
}

async fn exactly_one_of_64_callers_acquires_a_lease(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let store = Arc::clone(&fixture.store);
            tokio::spawn(async move { store.acquire_lease("t").await })
        })
        .collect();
    let mut acquired = Vec::new();
    for caller in callers {
        acquired.extend(caller.await.unwrap());
    }
    assert_eq!(acquired.len(), 1);
}

async fn a_thread_whose_lease_is_held_cannot_be_deleted(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lease = acquire(&fixture).await;
    let busy = fixture.store.delete_thread("t").await;
    assert!(matches!(busy, Err(StoreError::ThreadBusy { .. })));
    assert!(fixture.store.get_thread("t").await.unwrap().is_some());
    fixture.store.release_lease(&lease).await.unwrap();
    assert!(fixture.store.delete_thread("t").await.unwrap());
}

async fn a_thread_whose_lease_has_expired_can_be_deleted(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    acquire(&fixture).await;
    fixture.clock.advance(limits::LEASE_MS);
    assert!(fixture.store.delete_thread("t").await.unwrap());
}

async fn running_runs_in_threads_whose_lease_nobody_holds_are_listed_as_abandoned(fixture: TestStore) {
    let mut fixture = fixture;
    for thread_id in ["renewed", "released", "ended", "expired"] {
        fixture = fixture.with_thread(thread_id).await;
        fixture
            .begin_run(new_run(&format!("r-{thread_id}"), thread_id))
            .await
            .unwrap();
    }
    fixture
        .end_run("r-ended", RunStatus::Success, Value::Null)
        .await
        .unwrap();
    fixture.release_lease("ended").await;
    fixture.release_lease("released").await;
    let list_abandoned = async || {
        let filter = RunFilter {
            abandoned: true,
            ..RunFilter::default()
        };
        let runs = fixture.store.list_runs(filter).await.unwrap();
        runs.into_iter().map(|run| run.trace_id).collect::<Vec<_>>()
    };
    assert_eq!(list_abandoned().await, ["r-released"]);
    fixture.clock.advance(limits::LEASE_MS);
    fixture
        .store
        .renew_lease(&fixture.lease("renewed").await)
        .await
        .unwrap();
    assert_eq!(list_abandoned().await, ["r-expired", "r-released"]);
}

async fn a_commit_can_release_its_lease(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let lease = acquire(&fixture).await;
    let commit = Commit {
        release: true,
        ..commit_that_begins_run(&lease)
    };
    fixture.store.commit(commit).await.unwrap();
    assert!(fixture.store.renew_lease(&lease).await.is_err());
    assert!(acquire(&fixture).await.number > lease.number);
}

async fn a_refused_commit_does_not_release_its_lease(fixture: TestStore) {
    const NOT_THE_LAST_SEQUENCE: u64 = 7;
    let fixture = fixture.with_thread("t").await;
    let lease = acquire(&fixture).await;
    let commit = Commit {
        release: true,
        expected_last_sequence: NOT_THE_LAST_SEQUENCE,
        ..commit_that_begins_run(&lease)
    };
    assert!(fixture.store.commit(commit).await.is_err());
    assert!(fixture.store.acquire_lease("t").await.is_err());
    fixture.store.commit(commit_that_begins_run(&lease)).await.unwrap();
}

async fn a_thread_can_be_created_and_leased_in_one_step(fixture: TestStore) {
    let (created, lease) = fixture.store.create_leased_thread(new_thread("t")).await.unwrap();
    assert_eq!(fixture.store.get_thread("t").await.unwrap(), Some(created));
    assert!(fixture.store.acquire_lease("t").await.is_err());
    fixture.store.commit(commit_that_begins_run(&lease)).await.unwrap();
}

async fn creating_a_leased_thread_that_exists_is_refused_and_takes_no_lease(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let refused = fixture.store.create_leased_thread(new_thread("t")).await.unwrap_err();
    assert!(matches!(refused, StoreError::AlreadyExists { .. }), "{refused}");
    fixture
        .store
        .commit(commit_that_begins_run(&acquire(&fixture).await))
        .await
        .unwrap();
}

async fn a_thread_that_does_not_exist_has_no_lease(fixture: TestStore) {
    let unknown = fixture.store.acquire_lease("t").await.unwrap_err();
    assert!(matches!(unknown, StoreError::UnknownThread { .. }), "{unknown}");
    // No lease has the number 0.
    let never_acquired = Lease {
        thread_id: "t".to_owned(),
        number: 0,
    };
    assert_unusable(&fixture, &never_acquired).await;
    fixture.store.release_lease(&never_acquired).await.unwrap();
    let fixture = fixture.with_thread("t").await;
    assert_unusable(&fixture, &never_acquired).await;
}
