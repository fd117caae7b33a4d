//! `schema()` runs before anybody trusts the tool: every attack in it is stopped by limits of its own.

use art_core::limits::Limits;
use art_sandbox::{Sandbox, SandboxConfig};
use art_tools::executor::ToolExecutor;

use crate::handmade::Handmade;
use crate::harness::{components, echo_answers, in_full, load, load_into, sandbox};

/// Returns why the component at `path` is refused.
fn refusal(path: &str) -> String {
    in_full(&load(path).expect_err("it must be refused"))
}

/// Returns why a handmade component is refused.
fn handmade_refusal(guest: &Handmade<'_>) -> String {
    in_full(
        &sandbox()
            .load("handmade", &guest.build())
            .expect_err("it must be refused"),
    )
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
fn growth_stops_at_the_limit() {
    assert_eq!(
        refusal(components::SCHEMA_GROWS),
        format!(
            "`schema()` asked for more than its {} bytes of memory",
            Limits::SCHEMA.memory_bytes
        )
    );
}

#[test]
fn a_trap_is_told() {
    let told = refusal(components::SCHEMA_TRAPS);
    assert!(told.starts_with("`schema()` trapped: "), "{told}");
}

#[test]
fn ten_megabytes_are_refused() {
    let told = refusal(components::SCHEMA_HUGE);
    assert!(told.ends_with("bytes were passed to the host at once"), "{told}");
}

#[test]
fn a_schema_that_is_not_json_is_told() {
    let told = refusal(components::SCHEMA_BAD_JSON);
    assert!(told.starts_with("`schema()` "), "{told}");
    assert!(
        told.contains("`input-schema` is invalid: key must be a string"),
        "{told}"
    );
}

#[test]
fn a_schema_that_differs_each_time_is_asked_for_once_and_remembered() {
    let dir = tempfile::tempdir().unwrap();
    let load = || {
        let config = SandboxConfig {
            cache: Some(dir.path().join("code")),
            ..SandboxConfig::default()
        };
        let sandbox = Sandbox::new(&config).expect("the sandbox starts");
        load_into(&sandbox, components::SCHEMA_DIFFERS).expect("the guest loads")
    };
    let [first, again] = [load(), load()];
    assert_eq!(first.schema(), again.schema());
    assert_eq!(first.digest(), again.digest());
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
fn a_trap_while_the_module_starts_is_told() {
    let guest = Handmade {
        items: "(func $start unreachable) (start $start)",
        ..Handmade::default()
    };
    let told = handmade_refusal(&guest);
    assert!(told.contains("unreachable"), "{told}");
}

#[test]
fn four_gigabytes_of_initial_memory_are_refused() {
    let guest = Handmade {
        memory: r#"(memory (export "memory") 65536)"#,
        ..Handmade::default()
    };
    let told = handmade_refusal(&guest);
    assert!(told.contains("memory"), "{told}");
}

#[test]
fn more_initial_memory_than_a_schema_may_have_is_refused() {
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
    let told = handmade_refusal(&guest);
    assert!(told.contains("table") || told.contains("memory"), "{told}");
}

#[test]
fn a_second_memory_is_refused() {
    let guest = Handmade {
        items: "(memory 0)",
        ..Handmade::default()
    };
    let told = handmade_refusal(&guest);
    assert!(told.contains("multiple memories"), "{told}");
}

#[tokio::test]
async fn other_tools_work_while_a_component_is_refused() {
    let loading = tokio::task::spawn_blocking(|| refusal(components::SCHEMA_LOOPS));
    echo_answers().await;
    loading.await.expect("it was refused");
}
