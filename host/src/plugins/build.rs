//! `art plugin build`: compiles a tool crate, checks the component and drops it into the plugins folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use art_sandbox::{Plugin, Sandbox};
use art_tools::{ToolExecutor, ToolRegistry};
use serde::Deserialize;

use super::load_folder;
use crate::error::{CommandError, in_one_line};
use crate::render;

/// The compilation target of components.
pub const TARGET: &str = "wasm32-wasip2";

/// How components are built, whatever the crate's own manifest says: small, fast, and a panic is a trap.
const SETTINGS: [&str; 6] = [
    r#"profile.tool.inherits="release""#,
    r#"profile.tool.lto="fat""#,
    "profile.tool.codegen-units=1",
    r#"profile.tool.panic="abort""#,
    "profile.tool.strip=true",
    "profile.tool.overflow-checks=true",
];

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
    ensure_target()?;
    fs::create_dir_all(plugins).map_err(CommandError::file("create", plugins))?;
    let components = compile(folder)?;
    components
        .iter()
        .map(|component| check_and_drop(sandbox, component, plugins))
        .collect()
}

/// Installs the compilation target when it is missing.
///
/// # Errors
/// When there is no Rust, or the target is missing and `rustup` cannot install it.
pub fn ensure_target() -> Result<(), CommandError> {
    if target_installed()? {
        return Ok(());
    }
    render::note(&format!("installing the compilation target `{TARGET}` with `rustup`"));
    let installed = Command::new("rustup")
        .args(["target", "add", TARGET])
        .stdout(Stdio::null())
        .status();
    match installed {
        Ok(status) if status.success() && target_installed()? => Ok(()),
        Ok(_) => Err(CommandError::Failed(format!(
            "`rustup target add {TARGET}` failed; install the target with the network on, then try again"
        ))),
        Err(_) => Err(CommandError::Failed(format!(
            "the compilation target `{TARGET}` is missing and `rustup` was not found; \
             install Rust with rustup (https://rustup.rs), or add `{TARGET}` with your distribution's packages"
        ))),
    }
}

/// Whether the standard library for components is there.
///
/// # Errors
/// When there is no Rust compiler.
pub fn target_installed() -> Result<bool, CommandError> {
    let output = Command::new("rustc")
        .args(["--print", "target-libdir", "--target", TARGET])
        .output();
    let output = output.map_err(|error| {
        let hint = "install Rust with rustup (https://rustup.rs)";
        CommandError::Failed(format!("`rustc` was not found ({error}); {hint}"))
    })?;
    Ok(output.status.success() && Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
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
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--lib", "--target", TARGET, "--profile", "tool"]);
    cargo
        .arg("--message-format=json-render-diagnostics")
        .arg("--manifest-path")
        .arg(&manifest);
    for setting in SETTINGS {
        cargo.args(["--config", setting]);
    }
    let output = cargo
        .stderr(Stdio::inherit())
        .output()
        .map_err(CommandError::file("run", "cargo"))?;
    if !output.status.success() {
        return Err(CommandError::Failed(format!(
            "`{}` does not build; see the messages above",
            folder.display()
        )));
    }
    let components = components(&output.stdout, &manifest);
    if components.is_empty() {
        let hint = "hint: its `Cargo.toml` needs `[lib]` with `crate-type = [\"cdylib\", \"rlib\"]`";
        return Err(CommandError::Failed(format!(
            "`{}` builds no component ({hint})",
            folder.display()
        )));
    }
    Ok(components)
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
