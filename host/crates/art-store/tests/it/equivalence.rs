//! The store in memory and the SQLite store return the same results for the same random operations.

use std::fmt::Debug;

use art_core::agent::{RunStatus, ThreadConfig};
use art_core::conversation::{ConversationMessage, MessageRole};
use art_core::observation::ObservationType;
use art_core::usage::{ModelUsage, ModelWork, ToolUsage};
use art_store::{
    CallRecord, Commit, MessageOptions, NewThread, ObservationFilter, Owner, RunEnd, RunFilter, RunState, Store,
    StoreError, SuspensionFilter, ThreadFilter, WorkRecord, limits,
};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::conformance::suspensions;
use crate::fixture::{TestStore, block_on, event, message, new_observation, new_run, new_thread};

/// Texts that are used as identifiers of threads, runs, suspensions and users, as digests of tools, as names of models and as
/// kinds of events. There are only four, so that many operations have the same identifier. The empty text is invalid.
const IDS: [&str; 4] = ["a", "b", "t", ""];
const ROLES: [MessageRole; 2] = [MessageRole::User, MessageRole::System];
const TYPES: [ObservationType; 3] = [
    ObservationType::Plan,
    ObservationType::PlanUpdate,
    ObservationType::Error,
];
/// Statuses with which a commit ends or suspends a run.
const ENDINGS: [RunStatus; 3] = [RunStatus::Success, RunStatus::Suspended, RunStatus::Cancelled];

/// Index into [`IDS`].
type Id = usize;
/// Index into [`ROLES`].
type Role = usize;
/// Index into [`TYPES`].
type Type = usize;
/// Index into [`ENDINGS`].
type Ending = usize;
type Limit = Option<usize>;
type Time = Option<u64>;

/// An operation on a store. The comments name the values in order.
#[derive(Clone, Debug)]
enum Operation {
    /// Milliseconds by which the clock advances.
    Wait(u64),
    /// Thread and user.
    CreateThread(Id, Option<Id>),
    /// Thread and the setting `history_limit`.
    SetConfig(Id, u32),
    /// User and limit.
    ListThreads(Option<Id>, Limit),
    /// Thread.
    DeleteThread(Id),
    /// Thread and messages. A message has a thread, a number for its identifier, a role and a time. If its thread is 0, it
    /// belongs to the first of [`IDS`], so that stores refuse some messages because they belong to another thread than that of
    /// the operation. Otherwise it belongs to the thread of the operation.
    AppendMessages(Id, Vec<(Id, u8, Role, u64)>),
    /// Thread, limit, time before which and time after which messages are listed, and roles.
    ListMessages(Id, Limit, Time, Time, Vec<Role>),
    /// Thread, type, run and a number as content.
    RecordObservation(Id, Type, Option<Id>, f64),
    /// Thread, types, sequence after which the list starts, run, limit and time before which observations are listed.
    ListObservations(Id, Vec<Type>, Option<u64>, Option<Id>, Limit, Time),
    /// Thread, a number as state and the expected version.
    SaveState(Id, f64, Option<u64>),
    /// Thread and run.
    BeginRun(Id, Id),
    /// Run, expected last sequence and a number as payload.
    AppendEntry(Id, u64, f64),
    /// Run, calls to record (tool and fuel), and the limit for listing calls.
    RecordCalls(Id, Vec<(Id, u64)>, Limit),
    /// Run, model work to record (model, whether it is a step, and tokens), and the limit for listing work.
    RecordWork(Id, Vec<(Id, bool, u64)>, Limit),
    /// Run and how it ends.
    EndRun(Id, Ending),
    /// Run, suspension and the time at which it expires.
    Suspend(Id, Id, Option<u64>),
    /// Suspension, whether its call is approved, and whether the host decides because the suspension has expired.
    Decide(Id, bool, bool),
    /// Run, suspension, and whether the decision that the run passes to the store approves the call. The store refuses it if it
    /// differs from the stored one.
    UseDecision(Id, Id, bool),
    /// Run, whether only pending suspensions are listed, limit, suspension after which the list starts, and the maximum size of
    /// the list in bytes.
    ListSuspensions(Option<Id>, bool, Option<usize>, Option<Id>, Option<usize>),
    /// Thread, whether only running runs are listed, whether only abandoned runs are listed, and limit.
    ListRuns(Option<Id>, bool, bool, Limit),
    /// Thread.
    AcquireLease(Id),
    /// Thread.
    RenewLease(Id),
    /// Thread.
    ReleaseLease(Id),
    /// Run, whether the commit begins it, expected last sequence, kinds of events, messages and how the run ends. The kinds are
    /// also the contents of the blobs, and the state is the first kind, as its index in [`IDS`].
    Commit(Id, bool, u64, Vec<Id>, Vec<Id>, Option<Ending>),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation as O;
    let id = || 0..IDS.len();
    let optional_id = || option::of(0..IDS.len());
    let limit = || option::of(0_usize..5);
    // The times lie around `START_TIME`.
    let time = || option::of(995_u64..1_020);
    let version_or_sequence = || option::of(0_u64..4);
    let number = || any::<f64>().prop_filter("JSON has finite numbers only", |number| number.is_finite());
    let messages = vec((id(), 0_u8..12, 0..ROLES.len(), 995_u64..1_020), 0..4);
    prop_oneof![
        (0_u64..3).prop_map(O::Wait),
        Just(O::Wait(limits::LEASE_MS)),
        (id(), optional_id()).prop_map(|(id, user)| O::CreateThread(id, user)),
        (id(), any::<u32>()).prop_map(|(id, limit)| O::SetConfig(id, limit)),
        (optional_id(), limit()).prop_map(|(user, limit)| O::ListThreads(user, limit)),
        id().prop_map(O::DeleteThread),
        (id(), messages).prop_map(|(id, messages)| O::AppendMessages(id, messages)),
        (id(), limit(), time(), time(), vec(0..ROLES.len(), 0..2))
            .prop_map(|(id, limit, before, after, roles)| O::ListMessages(id, limit, before, after, roles)),
        (id(), 0..TYPES.len(), optional_id(), number())
            .prop_map(|(id, observation_type, run, n)| O::RecordObservation(id, observation_type, run, n)),
        (
            id(),
            vec(0..TYPES.len(), 0..3),
            version_or_sequence(),
            optional_id(),
            limit(),
            time()
        )
            .prop_map(|(id, types, after, run, limit, time)| O::ListObservations(id, types, after, run, limit, time)),
        (id(), number(), version_or_sequence()).prop_map(|(id, n, version)| O::SaveState(id, n, version)),
        (id(), id()).prop_map(|(id, run)| O::BeginRun(id, run)),
        (id(), 0_u64..4, number()).prop_map(|(run, last_sequence, n)| O::AppendEntry(run, last_sequence, n)),
        (id(), vec((id(), 0_u64..9), 0..3), limit()).prop_map(|(run, calls, limit)| O::RecordCalls(run, calls, limit)),
        (id(), vec((id(), any::<bool>(), 0_u64..9), 0..3), limit())
            .prop_map(|(run, records, limit)| O::RecordWork(run, records, limit)),
        (id(), 0..ENDINGS.len()).prop_map(|(run, ending)| O::EndRun(run, ending)),
        (id(), id(), option::of(1_000u64..1_100)).prop_map(|(run, id, expires)| O::Suspend(run, id, expires)),
        (id(), any::<bool>(), any::<bool>()).prop_map(|(id, approved, by_expiry)| O::Decide(id, approved, by_expiry)),
        (id(), id(), any::<bool>()).prop_map(|(run, id, approved)| O::UseDecision(run, id, approved)),
        (
            optional_id(),
            any::<bool>(),
            option::of(0usize..4),
            optional_id(),
            option::of(0usize..2_000)
        )
            .prop_map(|(run, pending, limit, after, max_bytes)| O::ListSuspensions(
                run, pending, limit, after, max_bytes
            )),
        (optional_id(), any::<bool>(), any::<bool>(), limit())
            .prop_map(|(id, running, abandoned, limit)| O::ListRuns(id, running, abandoned, limit)),
        id().prop_map(O::AcquireLease),
        id().prop_map(O::RenewLease),
        id().prop_map(O::ReleaseLease),
        (
            id(),
            any::<bool>(),
            0_u64..3,
            vec(id(), 0..3),
            vec(id(), 0..2),
            option::of(0..ENDINGS.len())
        )
            .prop_map(|(run, begin, last_sequence, events, messages, end)| O::Commit(
                run,
                begin,
                last_sequence,
                events,
                messages,
                end
            )),
    ]
}

/// Returns a result as a text, so that the results of two stores can be compared.
fn describe<T: Debug>(result: Result<T, StoreError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("refused: {error}"),
    }
}

/// Returns the identifier at an index, or `None` if there is no index.
fn id_at(index: Option<Id>) -> Option<String> {
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
        O::CreateThread(id, user) => {
            let new = NewThread {
                user_id: id_at(user),
                ..new_thread(IDS[id])
            };
            describe(store.create_thread(new).await)
        }
        O::SetConfig(id, history_limit) => {
            let config = ThreadConfig {
                history_limit,
                ..ThreadConfig::default()
            };
            describe(store.set_thread_config(IDS[id], config).await)
        }
        O::ListThreads(user, limit) => {
            let filter = ThreadFilter {
                owner: Owner::User(id_at(user)),
                id_prefix: None,
                limit,
            };
            describe(store.list_threads(filter).await)
        }
        O::DeleteThread(id) => describe(store.delete_thread(IDS[id]).await),
        O::AppendMessages(..) | O::ListMessages(..) => apply_to_messages(store.as_ref(), operation).await,
        O::RecordObservation(..) | O::ListObservations(..) => apply_to_observations(store.as_ref(), operation).await,
        O::SaveState(id, number, expected) => {
            let saved = describe(store.save_state(IDS[id], json!([number]), expected).await);
            saved + &describe(store.load_state(IDS[id]).await)
        }
        _ => apply_to_runs(fixture, operation).await,
    }
}

async fn apply_to_messages(store: &dyn Store, operation: Operation) -> String {
    match operation {
        Operation::AppendMessages(id, messages) => {
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
            describe(store.append_messages(IDS[id], messages.collect()).await)
        }
        Operation::ListMessages(id, limit, before, after, roles) => {
            let options = MessageOptions {
                owner: Owner::Anyone,
                limit,
                before,
                after,
                roles: roles.into_iter().map(|role| ROLES[role]).collect(),
            };
            describe(store.list_messages(IDS[id], options).await)
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
        Operation::RecordObservation(id, observation_type, run, number) => {
            let mut new = new_observation(IDS[id], TYPES[observation_type], json!({"n": number}));
            new.trace_id = id_at(run);
            describe(store.record(new).await.map(without_id))
        }
        Operation::ListObservations(id, types, after_sequence, run, limit, before) => {
            let filter = ObservationFilter {
                owner: Owner::Anyone,
                types: types.into_iter().map(|index| TYPES[index]).collect(),
                before,
                after: None,
                after_sequence,
                trace_id: id_at(run),
                limit,
            };
            let listed = store.list_observations(IDS[id], filter).await;
            describe(listed.map(|observations| observations.into_iter().map(without_id).collect::<Vec<_>>()))
        }
        _ => unreachable!("other operations are handled elsewhere"),
    }
}

async fn apply_to_runs(fixture: &TestStore, operation: Operation) -> String {
    let store = fixture.store.as_ref();
    match operation {
        Operation::BeginRun(id, trace_id) => describe(fixture.begin_run(new_run(IDS[trace_id], IDS[id])).await),
        Operation::AppendEntry(trace_id, last_sequence, number) => {
            let appended = describe(
                fixture
                    .append_entry(IDS[trace_id], last_sequence, "k", json!(number))
                    .await,
            );
            appended + &describe(store.read_journal(IDS[trace_id]).await)
        }
        Operation::RecordCalls(trace_id, calls, limit) => {
            let calls = calls.into_iter().map(|(digest, fuel)| CallRecord {
                tool_digest: IDS[digest].to_owned(),
                usage: ToolUsage {
                    fuel,
                    ..ToolUsage::default()
                },
            });
            let recorded = describe(fixture.record_calls(IDS[trace_id], calls.collect()).await);
            recorded + &describe(store.list_calls(IDS[0], limit).await)
        }
        Operation::RecordWork(trace_id, records, limit) => {
            let records = records.into_iter().map(|(model, is_step, tokens)| WorkRecord {
                model: IDS[model].to_owned(),
                work: if is_step { ModelWork::Step } else { ModelWork::Answer },
                usage: ModelUsage {
                    output_tokens: tokens,
                    ..ModelUsage::default()
                },
            });
            let recorded = describe(fixture.record_work(IDS[trace_id], records.collect()).await);
            recorded + &describe(store.list_model_usage(IDS[0], ModelWork::Step, limit).await)
        }
        Operation::EndRun(trace_id, ending) => {
            describe(fixture.end_run(IDS[trace_id], ENDINGS[ending], Value::Null).await)
        }
        Operation::Suspend(trace_id, id, expires) => {
            let call = suspensions::call(IDS[id], expires);
            let suspended = describe(suspensions::add_suspensions(fixture, IDS[trace_id], vec![call]).await);
            suspended + &describe(store.get_run(IDS[trace_id]).await)
        }
        Operation::Decide(id, approved, by_expiry) => {
            let decision = match by_expiry {
                true => suspensions::expiry_decision(approved),
                false => suspensions::decision(approved),
            };
            describe(store.decide(IDS[id], &Owner::Anyone, decision).await)
        }
        Operation::UseDecision(trace_id, id, approved) => {
            let used_decision = suspensions::used_decision(IDS[id], suspensions::decision(approved));
            let used = describe(suspensions::use_decision(fixture, IDS[trace_id], used_decision).await);
            used + &describe(store.find_suspension(IDS[id], &Owner::Anyone).await)
        }
        Operation::ListSuspensions(run, pending, limit, after, max_bytes) => {
            let filter = SuspensionFilter {
                trace_id: id_at(run),
                pending,
                limit,
                after: id_at(after),
                max_bytes,
                ..SuspensionFilter::default()
            };
            describe(store.list_suspensions(filter).await)
        }
        Operation::ListRuns(id, running, abandoned, limit) => {
            let filter = RunFilter {
                thread_id: id_at(id),
                status: running.then_some(RunState::Running),
                abandoned,
                limit,
                ..RunFilter::default()
            };
            describe(store.list_runs(filter).await)
        }
        _ => apply_to_leases_and_commits(fixture, operation).await,
    }
}

async fn apply_to_leases_and_commits(fixture: &TestStore, operation: Operation) -> String {
    let store = fixture.store.as_ref();
    match operation {
        // The fixture does not keep this lease. If it already has an older lease of the thread, this succeeds only after the
        // older lease has expired. Later operations still use the older lease, which both stores then refuse as lost.
        Operation::AcquireLease(id) => describe(store.acquire_lease(IDS[id]).await),
        Operation::RenewLease(id) => describe(store.renew_lease(&fixture.lease(IDS[id]).await).await),
        Operation::ReleaseLease(id) => {
            fixture.release_lease(IDS[id]).await;
            String::new()
        }
        Operation::Commit(trace_id, begin, last_sequence, events, messages, end) => {
            let empty_commit = fixture.empty_commit(IDS[trace_id]).await;
            let thread_id = empty_commit.lease.thread_id.clone();
            let commit = Commit {
                begin: begin.then(|| new_run(IDS[trace_id], &thread_id)),
                expected_last_sequence: last_sequence,
                events: events.iter().map(|id| event(IDS[*id], json!(last_sequence))).collect(),
                blobs: events
                    .iter()
                    .map(|id| art_store::Blob::new(IDS[*id].as_bytes()))
                    .collect(),
                state: events.first().map(|id| crate::fixture::json_text(&json!(id))),
                messages: messages
                    .iter()
                    .map(|id| message(&format!("m{id}"), &thread_id, last_sequence))
                    .collect(),
                end: end.map(|ending| RunEnd {
                    status: ENDINGS[ending],
                    summary: json!(last_sequence),
                }),
                ..empty_commit
            };
            let committed = describe(store.commit(commit).await);
            committed
                + &describe(store.load_state(&thread_id).await)
                + &describe(store.remaining_blob_bytes(IDS[trace_id]).await)
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
