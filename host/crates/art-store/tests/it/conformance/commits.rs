//! Conformance tests of commits. `test_each_store!` runs each listed test once with each store.

use art_core::agent::RunStatus;
use art_core::observation::ObservationType;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use art_store::{
    Blob, CallRecord, Commit, JournalEntry, MessageOptions, ObservationFilter, RunEnd, RunState, StoreError,
    WorkRecord, digest, limits,
};
use serde_json::json;

use crate::fixture::{START_TIME, TestStore, event, json_text, message, new_observation, new_run, thought};

test_each_store! {
    a_commit_stores_all_its_parts_and_returns_what_it_stored,
    a_refused_commit_changes_nothing,
    the_commit_that_begins_a_run_can_have_events_and_end_the_run,
    a_commit_can_begin_only_its_own_run_in_the_thread_of_its_lease,
    a_run_that_has_ended_accepts_no_commit,
    committing_a_state_increments_its_version,
    an_observation_of_another_thread_is_refused,
    observations_of_commits_and_other_observations_are_numbered_together,
    suspending_or_ending_a_run_sets_its_end_time_and_resuming_clears_it,
    an_empty_commit_is_accepted,
    each_distinct_blob_reduces_the_remaining_blob_bytes_of_its_run,
    a_commit_whose_blobs_exceed_the_maximum_of_a_run_is_refused,
    deleting_a_thread_keeps_the_equal_blob_of_another_thread,
    the_head_of_a_run_is_the_digest_of_its_last_entry,
    equal_events_of_two_runs_have_different_digests,
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

/// Returns a commit that ends the run `r` and has every kind of record except suspensions and decisions, which have tests of
/// their own.
async fn full_commit(fixture: &TestStore) -> Commit {
    let call = CallRecord {
        tool_digest: "d".to_owned(),
        usage: ToolUsage::default(),
    };
    let work = WorkRecord {
        model: "m".to_owned(),
        work: ModelWork::Step,
        usage: ModelUsage::default(),
    };
    Commit {
        events: vec![event("a", json!(1)), event("b", json!(2))],
        blobs: vec![Blob::new(*b"x"), Blob::new(*b"y"), Blob::new(*b"x")],
        state: Some(json_text(&json!("state"))),
        messages: vec![message("m", "t", 1)],
        observations: vec![thought("t"), thought("t")],
        calls: vec![call],
        work: vec![work],
        end: Some(RunEnd {
            status: RunStatus::Partial,
            summary: json!("summary"),
        }),
        ..fixture.empty_commit("r").await
    }
}

/// Returns how many journal entries, blobs with the content `x`, states, messages, observations, calls and records of model work
/// are stored.
async fn count_parts(fixture: &TestStore) -> [usize; 7] {
    let store = &fixture.store;
    let (messages, observations) = (MessageOptions::default(), ObservationFilter::default());
    [
        store.read_journal("r").await.unwrap().len(),
        store.get_blob("t", &digest(b"x")).await.unwrap().iter().len(),
        store.load_state("t").await.unwrap().iter().len(),
        store.list_messages("t", messages).await.unwrap().len(),
        store.list_observations("t", observations).await.unwrap().len(),
        store.list_calls("d", None).await.unwrap().len(),
        store.list_model_usage("m", ModelWork::Step, None).await.unwrap().len(),
    ]
}

async fn a_commit_stores_all_its_parts_and_returns_what_it_stored(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.clock.advance(4);
    let committed = fixture.store.commit(full_commit(&fixture).await).await.unwrap();
    let parts_of_full_commit = [2, 1, 1, 1, 2, 1, 1];
    assert_eq!(count_parts(&fixture).await, parts_of_full_commit);
    assert_eq!(fixture.store.get_run("r").await.unwrap().unwrap(), committed.run);
    let journal = fixture.store.read_journal("r").await.unwrap();
    let entries = journal
        .iter()
        .map(|entry| (entry.sequence, entry.kind.as_str(), entry.payload.as_str()));
    assert_eq!(entries.collect::<Vec<_>>(), [(1, "a", "1"), (2, "b", "2")]);
    let stored = fixture.store.list_observations("t", ObservationFilter::default()).await;
    assert_eq!(stored.unwrap(), committed.observations);
    assert_eq!(committed.state_version, Some(1));
    let run = committed.run;
    assert_eq!(
        (run.status, run.ended, run.last_sequence),
        (RunState::Partial, Some(START_TIME + 4), 2)
    );
    assert_eq!(run.summary, json!("summary"));
    assert_eq!(
        fixture.store.get_thread("t").await.unwrap().unwrap().updated,
        START_TIME + 4
    );
}

async fn a_refused_commit_changes_nothing(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture
        .store
        .append_messages("t", vec![message("used", "t", 1)])
        .await
        .unwrap();
    let run = fixture.store.get_run("r").await.unwrap();
    let good = full_commit(&fixture).await;
    let changes_that_make_a_commit_invalid: [fn(&mut Commit); 9] = [
        |commit| commit.expected_last_sequence = 1,
        |commit| commit.lease.number += 1,
        |commit| commit.trace_id = "nowhere".to_owned(),
        |commit| commit.begin = Some(existing_run()),
        |commit| commit.messages.push(message("used", "t", 2)),
        |commit| commit.messages.push(message("m", "t", 2)),
        |commit| commit.calls[0].tool_digest.clear(),
        |commit| commit.events[1].kind.clear(),
        |commit| commit.blobs = blobs_over_the_maximum_of_a_run(),
    ];
    let only_the_earlier_message = [0, 0, 0, 1, 0, 0, 0];
    for (n, change) in changes_that_make_a_commit_invalid.into_iter().enumerate() {
        let mut commit = good.clone();
        change(&mut commit);
        assert!(fixture.store.commit(commit).await.is_err(), "{n}");
        assert_eq!(count_parts(&fixture).await, only_the_earlier_message, "{n}");
        assert_eq!(fixture.store.get_run("r").await.unwrap(), run, "{n}");
    }
    fixture.store.commit(good).await.unwrap();
}

/// Returns four blobs of the maximum size, of which only three fit into a run because of their overheads.
fn blobs_over_the_maximum_of_a_run() -> Vec<Blob> {
    (0..4).map(|n| Blob::new(vec![n; limits::MAX_VALUE_BYTES])).collect()
}

/// Returns the values with which [`with_run`] has already begun the run `r`.
fn existing_run() -> art_store::NewRun {
    new_run("r", "t")
}

async fn the_commit_that_begins_a_run_can_have_events_and_end_the_run(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let commit = Commit {
        begin: Some(new_run("r", "t")),
        ..full_commit(&fixture).await
    };
    let run = fixture.store.commit(commit).await.unwrap().run;
    assert_eq!((run.status, run.last_sequence), (RunState::Partial, 2));
    assert_eq!(fixture.store.get_run("r").await.unwrap(), Some(run));
}

async fn a_commit_can_begin_only_its_own_run_in_the_thread_of_its_lease(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await.with_thread("other").await;
    for begin in [new_run("other", "t"), new_run("r", "other")] {
        let commit = Commit {
            begin: Some(begin),
            ..fixture.empty_commit("r").await
        };
        let refused = fixture.store.commit(commit).await.unwrap_err();
        assert!(matches!(refused, StoreError::Invalid { .. }), "{refused}");
    }
}

async fn a_run_that_has_ended_accepts_no_commit(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.store.commit(full_commit(&fixture).await).await.unwrap();
    let empty = fixture.empty_commit("r").await;
    let refused = fixture.store.commit(empty).await.unwrap_err();
    assert!(matches!(refused, StoreError::RunEnded { .. }), "{refused}");
}

async fn committing_a_state_increments_its_version(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    assert_eq!(fixture.store.save_state("t", json!(1), None).await.unwrap(), 1);
    let commit = Commit {
        state: Some(json_text(&json!(2))),
        ..fixture.empty_commit("r").await
    };
    let committed = fixture.store.commit(commit).await.unwrap();
    assert_eq!(committed.state_version, Some(2));
    assert_eq!(fixture.store.save_state("t", json!(3), Some(2)).await.unwrap(), 3);
}

async fn an_observation_of_another_thread_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await.with_thread("other").await;
    let commit = Commit {
        observations: vec![new_observation("other", ObservationType::Error, json!(1))],
        ..fixture.empty_commit("r").await
    };
    let refused = fixture.store.commit(commit).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "observation of thread `other` cannot be recorded with the lease of another thread: use the lease of its own thread"
    );
}

async fn an_empty_commit_is_accepted(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let empty = fixture.empty_commit("r").await;
    let committed = fixture.store.commit(empty).await.unwrap();
    assert!(committed.observations.is_empty());
    assert_eq!(
        (committed.state_version, committed.run.status),
        (None, RunState::Running)
    );
}

async fn each_distinct_blob_reduces_the_remaining_blob_bytes_of_its_run(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let remaining = async |trace_id: &str| fixture.store.remaining_blob_bytes(trace_id).await.unwrap();
    assert_eq!(remaining("r").await, limits::MAX_RUN_BLOB_BYTES);
    // Equal blobs are stored once.
    fixture.put_blob("r", vec![1; 100]).await.unwrap();
    fixture.put_blob("r", vec![1; 100]).await.unwrap();
    let taken = 100 + limits::BLOB_OVERHEAD_BYTES;
    assert_eq!(remaining("r").await, limits::MAX_RUN_BLOB_BYTES - taken);
    assert_eq!(remaining("nowhere").await, limits::MAX_RUN_BLOB_BYTES);
}

async fn a_commit_whose_blobs_exceed_the_maximum_of_a_run_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let commit = Commit {
        blobs: blobs_over_the_maximum_of_a_run(),
        ..fixture.empty_commit("r").await
    };
    let refused = fixture.store.commit(commit).await.unwrap_err();
    assert!(matches!(refused, StoreError::BlobsFull { .. }), "{refused}");
    assert_eq!(
        fixture.store.remaining_blob_bytes("r").await.unwrap(),
        limits::MAX_RUN_BLOB_BYTES
    );
}

async fn deleting_a_thread_keeps_the_equal_blob_of_another_thread(fixture: TestStore) {
    let fixture = with_run(fixture).await.with_thread("other").await;
    fixture.begin_run(new_run("later", "other")).await.unwrap();
    let blob_digest = fixture.put_blob("r", b"x".to_vec()).await.unwrap();
    assert_eq!(fixture.put_blob("later", b"x".to_vec()).await.unwrap(), blob_digest);
    fixture.release_lease("t").await;
    assert!(fixture.store.delete_thread("t").await.unwrap());
    let blob_of_other_thread = fixture.store.get_blob("other", &blob_digest).await.unwrap();
    assert_eq!(blob_of_other_thread.as_deref(), Some(&b"x"[..]));
}

async fn the_head_of_a_run_is_the_digest_of_its_last_entry(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let mut earlier_heads = vec![fixture.store.get_run("r").await.unwrap().unwrap().head];
    for last_sequence in 0..3 {
        let JournalEntry { digest, .. } = fixture.append_entry("r", last_sequence, "k", json!(1)).await.unwrap();
        let run = fixture.store.get_run("r").await.unwrap().unwrap();
        assert_eq!(run.head, digest);
        assert!(!earlier_heads.contains(&digest));
        earlier_heads.push(digest);
    }
}

async fn equal_events_of_two_runs_have_different_digests(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.begin_run(new_run("s", "t")).await.unwrap();
    let first = fixture.append_entry("r", 0, "k", json!(1)).await.unwrap();
    let second = fixture.append_entry("s", 0, "k", json!(1)).await.unwrap();
    assert_ne!(first.digest, second.digest);
}

async fn observations_of_commits_and_other_observations_are_numbered_together(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    for _ in 0..2 {
        fixture.store.record(thought("t")).await.unwrap();
        let commit = Commit {
            observations: vec![thought("t"), thought("t")],
            ..fixture.empty_commit("r").await
        };
        fixture.store.commit(commit).await.unwrap();
    }
    let listed = fixture.store.list_observations("t", ObservationFilter::default()).await;
    let sequences = listed.unwrap().into_iter().map(|observation| observation.sequence);
    assert!(sequences.eq(1..=6));
}

async fn suspending_or_ending_a_run_sets_its_end_time_and_resuming_clears_it(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let status_and_end_time = async || {
        let run = fixture.store.get_run("r").await.unwrap().unwrap();
        (run.status, run.ended)
    };
    let end = async |status| fixture.end_run("r", status, json!(null)).await.unwrap();
    fixture.clock.advance(1);
    end(RunStatus::Suspended).await;
    assert_eq!(status_and_end_time().await, (RunState::Suspended, Some(START_TIME + 1)));
    // A commit that does not end or suspend the run resumes it.
    fixture.store.commit(fixture.empty_commit("r").await).await.unwrap();
    assert_eq!(status_and_end_time().await, (RunState::Running, None));
    fixture.clock.advance(1);
    end(RunStatus::Success).await;
    assert_eq!(status_and_end_time().await, (RunState::Success, Some(START_TIME + 2)));
}
