//! The sandbox normally takes the instances for calls from a pool, which reserves address space. If the address space is limited,
//! the sandbox works without a pool.

use art_core::limits::Limits;
use serde_json::json;

use crate::harness::{call, components, load_into, new_sandbox, output, run_alone};

/// Shell text that limits the address space to 32 GiB: more than a call needs, and much less than a pool of instances reserves.
const LIMIT_ADDRESS_SPACE: &str = "ulimit -v 33554432 &&";

/// Run by [`calls_work_without_address_space_for_a_pool`] in a separate process with less address space than a pool
/// needs.
#[tokio::test]
#[ignore = "needs a limited address space"]
async fn a_sandbox_in_a_limited_address_space_works_without_a_pool() {
    let asks_for_instance_pool = true;
    let sandbox = new_sandbox(asks_for_instance_pool);
    let reason = sandbox
        .mode()
        .fallback_reason
        .clone()
        .expect("a reason why there is no pool");
    assert!(reason.starts_with("the pools could not be reserved: "), "{reason}");
    let echo = load_into(&sandbox, components::ECHO).expect("the guest loads");
    let outcome = call(&echo, json!({"text": "hello"}), Limits::EXECUTE).await;
    assert_eq!(output(&outcome)["text"], "hello");
}

#[test]
fn calls_work_without_address_space_for_a_pool() {
    run_alone(
        "limited_address_space::a_sandbox_in_a_limited_address_space_works_without_a_pool",
        LIMIT_ADDRESS_SPACE,
    );
}

#[test]
fn a_pool_is_used_if_the_address_space_allows_it() {
    let mode = crate::harness::sandbox().mode();
    assert!(mode.pooling && mode.fallback_reason.is_none(), "{mode:?}");
}

#[test]
fn a_sandbox_that_asks_for_no_pool_says_that_the_pool_was_switched_off() {
    let asks_for_instance_pool = false;
    let mode = new_sandbox(asks_for_instance_pool).mode().clone();
    assert_eq!(
        mode.fallback_reason.as_deref(),
        Some("switched off by the configuration")
    );
}
