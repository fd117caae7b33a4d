//! `schema()` allocates memory until it reaches the limit.

#![cfg(target_family = "wasm")]

guests::schema_guest!(loop {
    std::hint::black_box(vec![1_u8; 1 << 20].leak());
});
