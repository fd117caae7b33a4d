//! Both stores return the same results for the same random operations.

use std::fmt::Debug;

use art_core::agent::{RunStatus, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::ObservationType;
use art_core::usage::{ModelUsage, ModelWork, Usage};
use art_store::{
    CallRecord, Commit, MessageOptions, NewThread, ObservationFilter, Owner, RunEnd, RunFilter, RunState, Store,
    StoreError, SuspensionFilter, ThreadFilter, WorkRecord, limits,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::conformance::suspensions;
use crate::fixture::{TestStore, block_on, event, message, observation, run, thread};

/// Identifiers. There are few, so that many operations use the same one.
const IDS: [&str; 4] = ["a", "b", "t", ""];
const ROLES: [MessageRole; 2] = [MessageRole::User, MessageRole::System];
const TYPES: [ObservationType; 3] = [
    ObservationType::Plan,
    ObservationType::PlanUpdate,
    ObservationType::Error,
];
const ENDINGS: [RunStatus; 3] = [RunStatus::Success, RunStatus::Suspended, RunStatus::Cancelled];

type Limit = Option<usize>;
type Time = Option<u64>;

/// An operation on a store. Most values of the type `usize` are indexes into the constants above; [`apply`] shows which.
#[derive(Clone, Debug)]
enum Operation {
    Wait(u64),
    Create(usize, Option<usize>),
    Configure(usize, u32),
    Threads(Option<usize>, Limit),
    Delete(usize),
    Append(usize, Vec<(usize, u8, usize, u64)>),
    Messages(usize, Limit, Time, Time, Vec<usize>),
    Record(usize, usize, Option<usize>, f64),
    Observations(usize, Vec<usize>, Option<u64>, Option<usize>, Limit, Time),
    Save(usize, f64, Option<u64>),
    Begin(usize, usize),
    Journal(usize, u64, f64),
    Calls(usize, Vec<(usize, u64)>, Limit),
    Work(usize, Vec<(usize, bool, u64)>, Limit),
    End(usize, usize),
    Suspend(usize, usize, Option<u64>),
    Decide(usize, bool, bool),
    Settle(usize, usize, bool),
    Suspensions(Option<usize>, bool, Option<usize>, Option<usize>, Option<usize>),
    Runs(Option<usize>, bool, bool, Limit),
    Acquire(usize),
    Renew(usize),
    Release(usize),
    Step(usize, bool, u64, Vec<usize>, Vec<usize>, Option<usize>),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation as O;
    let id = || 0..IDS.len();
    let some_id = || option::of(0..IDS.len());
    let limit = || option::of(0_usize..5);
    let time = || option::of(995_u64..1_020);
    let version = || option::of(0_u64..4);
    let number = || any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite());
    let messages = vec((id(), 0_u8..12, 0..ROLES.len(), 995_u64..1_020), 0..4);
    prop_oneof![
        (0_u64..3).prop_map(O::Wait),
        Just(O::Wait(limits::LEASE_MS)),
        (id(), some_id()).prop_map(|(id, user)| O::Create(id, user)),
        (id(), any::<u32>()).prop_map(|(id, limit)| O::Configure(id, limit)),
        (some_id(), limit()).prop_map(|(user, limit)| O::Threads(user, limit)),
        id().prop_map(O::Delete),
        (id(), messages).prop_map(|(id, messages)| O::Append(id, messages)),
        (id(), limit(), time(), time(), vec(0..ROLES.len(), 0..2))
            .prop_map(|(id, limit, before, after, roles)| O::Messages(id, limit, before, after, roles)),
        (id(), 0..TYPES.len(), some_id(), number()).prop_map(|(id, kind, run, n)| O::Record(id, kind, run, n)),
        (id(), vec(0..TYPES.len(), 0..3), version(), some_id(), limit(), time())
            .prop_map(|(id, types, after, run, limit, time)| O::Observations(id, types, after, run, limit, time)),
        (id(), number(), version()).prop_map(|(id, n, version)| O::Save(id, n, version)),
        (id(), id()).prop_map(|(id, run)| O::Begin(id, run)),
        (id(), 0_u64..4, number()).prop_map(|(run, sequence, n)| O::Journal(run, sequence, n)),
        (id(), vec((id(), 0_u64..9), 0..3), limit()).prop_map(|(run, calls, limit)| O::Calls(run, calls, limit)),
        (id(), vec((id(), any::<bool>(), 0_u64..9), 0..3), limit())
            .prop_map(|(run, records, limit)| O::Work(run, records, limit)),
        (id(), 0..ENDINGS.len()).prop_map(|(run, ending)| O::End(run, ending)),
        (id(), id(), option::of(1_000u64..1_100)).prop_map(|(run, id, expires)| O::Suspend(run, id, expires)),
        (id(), any::<bool>(), any::<bool>()).prop_map(|(id, approved, by_expiry)| O::Decide(id, approved, by_expiry)),
        (id(), id(), any::<bool>()).prop_map(|(run, id, approved)| O::Settle(run, id, approved)),
        (
            some_id(),
            any::<bool>(),
            option::of(0usize..4),
            some_id(),
            option::of(0usize..2_000)
        )
            .prop_map(|(run, pending, limit, after, max_bytes)| O::Suspensions(run, pending, limit, after, max_bytes)),
        (some_id(), any::<bool>(), any::<bool>(), limit())
            .prop_map(|(id, running, abandoned, limit)| O::Runs(id, running, abandoned, limit)),
        id().prop_map(O::Acquire),
        id().prop_map(O::Renew),
        id().prop_map(O::Release),
        (
            id(),
            any::<bool>(),
            0_u64..3,
            vec(id(), 0..3),
            vec(id(), 0..2),
            option::of(0..ENDINGS.len())
        )
            .prop_map(|(run, begin, after, events, messages, end)| O::Step(run, begin, after, events, messages, end)),
    ]
}

/// Returns a result as a text that can be compared.
fn text<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

fn name(index: Option<usize>) -> Option<String> {
    index.map(|index| IDS[index].to_owned())
}

/// Applies an operation to a store, and returns its result as a text.
async fn apply(fixture: &TestStore, operation: Operation) -> String {
    use Operation as O;
    let store = &fixture.store;
    match operation {
        O::Wait(milliseconds) => {
            fixture.clock.advance(milliseconds);
            String::new()
        }
        O::Create(id, user) => {
            let new = NewThread {
                user_id: name(user),
                ..thread(IDS[id])
            };
            text(store.create_thread(new).await)
        }
        O::Configure(id, history_limit) => {
            let config = ThreadConfig {
                history_limit,
                ..ThreadConfig::default()
            };
            text(store.set_thread_config(IDS[id], config).await)
        }
        O::Threads(user, limit) => {
            let filter = ThreadFilter {
                owner: Owner::User(name(user)),
                id_prefix: None,
                limit,
            };
            text(store.list_threads(filter).await)
        }
        O::Delete(id) => text(store.delete_thread(IDS[id]).await),
        O::Append(..) | O::Messages(..) => apply_to_messages(store.as_ref(), operation).await,
        O::Record(..) | O::Observations(..) => apply_to_observations(store.as_ref(), operation).await,
        O::Save(id, number, expected) => {
            let saved = text(store.save_state(IDS[id], json!([number]), expected).await);
            saved + &text(store.load_state(IDS[id]).await)
        }
        _ => apply_to_runs(fixture, operation).await,
    }
}

async fn apply_to_messages(store: &dyn Store, operation: Operation) -> String {
    match operation {
        Operation::Append(id, messages) => {
            let messages = messages
                .into_iter()
                .map(|(thread, number, role, timestamp)| ConversationMessage {
                    role: ROLES[role],
                    ..message(
                        &format!("m{number}"),
                        if thread == 0 { IDS[0] } else { IDS[id] },
                        timestamp,
                    )
                });
            text(store.append_messages(IDS[id], messages.collect()).await)
        }
        Operation::Messages(id, limit, before, after, roles) => {
            let options = MessageOptions {
                owner: Owner::Anyone,
                limit,
                before,
                after,
                roles: roles.into_iter().map(|role| ROLES[role]).collect(),
            };
            text(store.list_messages(IDS[id], options).await)
        }
        _ => unreachable!("other operations are handled elsewhere"),
    }
}

async fn apply_to_observations(store: &dyn Store, operation: Operation) -> String {
    // Removes the identifier, which is random.
    let without_id = |mut observation: art_core::observation::Observation| {
        observation.id.clear();
        observation
    };
    match operation {
        Operation::Record(id, kind, run, number) => {
            let mut new = observation(IDS[id], TYPES[kind], json!({"n": number}));
            new.trace_id = name(run);
            text(store.record(new).await.map(without_id))
        }
        Operation::Observations(id, types, after_sequence, run, limit, before) => {
            let filter = ObservationFilter {
                owner: Owner::Anyone,
                types: types.into_iter().map(|kind| TYPES[kind]).collect(),
                before,
                after: None,
                after_sequence,
                trace_id: name(run),
                limit,
            };
            let listed = store.list_observations(IDS[id], filter).await;
            text(listed.map(|observations| observations.into_iter().map(without_id).collect::<Vec<_>>()))
        }
        _ => unreachable!("other operations are handled elsewhere"),
    }
}

async fn apply_to_runs(fixture: &TestStore, operation: Operation) -> String {
    let store = fixture.store.as_ref();
    match operation {
        Operation::Begin(id, trace_id) => text(fixture.begin(run(IDS[trace_id], IDS[id])).await),
        Operation::Journal(trace_id, after, number) => {
            let appended = text(fixture.append(IDS[trace_id], after, "k", json!(number)).await);
            appended + &text(store.read_journal(IDS[trace_id]).await)
        }
        Operation::Calls(trace_id, calls, limit) => {
            let calls = calls.into_iter().map(|(digest, fuel)| CallRecord {
                tool_digest: IDS[digest].to_owned(),
                usage: Usage {
                    fuel,
                    ..Usage::default()
                },
            });
            let recorded = text(fixture.record_calls(IDS[trace_id], calls.collect()).await);
            recorded + &text(store.list_calls(IDS[0], limit).await)
        }
        Operation::Work(trace_id, records, limit) => {
            let records = records.into_iter().map(|(model, is_step, tokens)| WorkRecord {
                model: IDS[model].to_owned(),
                work: if is_step { ModelWork::Step } else { ModelWork::Answer },
                usage: ModelUsage {
                    output_tokens: tokens,
                    ..ModelUsage::default()
                },
            });
            let recorded = text(fixture.record_work(IDS[trace_id], records.collect()).await);
            recorded + &text(store.list_work(IDS[0], ModelWork::Step, limit).await)
        }
        Operation::End(trace_id, ending) => text(fixture.end(IDS[trace_id], ENDINGS[ending], Value::Null).await),
        Operation::Suspend(trace_id, id, expires) => {
            let call = suspensions::call(IDS[id], expires);
            let suspended = text(suspensions::suspend(fixture, IDS[trace_id], vec![call]).await);
            suspended + &text(store.get_run(IDS[trace_id]).await)
        }
        Operation::Decide(id, approved, by_expiry) => {
            let decision = match by_expiry {
                true => suspensions::expiry(approved),
                false => suspensions::decision(approved),
            };
            text(store.decide(IDS[id], &Owner::Anyone, decision).await)
        }
        Operation::Settle(trace_id, id, approved) => {
            let settled = suspensions::settled(IDS[id], suspensions::decision(approved));
            let settled = text(suspensions::settle(fixture, IDS[trace_id], settled).await);
            settled + &text(store.find_suspension(IDS[id], &Owner::Anyone).await)
        }
        Operation::Suspensions(run, pending, limit, after, max_bytes) => {
            let filter = SuspensionFilter {
                trace_id: name(run),
                pending,
                limit,
                after: name(after),
                max_bytes,
                ..SuspensionFilter::default()
            };
            text(store.list_suspensions(filter).await)
        }
        Operation::Runs(id, running, abandoned, limit) => {
            let filter = RunFilter {
                thread_id: name(id),
                status: running.then_some(RunState::Running),
                abandoned,
                limit,
                ..RunFilter::default()
            };
            text(store.list_runs(filter).await)
        }
        _ => apply_to_leases(fixture, operation).await,
    }
}

async fn apply_to_leases(fixture: &TestStore, operation: Operation) -> String {
    let store = fixture.store.as_ref();
    match operation {
        // The fixture does not remember this lease. If it remembers an older one of the thread, that one is lost.
        Operation::Acquire(id) => text(store.acquire_lease(IDS[id]).await),
        Operation::Renew(id) => text(store.renew_lease(&fixture.lease(IDS[id]).await).await),
        Operation::Release(id) => {
            fixture.release(IDS[id]).await;
            String::new()
        }
        Operation::Step(trace_id, begin, after, events, messages, end) => {
            let step = fixture.step(IDS[trace_id]).await;
            let thread_id = step.lease.thread_id.clone();
            let commit = Commit {
                begin: begin.then(|| run(IDS[trace_id], &thread_id)),
                after,
                events: events.iter().map(|kind| event(IDS[*kind], json!(after))).collect(),
                blobs: events
                    .iter()
                    .map(|n| art_store::Blob::new(IDS[*n].as_bytes()))
                    .collect(),
                state: events.first().map(|n| crate::fixture::text(&json!(n))),
                messages: messages
                    .iter()
                    .map(|n| message(&format!("m{n}"), &thread_id, after))
                    .collect(),
                end: end.map(|ending| RunEnd {
                    status: ENDINGS[ending],
                    summary: json!(after),
                }),
                ..step
            };
            let committed = text(store.commit(commit).await);
            committed + &text(store.load_state(&thread_id).await) + &text(store.blob_room(IDS[trace_id]).await)
        }
        _ => unreachable!("other operations are handled elsewhere"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn memory_and_sqlite_return_the_same_results(operations in vec(operation(), 1..120)) {
        let (memory, sqlite) = (TestStore::memory(), TestStore::sqlite());
        block_on(async {
            for operation in operations {
                let description = format!("{operation:?}");
                let expected = apply(&memory, operation.clone()).await;
                prop_assert_eq!(apply(&sqlite, operation).await, expected, "{}", description);
            }
            Ok(())
        })?;
    }
}
