//! Calls are isolated: none sees data of another call or of the host, and none continues without its caller.

use std::time::Duration;

use art_core::limits::Limits;
use art_tools::executor::{CheckedCall, ToolExecutor};
use futures_util::future::join_all;
use proptest::prelude::*;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::harness::{
    assert_echo_answers, call, call_with_cancel, components, guest, load, load_into, new_sandbox, output, tool_call,
};

#[tokio::test]
async fn no_state_is_kept_from_one_call_to_the_next() {
    // The guest counts its calls in a static. `old_bytes` is the number of bytes of an earlier call that are in its
    // memory.
    for _ in 0..20 {
        let outcome = call(&guest(components::COUNTER), json!({}), Limits::EXECUTE).await;
        assert_eq!(output(&outcome), json!({"calls": 1, "old_bytes": 0}));
    }
}

#[tokio::test]
async fn memory_that_a_trapped_call_wrote_is_not_seen_by_the_next() {
    for _ in 0..4 {
        let grown = call(&guest(components::HOSTILE), json!({"attack": "grow"}), Limits::EXECUTE).await;
        assert_eq!(grown.ending.name(), "memory_exhausted");
        let counter = call(&guest(components::COUNTER), json!({}), Limits::EXECUTE).await;
        assert_eq!(output(&counter)["old_bytes"], 0);
    }
}

#[tokio::test]
async fn a_tool_has_no_access_to_its_host() {
    let outcome = call(&guest(components::SANDBOX_PROBE), json!({}), Limits::EXECUTE).await;
    let access = output(&outcome);
    assert_eq!(
        (&access["variables"], &access["arguments"], &access["input"]),
        (&json!(0), &json!(0), &json!(0))
    );
    for attempt in ["file", "directory", "written"] {
        assert_ne!(access[attempt], "worked", "{attempt}");
    }
}

#[tokio::test]
async fn a_tool_can_open_no_sockets() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let address = json!({"address": server.local_addr().unwrap().to_string()});
    let outcome = call(&guest(components::SOCKETS), address, Limits::EXECUTE).await;
    // The guest connects, listens, opens a UDP socket and looks a name up.
    assert_eq!(output(&outcome), json!(vec!["PermissionDenied"; 4]));
    let arrived = server.accept().unwrap_err();
    assert_eq!(arrived.kind(), std::io::ErrorKind::WouldBlock);
}

#[tokio::test]
async fn each_call_has_its_own_limits() {
    let hostile = guest(components::HOSTILE);
    // The attack `suspended` returns a suspension at once. The low limit does not suffice even for that.
    let low_limits = Limits {
        fuel: 10_000,
        ..Limits::EXECUTE
    };
    let first = call(&hostile, json!({"attack": "suspended"}), low_limits).await;
    let second = call(&hostile, json!({"attack": "suspended"}), Limits::EXECUTE).await;
    assert_eq!(
        (first.ending.name(), second.ending.name()),
        ("fuel_exhausted", "suspended")
    );
}

#[tokio::test]
async fn a_call_uses_the_same_fuel_every_time() {
    let echo = guest(components::ECHO);
    let calls = (0..20).map(|_| call(&echo, json!({"text": "the same"}), Limits::EXECUTE));
    let fuel: Vec<u64> = join_all(calls).await.iter().map(|outcome| outcome.usage.fuel).collect();
    assert!(fuel.iter().all(|used| *used == fuel[0] && *used > 0), "{fuel:?}");
}

#[tokio::test]
async fn a_sleeping_tool_is_cancelled() {
    assert_cancelled("sleep").await;
}

#[tokio::test]
async fn a_busy_tool_is_cancelled() {
    assert_cancelled("loop").await;
}

async fn assert_cancelled(attack: &str) {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        ..Limits::EXECUTE
    };
    let cancel = CancellationToken::new();
    let hostile = guest(components::HOSTILE);
    let call = call_with_cancel(&hostile, json!({"attack": attack}), limits, cancel.clone());
    let cancel_soon = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        cancel.cancel();
    };
    let (outcome, ()) = tokio::join!(call, cancel_soon);
    assert_eq!(outcome.ending.name(), "cancelled");
    assert!(outcome.usage.wall_us > 0, "{:?}", outcome.usage);
}

/// A cancelled call of a tool that asks for this still has some time, which can be over before the tool runs again on a very busy
/// machine. The test makes calls until one asks in time, and fails only if none of a thousand does.
#[tokio::test]
async fn a_tool_can_ask_whether_its_call_was_cancelled() {
    let hostile = guest(components::HOSTILE);
    for _ in 0..1000 {
        let cancel = CancellationToken::new();
        let arguments = json!({"attack": "until_cancelled"});
        let call = call_with_cancel(&hostile, arguments, Limits::EXECUTE, cancel.clone());
        let cancel_soon = async {
            tokio::time::sleep(Duration::from_millis(5)).await;
            cancel.cancel();
        };
        let (outcome, ()) = tokio::join!(call, cancel_soon);
        match outcome.ending.name() {
            "cancelled" => {}
            // The tool asked in time and ended the call itself.
            _ => return assert_eq!(output(&outcome), json!("survived")),
        }
    }
    panic!("the host stopped each call before the tool could ask");
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_it_starts_does_not_run() {
    let cancel = CancellationToken::new();
    cancel.cancel();
    let hostile = guest(components::HOSTILE);
    let outcome = call_with_cancel(&hostile, json!({"attack": "until_cancelled"}), Limits::EXECUTE, cancel).await;
    assert_eq!((outcome.ending.name(), outcome.usage.fuel), ("cancelled", 0));
}

#[tokio::test]
async fn concurrent_calls_each_use_their_own_fuel() {
    let hostile = guest(components::HOSTILE);
    let limits = Limits {
        fuel: 25_000_000,
        ..Limits::EXECUTE
    };
    let calls = (0..8).map(|_| call(&hostile, json!({"attack": "loop"}), limits));
    for outcome in join_all(calls).await {
        assert_eq!(outcome.ending.name(), "fuel_exhausted");
        assert!(outcome.usage.fuel <= limits.fuel, "{:?}", outcome.usage);
    }
}

#[tokio::test]
async fn a_sandbox_works_after_it_was_idle() {
    assert_echo_answers().await;
    tokio::time::sleep(Duration::from_millis(1_500)).await;
    assert_echo_answers().await;
}

#[tokio::test]
async fn replacing_a_file_does_not_change_the_tool_until_it_is_loaded_again() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tool.wasm");
    std::fs::copy(components::SLOW_ECHO, &file).unwrap();
    let old = load(file.to_str().unwrap()).unwrap();
    let replace = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        std::fs::copy(components::COUNTER, &file).unwrap();
    };
    let (in_flight, ()) = tokio::join!(call(&old, json!({"ms": 200}), Limits::EXECUTE), replace);
    assert_eq!(output(&in_flight), json!({"waited": 200}));
    let after = call(&old, json!({"ms": 1}), Limits::EXECUTE).await;
    assert_eq!(output(&after), json!({"waited": 1}));
    let new = load(file.to_str().unwrap()).unwrap();
    let counted = call(&new, json!({}), Limits::EXECUTE).await;
    assert_eq!(output(&counted)["calls"], 1);
}

/// The pool has 64 slots for each worker, so guests that continued without a caller would use up all slots. The test has its own
/// sandbox, because calls of other tests would fail while no slot of the shared one is free.
#[tokio::test]
async fn guests_without_a_caller_are_stopped_and_free_their_slots() {
    let asks_for_instance_pool = true;
    let sandbox = new_sandbox(asks_for_instance_pool);
    let [hostile, echo] =
        [components::HOSTILE, components::ECHO].map(|path| load_into(&sandbox, path).expect("the guest loads"));
    for attack in ["sleep", "loop"] {
        for _ in 0..3 {
            let checked_calls: Vec<CheckedCall> = (0..100)
                .map(|_| CheckedCall::for_test(tool_call(json!({"attack": attack})), Limits::EXECUTE))
                .collect();
            // The timeout drops the calls, so that their guests no longer have a caller.
            let calls = join_all(checked_calls.iter().map(|call| hostile.execute(call)));
            assert!(tokio::time::timeout(Duration::from_millis(30), calls).await.is_err());
        }
        let outcome = call(&echo, json!({"text": "still here"}), Limits::EXECUTE).await;
        assert_eq!(output(&outcome)["text"], "still here");
    }
}

#[tokio::test]
async fn calls_over_the_number_of_slots_are_refused_as_busy() {
    let asks_for_instance_pool = true;
    let sandbox = new_sandbox(asks_for_instance_pool);
    let slow = load_into(&sandbox, components::SLOW_ECHO).expect("the guest loads");
    let calls = (0..200).map(|_| call(&slow, json!({"ms": 500}), Limits::EXECUTE));
    let outcomes = join_all(calls).await;
    let count = |name| outcomes.iter().filter(|outcome| outcome.ending.name() == name).count();
    // Two workers with 64 slots each serve 128 of the 200 calls.
    assert_eq!((count("success"), count("busy")), (128, 72));
    let again = call(&slow, json!({"ms": 1}), Limits::EXECUTE).await;
    assert_eq!(output(&again), json!({"waited": 1}));
}

/// Calls `echo` with exactly this much fuel. Returns the name of the ending and the fuel used.
fn call_with_fuel(fuel: u64) -> (String, u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let limits = Limits {
        fuel,
        ..Limits::EXECUTE
    };
    let outcome = runtime.block_on(call(&guest(components::ECHO), json!({"text": "x"}), limits));
    (outcome.ending.name().to_owned(), outcome.usage.fuel)
}

#[test]
fn a_call_needs_the_same_amount_of_fuel_that_it_reports() {
    let (ending, needed) = call_with_fuel(Limits::EXECUTE.fuel);
    assert_eq!(ending, "success");
    // The margin is larger than one unit, because the engine checks the fuel only at the ends of blocks.
    assert_eq!(call_with_fuel(needed + 1_000).0, "success");
    assert_eq!(call_with_fuel(needed - 1_000).0, "fuel_exhausted");
    assert_eq!(call_with_fuel(0).0, "fuel_exhausted");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_call_with_any_amount_of_fuel_succeeds_or_runs_out_of_fuel(fuel in 0_u64..200_000) {
        let (ending, used) = call_with_fuel(fuel);
        prop_assert!(ending == "success" || ending == "fuel_exhausted", "{fuel} units ended as {ending}");
        prop_assert!(ending != "success" || used <= fuel, "{used} of {fuel}");
    }
}
