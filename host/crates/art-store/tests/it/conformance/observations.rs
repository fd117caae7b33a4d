//! Conformance tests of observations. The sequence of an observation is its number in its thread. `test_each_store!` runs each
//! listed test once with each store.

use std::sync::Arc;

use art_core::observation::{NewObservation, ObservationType};
use art_store::{ObservationFilter, StoreError};
use serde_json::json;

use crate::fixture::{START_TIME, TestStore, new_observation, thought};

test_each_store! {
    the_store_assigns_an_identifier_a_sequence_a_time_and_a_title,
    sequences_start_at_one_in_each_thread,
    a_refused_observation_does_not_use_up_a_sequence,
    sequences_have_no_gaps_with_64_writers,
    an_observation_has_to_meet_all_conditions_of_a_filter,
    a_reader_can_continue_after_the_last_sequence_that_it_read,
    a_filter_for_plans_does_not_match_plan_updates,
}

async fn list_sequences(fixture: &TestStore, filter: ObservationFilter) -> Vec<u64> {
    let found = fixture.store.list_observations("t", filter).await.unwrap();
    found.into_iter().map(|observation| observation.sequence).collect()
}

async fn the_store_assigns_an_identifier_a_sequence_a_time_and_a_title(fixture: TestStore) {
    const UUID_LENGTH: usize = 36;
    let fixture = fixture.with_thread("t").await;
    let mut new = new_observation("t", ObservationType::ToolExecution, json!({"b": 0.1, "a": [1, null]}));
    new.trace_id = Some("r".to_owned());
    new.parent_id = Some("item".to_owned());
    new.metadata.insert("callId".to_owned(), json!("c"));
    let recorded = fixture.store.record(new.clone()).await.unwrap();
    assert_eq!((recorded.sequence, recorded.timestamp), (1, START_TIME));
    assert_eq!(recorded.title, "TOOL_EXECUTION Recorded");
    assert_eq!(recorded.body, new);
    assert_eq!(recorded.id.len(), UUID_LENGTH);
    let found = fixture
        .store
        .list_observations("t", ObservationFilter::default())
        .await
        .unwrap();
    assert_eq!(found, [recorded]);
}

async fn sequences_start_at_one_in_each_thread(fixture: TestStore) {
    let fixture = fixture.with_thread("a").await.with_thread("b").await;
    for expected in 1..=3 {
        for thread_id in ["a", "b"] {
            assert_eq!(
                fixture.store.record(thought(thread_id)).await.unwrap().sequence,
                expected
            );
        }
    }
}

async fn a_refused_observation_does_not_use_up_a_sequence(fixture: TestStore) {
    let fixture = fixture.with_thread("t").await;
    let refused = NewObservation {
        trace_id: Some(String::new()),
        ..thought("t")
    };
    assert!(matches!(
        fixture.store.record(refused).await,
        Err(StoreError::Invalid { .. })
    ));
    assert_eq!(fixture.store.record(thought("t")).await.unwrap().sequence, 1);
}

async fn sequences_have_no_gaps_with_64_writers(fixture: TestStore) {
    const WRITERS: usize = 64;
    const OBSERVATIONS_OF_EACH: usize = 5;
    let fixture = fixture.with_thread("t").await;
    let writers: Vec<_> = (0..WRITERS)
        .map(|_| {
            let store = Arc::clone(&fixture.store);
            tokio::spawn(async move {
                let mut sequences = Vec::new();
                for _ in 0..OBSERVATIONS_OF_EACH {
                    sequences.push(store.record(thought("t")).await.unwrap().sequence);
                }
                assert!(sequences.is_sorted(), "the sequences of a writer must increase");
                sequences
            })
        })
        .collect();
    let mut sequences = Vec::new();
    for writer in writers {
        sequences.extend(writer.await.unwrap());
    }
    sequences.sort_unstable();
    assert_eq!(
        sequences,
        (1..=(WRITERS * OBSERVATIONS_OF_EACH) as u64).collect::<Vec<_>>()
    );
    assert_eq!(list_sequences(&fixture, ObservationFilter::default()).await, sequences);
}

/// Adds the thread `t` with five observations, one every 10 ms.
async fn with_observations(fixture: TestStore) -> TestStore {
    let fixture = fixture.with_thread("t").await;
    for (kind, trace_id) in [
        (ObservationType::Plan, Some("r1")),
        (ObservationType::PlanUpdate, Some("r1")),
        (ObservationType::Thoughts, Some("r2")),
        (ObservationType::Plan, Some("r2")),
        (ObservationType::Error, None),
    ] {
        let new = NewObservation {
            trace_id: trace_id.map(str::to_owned),
            ..new_observation("t", kind, json!({}))
        };
        fixture.store.record(new).await.unwrap();
        fixture.clock.advance(10);
    }
    fixture
}

async fn an_observation_has_to_meet_all_conditions_of_a_filter(fixture: TestStore) {
    let fixture = with_observations(fixture).await;
    let all = ObservationFilter::default;
    let of_run = ObservationFilter {
        trace_id: Some("r2".to_owned()),
        ..all()
    };
    assert_eq!(list_sequences(&fixture, of_run.clone()).await, [3, 4]);
    let plans_and_errors_of_run = ObservationFilter {
        types: vec![ObservationType::Plan, ObservationType::Error],
        ..of_run
    };
    assert_eq!(list_sequences(&fixture, plans_and_errors_of_run).await, [4]);
    let between_two_times = ObservationFilter {
        after: Some(START_TIME),
        before: Some(START_TIME + 30),
        ..all()
    };
    assert_eq!(list_sequences(&fixture, between_two_times.clone()).await, [2, 3]);
    let after_sequence_two = ObservationFilter {
        after_sequence: Some(2),
        ..between_two_times
    };
    assert_eq!(list_sequences(&fixture, after_sequence_two).await, [3]);
}

async fn a_reader_can_continue_after_the_last_sequence_that_it_read(fixture: TestStore) {
    let fixture = with_observations(fixture).await;
    let page = |after_sequence| ObservationFilter {
        after_sequence,
        limit: Some(2),
        ..ObservationFilter::default()
    };
    assert_eq!(list_sequences(&fixture, page(None)).await, [1, 2]);
    assert_eq!(list_sequences(&fixture, page(Some(2))).await, [3, 4]);
    assert_eq!(list_sequences(&fixture, page(Some(4))).await, [5]);
    assert!(list_sequences(&fixture, page(Some(u64::MAX))).await.is_empty());
}

async fn a_filter_for_plans_does_not_match_plan_updates(fixture: TestStore) {
    let fixture = with_observations(fixture).await;
    let plans = ObservationFilter {
        types: vec![ObservationType::Plan],
        ..ObservationFilter::default()
    };
    assert_eq!(list_sequences(&fixture, plans).await, [1, 4]);
}
