//! `schema()` panics.

#![cfg(target_family = "wasm")]

guests::schema_guest!(std::process::abort());
