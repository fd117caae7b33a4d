//! Checks that redaction leaves no secret in bytes, neither a plain nor an encoded one, even if it is split over several
//! parts of the bytes.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cases::secrets::check(bytes));
