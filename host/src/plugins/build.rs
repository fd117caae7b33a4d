//! `art plugin build`: compiles a tool crate, checks the component and drops it into the plugins folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use art_runtime::compose::Toolbox;
use art_runtime::error::in_one_line;
use art_runtime::plugins::load_folder;
use art_sandbox::{Inspection, Manifest, Plugin, Sandbox};
use art_tools::admission::SchemaProblem;
use art_tools::{RegisterError, ToolExecutor, same_name};

use super::examples::{self, Examples};
use super::target::{Target, Wanted};
use super::{cargo, linking, sources};
use crate::error::CommandError;
use crate::executor::executor;
use crate::render;

/// A component that was built, checked and dropped.
#[derive(Debug)]
pub struct Built {
    /// The loaded tool.
    pub plugin: Arc<Plugin>,
    /// Where the component was dropped.
    pub path: PathBuf,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// What became of its examples.
    pub examples: Examples,
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

/// Runs cargo; what the compiler says goes to stderr. Gives the components of the crate itself.
fn compile(folder: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let manifest = folder.join("Cargo.toml");
    let manifest = fs::canonicalize(&manifest).map_err(CommandError::file("find", manifest))?;
    let wanted = Wanted::by(&manifest)?;
    wanted.target.ensure()?;
    for note in sources::notes(folder, wanted.dependencies.iter().map(String::as_str)) {
        render::note(&note);
    }
    let outcome = cargo::build(&manifest, wanted.target)?;
    let failed = |what: &str| Err(CommandError::Failed(format!("`{}` {what}", folder.display())));
    if let Some(linker) = &outcome.linker {
        return failed(&linking::explain(linker, &manifest, wanted.target));
    }
    if !outcome.succeeded {
        return failed(&format!("does not build; see the messages above{}", hint(&wanted)));
    }
    if outcome.components.is_empty() {
        return failed(
            "builds no component (hint: its `Cargo.toml` needs `[lib]` with `crate-type = [\"cdylib\", \"rlib\"]`)",
        );
    }
    Ok(outcome.components)
}

/// Libraries that want a clock or random numbers do not compile without WASI, and give other reasons for it.
fn hint(wanted: &Wanted) -> &'static str {
    if wanted.target == Target::Plain && !wanted.dependencies.is_empty() {
        " (hint: if a library needs a clock or random numbers, set `wasi = true` under `[package.metadata.art]`)"
    } else {
        ""
    }
}

/// Why the tool cannot be in the folder: another file has a tool of that name, so one of them would never be loaded.
fn check_twin(sandbox: &Sandbox, plugin: &Plugin, plugins: &Path) -> Result<Option<String>, CommandError> {
    let loaded =
        load_folder(sandbox, plugins, &|_| {}).map_err(CommandError::file("read the plugins folder", plugins))?;
    let name = &plugin.schema().name;
    let is_twin = |other: &&Arc<Plugin>| same_name(&other.schema().name, name) && other.name() != plugin.name();
    let twin = loaded.plugins.iter().find(is_twin);
    Ok(twin.map(|twin| {
        let file = plugins.join(format!("{}.wasm", twin.name()));
        format!(
            "the tool `{name}` is in `{}` already; rename the tool or remove that file",
            file.display()
        )
    }))
}

/// Files are reached through WASI.
fn check_wasi(inspection: &Inspection) -> Result<(), String> {
    let asks = |manifest: &Manifest| manifest.capabilities.iter().any(|asked| asked["kind"] == "fs");
    let has_files = inspection
        .imports
        .iter()
        .any(|import| import.starts_with("wasi:filesystem/"));
    if inspection.manifest.as_ref().is_some_and(asks) && !has_files {
        return Err("it asks for files and does not import them; \
                    set `wasi = true` under `[package.metadata.art]` in its `Cargo.toml`"
            .to_owned());
    }
    Ok(())
}

/// Loads the component as a host would, admits its schema, runs its examples, and only then copies it: whole or not at all.
fn check_and_drop(sandbox: &Sandbox, component: &Path, plugins: &Path) -> Result<Built, CommandError> {
    let wasm = fs::read(component).map_err(CommandError::file("read", component))?;
    let name = component.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let refused = |reason: String| CommandError::Failed(format!("the component of `{name}` was refused: {reason}"));
    // Asks the tool for its schema, so that no host has to before it is called.
    let wasm = sandbox.with_schema(&wasm);
    let wasm = wasm.map_err(|error| refused(in_one_line(&error)))?;
    let plugin = Arc::new(
        sandbox
            .load(&name, &wasm)
            .map_err(|error| refused(in_one_line(&error)))?,
    );
    check_wasi(plugin.inspection()).map_err(refused)?;
    let toolbox = Toolbox::of(&plugin).map_err(|error| refused(not_registered(&error)))?;
    let checked = examples::check(&toolbox, plugin.schema(), asks_rights(plugin.inspection()));
    let examples = executor()?.block_on(checked)?.map_err(refused)?;
    check_twin(sandbox, &plugin, plugins)?.map_or(Ok(()), |reason| Err(refused(reason)))?;
    let path = plugins.join(format!("{name}.wasm"));
    let aside = plugins.join(format!(".{name}.wasm.{}", std::process::id()));
    fs::write(&aside, &wasm).map_err(CommandError::file("write", &aside))?;
    fs::rename(&aside, &path).map_err(CommandError::file("write", &path))?;
    Ok(Built {
        plugin,
        path,
        bytes: wasm.len() as u64,
        examples,
    })
}

/// Why the tool cannot be registered, and what to change in Rust where the schema alone does not tell.
fn not_registered(error: &RegisterError) -> String {
    let told = in_one_line(error);
    let RegisterError::Schema {
        problem: SchemaProblem::Recursive { at, reference },
        ..
    } = error
    else {
        return told;
    };
    let holder = match reference.strip_prefix("#/$defs/") {
        Some(name) => format!("`{name}`"),
        None => "the outermost type".to_owned(),
    };
    let field = at.rsplit_once("/properties/").map_or("", |(_, field)| field);
    let field = field.split('/').next().unwrap_or_default();
    format!(
        "{told}. In Rust: {holder} holds itself through its field or that of another type, `{field}`; \
         give that field the type `serde_json::Value`, or write the levels as types of their own"
    )
}

fn asks_rights(inspection: &Inspection) -> bool {
    let manifest = inspection.manifest.as_ref();
    manifest.is_some_and(|manifest| !manifest.capabilities.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asks(kind: &str, import: &str) -> Inspection {
        Inspection {
            imports: vec![import.to_owned()],
            manifest: Some(Manifest {
                capabilities: vec![json!({"kind": kind})],
                ..Manifest::default()
            }),
            ..Inspection::default()
        }
    }

    #[test]
    fn types_that_hold_each_other_are_named_with_what_to_write_instead() {
        let told = |reference: &str, at: &str| {
            not_registered(&RegisterError::Schema {
                part: art_tools::refusal::Part::Input,
                problem: SchemaProblem::Recursive {
                    at: at.to_owned(),
                    reference: reference.to_owned(),
                },
            })
        };
        let root = told("#", "/properties/branches/items/properties/tree");
        assert!(root.contains("In Rust: the outermost type holds itself"), "{root}");
        assert!(
            root.contains("`tree`; give that field the type `serde_json::Value`"),
            "{root}"
        );
        let inner = told("#/$defs/Branch", "/properties/a/properties/twigs/items");
        assert!(
            inner.contains("`Branch` holds itself") && inner.contains("`twigs`"),
            "{inner}"
        );
    }

    #[test]
    fn a_tool_that_asks_for_files_has_to_import_them() {
        let refused = check_wasi(&asks("fs", "wasi:clocks/monotonic-clock@0.2.6")).unwrap_err();
        assert!(refused.contains("set `wasi = true`"), "{refused}");
    }

    #[test]
    fn a_tool_that_imports_files_may_ask_for_them() {
        check_wasi(&asks("fs", "wasi:filesystem/types@0.2.6")).unwrap();
    }

    #[test]
    fn a_tool_that_asks_for_something_else_needs_no_files() {
        check_wasi(&asks("http", "art:tool/host@0.1.0")).unwrap();
    }
}
