//! `schema()` aborts, which is a trap.

#![cfg(target_family = "wasm")]

guests::schema_guest!(std::process::abort());
