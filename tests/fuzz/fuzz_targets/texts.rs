//! Checks that no text of a tool can control a terminal, hide in it or change the cells of the Markdown table in which it is shown.

#![no_main]

#[path = "../cases/mod.rs"]
#[expect(dead_code, reason = "each target calls one part of it")]
mod cases;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cases::texts::check(bytes));
