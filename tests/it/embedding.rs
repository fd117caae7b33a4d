//! The host as a library of another program, and the example of such a program in `examples/embed`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use art_runtime::Runtime;
use art_runtime::plugins::{CompileCount, CompileProgress};
use art_runtime::prelude::DirectTool;
use art_sandbox::{Sandbox, SandboxConfig};
use serde_json::Value;

use crate::home::Home;
use crate::program::CommandOutput;

fn block_on<F: Future>(future: F) -> F::Output {
    let executor = tokio::runtime::Builder::new_current_thread().enable_all().build();
    executor.unwrap().block_on(future)
}

#[test]
fn an_embedding_program_receives_the_progress_of_compiling() {
    let home = Home::with_empty_cache();
    let events_of_a_start = || {
        let events = Mutex::new(Vec::new());
        let on_compile_progress = |progress: CompileProgress<'_>| {
            // Events of other kinds depend on the speed of the machine.
            if let CompileProgress::Count(count) = progress {
                events.lock().unwrap().push(count);
            }
        };
        let builder = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
        let runtime = block_on(builder.on_compile_progress(on_compile_progress).build()).unwrap();
        assert_eq!(runtime.toolbox.names(), ["calculator"]);
        drop(runtime);
        events.into_inner().unwrap()
    };
    assert_eq!(events_of_a_start(), [0, 1].map(|done| CompileCount { done, total: 1 }));
    assert_eq!(events_of_a_start(), []);
}

#[test]
fn a_tool_of_the_embedding_program_overrides_a_component_of_the_same_name() {
    let home = Home::with_empty_cache();
    let tool = DirectTool::typed("calculator", "Answers.", async |_: BTreeMap<String, Value>| {
        Ok::<_, String>(42)
    });
    let builder = Runtime::builder().home(home.dir.path()).plugins(home.plugins());
    let runtime = block_on(builder.tool(tool).build()).unwrap();
    assert_eq!(runtime.toolbox.plugins().len(), 0);
    let refused = runtime.toolbox.refused.first().unwrap();
    assert_eq!(refused.file, "calculator.wasm");
    assert!(refused.reason.contains("already has the tool `"), "{refused}");
}

/// Returns whether a line of the log reports that the calculator starts to be compiled.
fn logs_compiling(ran: &CommandOutput) -> bool {
    let stderr = ran.stderr();
    let mut started = stderr
        .lines()
        .filter(|line| line.contains("compiling a component for this machine"));
    started.any(|line| line.contains("calculator.wasm"))
}

#[test]
fn a_component_that_is_compiled_is_logged_by_name() {
    let ran = Home::with_empty_cache().art(&["-v", "tool", "list"]);
    assert!(logs_compiling(&ran), "{ran}");
}

#[test]
fn a_component_that_is_compiled_by_its_first_call_is_logged_by_name() {
    let home = Home::with_empty_cache();
    let path = home.plugins().join("calculator.wasm");
    // A component that contains its schema is listed without being compiled.
    let sandbox = Sandbox::new(&SandboxConfig::default()).unwrap();
    fs::write(&path, sandbox.with_schema(&fs::read(&path).unwrap()).unwrap()).unwrap();
    let listed = home.art(&["-v", "tool", "list"]);
    assert!(!logs_compiling(&listed), "{listed}");
    let called = home.art(&["-v", "tool", "call", "calculator", r#"{"expression":"2+2"}"#]);
    called.assert_answers(&["4"]);
    assert!(logs_compiling(&called), "{called}");
}

/// Returns the settings that the `dev` profile of a manifest has for single packages.
fn package_profiles(manifest: &str) -> toml::Value {
    let manifest: toml::Value = toml::from_str(manifest).unwrap();
    let packages = manifest
        .get("profile")
        .and_then(|profile| profile.get("dev")?.get("package"));
    packages.cloned().unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Returns the manifest of a package outside of the workspace. The package depends on the runtime and on tokio, and has the `dev`
/// profile of the workspace.
fn manifest_of_outside_package() -> String {
    let workspace: toml::Table = fs::read_to_string(root().join("Cargo.toml")).unwrap().parse().unwrap();
    let dev = workspace.get("profile").and_then(|profile| profile.get("dev")).unwrap();
    let dev = toml::Table::from_iter([("dev".to_owned(), dev.clone())]);
    let profile = toml::to_string(&toml::Table::from_iter([(
        "profile".to_owned(),
        toml::Value::Table(dev),
    )]));
    let runtime = root().join("host/crates/art-runtime");
    format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\n\
         art-runtime = {{ path = {runtime:?} }}\n\
         tokio = {{ version = \"1\", default-features = false, features = [\"macros\", \"rt\"] }}\n\n{}",
        profile.unwrap()
    )
}

#[test]
#[ignore = "builds the crate art-sandbox again, with other features than in the workspace; `.ci/run embedding` runs it"]
fn the_example_builds_and_answers_outside_of_the_workspace() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("src")).unwrap();
    fs::write(folder.path().join("Cargo.toml"), manifest_of_outside_package()).unwrap();
    for (from, to) in [
        ("Cargo.lock", "Cargo.lock"),
        ("examples/embed/src/main.rs", "src/main.rs"),
    ] {
        fs::copy(root().join(from), folder.path().join(to)).unwrap();
    }
    let ran = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline"])
        .current_dir(folder.path())
        .env(
            "CARGO_TARGET_DIR",
            Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap(),
        )
        .output();
    let ran = CommandOutput(ran.unwrap());
    assert_eq!(ran.code(), 0, "{ran}");
    // The answer of the example: the number of people in Paris.
    assert!(ran.stdout().contains("2048000"), "{ran}");
}

#[test]
fn the_example_has_at_most_25_lines_and_two_dependencies() {
    let example = root().join("examples/embed");
    let source = fs::read_to_string(example.join("src/main.rs")).unwrap();
    assert!(source.lines().count() <= 25, "{source}");
    let manifest: toml::Table = fs::read_to_string(example.join("Cargo.toml")).unwrap().parse().unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    assert_eq!(dependencies.keys().collect::<Vec<_>>(), ["art-runtime", "tokio"]);
}

#[test]
fn the_profile_in_the_readme_of_the_example_has_the_package_settings_of_this_workspace() {
    let root = root();
    let readme = fs::read_to_string(root.join("examples/embed/README.md")).unwrap();
    let documented = readme.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let workspace = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    assert_eq!(package_profiles(documented), package_profiles(&workspace));
}
