//! A guest uses handles of resources that it has dropped, and handles that never existed.

use art_core::limits::Limits;
use proptest::prelude::*;
use serde_json::json;

use crate::harness::{call, components, guest};

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_use_of_handles_ends_in_a_success_or_a_trap(seed in any::<u32>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        // The guest creates, uses and drops handles in an order that depends on the seed `n`.
        let arguments = json!({"attack": "random_handles", "n": seed});
        let outcome = runtime.block_on(call(&guest(components::HOSTILE), arguments, Limits::EXECUTE));
        prop_assert!(["success", "trap"].contains(&outcome.ending.name()), "{:?}", outcome.ending);
    }
}
