//! Conformance tests of runs and their journals. `test_each_store!` runs each listed test once with each store.

use std::sync::Arc;

use art_core::agent::RunStatus;
use art_store::{Commit, JournalEntry, NewRun, RunFilter, RunRecord, RunState, StoreError, limits};
use serde_json::{Value, json};

use crate::fixture::{START_TIME, TestStore, event, new_run};

test_each_store! {
    a_stored_run_equals_the_one_that_was_begun,
    a_run_identifier_can_be_used_only_once,
    a_long_query_is_truncated_between_characters,
    a_run_that_has_ended_cannot_change,
    a_commit_without_an_end_resumes_a_suspended_run,
    a_suspended_run_can_be_cancelled,
    runs_are_listed_newest_first_and_filtered_by_thread_and_status,
    a_list_of_runs_has_at_most_the_requested_number,
    runs_are_found_by_the_prefix_of_their_identifier,
    a_journal_that_is_read_equals_the_one_that_was_written,
    a_commit_that_expects_another_journal_length_is_refused,
    each_journal_entry_is_appended_by_only_one_of_two_writers,
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

async fn a_stored_run_equals_the_one_that_was_begun(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let expected = RunRecord {
        trace_id: "r".to_owned(),
        thread_id: "t".to_owned(),
        query: "what is it?".to_owned(),
        status: RunState::Running,
        started: START_TIME,
        ended: None,
        model: Some("model".to_owned()),
        summary: Value::Null,
        last_sequence: 0,
        // The digest that stands for the empty journal. This test does not check it.
        head: fixture.store.get_run("r").await.unwrap().unwrap().head,
    };
    assert_eq!(fixture.store.get_run("r").await.unwrap(), Some(expected));
}

async fn a_run_identifier_can_be_used_only_once(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let error = fixture.begin_run(new_run("r", "t")).await.unwrap_err();
    assert!(matches!(error, StoreError::AlreadyExists { what: "run", .. }));
}

async fn a_long_query_is_truncated_between_characters(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let new = NewRun {
        query: "ä".repeat(limits::MAX_QUERY_CHARS + 1),
        ..new_run("r", "t")
    };
    let run = fixture.begin_run(new).await.unwrap();
    assert_eq!(run.query, "ä".repeat(limits::MAX_QUERY_CHARS));
}

async fn a_run_that_has_ended_cannot_change(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.clock.advance(9);
    let ended_run = fixture
        .end_run("r", RunStatus::Partial, json!({"tools": 3}))
        .await
        .unwrap();
    assert_eq!(
        (ended_run.status, ended_run.ended),
        (RunState::Partial, Some(START_TIME + 9))
    );
    assert_eq!(ended_run.summary, json!({"tools": 3}));
    let refused = fixture.end_run("r", RunStatus::Success, Value::Null).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "run `r` has ended with `partial`: begin another one"
    );
    let entry = fixture.append_entry("r", 0, "k", Value::Null).await;
    assert!(matches!(entry, Err(StoreError::RunEnded { .. })));
    assert_eq!(fixture.store.get_run("r").await.unwrap(), Some(ended_run));
}

async fn a_commit_without_an_end_resumes_a_suspended_run(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let suspended = fixture
        .end_run("r", RunStatus::Suspended, json!("waits"))
        .await
        .unwrap();
    assert_eq!(
        (suspended.status, suspended.ended),
        (RunState::Suspended, Some(START_TIME))
    );
    fixture.append_entry("r", 0, "k", json!(1)).await.unwrap();
    let run = fixture.store.get_run("r").await.unwrap().unwrap();
    assert_eq!((run.status, run.ended), (RunState::Running, None));
}

async fn a_suspended_run_can_be_cancelled(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.end_run("r", RunStatus::Suspended, Value::Null).await.unwrap();
    let ended = fixture.end_run("r", RunStatus::Cancelled, Value::Null).await.unwrap();
    assert_eq!(ended.status, RunState::Cancelled);
}

async fn runs_are_listed_newest_first_and_filtered_by_thread_and_status(fixture: TestStore) {
    let fixture = fixture.with_thread("a").await.with_thread("b").await;
    for (trace_id, thread_id) in [("1", "a"), ("2", "b"), ("3", "a"), ("4", "a")] {
        fixture.begin_run(new_run(trace_id, thread_id)).await.unwrap();
        // The runs `1` and `2` start at the same time, and the others 1 ms later.
        fixture.clock.advance(u64::from(trace_id == "2"));
    }
    fixture.end_run("3", RunStatus::Error, Value::Null).await.unwrap();
    // Returns the identifiers as one text.
    let listed = async |thread_id: Option<&str>, status, limit| {
        let filter = RunFilter {
            thread_id: thread_id.map(str::to_owned),
            status,
            limit,
            ..RunFilter::default()
        };
        let runs = fixture.store.list_runs(filter).await.unwrap();
        runs.into_iter().map(|run| run.trace_id).collect::<String>()
    };
    assert_eq!(listed(None, None, None).await, "4321");
    assert_eq!(listed(None, None, Some(2)).await, "43");
    assert_eq!(listed(Some("a"), None, None).await, "431");
    assert_eq!(listed(None, Some(RunState::Running), None).await, "421");
    assert_eq!(listed(Some("a"), Some(RunState::Running), None).await, "41");
    assert_eq!(listed(Some("none"), None, None).await, "");
}

async fn a_list_of_runs_has_at_most_the_requested_number(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    for trace_id in ["a", "b", "c"] {
        fixture.begin_run(new_run(trace_id, "t")).await.unwrap();
    }
    let listed = async |limit| {
        let filter = RunFilter {
            limit,
            ..RunFilter::default()
        };
        let runs = fixture.store.list_runs(filter).await.unwrap();
        runs.into_iter().map(|run| run.trace_id).collect::<Vec<_>>()
    };
    assert_eq!(listed(Some(2)).await, ["c", "b"]);
    // No limit and a limit of 0 both stand for `MAX_LIST`.
    for all in [None, Some(0), Some(usize::MAX)] {
        assert_eq!(listed(all).await, ["c", "b", "a"]);
    }
}

async fn runs_are_found_by_the_prefix_of_their_identifier(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    for trace_id in ["ab1", "ab2", "b%1"] {
        fixture.begin_run(new_run(trace_id, "t")).await.unwrap();
    }
    let listed = async |prefix: &str| {
        let filter = RunFilter {
            id_prefix: Some(prefix.to_owned()),
            ..RunFilter::default()
        };
        let runs = fixture.store.list_runs(filter).await.unwrap();
        runs.into_iter().map(|run| run.trace_id).collect::<Vec<_>>()
    };
    assert_eq!(listed("ab").await, ["ab2", "ab1"]);
    assert_eq!(listed("ab1").await, ["ab1"]);
    assert_eq!(listed("b%").await, ["b%1"]);
    for prefix in ["1", "AB", "%", "ab12"] {
        assert!(listed(prefix).await.is_empty(), "{prefix}");
    }
}

async fn a_journal_that_is_read_equals_the_one_that_was_written(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let payloads = [
        json!(0.1 + 0.2),
        json!({"z": [5e-324, 1.797_693_134_862_315_7e308], "a": "\u{0}"}),
        json!(i64::MIN),
    ];
    let mut written = Vec::new();
    for (sequence, payload) in (1..).zip(payloads.clone()) {
        written.push(fixture.append_entry("r", sequence - 1, "reply", payload).await.unwrap());
        fixture.clock.advance(1);
    }
    let expected: Vec<_> = (0..)
        .zip(payloads)
        .map(|(n, payload)| JournalEntry {
            sequence: n + 1,
            timestamp: START_TIME + n,
            kind: "reply".to_owned(),
            payload: payload.to_string(),
            digest: written[n as usize].digest.clone(),
        })
        .collect();
    assert_eq!(written, expected);
    assert_eq!(fixture.store.read_journal("r").await.unwrap(), expected);
    assert_eq!(fixture.store.get_run("r").await.unwrap().unwrap().last_sequence, 3);
}

async fn a_commit_that_expects_another_journal_length_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    fixture.append_entry("r", 0, "k", json!(1)).await.unwrap();
    for wrong_sequence in [0, 2, 3, u64::MAX] {
        let error = fixture
            .append_entry("r", wrong_sequence, "k", json!(2))
            .await
            .unwrap_err();
        assert!(matches!(error, StoreError::Conflict { actual: Some(1), .. }), "{error}");
    }
    assert_eq!(fixture.store.read_journal("r").await.unwrap().len(), 1);
}

async fn each_journal_entry_is_appended_by_only_one_of_two_writers(fixture: TestStore) {
    const MAX_ENTRIES_OF_EACH: u64 = 50;
    let fixture = with_run(fixture).await;
    let empty_commit = fixture.empty_commit("r").await;
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let (store, empty_commit) = (Arc::clone(&fixture.store), empty_commit.clone());
            tokio::spawn(async move {
                let mut appended = 0;
                // A writer expects that the journal has only the entries that it has appended itself. Its next commit is refused
                // once the other writer has appended an entry, and then it stops.
                let commit = |expected_last_sequence| Commit {
                    expected_last_sequence,
                    events: vec![event("k", json!(writer))],
                    ..empty_commit.clone()
                };
                while appended < MAX_ENTRIES_OF_EACH && store.commit(commit(appended)).await.is_ok() {
                    appended += 1;
                }
                appended
            })
        })
        .collect();
    let mut appended = Vec::new();
    for writer in writers {
        appended.push(writer.await.unwrap());
    }
    let journal = fixture.store.read_journal("r").await.unwrap();
    assert!(journal.iter().map(|entry| entry.sequence).eq(1..=journal.len() as u64));
    assert_eq!(appended.iter().sum::<u64>(), journal.len() as u64);
}
