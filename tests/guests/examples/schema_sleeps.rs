//! `schema()` waits for an hour.

#![cfg(target_family = "wasm")]

guests::schema_guest!({
    std::thread::sleep(std::time::Duration::from_secs(3600));
    guests::plain_schema("schema_sleeps")
});
