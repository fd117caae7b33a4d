//! `schema()` tries to use files, the network and the environment. The description that it returns says what worked.

#![cfg(target_family = "wasm")]

guests::schema_guest!(guests::bindings::art::tool::types::ToolSchema {
    description: format!(
        "file {}, directory {}, request {}, variables {}",
        std::fs::read("/etc/passwd").is_ok(),
        std::fs::read_dir("/").is_ok_and(|entries| entries.count() > 0),
        art_sdk::http::get("http://127.0.0.1/").is_ok(),
        std::env::vars_os().count(),
    ),
    ..guests::plain_schema("schema_reaches")
});
