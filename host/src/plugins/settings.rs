//! The settings of cargo for components. The build script of the tests and the benchmark of calls include this file too, so that
//! every component is compiled in the same way and each crate only once.

/// Cargo settings for every component, each an argument of `--config`.
///
/// - `linker`: `wasm-component-ld` creates a component, not only a core module. It comes with rustc.
/// - `rustflags`: `+simd128` uses SIMD instructions, which every host supports. The inline threshold is raised because every
///   function call stores and checks the fuel counter. These flags are added to those of the crate's own configuration.
/// - `profile.tool`: defines the profile `tool`, optimized code in which an overflow is a panic, and a panic is a trap.
pub(crate) const CARGO_SETTINGS: [&str; 8] = [
    r#"target.wasm32-unknown-unknown.linker="wasm-component-ld""#,
    r#"target.wasm32-unknown-unknown.rustflags=["-Ctarget-feature=+simd128", "-Cllvm-args=-inline-threshold=500"]"#,
    r#"target.wasm32-wasip2.rustflags=["-Ctarget-feature=+simd128", "-Cllvm-args=-inline-threshold=500"]"#,
    r#"profile.tool.inherits="release""#,
    r#"profile.tool.lto="off""#,
    r#"profile.tool.panic="abort""#,
    "profile.tool.strip=true",
    "profile.tool.overflow-checks=true",
];
