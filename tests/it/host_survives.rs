//! Dropped sandboxes leave no memory, threads or open files in the host.

use art_core::limits::Limits;
use serde_json::json;

use crate::harness::{call, components, load_into, new_sandbox, output, run_alone};
use crate::resources::Resources;

/// Run by [`dropped_sandboxes_leave_no_threads_files_or_memory`] in a separate process.
#[tokio::test]
#[ignore = "is run by another test, since it measures the whole process"]
async fn resources_do_not_grow_over_a_thousand_sandboxes() {
    let pooling = true;
    let use_a_sandbox = async || {
        let sandbox = new_sandbox(pooling);
        let echo = load_into(&sandbox, components::ECHO).expect("the guest loads");
        let outcome = call(&echo, json!({"text": "hello"}), Limits::EXECUTE).await;
        assert_eq!(output(&outcome)["text"], "hello");
    };
    use_a_sandbox().await;
    let before = Resources::now();
    for n in 0..1_000 {
        // Loading a tool takes longer than everything else, so only a few sandboxes load one.
        if n % 100 == 0 {
            use_a_sandbox().await;
        }
        drop(new_sandbox(pooling));
    }
    Resources::now().check_growth_since(&before).unwrap();
}

#[test]
fn dropped_sandboxes_leave_no_threads_files_or_memory() {
    run_alone("host_survives::resources_do_not_grow_over_a_thousand_sandboxes", "");
}
