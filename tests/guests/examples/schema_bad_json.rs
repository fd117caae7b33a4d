//! `schema()` returns an input schema that is not JSON.

#![cfg(target_family = "wasm")]

guests::schema_guest!({
    let mut schema = guests::plain_schema("schema_bad_json");
    schema.input_schema = "{type: object}".to_owned();
    schema
});
