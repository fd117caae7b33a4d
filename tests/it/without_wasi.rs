//! Tools that import only the interfaces of the WIT package `art:tool` (the contract between a tool and the host), and nothing of
//! WASI: how they use memory, and the error for an operation that needs WASI.

use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_sandbox::Plugin;
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use crate::harness::{call, components, guest, output};

const MIB: u64 = 1 << 20;

/// Calls the guest with an action. `hold` allocates `n` MiB at once, `gather` the same in pieces of 32 KiB, and `churn` allocates
/// and frees blocks of many sizes in `n` rounds. `panic` and `clock` do not use `n`.
async fn run_guest(action: &str, n: u64, limits: Limits) -> Outcome {
    let arguments = json!({"action": action, "n": n});
    call(&guest(components::WITHOUT_WASI), arguments, limits).await
}

/// Calls the guest with an action that panics. Returns the log of the call.
async fn log_of_panic(action: &str) -> String {
    let outcome = run_guest(action, 0, Limits::EXECUTE).await;
    assert_eq!(outcome.ending.name(), "trap", "{:?}", outcome.ending);
    format!("{:?}", outcome.log)
}

fn imports_only_the_contract(plugin: &Plugin) -> bool {
    let imports = &plugin.inspection().imports;
    imports.iter().all(|import| import.starts_with("art:tool/"))
}

#[test]
fn first_party_tools_import_wasi_only_if_they_need_the_clock_files_or_requests() {
    let plugins = components::PLUGINS.iter().map(|(_, path)| guest(path));
    let with_wasi: Vec<_> = plugins
        .filter(|plugin| !imports_only_the_contract(plugin))
        .map(|plugin| plugin.schema().name.clone())
        .collect();
    let expected = [
        "archive_list",
        "csv_query",
        "datetime",
        "file_edit",
        "file_read",
        "file_search",
        "file_write",
        "hash_file",
        "http_fetch",
        "json_query",
        "sqlite_query",
        "web_search",
    ];
    assert_eq!(with_wasi, expected);
}

/// The guest fills its blocks, and returns an error instead of a number if the content of one has changed.
#[tokio::test]
async fn the_allocator_never_overwrites_allocated_memory() {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        ..Limits::EXECUTE
    };
    let outcome = run_guest("churn", 20_000, limits).await;
    assert!(matches!(output(&outcome), Value::Number(_)), "{outcome:?}");
}

/// Limits with a memory of 8 MiB.
const SMALL_MEMORY: Limits = Limits {
    memory_bytes: 8 * MIB,
    ..Limits::EXECUTE
};

#[tokio::test]
async fn one_large_allocation_can_use_the_memory_up_to_the_limit() {
    let outcome = run_guest("hold", 6, SMALL_MEMORY).await;
    assert_eq!(output(&outcome), 6 * MIB);
}

/// The allocator usually grows the memory by more than it needs. Near the limit it grows the memory only by what it needs.
#[tokio::test]
async fn many_small_allocations_can_use_the_memory_up_to_the_limit() {
    let outcome = run_guest("gather", 6, SMALL_MEMORY).await;
    let pieces = 6 * MIB / (32 << 10);
    assert_eq!(output(&outcome), pieces);
    assert!(outcome.usage.peak_memory_bytes > 7 * MIB, "{:?}", outcome.usage);
}

#[tokio::test]
async fn an_allocation_over_the_limit_is_refused() {
    let outcome = run_guest("hold", 8, SMALL_MEMORY).await;
    assert_eq!(outcome.ending.name(), "memory_exhausted", "{outcome:?}");
}

#[tokio::test]
async fn the_message_of_a_panic_is_in_the_log() {
    let log = log_of_panic("panic").await;
    assert!(log.contains("a requested panic"), "{log}");
}

#[tokio::test]
async fn a_panic_because_of_a_missing_clock_has_a_hint() {
    let log = log_of_panic("clock").await;
    assert!(
        log.contains("set `wasi = true` under `[package.metadata.art]`"),
        "{log}"
    );
}

#[tokio::test]
async fn a_panic_that_the_tool_requests_has_no_hint() {
    let log = log_of_panic("panic").await;
    assert!(!log.contains("hint"), "{log}");
}
