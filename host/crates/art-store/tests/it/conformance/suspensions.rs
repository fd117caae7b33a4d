//! Conformance tests of suspensions: tool calls that wait for the decision of a person. `test_each_store!` runs each listed test
//! once with each store.

use std::sync::Arc;

use art_core::agent::RunStatus;
use art_core::hitl::{Feedback, FeedbackSchema};
use art_core::suspension::{DecidedBy, Decision, ExpiryAction, SuspendedCall, SuspensionCause};
use art_core::tool::ParsedToolCall;
use art_store::{
    Commit, NewSuspension, NewThread, Owner, StoreError, SuspensionFilter, SuspensionRecord, SuspensionStatus,
    UsedDecision, limits,
};
use serde_json::{Value, json};

use crate::fixture::{START_TIME, TestStore, new_run};

test_each_store! {
    a_suspension_that_is_read_equals_the_one_that_was_written,
    exactly_one_of_200_decisions_succeeds,
    a_run_can_use_only_the_stored_decision_and_only_once,
    a_decision_is_used_by_the_run_of_its_suspension_only,
    a_decision_that_nobody_stored_cannot_be_used,
    a_person_can_decide_until_a_suspension_expires_and_only_the_host_afterwards,
    the_first_decision_holds_whether_a_person_or_the_host_made_it,
    a_decision_that_is_too_large_is_refused,
    the_end_of_a_run_closes_its_suspensions,
    a_suspended_run_keeps_its_suspensions_open,
    suspensions_of_other_users_are_not_found,
    suspensions_are_listed_oldest_first_and_filtered,
    a_list_starts_after_a_given_suspension_which_must_belong_to_the_owner,
    a_byte_limit_shortens_a_list_but_keeps_at_least_its_first_suspension,
    a_suspension_identifier_can_be_used_only_once,
    a_commit_cannot_have_two_suspensions_with_one_identifier,
    a_commit_cannot_use_a_decision_twice,
    suspensions_are_deleted_with_their_thread,
}

/// Returns a tool call that waits for a decision. `expires` is the time from which no person can decide any more.
pub(crate) fn call(id: &str, expires: Option<u64>) -> SuspendedCall {
    SuspendedCall {
        suspension_id: id.to_owned(),
        call: ParsedToolCall {
            call_id: "c".to_owned(),
            tool_name: "delete".to_owned(),
            arguments: json!({"path": "/a"}),
        },
        tool_digest: Some("blake3:t".to_owned()),
        input_digest: "blake3:i".to_owned(),
        cause: SuspensionCause::Tool,
        form: FeedbackSchema::confirm("delete it?"),
        details: Some(Value::Null),
        preview: None,
        risk_level: None,
        runs_on_approval: true,
        allow_retry: false,
        expires,
        on_expiry: ExpiryAction::Reject,
    }
}

/// Returns the decision of a person.
pub(crate) fn decision(approved: bool) -> Decision {
    Decision {
        feedback: Feedback::new(approved, START_TIME),
        by: DecidedBy::Person { user_id: None },
    }
}

/// Returns the decision that the host makes when the time for a decision is over.
pub(crate) fn expiry_decision(approved: bool) -> Decision {
    Decision {
        by: DecidedBy::Expiry,
        ..decision(approved)
    }
}

pub(crate) fn used_decision(id: &str, decision: Decision) -> UsedDecision {
    UsedDecision {
        suspension_id: id.to_owned(),
        decision,
    }
}

/// Adds the thread `t` with the run `r` and a suspension for each of the calls, and returns the fixture.
async fn with_suspensions(fixture: TestStore, calls: Vec<SuspendedCall>) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    add_suspensions(&fixture, "r", calls).await.unwrap();
    fixture
}

/// Commits a suspension of a run for each of the calls. The run itself is not suspended by that.
pub(crate) async fn add_suspensions(
    fixture: &TestStore,
    trace_id: &str,
    calls: Vec<SuspendedCall>,
) -> Result<(), StoreError> {
    let new_suspensions = calls.into_iter().map(|call| NewSuspension {
        item_id: "step_1".to_owned(),
        call,
    });
    let commit = Commit {
        new_suspensions: new_suspensions.collect(),
        ..fixture.empty_commit(trace_id).await
    };
    fixture.store.commit(commit).await.map(drop)
}

/// Commits that a run uses a decision.
pub(crate) async fn use_decision(
    fixture: &TestStore,
    trace_id: &str,
    used_decision: UsedDecision,
) -> Result<(), StoreError> {
    let commit = Commit {
        used_decisions: vec![used_decision],
        ..fixture.empty_commit(trace_id).await
    };
    fixture.store.commit(commit).await.map(drop)
}

async fn decide(fixture: &TestStore, id: &str, approved: bool) -> Result<SuspensionRecord, StoreError> {
    fixture.store.decide(id, &Owner::Anyone, decision(approved)).await
}

async fn find(fixture: &TestStore, id: &str) -> SuspensionRecord {
    let found = fixture.store.find_suspension(id, &Owner::Anyone).await;
    found.unwrap().unwrap()
}

async fn a_suspension_that_is_read_equals_the_one_that_was_written(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", Some(9_000))]).await;
    let expected = SuspensionRecord {
        trace_id: "r".to_owned(),
        thread_id: "t".to_owned(),
        item_id: "step_1".to_owned(),
        since: START_TIME,
        call: call("s", Some(9_000)),
        decision: None,
        status: SuspensionStatus::Open,
    };
    assert_eq!(find(&fixture, "s").await, expected);
    let decided = decide(&fixture, "s", true).await.unwrap();
    let expected = SuspensionRecord {
        decision: Some(decision(true)),
        status: SuspensionStatus::Decided,
        ..expected
    };
    assert_eq!((&decided, &find(&fixture, "s").await), (&expected, &expected));
}

async fn exactly_one_of_200_decisions_succeeds(fixture: TestStore) {
    let ids: Vec<_> = (0..5).map(|n| format!("s{n}")).collect();
    let fixture = with_suspensions(fixture, ids.iter().map(|id| call(id, None)).collect()).await;
    for id in ids {
        let clients: Vec<_> = (0..200)
            .map(|n| {
                let (store, id) = (Arc::clone(&fixture.store), id.clone());
                tokio::spawn(async move { store.decide(&id, &Owner::Anyone, decision(n % 2 == 0)).await })
            })
            .collect();
        let mut winners = Vec::new();
        for client in clients {
            match client.await.unwrap() {
                Ok(record) => winners.push(record),
                Err(error) => assert!(matches!(error, StoreError::AlreadyDecided { .. }), "{error}"),
            }
        }
        assert_eq!(winners, [find(&fixture, &id).await]);
    }
}

async fn a_run_can_use_only_the_stored_decision_and_only_once(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    decide(&fixture, "s", true).await.unwrap();
    let different = use_decision(&fixture, "r", used_decision("s", decision(false))).await;
    assert!(matches!(different, Err(StoreError::AlreadyDecided { .. })));
    use_decision(&fixture, "r", used_decision("s", decision(true)))
        .await
        .unwrap();
    assert_eq!(find(&fixture, "s").await.status, SuspensionStatus::Settled);
    let again = use_decision(&fixture, "r", used_decision("s", decision(true))).await;
    assert!(matches!(again, Err(StoreError::AlreadyDecided { .. })));
    assert_eq!(
        decide(&fixture, "s", true).await.unwrap_err().to_string(),
        "`s` was decided already: the first decision holds"
    );
}

async fn a_decision_is_used_by_the_run_of_its_suspension_only(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    fixture.begin_run(new_run("other", "t")).await.unwrap();
    let refused = use_decision(&fixture, "other", used_decision("s", decision(true))).await;
    assert!(matches!(refused, Err(StoreError::UnknownSuspension { .. })));
    assert_eq!(find(&fixture, "s").await.status, SuspensionStatus::Open);
}

async fn a_decision_that_nobody_stored_cannot_be_used(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", Some(START_TIME + 5))]).await;
    for not_stored in [decision(true), expiry_decision(false)] {
        // The suspension has expired in both rounds.
        fixture.clock.advance(5);
        let refused = use_decision(&fixture, "r", used_decision("s", not_stored))
            .await
            .unwrap_err();
        assert_eq!(
            refused.to_string(),
            "nobody has decided about `s`: store the decision before its run uses it"
        );
        assert_eq!(find(&fixture, "s").await.status, SuspensionStatus::Open);
    }
}

async fn a_person_can_decide_until_a_suspension_expires_and_only_the_host_afterwards(fixture: TestStore) {
    let calls = vec![
        call("s", Some(START_TIME + 5)),
        call("later", Some(START_TIME + 6)),
        call("never", None),
    ];
    let fixture = with_suspensions(fixture, calls).await;
    fixture.clock.advance(5);
    assert_eq!(
        decide(&fixture, "s", true).await.unwrap_err().to_string(),
        "the time to decide about `s` is over: its run goes on with the default decision"
    );
    for id in ["later", "never"] {
        let too_early = fixture.store.decide(id, &Owner::Anyone, expiry_decision(false)).await;
        assert_eq!(
            too_early.unwrap_err().to_string(),
            format!("the time to decide about `{id}` is not over: a person can still decide")
        );
        decide(&fixture, id, true).await.unwrap();
    }
    fixture
        .store
        .decide("s", &Owner::Anyone, expiry_decision(false))
        .await
        .unwrap();
    use_decision(&fixture, "r", used_decision("s", expiry_decision(false)))
        .await
        .unwrap();
    let record = find(&fixture, "s").await;
    assert_eq!(
        (record.status, record.decision),
        (SuspensionStatus::Settled, Some(expiry_decision(false)))
    );
}

async fn the_first_decision_holds_whether_a_person_or_the_host_made_it(fixture: TestStore) {
    let calls = ["by_person", "by_host"].map(|id| call(id, Some(START_TIME + 5)));
    let fixture = with_suspensions(fixture, calls.to_vec()).await;
    decide(&fixture, "by_person", true).await.unwrap();
    fixture.clock.advance(5);
    let host_decides_second = fixture
        .store
        .decide("by_person", &Owner::Anyone, expiry_decision(false))
        .await;
    assert!(matches!(host_decides_second, Err(StoreError::AlreadyDecided { .. })));
    let different = use_decision(&fixture, "r", used_decision("by_person", expiry_decision(false))).await;
    assert!(matches!(different, Err(StoreError::AlreadyDecided { .. })));
    use_decision(&fixture, "r", used_decision("by_person", decision(true)))
        .await
        .unwrap();
    fixture
        .store
        .decide("by_host", &Owner::Anyone, expiry_decision(false))
        .await
        .unwrap();
    let person_decides_second = decide(&fixture, "by_host", true).await;
    assert!(matches!(person_decides_second, Err(StoreError::AlreadyDecided { .. })));
}

async fn a_decision_that_is_too_large_is_refused(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    let mut large = decision(true);
    large.feedback.value = Some(json!("x".repeat(limits::MAX_VALUE_BYTES)));
    let refused = fixture.store.decide("s", &Owner::Anyone, large).await;
    assert!(matches!(refused, Err(StoreError::TooLarge { .. })));
    decide(&fixture, "s", true).await.unwrap();
}

async fn the_end_of_a_run_closes_its_suspensions(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    fixture.end_run("r", RunStatus::Cancelled, Value::Null).await.unwrap();
    assert_eq!(find(&fixture, "s").await.status, SuspensionStatus::Closed);
    assert_eq!(
        decide(&fixture, "s", true).await.unwrap_err().to_string(),
        "the run of `s` has ended: there is nothing left to decide"
    );
}

async fn a_suspended_run_keeps_its_suspensions_open(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    fixture.end_run("r", RunStatus::Suspended, Value::Null).await.unwrap();
    decide(&fixture, "s", false).await.unwrap();
}

// A suspension of another user gives the same error as one that does not exist.
async fn suspensions_of_other_users_are_not_found(fixture: TestStore) {
    let new = NewThread {
        id: "t".to_owned(),
        user_id: Some("ann".to_owned()),
        ..NewThread::default()
    };
    fixture.store.create_thread(new).await.unwrap();
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    add_suspensions(&fixture, "r", vec![call("s", None)]).await.unwrap();
    for stranger in [Owner::user(Some("bob")), Owner::user(None)] {
        let store = &fixture.store;
        assert_eq!(store.find_suspension("s", &stranger).await.unwrap(), None);
        let filter = SuspensionFilter {
            owner: stranger.clone(),
            ..SuspensionFilter::default()
        };
        assert_eq!(store.list_suspensions(filter).await.unwrap(), []);
        let foreign = store.decide("s", &stranger, decision(true)).await.unwrap_err();
        let unknown = store.decide("x", &stranger, decision(true)).await.unwrap_err();
        assert_eq!(foreign.to_string().replace("`s`", "`x`"), unknown.to_string());
    }
    let ann = Owner::user(Some("ann"));
    fixture.store.decide("s", &ann, decision(true)).await.unwrap();
}

async fn suspensions_are_listed_oldest_first_and_filtered(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("a1", None), call("a2", None)]).await;
    fixture.begin_run(new_run("other", "t")).await.unwrap();
    fixture.clock.advance(1);
    add_suspensions(&fixture, "other", vec![call("b1", None)])
        .await
        .unwrap();
    decide(&fixture, "a2", true).await.unwrap();
    decide(&fixture, "a1", true).await.unwrap();
    use_decision(&fixture, "r", used_decision("a1", decision(true)))
        .await
        .unwrap();
    let list = async |change: fn(&mut SuspensionFilter)| {
        let mut filter = SuspensionFilter::default();
        change(&mut filter);
        let records = fixture.store.list_suspensions(filter).await.unwrap();
        records.iter().map(|record| record.id().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(list(|_| {}).await, ["a1", "a2", "b1"]);
    assert_eq!(list(|filter| filter.pending = true).await, ["a2", "b1"]);
    assert_eq!(
        list(|filter| filter.trace_id = Some("r".to_owned())).await,
        ["a1", "a2"]
    );
    assert_eq!(list(|filter| filter.thread_id = Some("x".to_owned())).await, [""; 0]);
    assert_eq!(list(|filter| filter.id_prefix = Some("b".to_owned())).await, ["b1"]);
    assert_eq!(list(|filter| filter.limit = Some(1)).await, ["a1"]);
}

async fn list_ids(fixture: &TestStore, filter: SuspensionFilter) -> Result<Vec<String>, StoreError> {
    let records = fixture.store.list_suspensions(filter).await?;
    Ok(records.iter().map(|record| record.id().to_owned()).collect())
}

async fn a_list_starts_after_a_given_suspension_which_must_belong_to_the_owner(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("b", None), call("a", None), call("c", None)]).await;
    // Returns a filter for the one suspension that follows `previous` in the list.
    let after = |previous: &str, owner| SuspensionFilter {
        owner,
        after: Some(previous.to_owned()),
        limit: Some(1),
        ..SuspensionFilter::default()
    };
    for (previous, next) in [("b", vec!["a"]), ("a", vec!["c"]), ("c", vec![])] {
        assert_eq!(list_ids(&fixture, after(previous, Owner::Anyone)).await.unwrap(), next);
    }
    // The suspension after which the list starts need not match the filter: `b` is not pending any more.
    decide(&fixture, "b", true).await.unwrap();
    use_decision(&fixture, "r", used_decision("b", decision(true)))
        .await
        .unwrap();
    let pending = SuspensionFilter {
        pending: true,
        ..after("b", Owner::Anyone)
    };
    assert_eq!(list_ids(&fixture, pending).await.unwrap(), ["a"]);
    let foreign = list_ids(&fixture, after("b", Owner::user(Some("bob"))))
        .await
        .unwrap_err();
    let unknown = list_ids(&fixture, after("x", Owner::user(Some("bob"))))
        .await
        .unwrap_err();
    assert_eq!(foreign.to_string().replace("`b`", "`x`"), unknown.to_string());
}

async fn a_byte_limit_shortens_a_list_but_keeps_at_least_its_first_suspension(fixture: TestStore) {
    let large = |id: &str| {
        let mut suspended = call(id, None);
        suspended.call.arguments = json!({"text": "x".repeat(1_000)});
        suspended
    };
    let fixture = with_suspensions(fixture, ["a", "b", "c"].map(large).to_vec()).await;
    // Two of these suspensions together have less than 3,500 bytes, and three together have more.
    for (max_bytes, expected) in [(1, vec!["a"]), (3_500, vec!["a", "b"]), (10_000, vec!["a", "b", "c"])] {
        let filter = SuspensionFilter {
            max_bytes: Some(max_bytes),
            ..SuspensionFilter::default()
        };
        assert_eq!(list_ids(&fixture, filter).await.unwrap(), expected, "{max_bytes}");
    }
}

async fn a_suspension_identifier_can_be_used_only_once(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    let again = add_suspensions(&fixture, "r", vec![call("s", None)]).await.unwrap_err();
    assert!(matches!(again, StoreError::AlreadyExists { what: "suspension", .. }));
}

async fn a_commit_cannot_have_two_suspensions_with_one_identifier(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![]).await;
    let refused = add_suspensions(&fixture, "r", vec![call("s", None), call("s", None)]).await;
    assert!(matches!(refused, Err(StoreError::AlreadyExists { .. })), "{refused:?}");
}

async fn a_commit_cannot_use_a_decision_twice(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    decide(&fixture, "s", true).await.unwrap();
    let commit = Commit {
        used_decisions: vec![used_decision("s", decision(true)); 2],
        ..fixture.empty_commit("r").await
    };
    let refused = fixture.store.commit(commit).await.map(drop);
    assert!(matches!(refused, Err(StoreError::AlreadyDecided { .. })), "{refused:?}");
}

async fn suspensions_are_deleted_with_their_thread(fixture: TestStore) {
    let fixture = with_suspensions(fixture, vec![call("s", None)]).await;
    let lease = fixture.lease("t").await;
    fixture.store.release_lease(&lease).await.unwrap();
    assert!(fixture.store.delete_thread("t").await.unwrap());
    assert_eq!(fixture.store.find_suspension("s", &Owner::Anyone).await.unwrap(), None);
}
