//! `schema()` never ends.

#![cfg(target_family = "wasm")]

guests::schema_guest!(loop {
    std::hint::spin_loop();
});
