//! `art plugin build`: compiles a tool crate, checks the component and drops it into the plugins folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use art_sandbox::{Inspection, Plugin, Sandbox};
use art_tools::{ToolExecutor, ToolRegistry};
use serde::Deserialize;

use super::load_folder;
use super::target::{Target, Wanted};
use crate::error::{CommandError, in_one_line};

/// How components are built, whatever the crate's own manifest says: small, fast, and a panic is a trap. The linker is the one
/// that makes components; rustc brings it along.
const SETTINGS: [&str; 7] = [
    r#"target.wasm32-unknown-unknown.linker="wasm-component-ld""#,
    r#"profile.tool.inherits="release""#,
    r#"profile.tool.lto="fat""#,
    "profile.tool.codegen-units=1",
    r#"profile.tool.panic="abort""#,
    "profile.tool.strip=true",
    "profile.tool.overflow-checks=true",
];
/// Every call of a function saves and checks its fuel, so functions are inlined more than they would be; and every host has
/// vector instructions.
const FLAGS: [&str; 2] = ["-Ctarget-feature=+simd128", "-Cllvm-args=-inline-threshold=1000"];
/// Between two flags in cargo's variable for them.
const FLAG_SEPARATOR: &str = "\x1f";

/// A component that was built, checked and dropped.
#[derive(Debug)]
pub struct Built {
    /// The loaded tool.
    pub plugin: Arc<Plugin>,
    /// Where the component was dropped.
    pub path: PathBuf,
    /// Size of the component in bytes.
    pub bytes: u64,
}

/// Builds the crate in `folder` and drops its components into `plugins`.
///
/// # Errors
/// When the target is missing and cannot be installed, the crate does not build, or a component is refused.
pub fn build(sandbox: &Sandbox, folder: &Path, plugins: &Path) -> Result<Vec<Built>, CommandError> {
    fs::create_dir_all(plugins).map_err(CommandError::file("create", plugins))?;
    let components = compile(folder)?;
    components
        .iter()
        .map(|component| check_and_drop(sandbox, component, plugins))
        .collect()
}

/// One line of `cargo build --message-format=json`; other kinds of lines have other fields.
#[derive(Deserialize)]
struct CargoMessage {
    reason: String,
    #[serde(default)]
    filenames: Vec<PathBuf>,
    #[serde(default)]
    manifest_path: PathBuf,
}

/// Runs cargo; its diagnostics go to stderr as they are. Gives the components of the crate itself.
fn compile(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let manifest = folder.join("Cargo.toml");
    let manifest = fs::canonicalize(&manifest).map_err(CommandError::file("find", manifest))?;
    let wanted = Wanted::by(&manifest)?;
    wanted.target.ensure()?;
    let output = cargo_build(&manifest, wanted.target)
        .stderr(Stdio::inherit())
        .output()
        .map_err(CommandError::file("run", "cargo"))?;
    let failed = |what: &str| Err(CommandError::Failed(format!("`{}` {what}", folder.display())));
    if !output.status.success() {
        return failed(&format!("does not build; see the messages above{}", hint(&wanted)));
    }
    let components = components(&output.stdout, &manifest);
    if components.is_empty() {
        return failed(
            "builds no component (hint: its `Cargo.toml` needs `[lib]` with `crate-type = [\"cdylib\", \"rlib\"]`)",
        );
    }
    Ok(components)
}

fn cargo_build(manifest: &Path, target: Target) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo
        .args(["build", "--quiet", "--lib", "--profile", "tool"])
        .args(["--target", target.triple()])
        .arg("--message-format=json-render-diagnostics")
        .arg("--manifest-path")
        .arg(manifest)
        .args(SETTINGS.iter().flat_map(|setting| ["--config", setting]))
        .env("CARGO_ENCODED_RUSTFLAGS", FLAGS.join(FLAG_SEPARATOR));
    cargo
}

/// Libraries that want a clock or random numbers do not compile without WASI, and give other reasons for it.
fn hint(wanted: &Wanted) -> &'static str {
    match wanted {
        Wanted {
            target: Target::Plain,
            has_dependencies: true,
        } => {
            " (hint: if a library needs a clock, random numbers or files, set `wasi = true` under `[package.metadata.art]`)"
        }
        _ => "",
    }
}

fn components(output: &[u8], manifest: &Path) -> Vec<PathBuf> {
    let messages = output
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice(line).ok());
    messages
        .filter(|message: &CargoMessage| message.reason == "compiler-artifact" && message.manifest_path == manifest)
        .flat_map(|message| message.filenames)
        .filter(|path| path.extension().is_some_and(|ending| ending == "wasm"))
        .collect()
}

/// Why the tool cannot be in the folder: another file has a tool of that name, so one of them would never be loaded.
fn check_twin(sandbox: &Sandbox, plugin: &Plugin, plugins: &Path) -> Result<Option<String>, CommandError> {
    let loaded =
        load_folder(sandbox, plugins, &|_| {}).map_err(CommandError::file("read the plugins folder", plugins))?;
    let name = &plugin.schema().name;
    let is_twin = |other: &&Arc<Plugin>| other.schema().name == *name && other.name() != plugin.name();
    let twin = loaded.plugins.iter().find(is_twin);
    Ok(twin.map(|twin| {
        let file = plugins.join(format!("{}.wasm", twin.name()));
        format!(
            "the tool `{name}` is in `{}` already; rename the tool or remove that file",
            file.display()
        )
    }))
}

/// What a tool asks to be granted it reaches through WASI.
fn check_wasi(inspection: &Inspection) -> Result<(), String> {
    let asks = inspection
        .manifest
        .as_ref()
        .is_some_and(|manifest| !manifest.capabilities.is_empty());
    let has_wasi = inspection.imports.iter().any(|import| import.starts_with("wasi:"));
    if asks && !has_wasi {
        return Err("it asks for capabilities and has no WASI to reach them with; \
                    set `wasi = true` under `[package.metadata.art]` in its `Cargo.toml`"
            .to_owned());
    }
    Ok(())
}

/// Loads the component as a host would, admits its schema, and only then copies it: whole or not at all.
fn check_and_drop(sandbox: &Sandbox, component: &Path, plugins: &Path) -> Result<Built, CommandError> {
    let wasm = fs::read(component).map_err(CommandError::file("read", component))?;
    let name = component.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let refused = |reason: String| CommandError::Failed(format!("the component of `{name}` was refused: {reason}"));
    let plugin = Arc::new(
        sandbox
            .load(&name, &wasm)
            .map_err(|error| refused(in_one_line(&error)))?,
    );
    check_wasi(plugin.inspection()).map_err(refused)?;
    let admitted = ToolRegistry::new().register(Arc::clone(&plugin) as Arc<dyn ToolExecutor>);
    admitted.map_err(|error| refused(in_one_line(&error)))?;
    check_twin(sandbox, &plugin, plugins)?.map_or(Ok(()), |reason| Err(refused(reason)))?;
    let path = plugins.join(format!("{name}.wasm"));
    let aside = plugins.join(format!(".{name}.wasm.{}", std::process::id()));
    fs::write(&aside, &wasm).map_err(CommandError::file("write", &aside))?;
    fs::rename(&aside, &path).map_err(CommandError::file("write", &path))?;
    Ok(Built {
        plugin,
        path,
        bytes: wasm.len() as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use art_sandbox::Manifest;
    use serde_json::json;

    fn asks_for_files(imports: &[&str]) -> Inspection {
        Inspection {
            imports: imports.iter().map(|&import| import.to_owned()).collect(),
            manifest: Some(Manifest {
                capabilities: vec![json!({"fs": "read"})],
                ..Manifest::default()
            }),
        }
    }

    #[test]
    fn a_tool_that_asks_for_capabilities_needs_wasi() {
        let refused = check_wasi(&asks_for_files(&["art:tool/host@0.1.0"])).unwrap_err();
        assert!(refused.contains("set `wasi = true`"), "{refused}");
    }

    #[test]
    fn a_tool_with_wasi_may_ask_for_capabilities() {
        check_wasi(&asks_for_files(&["wasi:filesystem/types@0.2.6"])).unwrap();
    }

    #[test]
    fn a_tool_that_asks_for_nothing_needs_no_wasi() {
        check_wasi(&Inspection::default()).unwrap();
    }

    #[test]
    fn cargo_builds_components_of_this_repository_by_itself_with_the_same_settings() {
        let config = include_str!("../../../.cargo/config.toml")
            .parse::<toml::Table>()
            .unwrap();
        let target = &config["target"][Target::Plain.triple()];
        assert_eq!(target["rustflags"], toml::Value::from(FLAGS.to_vec()));
        let linker = format!("target.{}.linker={}", Target::Plain.triple(), target["linker"]);
        assert_eq!(SETTINGS[0], linker);
    }
}
