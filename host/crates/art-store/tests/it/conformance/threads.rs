//! Conformance tests of threads and their owners. `test_each_store!` runs each listed test once with each store.

use art_core::agent::{RunStatus, ThreadConfig};
use art_store::{
    MessageOptions, NewThread, ObservationFilter, Owner, RunFilter, StoreError, Thread, ThreadFilter, limits,
};
use serde_json::{Value, json};

use super::suspensions;
use crate::fixture::{START_TIME, TestStore, message, new_run, new_thread, thought};

test_each_store! {
    a_stored_thread_equals_the_one_that_was_created,
    a_thread_identifier_can_be_used_only_once,
    threads_are_listed_by_newest_write_and_then_by_newest_creation,
    threads_are_filtered_by_user,
    reads_for_an_owner_find_only_the_data_of_this_owner,
    threads_are_found_by_the_prefix_of_their_identifier,
    identifiers_are_compared_by_their_bytes,
    replacing_the_settings_does_not_change_the_state,
    deleting_a_thread_deletes_all_its_data_and_no_other,
    a_thread_created_after_a_deletion_is_empty,
    writing_to_an_unknown_thread_is_refused,
    writing_to_an_unknown_run_is_refused,
    reading_data_that_does_not_exist_returns_nothing,
    a_list_has_at_most_the_maximum_number_of_entries,
}

/// Returns settings that differ from the default.
fn config(tool: &str) -> ThreadConfig {
    ThreadConfig {
        enabled_tools: vec![tool.to_owned()],
        history_limit: 7,
        ..ThreadConfig::default()
    }
}

async fn list_ids(fixture: &TestStore, filter: ThreadFilter) -> Vec<String> {
    let threads = fixture.store.list_threads(filter).await.unwrap();
    threads.into_iter().map(|thread| thread.id).collect()
}

async fn a_stored_thread_equals_the_one_that_was_created(fixture: TestStore) {
    let new = NewThread {
        id: "t".to_owned(),
        user_id: Some("u".to_owned()),
        config: config("calculator"),
    };
    let created = fixture.store.create_thread(new).await.unwrap();
    let expected = Thread {
        id: "t".to_owned(),
        user_id: Some("u".to_owned()),
        created: START_TIME,
        updated: START_TIME,
        config: config("calculator"),
    };
    assert_eq!(created, expected);
    assert_eq!(fixture.store.get_thread("t").await.unwrap(), Some(expected));
}

async fn a_thread_identifier_can_be_used_only_once(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let error = fixture.store.create_thread(new_thread("t")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is already a thread `t`: use another identifier"
    );
}

async fn threads_are_listed_by_newest_write_and_then_by_newest_creation(fixture: TestStore) {
    let fixture = fixture
        .with_thread("a")
        .await
        .with_thread("b")
        .await
        .with_thread("c")
        .await;
    assert_eq!(list_ids(&fixture, ThreadFilter::default()).await, ["c", "b", "a"]);
    fixture.clock.advance(1);
    fixture
        .store
        .append_messages("a", vec![message("m", "a", 1)])
        .await
        .unwrap();
    fixture.clock.advance(1);
    fixture.store.record(thought("b")).await.unwrap();
    assert_eq!(list_ids(&fixture, ThreadFilter::default()).await, ["b", "a", "c"]);
    let newest = ThreadFilter {
        limit: Some(1),
        ..ThreadFilter::default()
    };
    assert_eq!(list_ids(&fixture, newest).await, ["b"]);
}

async fn threads_are_filtered_by_user(fixture: TestStore) {
    for (id, user_id) in [("a", Some("x")), ("b", Some("y")), ("c", None)] {
        let new = NewThread {
            user_id: user_id.map(str::to_owned),
            ..new_thread(id)
        };
        fixture.store.create_thread(new).await.unwrap();
    }
    let of = |owner: Owner| ThreadFilter {
        owner,
        ..ThreadFilter::default()
    };
    assert_eq!(list_ids(&fixture, of(Owner::user(Some("x")))).await, ["a"]);
    assert_eq!(list_ids(&fixture, of(Owner::user(None))).await, ["c"]);
    assert_eq!(list_ids(&fixture, of(Owner::Anyone)).await.len(), 3);
    assert!(list_ids(&fixture, of(Owner::user(Some("z")))).await.is_empty());
}

// For an owner, the data of others does not exist (contract B23 in `host/CONTRACTS.md`).
async fn reads_for_an_owner_find_only_the_data_of_this_owner(fixture: TestStore) {
    let new = NewThread {
        user_id: Some("x".to_owned()),
        ..new_thread("a")
    };
    let store = &fixture.store;
    store.create_thread(new).await.unwrap();
    store.append_messages("a", vec![message("m", "a", 1)]).await.unwrap();
    store.record(thought("a")).await.unwrap();
    fixture.begin_run(new_run("r", "a")).await.unwrap();
    for (user, expected_count) in [(Some("x"), 1), (Some("y"), 0), (None, 0)] {
        let owner = Owner::user(user);
        let messages = MessageOptions {
            owner: owner.clone(),
            ..MessageOptions::default()
        };
        assert_eq!(
            store.list_messages("a", messages).await.unwrap().len(),
            expected_count,
            "{user:?}"
        );
        let observations = ObservationFilter {
            owner: owner.clone(),
            ..ObservationFilter::default()
        };
        assert_eq!(
            store.list_observations("a", observations).await.unwrap().len(),
            expected_count,
            "{user:?}"
        );
        let runs = RunFilter {
            owner: owner.clone(),
            ..RunFilter::default()
        };
        assert_eq!(store.list_runs(runs).await.unwrap().len(), expected_count, "{user:?}");
        assert_eq!(
            store.find_thread("a", &owner).await.unwrap().iter().count(),
            expected_count,
            "{user:?}"
        );
        assert_eq!(
            store.find_run("r", &owner).await.unwrap().iter().count(),
            expected_count,
            "{user:?}"
        );
    }
}

async fn threads_are_found_by_the_prefix_of_their_identifier(fixture: TestStore) {
    let fixture = fixture
        .with_thread("ab1")
        .await
        .with_thread("ab2")
        .await
        .with_thread("b")
        .await;
    let with_prefix = |prefix: &str| ThreadFilter {
        id_prefix: Some(prefix.to_owned()),
        ..ThreadFilter::default()
    };
    assert_eq!(list_ids(&fixture, with_prefix("ab")).await, ["ab2", "ab1"]);
    assert_eq!(list_ids(&fixture, with_prefix("b")).await, ["b"]);
    assert!(list_ids(&fixture, with_prefix("2")).await.is_empty());
}

async fn replacing_the_settings_does_not_change_the_state(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    fixture.store.save_state("t", json!({"plan": 1}), None).await.unwrap();
    fixture.clock.advance(5);
    let changed = fixture.store.set_thread_config("t", config("datetime")).await.unwrap();
    assert_eq!((changed.created, changed.updated), (START_TIME, START_TIME + 5));
    assert_eq!(changed.config, config("datetime"));
    assert_eq!(fixture.store.get_thread("t").await.unwrap(), Some(changed));
    let state = fixture.store.load_state("t").await.unwrap().unwrap();
    assert_eq!((state.version, state.data), (1, json!({"plan": 1})));
}

/// Stores a message, an observation, a state and a run with one journal entry.
async fn fill(fixture: &TestStore, thread_id: &str, trace_id: &str) {
    let store = &fixture.store;
    let messages = vec![message(&format!("m-{thread_id}"), thread_id, 1)];
    store.append_messages(thread_id, messages).await.unwrap();
    store.record(thought(thread_id)).await.unwrap();
    store.save_state(thread_id, json!(1), None).await.unwrap();
    fixture.begin_run(new_run(trace_id, thread_id)).await.unwrap();
    fixture.append_entry(trace_id, 0, "k", json!(1)).await.unwrap();
}

/// Returns how many messages, observations, states, runs and journal entries are stored.
async fn count_data(fixture: &TestStore, thread_id: &str, trace_id: &str) -> [usize; 5] {
    let store = &fixture.store;
    let runs = RunFilter {
        thread_id: Some(thread_id.to_owned()),
        ..RunFilter::default()
    };
    let messages = store.list_messages(thread_id, MessageOptions::default()).await.unwrap();
    let observations = store
        .list_observations(thread_id, ObservationFilter::default())
        .await
        .unwrap();
    let state = store.load_state(thread_id).await.unwrap();
    let runs = store.list_runs(runs).await.unwrap();
    let journal = store.read_journal(trace_id).await.unwrap();
    [
        messages.len(),
        observations.len(),
        state.iter().len(),
        runs.len(),
        journal.len(),
    ]
}

async fn deleting_a_thread_deletes_all_its_data_and_no_other(fixture: TestStore) {
    let fixture = fixture.with_thread("a").await.with_thread("b").await;
    fill(&fixture, "a", "r-a").await;
    fill(&fixture, "b", "r-b").await;
    fixture.release_lease("a").await;
    assert!(fixture.store.delete_thread("a").await.unwrap());
    assert!(!fixture.store.delete_thread("a").await.unwrap());
    assert_eq!(fixture.store.get_thread("a").await.unwrap(), None);
    assert_eq!(fixture.store.get_run("r-a").await.unwrap(), None);
    assert_eq!(count_data(&fixture, "a", "r-a").await, [0; 5]);
    assert_eq!(count_data(&fixture, "b", "r-b").await, [1; 5]);
}

async fn a_thread_created_after_a_deletion_is_empty(fixture: TestStore) {
    let fixture = fixture.with_thread("a").await;
    fill(&fixture, "a", "r").await;
    fixture.release_lease("a").await;
    fixture.store.delete_thread("a").await.unwrap();
    let fixture = fixture.with_thread("a").await;
    assert_eq!(count_data(&fixture, "a", "r").await, [0; 5]);
    fill(&fixture, "a", "r").await;
    assert_eq!(count_data(&fixture, "a", "r").await, [1; 5]);
}

async fn writing_to_an_unknown_thread_is_refused(fixture: TestStore) {
    let store = &fixture.store;
    let refusals = [
        store.set_thread_config("t", config("x")).await.map(drop),
        store.append_messages("t", vec![message("m", "t", 1)]).await,
        store.record(thought("t")).await.map(drop),
        store.save_state("t", Value::Null, None).await.map(drop),
        store.acquire_lease("t").await.map(drop),
    ];
    for refusal in refusals {
        let error = refusal.unwrap_err();
        assert!(matches!(error, StoreError::UnknownThread { .. }));
        assert_eq!(error.to_string(), "there is no thread `t`: create it first");
    }
}

async fn writing_to_an_unknown_run_is_refused(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    for refusal in [
        fixture.append_entry("r", 0, "k", Value::Null).await.map(drop),
        fixture.end_run("r", RunStatus::Success, Value::Null).await.map(drop),
        suspensions::add_suspensions(&fixture, "r", Vec::new()).await,
    ] {
        assert!(matches!(refusal, Err(StoreError::UnknownRun { .. })));
    }
}

async fn reading_data_that_does_not_exist_returns_nothing(fixture: TestStore) {
    assert_eq!(fixture.store.get_thread("t").await.unwrap(), None);
    assert_eq!(fixture.store.get_run("r").await.unwrap(), None);
    assert_eq!(count_data(&fixture, "t", "r").await, [0; 5]);
    assert!(!fixture.store.delete_thread("t").await.unwrap());
}

async fn a_list_has_at_most_the_maximum_number_of_entries(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let messages = (0..=limits::MAX_LIST as u64)
        .map(|n| message(&n.to_string(), "t", n))
        .collect();
    fixture.store.append_messages("t", messages).await.unwrap();
    // No limit and a limit of 0 both stand for `MAX_LIST`.
    for limit in [None, Some(0), Some(usize::MAX)] {
        let options = MessageOptions {
            limit,
            ..MessageOptions::default()
        };
        let listed = fixture.store.list_messages("t", options).await.unwrap();
        // The message with the timestamp 0 is left out, since it is the oldest.
        assert_eq!((listed.len(), listed[0].timestamp), (limits::MAX_LIST, 1));
    }
}

// A database might instead compare identifiers by the sorting rules of a human language, or treat prefixes as patterns.
async fn identifiers_are_compared_by_their_bytes(fixture: TestStore) {
    let mut fixture = fixture;
    let ids = ["a", "A", "a_b", "aXb", "a%", "\u{e9}", "e\u{301}", "a "];
    for id in ids {
        fixture = fixture.with_thread(id).await;
    }
    for id in ids {
        assert_eq!(fixture.store.get_thread(id).await.unwrap().unwrap().id, id);
        let filter = ThreadFilter {
            id_prefix: Some(id.to_owned()),
            ..ThreadFilter::default()
        };
        let mut listed: Vec<_> = fixture
            .store
            .list_threads(filter)
            .await
            .unwrap()
            .into_iter()
            .map(|thread| thread.id)
            .collect();
        listed.sort();
        let mut expected: Vec<_> = ids.into_iter().filter(|other| other.starts_with(id)).collect();
        expected.sort_unstable();
        assert_eq!(listed, expected, "{id}");
    }
}
