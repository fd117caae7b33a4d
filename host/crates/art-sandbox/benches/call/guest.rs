//! The tool that is called, natively and as a component.

use std::path::Path;
use std::process::Command;

/// Input of the small call.
pub(crate) const ADD: &str = r#"{"op":"Add","a":20,"b":22}"#;

/// Builds the guest and reads it. `ART_BENCH_GUEST` names one that was built in another way.
pub(crate) fn component() -> Vec<u8> {
    if let Some(path) = std::env::var_os("ART_BENCH_GUEST") {
        return std::fs::read(path).unwrap();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let target = root.join("target/bench-guest");
    let built = Command::new(env!("CARGO"))
        .args([
            "build",
            "--quiet",
            "--package",
            "bench_guest",
            "--target",
            "wasm32-wasip2",
            "--profile",
            "tool",
        ])
        .arg("--target-dir")
        .arg(&target)
        .current_dir(&root)
        .status();
    assert!(
        built.unwrap().success(),
        "the guest does not build; is the target `wasm32-wasip2` installed?"
    );
    std::fs::read(target.join("wasm32-wasip2/tool/bench_guest.wasm")).unwrap()
}

/// The same work as the component: parse, compute, write.
pub(crate) fn native(input: &str) -> String {
    let output = bench_guest::bench(serde_json::from_str(input).unwrap()).unwrap();
    serde_json::to_string(&output).unwrap()
}
