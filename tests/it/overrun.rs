//! Guests are stopped soon after their deadline, whatever they do. For this, the host instruments a guest before it is compiled:
//! it adds code in which the guest can be stopped. This does not change what the guest computes. `cargo bench --bench overrun`
//! measures the times.

use std::time::{Duration, Instant};

use art_core::limits::Limits;
use art_sandbox::Plugin;
use serde_json::json;

use crate::handmade::Handmade;
use crate::harness::{call, sandbox};
use crate::overrunning::{OVERRUNNING_GUESTS, OverrunningGuest};

/// Maximum overrun. It is ten times the goal for the default limits, because other tests run at the same time.
const MAX_OVERRUN: Duration = Duration::from_millis(150);
/// Maximum number of calls of a guest. The call with the shortest overrun counts.
const MAX_CALLS: usize = 5;
/// Size of the memory of each guest, in pages of 64 KiB.
const MEMORY_PAGES: u32 = 960;

/// Returns for how long a call goes on after its deadline.
async fn measure_overrun(guest: &OverrunningGuest, plugin: &Plugin) -> Duration {
    let deadline_ms = guest.hardest_deadline_ms(&Limits::EXECUTE);
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        timeout_ms: deadline_ms,
        ..Limits::EXECUTE
    };
    let start = Instant::now();
    let ending = call(plugin, json!({}), limits).await.ending;
    assert_eq!(ending.name(), "timeout", "{}: {ending:?}", guest.name);
    start.elapsed().saturating_sub(Duration::from_millis(deadline_ms))
}

#[tokio::test]
async fn every_guest_is_stopped_soon_after_its_deadline() {
    for guest in OVERRUNNING_GUESTS {
        let plugin = sandbox()
            .load("overrunning", &(guest.build)(MEMORY_PAGES))
            .expect("it loads");
        let mut shortest = Duration::MAX;
        for _ in 0..MAX_CALLS {
            shortest = shortest.min(measure_overrun(guest, &plugin).await);
            if shortest < MAX_OVERRUN {
                break;
            }
        }
        assert!(
            shortest < MAX_OVERRUN,
            "{} exceeded its deadline by {shortest:?}",
            guest.name
        );
    }
}

/// Functions for a sequence of 200000 numbers: `$write` writes the sequence at an address, and `$check` traps if the numbers at
/// an address differ from it.
const WRITE_AND_CHECK: &str = "
    (func $number (param $n i32) (result i32) (i32.mul (local.get $n) (i32.const 0x9e3779b5)))
    (func $write (param $at i32) (local $n i32)
        (loop $l
            (i32.store (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2))) (call $number (local.get $n)))
            (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200000)))))
    (func $check (param $at i32) (local $n i32)
        (loop $l
            (if (i32.ne (i32.load (i32.add (local.get $at) (i32.shl (local.get $n) (i32.const 2)))) (call $number (local.get $n)))
                (then unreachable))
            (br_if $l (i32.lt_u (local.tee $n (i32.add (local.get $n) (i32.const 1))) (i32.const 200000)))))";

/// Runs a guest whose instructions trap if a result is wrong, and asserts that it does not trap.
async fn assert_success(items: &str, execute: &str) {
    let guest = Handmade {
        items,
        execute,
        ..Handmade::default()
    };
    let plugin = sandbox().load("instrumented", &guest.build()).expect("it loads");
    let ending = call(&plugin, json!({}), Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "success", "{execute}: {ending:?}");
}

#[tokio::test]
async fn a_long_copy_is_correct_even_if_source_and_destination_overlap() {
    for (from, to) in [(20_000, 20_100), (20_100, 20_000), (20_000, 20_000), (20_000, 900_000)] {
        let execute = format!(
            "(call $write (i32.const {from}))
             (memory.copy (i32.const {to}) (i32.const {from}) (i32.const 800000))
             (call $check (i32.const {to}))"
        );
        assert_success(WRITE_AND_CHECK, &execute).await;
    }
}

#[tokio::test]
async fn a_copy_is_correct_in_a_module_with_many_types_and_a_function_with_locals() {
    // The host replaces `memory.copy` by an `if` whose type it appends to the types of the module. The index of this type is a
    // signed LEB128 number, which takes two bytes from 64 on.
    let items = format!("{} {WRITE_AND_CHECK}", "(type (func (param i64)))".repeat(100));
    // The byte after the destination is set to 9 before the copy, and must still be 9 after it. The locals `$a` and `$b` must
    // still be 7.
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
        assert_success(&items, &execute).await;
    }
}

#[tokio::test]
async fn a_fill_writes_its_range_and_nothing_else() {
    // A fill is done in chunks of 262144 bytes. The byte after the range is set to 9 before the fill, and must stay so.
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
        assert_success("", &execute).await;
    }
}

#[tokio::test]
async fn a_long_memory_init_copies_from_the_right_offset_of_the_segment() {
    // The segment has the letter `y` (121) at the offset 299999 and `z` (122) at its end, and is copied without its first byte.
    let items = format!("(data $d \"{}y{}z\")", "x".repeat(299_999), "x".repeat(300_000));
    let execute = "(memory.init $d (i32.const 20000) (i32.const 1) (i32.const 600000))
        (if (i32.ne (i32.load8_u (i32.const 319998)) (i32.const 121)) (then unreachable))
        (if (i32.ne (i32.load8_u (i32.const 619999)) (i32.const 122)) (then unreachable))";
    assert_success(&items, execute).await;
}

#[tokio::test]
async fn a_bulk_operation_out_of_bounds_is_a_trap() {
    // The memory of a handmade guest has 2097152 bytes.
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
async fn an_instrumented_function_with_all_kinds_of_branches_is_valid() {
    // With 5000 copies of these branches, the function is so long that the host adds code to it in which it can be stopped.
    let branches = "(if (result i32) (i32.and (local.get $a) (i32.const 1))
            (then (block $b (result i32)
                (br_if $b (i32.const 3) (local.get $a))
                (drop) (br_table $b $b (i32.const 5) (local.get $a))))
            (else (i32.load8_u (i32.const 2000))))
        (local.get $a) i32.add (local.set $a)";
    let items = format!(
        "(func $long (param $a i32) (result i32) {} (local.get $a))",
        branches.repeat(5_000)
    );
    assert_success(&items, "(drop (call $long (i32.const 1)))").await;
}

#[tokio::test]
async fn grown_memory_has_the_right_size_and_is_zero() {
    // The memory grows from 32 pages to 132 and then to 332; 65535 more are too many. The addresses are those of the last word
    // of 132 pages, which is set to 7, of the word after it, and of the last word of 332 pages.
    let execute = "(if (i32.ne (memory.grow (i32.const 0)) (i32.const 32)) (then unreachable))
        (if (i32.ne (memory.grow (i32.const 100)) (i32.const 32)) (then unreachable))
        (i32.store (i32.const 8650748) (i32.const 7))
        (if (i32.ne (memory.grow (i32.const 200)) (i32.const 132)) (then unreachable))
        (if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then unreachable))
        (if (i32.ne (memory.size) (i32.const 332)) (then unreachable))
        (if (i32.ne (i32.load (i32.const 8650748)) (i32.const 7)) (then unreachable))
        (if (i32.load (i32.const 8650752)) (then unreachable))
        (if (i32.load (i32.const 21757948)) (then unreachable))";
    assert_success("", execute).await;
}

#[tokio::test]
async fn a_large_initial_memory_has_its_data_before_the_start_function_runs() {
    // The start function remembers the first letter of `seven`, which is 115. The last word of the memory, at 26214396, is zero.
    let guest = Handmade {
        memory: r#"(memory (export "memory") 400) (data (i32.const 20000000) "seven")"#,
        items: "(global $started (mut i32) (i32.const 0))
                (func $start (global.set $started (i32.load8_u (i32.const 20000000)))) (start $start)",
        execute: "(if (i32.ne (global.get $started) (i32.const 115)) (then unreachable))
                  (if (i32.load (i32.const 26214396)) (then unreachable))",
        ..Handmade::default()
    };
    let plugin = sandbox().load("started", &guest.build()).expect("it loads");
    let ending = call(&plugin, json!({}), Limits::EXECUTE).await.ending;
    assert_eq!(ending.name(), "success", "{ending:?}");
}
