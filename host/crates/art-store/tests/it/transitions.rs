//! In both stores, a suspension changes its status only as its state machine allows, whatever is attempted and in whatever order.

use art_core::agent::RunStatus;
use art_core::suspension::Decision;
use art_store::{NewThread, Owner, StoreError, SuspensionRecord, SuspensionStatus};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::conformance::suspensions::{call, decision, expiry, settle, settled, suspend};
use crate::fixture::{TestStore, block_on, run};

/// Time at which the call begins to wait.
const BEGIN: u64 = 1_000;
/// Time at which the suspension expires.
const EXPIRES: u64 = 1_010;

/// An operation that the store may refuse.
#[derive(Clone, Debug)]
enum Attempt {
    Wait(u64),
    /// The owner decides.
    Decide(bool),
    /// Somebody else decides.
    DecideForeign,
    /// The question is decided because its time is over.
    Expire(bool),
    /// The run takes a decision, which may be another than the stored one.
    Settle(bool, bool),
    /// The run is suspended.
    Suspend,
    /// The run is cancelled.
    End,
}

fn attempt() -> impl Strategy<Value = Attempt> {
    prop_oneof![
        3 => (0_u64..12).prop_map(Attempt::Wait),
        3 => any::<bool>().prop_map(Attempt::Decide),
        1 => Just(Attempt::DecideForeign),
        2 => any::<bool>().prop_map(Attempt::Expire),
        4 => any::<(bool, bool)>().prop_map(|(approved, by_expiry)| Attempt::Settle(approved, by_expiry)),
        1 => Just(Attempt::Suspend),
        1 => Just(Attempt::End),
    ]
}

/// The expected suspension.
#[derive(Clone, Debug)]
struct Model {
    now: u64,
    has_ended: bool,
    status: SuspensionStatus,
    decision: Option<Decision>,
}

impl Model {
    /// Makes a decision, or returns why it is refused.
    fn decide(&mut self, decision: Decision, is_by_expiry: bool) -> Option<&'static str> {
        let is_over = self.now >= EXPIRES;
        match self.status {
            SuspensionStatus::Open if is_over && !is_by_expiry => Some("expired"),
            SuspensionStatus::Open if !is_over && is_by_expiry => Some("not expired"),
            SuspensionStatus::Open => {
                self.status = SuspensionStatus::Decided;
                self.decision = Some(decision);
                None
            }
            SuspensionStatus::Decided | SuspensionStatus::Settled => Some("decided"),
            SuspensionStatus::Closed => Some("closed"),
        }
    }

    /// Lets the run take a decision, and returns whether it does.
    fn settle(&mut self, decision: &Decision) -> bool {
        let is_taken =
            !self.has_ended && self.status == SuspensionStatus::Decided && self.decision.as_ref() == Some(decision);
        if is_taken {
            self.status = SuspensionStatus::Settled;
        }
        is_taken
    }

    fn end(&mut self) {
        self.has_ended = true;
        self.status = match self.status {
            SuspensionStatus::Open => SuspensionStatus::Closed,
            SuspensionStatus::Decided => SuspensionStatus::Settled,
            other => other,
        };
    }
}

/// Returns why a decision was refused.
fn refusal_reason(decided: &Result<SuspensionRecord, StoreError>) -> Option<&'static str> {
    match decided {
        Ok(_) => None,
        Err(StoreError::SuspensionExpired { .. }) => Some("expired"),
        Err(StoreError::SuspensionNotExpired { .. }) => Some("not expired"),
        Err(StoreError::AlreadyDecided { .. }) => Some("decided"),
        Err(StoreError::SuspensionClosed { .. }) => Some("closed"),
        Err(StoreError::NoSuspension { .. }) => Some("unknown"),
        Err(_) => Some("another error"),
    }
}

/// Makes one attempt in the store and in the model, which have to agree.
async fn make_attempt(fixture: &TestStore, model: &mut Model, attempt: &Attempt) {
    let ann = Owner::user(Some("ann"));
    let decide =
        async |owner: &Owner, decision: Decision| refusal_reason(&fixture.store.decide("s", owner, decision).await);
    match attempt {
        Attempt::Wait(milliseconds) => {
            fixture.clock.advance(*milliseconds);
            model.now += milliseconds;
        }
        Attempt::Decide(approved) => {
            let decision = decision(*approved);
            assert_eq!(decide(&ann, decision.clone()).await, model.decide(decision, false));
        }
        Attempt::DecideForeign => {
            for stranger in [Some("bob"), None] {
                let refused = decide(&Owner::user(stranger), decision(true)).await;
                assert_eq!(
                    refused,
                    Some("unknown"),
                    "a foreign suspension must not be found in any state"
                );
            }
        }
        Attempt::Expire(approved) => {
            let decision = expiry(*approved);
            let refused = decide(&Owner::Anyone, decision.clone()).await;
            assert_eq!(refused, model.decide(decision, true));
        }
        Attempt::Settle(approved, by_expiry) => {
            let decision = if *by_expiry {
                expiry(*approved)
            } else {
                decision(*approved)
            };
            let taken = settle(fixture, "r", settled("s", decision.clone())).await;
            assert_eq!(taken.is_ok(), model.settle(&decision), "{taken:?}");
        }
        Attempt::Suspend => {
            let suspended = fixture.end("r", RunStatus::Suspended, Value::Null).await;
            assert_eq!(suspended.is_ok(), !model.has_ended, "{suspended:?}");
        }
        Attempt::End => {
            let ended = fixture.end("r", RunStatus::Cancelled, Value::Null).await;
            assert_eq!(ended.is_ok(), !model.has_ended, "{ended:?}");
            model.end();
        }
    }
    let found = fixture.store.find_suspension("s", &ann).await.unwrap().unwrap();
    assert_eq!((found.status, &found.decision), (model.status, &model.decision));
}

/// Makes all attempts with a waiting run of the user `ann`.
async fn make_attempts(fixture: TestStore, attempts: &[Attempt]) {
    let thread = NewThread {
        id: "t".to_owned(),
        user_id: Some("ann".to_owned()),
        ..NewThread::default()
    };
    fixture.store.create_thread(thread).await.unwrap();
    fixture.begin(run("r", "t")).await.unwrap();
    suspend(&fixture, "r", vec![call("s", Some(EXPIRES))]).await.unwrap();
    let mut model = Model {
        now: BEGIN,
        has_ended: false,
        status: SuspensionStatus::Open,
        decision: None,
    };
    for attempt in attempts {
        make_attempt(&fixture, &mut model, attempt).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_suspension_in_memory_follows_its_state_machine(attempts in vec(attempt(), 1..16)) {
        block_on(make_attempts(TestStore::memory(), &attempts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_suspension_in_a_database_follows_its_state_machine(attempts in vec(attempt(), 1..16)) {
        block_on(make_attempts(TestStore::sqlite(), &attempts));
    }
}

/// Makes each attempt from each state, before and after the suspension expires.
#[test]
fn every_transition_of_a_suspension_is_tried_from_every_state() {
    let paths: [&[Attempt]; 5] = [
        &[],
        &[Attempt::Decide(true)],
        &[Attempt::Decide(true), Attempt::Settle(true, false)],
        &[Attempt::End],
        &[Attempt::Decide(false), Attempt::End],
    ];
    let last_attempts = [
        Attempt::Decide(true),
        Attempt::Decide(false),
        Attempt::DecideForeign,
        Attempt::Expire(true),
        Attempt::Settle(true, false),
        Attempt::Settle(false, true),
        Attempt::Suspend,
        Attempt::End,
    ];
    for (path, wait) in paths.iter().flat_map(|path| [0, 20].map(|wait| (*path, wait))) {
        for last in &last_attempts {
            let attempts = [path, &[Attempt::Wait(wait), last.clone()]].concat();
            block_on(make_attempts(TestStore::memory(), &attempts));
            block_on(make_attempts(TestStore::sqlite(), &attempts));
        }
    }
}
