//! Checks that no text of a tool can control a terminal, hide in it or break a table.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cases::texts::check(bytes));
