//! Conformance tests of the limits of values, timestamps, journals and names. Names are the identifiers, the kinds of journal
//! entries and the names of models. `test_each_store!` runs each listed test once with each store.

use art_core::agent::{RunStatus, ThreadConfig};
use art_core::conversation::ConversationMessage;
use art_store::{Commit, NewRun, NewThread, StoreError, limits};
use serde_json::{Value, json};

use crate::fixture::{TestStore, event, message, new_observation, new_run, new_thread};

test_each_store! {
    values_over_the_limit_are_refused,
    values_at_the_limit_are_stored,
    json_that_is_nested_too_deeply_is_refused,
    empty_and_overlong_names_are_refused,
    a_timestamp_over_the_maximum_is_refused,
    a_journal_over_its_maximum_size_is_refused,
    a_journal_over_its_maximum_number_of_entries_is_refused,
}

/// Adds the thread `t` with the run `r`, and returns the fixture.
async fn with_run(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    fixture
}

/// Returns a list of one message of the thread `t`.
fn messages_with_content(content: String) -> Vec<ConversationMessage> {
    vec![ConversationMessage {
        content,
        ..message("m", "t", 1)
    }]
}

async fn values_over_the_limit_are_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let store = &fixture.store;
    let too_long = "x".repeat(limits::MAX_VALUE_BYTES + 1);
    let config = ThreadConfig {
        enabled_tools: vec![too_long.clone()],
        ..ThreadConfig::default()
    };
    for refusal in [
        store
            .append_messages("t", messages_with_content(too_long.clone()))
            .await,
        store
            .record(new_observation(
                "t",
                art_core::observation::ObservationType::Error,
                json!(too_long),
            ))
            .await
            .map(drop),
        store.save_state("t", json!(too_long), None).await.map(drop),
        fixture.append_entry("r", 0, "k", json!(too_long)).await.map(drop),
        fixture
            .end_run("r", RunStatus::Success, json!(too_long))
            .await
            .map(drop),
        store.set_thread_config("t", config).await.map(drop),
    ] {
        let error = refusal.unwrap_err();
        assert!(matches!(
            error,
            StoreError::TooLarge {
                maximum: limits::MAX_VALUE_BYTES,
                ..
            }
        ));
        assert!(error.to_string().ends_with("has more than 16777216 bytes: shorten it"));
    }
}

async fn values_at_the_limit_are_stored(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let content = "x".repeat(limits::MAX_VALUE_BYTES);
    fixture
        .store
        .append_messages("t", messages_with_content(content))
        .await
        .unwrap();
    // The quotes of the JSON text take two bytes.
    let payload = json!("x".repeat(limits::MAX_VALUE_BYTES - 2));
    fixture.append_entry("r", 0, "k", payload.clone()).await.unwrap();
    assert_eq!(
        fixture.store.read_journal("r").await.unwrap()[0].payload,
        payload.to_string()
    );
}

/// Returns an array in an array in an array, and so on.
fn nested(depth: usize) -> Value {
    (0..depth).fold(json!(1), |inner, _| json!([inner]))
}

async fn json_that_is_nested_too_deeply_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let refused = fixture.append_entry("r", 0, "k", nested(200)).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "a journal entry of `r` is nested deeper than 120: flatten it"
    );
    let fits = nested(limits::MAX_JSON_DEPTH);
    fixture.append_entry("r", 0, "k", fits.clone()).await.unwrap();
    assert_eq!(
        fixture.store.read_journal("r").await.unwrap()[0].payload,
        fits.to_string()
    );
}

async fn empty_and_overlong_names_are_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let store = &fixture.store;
    let too_long = "x".repeat(limits::MAX_NAME_BYTES + 1);
    for name in ["", &too_long] {
        let thread_with_user = NewThread {
            user_id: Some(name.to_owned()),
            ..new_thread("new")
        };
        let run_with_model = NewRun {
            model: Some(name.to_owned()),
            ..new_run("new", "t")
        };
        for refusal in [
            store.create_thread(new_thread(name)).await.map(drop),
            store.create_thread(thread_with_user).await.map(drop),
            store.append_messages("t", vec![message(name, "t", 1)]).await,
            fixture.begin_run(new_run(name, "t")).await.map(drop),
            fixture.begin_run(run_with_model).await.map(drop),
            fixture.append_entry("r", 0, name, Value::Null).await.map(drop),
        ] {
            assert!(matches!(refusal, Err(StoreError::Invalid { .. })));
        }
    }
}

async fn a_timestamp_over_the_maximum_is_refused(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let last = vec![message("last", "t", limits::MAX_TIMESTAMP)];
    fixture.store.append_messages("t", last).await.unwrap();
    let later = vec![message("later", "t", limits::MAX_TIMESTAMP + 1)];
    let error = fixture.store.append_messages("t", later).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "message timestamp `9007199254740992` is too late: the maximum is 2^53 - 1 milliseconds"
    );
}

async fn a_journal_over_its_maximum_size_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    // Each entry has the maximum size of a value, including the two quotes of the JSON text.
    let payload = json!("x".repeat(limits::MAX_VALUE_BYTES - 2));
    let entries_that_fit = limits::MAX_JOURNAL_BYTES / limits::MAX_VALUE_BYTES as u64;
    for last_sequence in 0..entries_that_fit {
        fixture
            .append_entry("r", last_sequence, "k", payload.clone())
            .await
            .unwrap();
    }
    let error = fixture
        .append_entry("r", entries_that_fit, "k", json!(1))
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the journal of run `r` is full: end the run and begin another one"
    );
}

async fn a_journal_over_its_maximum_number_of_entries_is_refused(fixture: TestStore) {
    let fixture = with_run(fixture).await;
    let events = |count| (0..count).map(|_| event("k", json!(1))).collect();
    let commit = Commit {
        events: events(limits::MAX_JOURNAL_ENTRIES),
        ..fixture.empty_commit("r").await
    };
    let full = fixture.store.commit(commit).await.unwrap().run;
    assert_eq!(full.last_sequence, limits::MAX_JOURNAL_ENTRIES);
    let one_more = Commit {
        events: events(1),
        ..fixture.empty_commit("r").await
    };
    let error = fixture.store.commit(one_more).await.unwrap_err();
    assert!(matches!(error, StoreError::JournalFull { .. }), "{error}");
}
