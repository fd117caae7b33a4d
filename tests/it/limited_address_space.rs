//! Where the address space is limited, the sandbox does without a pool and works.

use art_core::limits::Limits;
use futures_util::future::join_all;
use serde_json::json;

use crate::endings::ATTACKS;
use crate::harness::{call, components, load_into, new_sandbox, output, run_alone};

/// Kilobytes of address space: more than a call needs, much less than a pool reserves.
const ADDRESS_SPACE: &str = "ulimit -v 33554432 &&";

/// Run by [`without_room_for_a_pool_calls_still_run`] with less address space than a pool needs.
#[tokio::test]
#[ignore = "needs a limited address space"]
async fn a_sandbox_in_a_limited_address_space() {
    let sandbox = new_sandbox(true);
    let reason = sandbox.mode().fallback_reason.clone().expect("there is no pool");
    assert!(reason.starts_with("the pools could not be reserved: "), "{reason}");
    let echo = load_into(&sandbox, components::ECHO).expect("the guest loads");
    let outcome = call(&echo, json!({"text": "hello"}), Limits::EXECUTE).await;
    assert_eq!(output(&outcome)["text"], "hello");
}

#[test]
fn without_room_for_a_pool_calls_still_run() {
    run_alone(
        "limited_address_space::a_sandbox_in_a_limited_address_space",
        ADDRESS_SPACE,
    );
}

#[test]
fn a_pool_is_used_where_there_is_room() {
    let mode = crate::harness::sandbox().mode();
    assert!(mode.pooling && mode.fallback_reason.is_none(), "{mode:?}");
}

#[test]
fn a_pool_that_is_switched_off_says_so() {
    let mode = new_sandbox(false).mode().clone();
    assert_eq!(
        mode.fallback_reason.as_deref(),
        Some("switched off by the configuration")
    );
}

#[tokio::test]
async fn without_a_pool_every_attack_ends_in_the_same_way() {
    let hostile = load_into(&new_sandbox(false), components::HOSTILE).expect("the guest loads");
    join_all(ATTACKS.iter().map(|attack| attack.run_on(&hostile))).await;
}
