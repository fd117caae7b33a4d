//! No guest runs on much past its deadline, whatever it is at. `cargo bench --bench overrun` has the figures.

use std::time::{Duration, Instant};

use art_core::limits::Limits;
use art_sandbox::Plugin;
use serde_json::json;

use crate::handmade::Handmade;
use crate::harness::{call, sandbox};
use crate::overrunning::{OVERRUNNING, Overrunning};

/// Ten times what is aimed at with default limits: other tests run at the same time.
const CEILING: Duration = Duration::from_millis(150);
/// Of so many calls the one that was disturbed least counts.
const ROUNDS: usize = 5;

async fn overrun(kind: &Overrunning, plugin: &Plugin) -> Duration {
    let deadline_ms = kind.deadline_ms(&Limits::EXECUTE);
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms: deadline_ms,
        ..Limits::EXECUTE
    };
    let start = Instant::now();
    let ending = call(plugin, json!({}), limits).await.ending;
    assert_eq!(ending.name(), "timeout", "{}: {ending:?}", kind.name);
    start.elapsed().saturating_sub(Duration::from_millis(deadline_ms))
}

#[tokio::test]
async fn no_guest_runs_on_much_past_its_deadline() {
    for kind in OVERRUNNING {
        let plugin = sandbox().load("overrunning", &(kind.build)(960)).expect("it loads");
        let mut least = Duration::MAX;
        for _ in 0..ROUNDS {
            least = least.min(overrun(kind, &plugin).await);
            if least < CEILING {
                break;
            }
        }
        assert!(least < CEILING, "{} ran on for {least:?}", kind.name);
    }
}

/// Writes numbers from an address on, and stops when other ones are read from an address on.
const NUMBERS: &str = "
    (func $number (param $n i32) (result i32) (i32.mul (local.get $n) (i32.const 0x9e3779b5)))
    (func $write (param $at i32) (local $n i32)
        (loop $l
            (i32.store (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))) (call $number (local.get $n)))
            (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200000)))))
    (func $read (param $at i32) (local $n i32)
        (loop $l
            (if (i32.ne (i32.load (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2)))) (call $number (local.get $n)))
                (then unreachable))
            (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200000)))))";

/// Runs a guest that traps when it finds something else than it should.
async fn finds_what_it_should(items: &str, execute: &str) {
    let guest = Handmade {
        items,
        execute,
        ..Handmade::default()
    };
    let plugin = sandbox().load("pieces", &guest.build()).expect("it loads");
    let ending = call(&plugin, json!({}), Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "success", "{execute}: {ending:?}");
}

#[tokio::test]
async fn much_memory_is_copied_as_if_at_once_also_over_itself() {
    for (from, to) in [(20_000, 20_100), (20_100, 20_000), (20_000, 20_000), (20_000, 900_000)] {
        let execute = format!(
            "(call $write (i32.const {from}))
             (memory.copy (i32.const {to}) (i32.const {from}) (i32.const 800000))
             (call $read (i32.const {to}))"
        );
        finds_what_it_should(NUMBERS, &execute).await;
    }
}

#[tokio::test]
async fn little_memory_is_copied_at_once_whatever_else_the_module_and_the_function_have() {
    let items = format!("{} {NUMBERS}", "(type (func (param i64)))".repeat(100));
    for length in [0, 5, 200_000] {
        let execute = format!(
            "(local $a i64) (local $length i32) (local $b f32)
             (local.set $a (i64.const 7)) (local.set $b (f32.const 7)) (local.set $length (i32.const {length}))
             (i32.store8 (i32.add (i32.const 900000) (local.get $length)) (i32.const 9))
             (call $write (i32.const 20000))
             (memory.copy (i32.const 900000) (i32.const 20000) (local.get $length))
             (if (i32.ne (i32.load8_u (i32.add (i32.const 900000) (local.get $length))) (i32.const 9)) (then unreachable))
             (if (local.get $length) (then
                (if (i32.ne (i32.load8_u (i32.const 900004)) (i32.load8_u (i32.const 20004))) (then unreachable))))
             (if (i64.ne (local.get $a) (i64.const 7)) (then unreachable))
             (if (f32.ne (local.get $b) (f32.const 7)) (then unreachable))"
        );
        finds_what_it_should(&items, &execute).await;
    }
}

#[tokio::test]
async fn much_memory_is_filled_up_to_its_end_and_no_further() {
    for length in [0, 1, 262_143, 262_144, 262_145, 600_001] {
        let execute = format!(
            "(local $length i32) (local.set $length (i32.const {length}))
             (i32.store8 (i32.add (i32.const 20001) (local.get $length)) (i32.const 9))
             (memory.fill (i32.const 20001) (i32.const 7) (local.get $length))
             (if (i32.ne (i32.load8_u (i32.add (i32.const 20001) (local.get $length))) (i32.const 9)) (then unreachable))
             (if (local.get $length) (then
                (if (i32.ne (i32.load8_u (i32.const 20001)) (i32.const 7)) (then unreachable))
                (if (i32.ne (i32.load8_u (i32.add (i32.const 20000) (local.get $length))) (i32.const 7))
                    (then unreachable))))"
        );
        finds_what_it_should("", &execute).await;
    }
}

#[tokio::test]
async fn much_memory_is_initialised_from_its_place_in_the_segment() {
    let items = format!("(data $d \"{}y{}z\")", "x".repeat(299_999), "x".repeat(300_000));
    let execute = "(memory.init $d (i32.const 20000) (i32.const 1) (i32.const 600000))
        (if (i32.ne (i32.load8_u (i32.const 319998)) (i32.const 121)) (then unreachable))
        (if (i32.ne (i32.load8_u (i32.const 619999)) (i32.const 122)) (then unreachable))";
    finds_what_it_should(&items, execute).await;
}

#[tokio::test]
async fn what_does_not_lie_in_the_memory_is_a_trap_as_before() {
    for bulk in [
        "(memory.fill (i32.const 20000) (i32.const 7) (i32.const 3000000))",
        "(memory.copy (i32.const 20000) (i32.const 30000) (i32.const 3000000))",
        "(memory.copy (i32.const 30000) (i32.const 20000) (i32.const -1))",
    ] {
        let guest = Handmade {
            execute: bulk,
            ..Handmade::default()
        };
        let plugin = sandbox().load("outside", &guest.build()).expect("it loads");
        let ending = call(&plugin, json!({}), Limits::EXECUTE).await.ending;
        assert_eq!(ending.name(), "trap", "{bulk}: {ending:?}");
    }
}

#[tokio::test]
async fn a_long_body_with_every_kind_of_branch_is_still_valid() {
    let arm = "(if (result i32) (i32.and (local.get $a) (i32.const 1))
            (then (block $b (result i32)
                (br_if $b (i32.const 3) (local.get $a))
                (drop) (br_table $b $b (i32.const 5) (local.get $a))))
            (else (i32.load8_u (i32.const 2000))))
        (local.get $a) i32.add (local.set $a)";
    let items = format!(
        "(func $long (param $a i32) (result i32) {} (local.get $a))",
        arm.repeat(5_000)
    );
    finds_what_it_should(&items, "(drop (call $long (i32.const 1)))").await;
}

#[tokio::test]
async fn memory_that_grows_has_its_size_and_is_zero() {
    let execute = "(if (i32.ne (memory.grow (i32.const 0)) (i32.const 32)) (then unreachable))
        (if (i32.ne (memory.grow (i32.const 100)) (i32.const 32)) (then unreachable))
        (i32.store (i32.const 8650748) (i32.const 7))
        (if (i32.ne (memory.grow (i32.const 200)) (i32.const 132)) (then unreachable))
        (if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then unreachable))
        (if (i32.ne (memory.size) (i32.const 332)) (then unreachable))
        (if (i32.ne (i32.load (i32.const 8650748)) (i32.const 7)) (then unreachable))
        (if (i32.load (i32.const 8650752)) (then unreachable))
        (if (i32.load (i32.const 21757948)) (then unreachable))";
    finds_what_it_should("", execute).await;
}
