//! `schema()` returns a different description every time.

#![cfg(target_family = "wasm")]

guests::schema_guest!({
    let mut schema = guests::plain_schema("schema_differs");
    schema.description = format!("{:?}", std::time::SystemTime::now());
    schema
});
