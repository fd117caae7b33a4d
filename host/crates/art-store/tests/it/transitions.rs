//! Tests that a suspension changes its status only as its state machine allows, whatever is attempted and in whatever order. This
//! holds for the store in memory and for the store in SQLite. A suspension is the question whether a waiting call may run:
//!
//! - It is *open* until a person decides, or until its time is over and the default decision is stored.
//! - It is then *decided*, and *settled* once the run has used the decision or has ended.
//! - An open suspension becomes *closed* when its run ends.

use art_core::agent::RunStatus;
use art_core::suspension::Decision;
use art_store::{NewThread, Owner, StoreError, SuspensionRecord, SuspensionStatus};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::conformance::suspensions::{add_suspensions, call, decision, expiry_decision, use_decision, used_decision};
use crate::fixture::{START_TIME, TestStore, block_on, new_run};

/// Time at which the call begins to wait.
const BEGIN: u64 = START_TIME;
/// Time at which the suspension expires.
const EXPIRES: u64 = BEGIN + 10;

/// An operation that the store may refuse, or a pause.
#[derive(Clone, Debug)]
enum Attempt {
    /// Time passes.
    Wait { milliseconds: u64 },
    /// The owner decides.
    Decide { approved: bool },
    /// Somebody else decides.
    DecideAsStranger,
    /// The host decides in place of the owner. It may do so only after the suspension has expired, but attempts it before too.
    DecideByExpiry { approved: bool },
    /// The run uses a decision, which may be another than the stored one.
    UseDecision { approved: bool, by_expiry: bool },
    /// The run is suspended, which does not end it.
    SuspendRun,
    /// The run is cancelled.
    CancelRun,
}

fn any_attempt() -> impl Strategy<Value = Attempt> {
    prop_oneof![
        3 => (0_u64..12).prop_map(|milliseconds| Attempt::Wait { milliseconds }),
        3 => any::<bool>().prop_map(|approved| Attempt::Decide { approved }),
        1 => Just(Attempt::DecideAsStranger),
        2 => any::<bool>().prop_map(|approved| Attempt::DecideByExpiry { approved }),
        4 => any::<(bool, bool)>().prop_map(|(approved, by_expiry)| Attempt::UseDecision { approved, by_expiry }),
        1 => Just(Attempt::SuspendRun),
        1 => Just(Attempt::CancelRun),
    ]
}

/// The state that the suspension and its run are expected to have.
#[derive(Clone, Debug)]
struct ExpectedState {
    now: u64,
    run_has_ended: bool,
    status: SuspensionStatus,
    decision: Option<Decision>,
}

impl ExpectedState {
    /// Stores a decision, or returns why it is refused.
    fn decide(&mut self, decision: Decision, by_expiry: bool) -> Option<&'static str> {
        let is_expired = self.now >= EXPIRES;
        match self.status {
            SuspensionStatus::Open if is_expired && !by_expiry => Some("expired"),
            SuspensionStatus::Open if !is_expired && by_expiry => Some("not expired"),
            SuspensionStatus::Open => {
                self.status = SuspensionStatus::Decided;
                self.decision = Some(decision);
                None
            }
            SuspensionStatus::Decided | SuspensionStatus::Settled => Some("decided"),
            SuspensionStatus::Closed => Some("closed"),
        }
    }

    /// Lets the run use a decision, and returns whether it may.
    fn use_decision(&mut self, decision: &Decision) -> bool {
        let may_use =
            !self.run_has_ended && self.status == SuspensionStatus::Decided && self.decision.as_ref() == Some(decision);
        if may_use {
            self.status = SuspensionStatus::Settled;
        }
        may_use
    }

    fn end_run(&mut self) {
        self.run_has_ended = true;
        self.status = match self.status {
            SuspensionStatus::Open => SuspensionStatus::Closed,
            SuspensionStatus::Decided => SuspensionStatus::Settled,
            other => other,
        };
    }
}

/// Returns why a decision was refused, in the words of [`ExpectedState::decide`].
fn refusal_reason(result: &Result<SuspensionRecord, StoreError>) -> Option<&'static str> {
    match result {
        Ok(_) => None,
        Err(StoreError::SuspensionExpired { .. }) => Some("expired"),
        Err(StoreError::SuspensionNotExpired { .. }) => Some("not expired"),
        Err(StoreError::AlreadyDecided { .. }) => Some("decided"),
        Err(StoreError::SuspensionClosed { .. }) => Some("closed"),
        Err(StoreError::UnknownSuspension { .. }) => Some("unknown"),
        Err(_) => Some("another error"),
    }
}

/// Makes one attempt in the store, and asserts that its result and the suspension are as expected.
async fn make_attempt(fixture: &TestStore, expected: &mut ExpectedState, attempt: &Attempt) {
    let ann = Owner::user(Some("ann"));
    let decide =
        async |owner: &Owner, decision: Decision| refusal_reason(&fixture.store.decide("s", owner, decision).await);
    match attempt {
        Attempt::Wait { milliseconds } => {
            fixture.clock.advance(*milliseconds);
            expected.now += milliseconds;
        }
        Attempt::Decide { approved } => {
            let decision = decision(*approved);
            assert_eq!(decide(&ann, decision.clone()).await, expected.decide(decision, false));
        }
        Attempt::DecideAsStranger => {
            for stranger in [Some("bob"), None] {
                let reason = decide(&Owner::user(stranger), decision(true)).await;
                assert_eq!(
                    reason,
                    Some("unknown"),
                    "a foreign suspension must not be found in any state"
                );
            }
        }
        Attempt::DecideByExpiry { approved } => {
            let decision = expiry_decision(*approved);
            let reason = decide(&Owner::Anyone, decision.clone()).await;
            assert_eq!(reason, expected.decide(decision, true));
        }
        Attempt::UseDecision { approved, by_expiry } => {
            let decision = if *by_expiry {
                expiry_decision(*approved)
            } else {
                decision(*approved)
            };
            let used = use_decision(fixture, "r", used_decision("s", decision.clone())).await;
            assert_eq!(used.is_ok(), expected.use_decision(&decision), "{used:?}");
        }
        Attempt::SuspendRun => {
            let suspended = fixture.end_run("r", RunStatus::Suspended, Value::Null).await;
            assert_eq!(suspended.is_ok(), !expected.run_has_ended, "{suspended:?}");
        }
        Attempt::CancelRun => {
            let cancelled = fixture.end_run("r", RunStatus::Cancelled, Value::Null).await;
            assert_eq!(cancelled.is_ok(), !expected.run_has_ended, "{cancelled:?}");
            expected.end_run();
        }
    }
    let found = fixture.store.find_suspension("s", &ann).await.unwrap().unwrap();
    assert_eq!((found.status, &found.decision), (expected.status, &expected.decision));
}

/// Makes all attempts with a waiting run of the user `ann`.
async fn make_attempts(fixture: TestStore, attempts: &[Attempt]) {
    let thread = NewThread {
        id: "t".to_owned(),
        user_id: Some("ann".to_owned()),
        ..NewThread::default()
    };
    fixture.store.create_thread(thread).await.unwrap();
    fixture.begin_run(new_run("r", "t")).await.unwrap();
    add_suspensions(&fixture, "r", vec![call("s", Some(EXPIRES))])
        .await
        .unwrap();
    let mut expected = ExpectedState {
        now: BEGIN,
        run_has_ended: false,
        status: SuspensionStatus::Open,
        decision: None,
    };
    for attempt in attempts {
        make_attempt(&fixture, &mut expected, attempt).await;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_suspension_in_memory_follows_its_state_machine(attempts in vec(any_attempt(), 1..16)) {
        block_on(make_attempts(TestStore::memory(), &attempts));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_suspension_in_a_database_follows_its_state_machine(attempts in vec(any_attempt(), 1..16)) {
        block_on(make_attempts(TestStore::sqlite(), &attempts));
    }
}

/// Makes each attempt in each status of the suspension, before and after the time at which it expires.
#[test]
fn a_suspension_follows_its_state_machine_in_each_status_and_with_each_attempt() {
    let (approve, reject) = (Attempt::Decide { approved: true }, Attempt::Decide { approved: false });
    let use_approval = Attempt::UseDecision {
        approved: true,
        by_expiry: false,
    };
    let use_rejection_by_expiry = Attempt::UseDecision {
        approved: false,
        by_expiry: true,
    };
    let earlier_attempts = [
        // Open.
        vec![],
        // Decided.
        vec![approve.clone()],
        // Settled, because the run has used the decision.
        vec![approve.clone(), use_approval.clone()],
        // Closed.
        vec![Attempt::CancelRun],
        // Settled, because the run has ended.
        vec![reject.clone(), Attempt::CancelRun],
    ];
    let last_attempts = [
        approve,
        reject,
        Attempt::DecideAsStranger,
        Attempt::DecideByExpiry { approved: true },
        use_approval,
        use_rejection_by_expiry,
        Attempt::SuspendRun,
        Attempt::CancelRun,
    ];
    let waits = [0, 2 * (EXPIRES - BEGIN)].map(|milliseconds| Attempt::Wait { milliseconds });
    for (earlier, wait) in earlier_attempts
        .iter()
        .flat_map(|earlier| waits.iter().map(move |wait| (earlier, wait)))
    {
        for last in &last_attempts {
            let attempts = [earlier.as_slice(), &[wait.clone(), last.clone()]].concat();
            block_on(make_attempts(TestStore::memory(), &attempts));
            block_on(make_attempts(TestStore::sqlite(), &attempts));
        }
    }
}
