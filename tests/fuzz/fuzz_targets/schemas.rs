//! Checks that three steps together take at most 100 ms and 64 MiB: a schema is compiled or refused, its defaults are filled into
//! a value, and the value is checked.
//!
//! The time is checked only without debug assertions, which make everything several times as slow. It is the processor time of
//! the thread, so that a busy machine causes no false alarm.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;
#[path = "../memory.rs"]
mod memory;

use std::time::Duration;

use libfuzzer_sys::fuzz_target;

const MAX_TIME: Duration = Duration::from_millis(100);
const MAX_BYTES: usize = 64 << 20;

/// Returns the processor time of this thread. Works only on Linux.
fn processor_time() -> Duration {
    let schedstat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(schedstat.split(' ').next().unwrap().parse().unwrap())
}

fuzz_target!(|bytes: &[u8]| {
    let (schema, value) = cases::schemas::schema_and_value(bytes);
    let start = processor_time();
    let peak = memory::measure_peak(|| cases::schemas::admit_and_check(&schema, value));
    let time = processor_time() - start;
    assert!(
        cfg!(debug_assertions) || time <= MAX_TIME,
        "{time:?}: {:.2000}",
        schema.to_string()
    );
    assert!(peak <= MAX_BYTES, "{peak} bytes: {:.2000}", schema.to_string());
});
