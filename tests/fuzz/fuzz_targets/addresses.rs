//! Checks that a grant covers a request only if the connection goes to the granted host, port and path.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cases::addresses::check(bytes));
