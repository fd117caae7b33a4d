//! Attacks before, in and after `execute`, with code that a Rust compiler does not produce.

use art_core::limits::Limits;
use art_core::outcome::{Ending, Outcome};
use art_sandbox::Sandbox;
use serde_json::json;

use crate::handmade::Handmade;
use crate::harness::{call, new_sandbox, sandbox};

/// Fuel for a few hundredths of a second.
const LITTLE_FUEL: Limits = Limits {
    fuel: 60_000_000,
    ..Limits::EXECUTE
};
/// The maximum fuel and no limit of calls into the host, but little time.
const LITTLE_TIME: Limits = Limits {
    fuel: Limits::MAX.fuel,
    timeout_ms: 200,
    host_calls: u64::MAX,
    ..Limits::EXECUTE
};

async fn run_in(sandbox: &Sandbox, guest: &Handmade<'_>, limits: Limits) -> Outcome {
    let plugin = sandbox.load("handmade", &guest.build()).expect("the guest loads");
    call(&plugin, json!({}), limits).await
}

async fn run(guest: Handmade<'_>, limits: Limits) -> Outcome {
    run_in(sandbox(), &guest, limits).await
}

#[tokio::test]
async fn a_handmade_tool_without_an_attack_succeeds() {
    let outcome = run(Handmade::default(), Limits::EXECUTE).await;
    assert_eq!(outcome.ending.name(), "success", "{:?}", outcome.ending);
}

#[tokio::test]
async fn a_loop_in_the_allocation_for_the_input_uses_up_the_fuel() {
    let guest = Handmade {
        realloc: "(loop $l (br $l))",
        ..Handmade::default()
    };
    assert_eq!(run(guest, LITTLE_FUEL).await.ending.name(), "fuel_exhausted");
}

#[tokio::test]
async fn a_loop_in_post_return_uses_up_the_fuel() {
    let guest = Handmade {
        post_return: "(loop $l (br $l))",
        ..Handmade::default()
    };
    assert_eq!(run(guest, LITTLE_FUEL).await.ending.name(), "fuel_exhausted");
}

#[tokio::test]
async fn a_trap_in_post_return_ends_the_call_as_a_trap() {
    let guest = Handmade {
        post_return: "unreachable",
        ..Handmade::default()
    };
    assert_eq!(run(guest, LITTLE_FUEL).await.ending.name(), "trap");
}

/// A guest that calls `log` with a long text in a loop, which is much work for the host and little for the guest. All fields but
/// `imports` and `execute` have their default values, which a constant cannot get from `Handmade::default()`.
const LOG_LOOP: Handmade<'static> = Handmade {
    version: "0.1.0",
    imports: r#"(import "art:tool/host@0.1.0" "log" (func $log (param i32 i32 i32)))"#,
    memory: r#"(memory (export "memory") 32)"#,
    input_schema: r#"{"type":"object"}"#,
    output_schema: None,
    examples: &[],
    items: "",
    realloc: "",
    schema: "",
    execute: "(loop $l (call $log (i32.const 0) (i32.const 65536) (i32.const 1048576)) (br $l))",
    post_return: "",
    outcome: Handmade::success(4),
    output: b"null",
    is_utf16: false,
};

#[tokio::test]
async fn a_guest_that_logs_long_messages_runs_out_of_time() {
    let ending = run(LOG_LOOP, LITTLE_TIME).await.ending;
    assert_eq!(ending.name(), "timeout", "{ending:?}");
}

/// The guest uses so little fuel and time for 100 calls that only the limit of calls into the host can stop it this early.
#[tokio::test]
async fn too_many_calls_into_the_host_are_stopped_early() {
    let limits = Limits {
        host_calls: 100,
        ..Limits::EXECUTE
    };
    let outcome = run(LOG_LOOP, limits).await;
    assert_eq!(outcome.ending.name(), "fuel_exhausted");
    // The limit is checked after each call, so the guest is stopped after call 101. One more is a margin.
    assert!(outcome.usage.host_calls <= 102, "{:?}", outcome.usage);
}

#[tokio::test]
async fn the_error_for_too_many_calls_into_the_host_names_that_limit() {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        host_calls: 100,
        ..Limits::EXECUTE
    };
    let message = run(LOG_LOOP, limits).await.ending.error().unwrap().1;
    assert_eq!(message, "used up its 100 calls into the host");
}

#[tokio::test]
async fn the_error_for_calls_into_the_host_that_use_up_the_fuel_names_the_fuel() {
    let limits = Limits {
        fuel: 5_000_000,
        ..Limits::EXECUTE
    };
    let message = run(LOG_LOOP, limits).await.ending.error().unwrap().1;
    assert_eq!(message, "used up its 5000000 units of fuel");
}

#[tokio::test]
async fn the_message_of_a_trap_has_the_cause_before_the_backtrace() {
    let name = |n: usize| format!("$a_function_with_a_name_that_is_long_enough_to_fill_the_message_{n}");
    for depth in [0, 15] {
        let call = |n: usize| format!("(func {} (call {}))", name(n), name(n + 1));
        let calls: String = (0..depth).map(call).collect();
        let log_out_of_bounds = "(call $log (i32.const 0) (i32.const -16) (i32.const 16))";
        let guest = Handmade {
            items: &format!("{calls} (func {} {log_out_of_bounds})", name(depth)),
            execute: &format!("(call {})", name(0)),
            ..LOG_LOOP
        };
        let Ending::Trap { message } = run(guest, Limits::EXECUTE).await.ending else {
            panic!("it is a trap");
        };
        let (cause, backtrace) = message.split_once("; ").expect("it has a cause and a backtrace");
        assert!(cause.contains("out of bounds"), "{message}");
        assert!(backtrace.contains("a_function_with_a_name"), "{message}");
    }
}

#[tokio::test]
async fn the_name_of_a_function_does_not_change_how_a_trap_is_classified() {
    // An error whose cause contains `utf-8` or `discriminant` counts as an invalid output. Here only the backtrace contains
    // these words.
    let guest = Handmade {
        items: "(func $utf-8_discriminant (call $log (i32.const 0) (i32.const -16) (i32.const 16)))",
        execute: "(call $utf-8_discriminant)",
        ..LOG_LOOP
    };
    let ending = run(guest, Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "trap", "{ending:?}");
}

#[tokio::test]
async fn tables_count_as_memory() {
    let guest = Handmade {
        items: "(table $t 0 funcref)",
        execute: "(if (i32.eq (table.grow $t (ref.null func) (i32.const 10000000)) (i32.const -1)) (then unreachable))",
        ..Handmade::default()
    };
    assert_eq!(run(guest, Limits::EXECUTE).await.ending.name(), "memory_exhausted");
}

#[tokio::test]
async fn a_table_that_grows_forever_stops_at_its_limit() {
    let guest = Handmade {
        items: "(table $t 0 funcref)",
        execute: "(loop $l (br_if $l (i32.ne (table.grow $t (ref.null func) (i32.const 100)) (i32.const -1)))
                  unreachable)",
        ..Handmade::default()
    };
    assert_eq!(run(guest, Limits::EXECUTE).await.ending.name(), "memory_exhausted");
}

#[tokio::test]
async fn failed_growth_over_the_maximum_of_the_module_does_not_exhaust_the_memory() {
    let guest = Handmade {
        memory: r#"(memory (export "memory") 32 40)"#,
        execute: "(local $i i32)
                  (loop $l
                    (drop (memory.grow (i32.const 100)))
                    (local.set $i (i32.add (local.get $i) (i32.const 1)))
                    (br_if $l (i32.lt_u (local.get $i) (i32.const 100))))
                  (if (i32.ne (memory.grow (i32.const 8)) (i32.const 32)) (then unreachable))",
        ..Handmade::default()
    };
    assert_eq!(run(guest, Limits::EXECUTE).await.ending.name(), "success");
}

#[tokio::test]
async fn an_output_out_of_bounds_is_a_trap() {
    let guest = Handmade {
        outcome: Handmade::success(1 << 30),
        ..Handmade::default()
    };
    assert_eq!(run(guest, Limits::EXECUTE).await.ending.name(), "trap");
}

#[tokio::test]
async fn an_output_of_almost_the_whole_memory_is_refused() {
    let guest = Handmade {
        execute: "(drop (memory.grow (i32.const 900)))",
        outcome: Handmade::success(50 << 20),
        ..Handmade::default()
    };
    assert_eq!(run(guest, Limits::EXECUTE).await.ending.name(), "invalid_output");
}

#[tokio::test]
async fn an_output_that_is_not_utf_8_is_invalid() {
    let guest = Handmade {
        outcome: Handmade::success(2),
        output: b"\xff\xfe",
        ..Handmade::default()
    };
    let ending = run(guest, Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "invalid_output", "{ending:?}");
}

#[tokio::test]
async fn an_outcome_of_an_unknown_kind_is_invalid() {
    let mut outcome = Handmade::success(4);
    // There are four kinds of outcomes, 0 to 3.
    outcome[0] = 9;
    let guest = Handmade {
        outcome,
        ..Handmade::default()
    };
    let ending = run(guest, Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "invalid_output", "{ending:?}");
}

#[tokio::test]
async fn without_a_pool_attacks_have_the_same_endings() {
    let asks_for_instance_pool = false;
    let sandbox = new_sandbox(asks_for_instance_pool);
    assert!(!sandbox.mode().pooling);
    let plain = run_in(&sandbox, &Handmade::default(), Limits::EXECUTE).await;
    assert_eq!(plain.ending.name(), "success");
    let loop_in_post_return = Handmade {
        post_return: "(loop $l (br $l))",
        ..Handmade::default()
    };
    assert_eq!(
        run_in(&sandbox, &loop_in_post_return, LITTLE_FUEL).await.ending.name(),
        "fuel_exhausted"
    );
    assert_eq!(run_in(&sandbox, &LOG_LOOP, LITTLE_TIME).await.ending.name(), "timeout");
}
