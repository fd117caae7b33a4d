//! Conformance tests of messages. `test_each_store!` runs each listed test once with each store.

use art_core::conversation::{ConversationMessage, MessageRole};
use art_store::{MessageOptions, StoreError};
use serde_json::json;

use crate::fixture::{TestStore, message};

test_each_store! {
    a_listed_message_equals_the_one_that_was_added,
    changing_a_listed_message_does_not_change_the_stored_one,
    messages_are_listed_by_time_and_then_by_order_of_addition,
    a_limit_selects_the_most_recent_messages_in_ascending_order,
    a_time_filter_excludes_its_bounds,
    roles_are_filtered_before_the_limit_is_applied,
    adding_no_messages_to_an_unknown_thread_succeeds,
    a_message_of_another_thread_is_refused_with_its_whole_batch,
    a_message_identifier_can_be_used_only_once,
    messages_of_two_threads_are_separate,
}

async fn list_ids(fixture: &TestStore, options: MessageOptions) -> Vec<String> {
    let messages = fixture.store.list_messages("t", options).await.unwrap();
    messages.into_iter().map(|message| message.message_id).collect()
}

/// Adds the thread `t` with four messages, two of which have the same time.
async fn with_messages(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    // The identifiers and times, in the order of addition.
    let messages = [("c", 30), ("a", 10), ("b2", 20), ("b1", 20)];
    let messages = messages.map(|(id, time)| message(id, "t", time)).into();
    fixture.store.append_messages("t", messages).await.unwrap();
    fixture
}

async fn a_listed_message_equals_the_one_that_was_added(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let serde_json::Value::Object(metadata) = json!({"z": 1, "a": [0.1, 1e300, -0.0, u64::MAX, "\u{0}\"ä"], "": null})
    else {
        unreachable!("the metadata is an object");
    };
    let added = ConversationMessage {
        role: MessageRole::Ai,
        content: "nul \u{0}, quote ' and 🦀".to_owned(),
        metadata,
        ..message("m", "t", 5)
    };
    fixture.store.append_messages("t", vec![added.clone()]).await.unwrap();
    let found = fixture
        .store
        .list_messages("t", MessageOptions::default())
        .await
        .unwrap();
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        serde_json::to_string(&[added]).unwrap()
    );
}

async fn changing_a_listed_message_does_not_change_the_stored_one(fixture: TestStore) {
    let fixture = with_messages(fixture).await;
    let mut first = fixture
        .store
        .list_messages("t", MessageOptions::default())
        .await
        .unwrap();
    first[0].content.clear();
    let second = fixture
        .store
        .list_messages("t", MessageOptions::default())
        .await
        .unwrap();
    assert_eq!(second[0].content, "content of a");
}

async fn messages_are_listed_by_time_and_then_by_order_of_addition(fixture: TestStore) {
    let fixture = with_messages(fixture).await;
    assert_eq!(
        list_ids(&fixture, MessageOptions::default()).await,
        ["a", "b2", "b1", "c"]
    );
}

async fn a_limit_selects_the_most_recent_messages_in_ascending_order(fixture: TestStore) {
    let fixture = with_messages(fixture).await;
    let options = |limit, before| MessageOptions {
        limit: Some(limit),
        before,
        ..MessageOptions::default()
    };
    assert_eq!(list_ids(&fixture, options(2, None)).await, ["b1", "c"]);
    assert_eq!(list_ids(&fixture, options(2, Some(30))).await, ["b2", "b1"]);
}

async fn a_time_filter_excludes_its_bounds(fixture: TestStore) {
    let fixture = with_messages(fixture).await;
    let options = |after, before| MessageOptions {
        after,
        before,
        ..MessageOptions::default()
    };
    assert_eq!(list_ids(&fixture, options(Some(10), Some(30))).await, ["b2", "b1"]);
    assert_eq!(list_ids(&fixture, options(Some(20), None)).await, ["c"]);
    assert_eq!(list_ids(&fixture, options(None, Some(20))).await, ["a"]);
    assert!(list_ids(&fixture, options(Some(u64::MAX), None)).await.is_empty());
    assert_eq!(list_ids(&fixture, options(Some(0), Some(u64::MAX))).await.len(), 4);
}

async fn roles_are_filtered_before_the_limit_is_applied(fixture: TestStore) {
    let fixture = with_messages(fixture).await;
    let system_messages = (0..5).map(|n| ConversationMessage {
        role: MessageRole::System,
        ..message(&format!("s{n}"), "t", 40 + n)
    });
    fixture
        .store
        .append_messages("t", system_messages.collect())
        .await
        .unwrap();
    let options = MessageOptions {
        limit: Some(2),
        roles: vec![MessageRole::User, MessageRole::Ai],
        ..MessageOptions::default()
    };
    assert_eq!(list_ids(&fixture, options).await, ["b1", "c"]);
}

async fn adding_no_messages_to_an_unknown_thread_succeeds(fixture: TestStore) {
    fixture.store.append_messages("unknown", Vec::new()).await.unwrap();
}

async fn a_message_of_another_thread_is_refused_with_its_whole_batch(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await.with_thread("other").await;
    let messages = vec![message("good", "t", 1), message("bad", "other", 2)];
    let error = fixture.store.append_messages("t", messages).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "message `bad` belongs to thread `other` and cannot be added to thread `t`"
    );
    assert!(list_ids(&fixture, MessageOptions::default()).await.is_empty());
}

async fn a_message_identifier_can_be_used_only_once(fixture: TestStore) {
    let fixture = with_messages(fixture).await.with_thread("other").await;
    let new_and_used = vec![message("new", "t", 1), message("a", "t", 2)];
    let error = fixture.store.append_messages("t", new_and_used).await.unwrap_err();
    assert!(matches!(error, StoreError::AlreadyExists { what: "message", ref id } if id == "a"));
    let same_twice = vec![message("x", "t", 1), message("x", "t", 2)];
    assert!(fixture.store.append_messages("t", same_twice).await.is_err());
    let used_in_another_thread = vec![message("a", "other", 1)];
    assert!(
        fixture
            .store
            .append_messages("other", used_in_another_thread)
            .await
            .is_err()
    );
    assert_eq!(list_ids(&fixture, MessageOptions::default()).await.len(), 4);
}

async fn messages_of_two_threads_are_separate(fixture: TestStore) {
    let fixture = with_messages(fixture).await.with_thread("other").await;
    fixture
        .store
        .append_messages("other", vec![message("o", "other", 1)])
        .await
        .unwrap();
    assert_eq!(list_ids(&fixture, MessageOptions::default()).await.len(), 4);
    let other = fixture
        .store
        .list_messages("other", MessageOptions::default())
        .await
        .unwrap();
    assert_eq!(other, [message("o", "other", 1)]);
}
