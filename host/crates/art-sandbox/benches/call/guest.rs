//! The tool that is called, natively and as a component.

use std::path::Path;
use std::process::Command;

#[path = "../../../../src/plugins/settings.rs"]
mod settings;

use settings::CARGO_SETTINGS;

/// Input of the small call, which adds two numbers.
pub(crate) const ADD_INPUT: &str = r#"{"op":"Add","a":20,"b":22}"#;

/// Input of the call that reads a file.
pub(crate) const READ_INPUT: &str = r#"{"op":"Read","a":0,"b":0}"#;
/// Size of the file that the call with `READ_INPUT` reads, in bytes. All its bytes are 128.
pub(crate) const READ_BYTES: usize = 4 << 10;

/// The components whose calls are measured: two builds of the guest, and another guest.
pub(crate) struct Components {
    /// The guest without WASI, like most tools.
    pub(crate) plain: Vec<u8>,
    /// The guest with WASI.
    pub(crate) wasi: Vec<u8>,
    /// Another guest, with WASI: a small tool that only sleeps.
    pub(crate) sleeper: Vec<u8>,
}

impl Components {
    /// Compiles the guest twice, without and with WASI, and the guest that sleeps.
    pub(crate) fn build() -> Self {
        Self {
            plain: build_component(
                "wasm32-unknown-unknown",
                &["--package", "bench_guest"],
                "bench_guest.wasm",
            ),
            wasi: build_component("wasm32-wasip2", &["--package", "bench_guest"], "bench_guest.wasm"),
            sleeper: build_component(
                "wasm32-wasip2",
                &["--package", "guests", "--example", "slow_echo"],
                "examples/slow_echo.wasm",
            ),
        }
    }
}

/// Builds a guest for `target` as `art plugin build` would, and returns the component. `selection` contains the options with
/// which cargo selects the guest. `file` is the path of the component below the output directory of the profile `tool`.
fn build_component(target: &str, selection: &[&str], file: &str) -> Vec<u8> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let target_dir = root.join("target/bench-guest");
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--profile", "tool"])
        .args(selection)
        .args(CARGO_SETTINGS.iter().flat_map(|setting| ["--config", setting]))
        .args(["--target", target])
        .arg("--target-dir")
        .arg(&target_dir)
        .current_dir(&root)
        .status();
    assert!(
        built.unwrap().success(),
        "the guest does not build; is the target `{target}` installed?"
    );
    std::fs::read(target_dir.join(target).join("tool").join(file)).unwrap()
}

/// Calls the function of the tool directly: parses the input, computes, and serializes the output.
pub(crate) fn call_function(input: &str) -> String {
    let output = bench_guest::bench(serde_json::from_str(input).unwrap()).unwrap();
    serde_json::to_string(&output).unwrap()
}
