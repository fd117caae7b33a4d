//! Tools that import the contract alone: what they can do without WASI, and what they are told when they cannot.

use art_core::limits::Limits;
use art_core::outcome::Outcome;
use art_sandbox::Plugin;
use art_tools::ToolExecutor;
use serde_json::{Value, json};

use crate::harness::{call, components, guest, output};

const MIB: u64 = 1 << 20;

async fn asked_to(what: &str, n: u64, limits: Limits) -> Outcome {
    let arguments = json!({"what": what, "n": n});
    call(&guest(components::WITHOUT_WASI), arguments, limits).await
}

/// Returns the log of a call that panicked.
async fn told_when_asked_to(what: &str) -> String {
    let outcome = asked_to(what, 0, Limits::EXECUTE).await;
    assert_eq!(outcome.ending.name(), "trap", "{:?}", outcome.ending);
    format!("{:?}", outcome.log)
}

fn imports_the_contract_alone(plugin: &Plugin) -> bool {
    let imports = &plugin.inspection().imports;
    imports.iter().all(|import| import.starts_with("art:tool/"))
}

#[test]
fn the_first_party_tools_import_the_contract_alone_but_for_the_one_that_reads_the_clock() {
    let plugins = components::PLUGINS.iter().map(|(_, path)| guest(path));
    let with_wasi: Vec<_> = plugins
        .filter(|plugin| !imports_the_contract_alone(plugin))
        .map(|plugin| plugin.schema().name.clone())
        .collect();
    assert_eq!(with_wasi, ["datetime"]);
}

#[tokio::test]
async fn memory_keeps_what_is_put_into_it_however_it_is_used() {
    let limits = Limits {
        fuel: Limits::MAX.fuel,
        ..Limits::EXECUTE
    };
    let outcome = asked_to("churn", 20_000, limits).await;
    assert!(matches!(output(&outcome), Value::Number(_)), "{outcome:?}");
}

const LITTLE_MEMORY: Limits = Limits {
    memory_bytes: 8 * MIB,
    ..Limits::EXECUTE
};

#[tokio::test]
async fn what_is_needed_at_once_is_had_up_to_the_limit() {
    let outcome = asked_to("hold", 6, LITTLE_MEMORY).await;
    assert_eq!(output(&outcome), 6 * MIB);
}

/// Growing ahead of need is refused near the limit, and then what is needed is asked for.
#[tokio::test]
async fn what_is_gathered_in_pieces_is_had_up_to_the_limit() {
    let outcome = asked_to("gather", 6, LITTLE_MEMORY).await;
    assert_eq!(output(&outcome), 6 * 32);
    assert!(outcome.usage.peak_memory_bytes > 7 * MIB, "{:?}", outcome.usage);
}

#[tokio::test]
async fn what_does_not_fit_into_the_limit_is_refused() {
    let outcome = asked_to("hold", 8, LITTLE_MEMORY).await;
    assert_eq!(outcome.ending.name(), "memory_exhausted", "{outcome:?}");
}

#[tokio::test]
async fn the_words_of_a_panic_are_in_the_log() {
    let told = told_when_asked_to("panic").await;
    assert!(told.contains("as it was asked to"), "{told}");
}

#[tokio::test]
async fn a_tool_that_wants_a_clock_is_told_how_to_get_one() {
    let told = told_when_asked_to("clock").await;
    assert!(
        told.contains("set `wasi = true` under `[package.metadata.art]`"),
        "{told}"
    );
}

#[tokio::test]
async fn a_panic_that_is_the_tools_own_comes_without_that_advice() {
    let told = told_when_asked_to("panic").await;
    assert!(!told.contains("hint"), "{told}");
}
