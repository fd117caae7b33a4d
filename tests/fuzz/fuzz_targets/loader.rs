//! Checks that no file makes the loader panic or take more than 64 MiB, and that it accepts no file that the inspection
//! refuses.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;
#[path = "../memory.rs"]
mod memory;

use libfuzzer_sys::fuzz_target;

const MAX_BYTES: usize = 64 << 20;

fuzz_target!(
    init: cases::loader::prepare(),
    |bytes: &[u8]| {
        let peak = memory::measure_peak(|| cases::loader::check(bytes));
        assert!(peak <= MAX_BYTES, "{peak} bytes");
    }
);
