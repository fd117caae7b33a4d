//! Checks that no secret, plain or encoded, is left in redacted bytes, however they are split into parts.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cases::secrets::check(bytes));
