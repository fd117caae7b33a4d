//! `schema()` of a component runs while the component is loaded, before anything is known about the tool. Attacks in it are
//! stopped by its limits, which are tighter than those of a call.

use art_core::limits::Limits;
use art_sandbox::{Sandbox, SandboxConfig};
use art_tools::executor::ToolExecutor;

use crate::handmade::Handmade;
use crate::harness::{assert_echo_answers, components, load, load_into, message_with_causes, sandbox};

/// Returns the error of loading the component at `path`.
fn refusal(path: &str) -> String {
    message_with_causes(&load(path).expect_err("it is refused"))
}

/// Returns the error of loading a handmade component.
fn handmade_refusal(guest: &Handmade<'_>) -> String {
    message_with_causes(&sandbox().load("handmade", &guest.build()).expect_err("it is refused"))
}

#[test]
fn a_loop_uses_up_the_fuel() {
    assert_eq!(
        refusal(components::SCHEMA_LOOPS),
        "`schema()` used up its 100000000 units of fuel"
    );
}

#[test]
fn a_sleep_runs_out_of_time() {
    assert_eq!(
        refusal(components::SCHEMA_SLEEPS),
        "`schema()` did not finish within 2000 ms"
    );
}

#[test]
fn memory_growth_stops_at_the_limit() {
    assert_eq!(
        refusal(components::SCHEMA_GROWS),
        format!(
            "`schema()` asked for more than its {} bytes of memory",
            Limits::SCHEMA.memory_bytes
        )
    );
}

#[test]
fn a_trap_is_reported() {
    let message = refusal(components::SCHEMA_TRAPS);
    assert!(message.starts_with("`schema()` trapped: "), "{message}");
}

#[test]
fn a_schema_of_ten_megabytes_is_refused() {
    let message = refusal(components::SCHEMA_HUGE);
    assert!(message.ends_with("bytes were passed to the host at once"), "{message}");
}

#[test]
fn a_schema_that_is_not_json_is_refused() {
    let message = refusal(components::SCHEMA_BAD_JSON);
    assert!(message.starts_with("`schema()` "), "{message}");
    assert!(
        message.contains("`input-schema` is invalid: key must be a string"),
        "{message}"
    );
}

#[test]
fn a_schema_that_differs_each_time_is_requested_once_and_cached() {
    let dir = tempfile::tempdir().unwrap();
    let load = || {
        let config = SandboxConfig {
            cache: Some(dir.path().join("code")),
            ..SandboxConfig::default()
        };
        let sandbox = Sandbox::new(&config).expect("the sandbox starts");
        load_into(&sandbox, components::SCHEMA_DIFFERS).expect("the guest loads")
    };
    let [first, second] = [load(), load()];
    assert_eq!(first.schema(), second.schema());
    assert_eq!(first.digest(), second.digest());
    // Without the cache, `schema()` runs again.
    std::fs::remove_dir_all(dir.path().join("code")).unwrap();
    assert_ne!(first.schema().description, load().schema().description);
}

#[test]
fn a_loop_while_the_module_starts_uses_up_the_fuel() {
    let guest = Handmade {
        items: "(func $start (loop $l (br $l))) (start $start)",
        ..Handmade::default()
    };
    assert_eq!(
        handmade_refusal(&guest),
        "`schema()` used up its 100000000 units of fuel"
    );
}

#[test]
fn a_trap_while_the_module_starts_is_reported() {
    let guest = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    let message = handmade_refusal(&guest);
    assert!(message.contains("unreachable"), "{message}");
}

#[test]
fn four_gigabytes_of_initial_memory_are_refused() {
    let guest = Handmade {
        memory: r#"(memory (export "memory") 65536)"#,
        ..Handmade::default()
    };
    let message = handmade_refusal(&guest);
    assert!(message.contains("memory"), "{message}");
}

#[test]
fn more_initial_memory_than_a_call_of_schema_may_have_is_refused() {
    let guest = Handmade {
        memory: r#"(memory (export "memory") 1000)"#,
        ..Handmade::default()
    };
    assert_eq!(
        handmade_refusal(&guest),
        format!(
            "`schema()` asked for more than its {} bytes of memory",
            Limits::SCHEMA.memory_bytes
        )
    );
}

#[test]
fn a_table_of_ten_million_elements_is_refused() {
    let guest = Handmade {
        items: "(table 10000000 funcref)",
        ..Handmade::default()
    };
    let message = handmade_refusal(&guest);
    assert!(message.contains("table") || message.contains("memory"), "{message}");
}

#[test]
fn a_second_memory_is_refused() {
    let guest = Handmade {
        items: "(memory 0)",
        ..Handmade::default()
    };
    let message = handmade_refusal(&guest);
    assert!(message.contains("multiple memories"), "{message}");
}

#[tokio::test]
async fn other_tools_work_while_a_component_is_refused() {
    let loading = tokio::task::spawn_blocking(|| refusal(components::SCHEMA_LOOPS));
    assert_echo_answers().await;
    loading.await.expect("loading does not panic");
}
