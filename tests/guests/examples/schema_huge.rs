//! `schema()` returns 10 MB.

#![cfg(target_family = "wasm")]

guests::schema_guest!({
    let mut schema = guests::plain_schema("schema_huge");
    schema.description = "x".repeat(10_000_000);
    schema
});
