//! `art plugin build`: compiles a tool crate, checks the component and copies it into the plugins folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use art_runtime::compose::Toolbox;
use art_runtime::error::in_one_line;
use art_runtime::plugins::load_folder;
use art_sandbox::{Inspection, Plugin, Sandbox};
use art_tools::admission::SchemaProblem;
use art_tools::{RegisterError, ToolExecutor, same_name};
use serde_json::Value;

pub use super::cargo::Optimization;
use super::examples::{self, ExampleResults};
use super::target::{BuildSettings, Target};
use super::{cargo, linking, sources};
use crate::error::CommandError;
use crate::render;
use crate::tokio_runtime::new_executor;

/// Maximum number of fields that a note names.
const MAX_NOTED_FIELDS: usize = 8;

/// A component that was built, checked and installed.
#[derive(Debug)]
pub struct BuiltTool {
    /// The tool, loaded as `art run` loads it.
    pub plugin: Arc<Plugin>,
    /// Path of the component in the plugins folder.
    pub path: PathBuf,
    /// Size of the component in bytes.
    pub bytes: u64,
    /// Results of running the examples of the tool.
    pub examples: ExampleResults,
}

/// Builds the crates in `folders`, which are members of one workspace, and copies their components into the plugins folder
/// `plugins`. Passes each tool that was installed to `report`.
///
/// # Errors
/// Fails if a target is missing and cannot be installed, if a crate does not build, or if a component is refused.
pub fn build(
    sandbox: &Sandbox,
    folders: &[PathBuf],
    plugins: &Path,
    optimization: Optimization,
    mut report: impl FnMut(BuiltTool),
) -> Result<(), CommandError> {
    fs::create_dir_all(plugins).map_err(CommandError::file("create", plugins))?;
    let crates = folders.iter().map(|folder| ToolCrate::read(folder));
    let crates = crates.collect::<Result<Vec<_>, _>>()?;
    for target in Target::ALL {
        let crates: Vec<_> = crates.iter().filter(|found| found.settings.target == target).collect();
        if crates.is_empty() {
            continue;
        }
        for component in compile(&crates, target, optimization)? {
            report(check_and_install(sandbox, &component, plugins)?);
        }
    }
    Ok(())
}

/// A crate of a tool.
struct ToolCrate<'a> {
    folder: &'a Path,
    /// Canonical path of its `Cargo.toml`, as messages of cargo have it.
    manifest: PathBuf,
    settings: BuildSettings,
}

impl<'a> ToolCrate<'a> {
    fn read(folder: &'a Path) -> Result<Self, CommandError> {
        let manifest = folder.join("Cargo.toml");
        let manifest = fs::canonicalize(&manifest).map_err(CommandError::file("find", manifest))?;
        let settings = BuildSettings::read(&manifest)?;
        Ok(Self {
            folder,
            manifest,
            settings,
        })
    }

    fn package(&self) -> cargo::Package<'_> {
        cargo::Package {
            name: &self.settings.name,
            manifest: &self.manifest,
        }
    }
}

/// Runs cargo and prints its diagnostics to stderr. Returns the components of the crates themselves, without those of their
/// dependencies.
fn compile(
    crates: &[&ToolCrate<'_>],
    target: Target,
    optimization: Optimization,
) -> Result<Vec<PathBuf>, CommandError> {
    target.install_if_missing()?;
    for ToolCrate { folder, settings, .. } in crates {
        let dependencies = settings.dependencies.iter().map(String::as_str);
        for note in sources::notes_on_code_that_fails_at_run_time(folder, target, dependencies) {
            render::note(&note);
        }
    }
    let packages: Vec<_> = crates.iter().map(|found| found.package()).collect();
    let outcome = cargo::build(&packages, target, optimization)?;
    let folders: Vec<_> = crates
        .iter()
        .map(|found| format!("`{}`", found.folder.display()))
        .collect();
    let failure = |reason: &str| Err(CommandError::Failed(format!("{} {reason}", folders.join(", "))));
    if let (Some(linker_error), [first, ..]) = (&outcome.linker_error, crates) {
        return failure(&linking::explain(linker_error, &first.manifest, target));
    }
    if !outcome.succeeded {
        return failure(&format!("does not build; see the messages above{}", wasi_hint(crates)));
    }
    if outcome.components.is_empty() {
        return failure(
            "builds no component (hint: its `Cargo.toml` needs `[lib]` with `crate-type = [\"cdylib\", \"rlib\"]`)",
        );
    }
    Ok(outcome.components)
}

/// Returns a hint about WASI. Libraries that need a clock or random numbers do not compile without WASI, and their errors do
/// not say so.
fn wasi_hint(crates: &[&ToolCrate<'_>]) -> &'static str {
    let may_need_wasi =
        |settings: &BuildSettings| settings.target == Target::Plain && !settings.dependencies.is_empty();
    if crates.iter().any(|found| may_need_wasi(&found.settings)) {
        " (hint: if a library needs a clock or random numbers, set `wasi = true` under `[package.metadata.art]`)"
    } else {
        ""
    }
}

/// Returns an error message if another file in the plugins folder has a tool of the same name, because only one of them would
/// be loaded.
fn duplicate_name_error(sandbox: &Sandbox, plugin: &Plugin, plugins: &Path) -> Result<Option<String>, CommandError> {
    // The progress of compiling is not shown.
    let loaded =
        load_folder(sandbox, plugins, &|_| {}).map_err(CommandError::file("read the plugins folder", plugins))?;
    let name = &plugin.schema().name;
    // `Plugin::name` is the name of the file without `.wasm`. A file of the same name is replaced, so its tool is no duplicate.
    let is_duplicate = |other: &&Arc<Plugin>| same_name(&other.schema().name, name) && other.name() != plugin.name();
    let duplicate = loaded.plugins.iter().find(is_duplicate);
    Ok(duplicate.map(|duplicate| {
        let file = plugins.join(format!("{}.wasm", duplicate.name()));
        format!(
            "the tool `{name}` is in `{}` already; rename the tool or remove that file",
            file.display()
        )
    }))
}

/// Fails if the tool requests a capability but does not import the WASI interface through which it would use this capability.
fn check_requests_are_usable(inspection: &Inspection) -> Result<(), String> {
    for request in inspection.requests().unwrap_or_default() {
        if !inspection.can_use(request.capability()) {
            return Err(format!(
                "it asks to {request} but does not import WASI; set `wasi = true` under `[package.metadata.art]` in its \
                 `Cargo.toml`, and use what it asks for"
            ));
        }
    }
    Ok(())
}

/// Loads the component as `art run` does, registers its schema and runs its examples. Then writes it to a temporary file in
/// `plugins` and renames this file, so that nobody finds the component there incomplete.
fn check_and_install(sandbox: &Sandbox, component: &Path, plugins: &Path) -> Result<BuiltTool, CommandError> {
    let wasm = fs::read(component).map_err(CommandError::file("read", component))?;
    let name = component.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let refusal = |reason: String| CommandError::Failed(format!("the component of `{name}` was refused: {reason}"));
    // Stores the schema in the component, so that loading the component does not have to call the tool.
    let wasm = sandbox.with_schema(&wasm);
    let wasm = wasm.map_err(|error| refusal(in_one_line(&error)))?;
    let plugin = Arc::new(
        sandbox
            .load(&name, &wasm)
            .map_err(|error| refusal(in_one_line(&error)))?,
    );
    check_requests_are_usable(plugin.inspection()).map_err(refusal)?;
    let toolbox = Toolbox::with_plugin(&plugin).map_err(|error| refusal(registration_error(&error)))?;
    let running_examples = examples::check(&toolbox, plugin.schema(), requests_capabilities(plugin.inspection()));
    let examples = new_executor()?.block_on(running_examples).map_err(refusal)?;
    duplicate_name_error(sandbox, &plugin, plugins)?.map_or(Ok(()), |reason| Err(refusal(reason)))?;
    if let Some(note) = note_on_undocumented_fields(&plugin.schema().input_schema) {
        render::note(&note);
    }
    let path = plugins.join(format!("{name}.wasm"));
    let temporary = plugins.join(format!(".{name}.wasm.{}", std::process::id()));
    fs::write(&temporary, &wasm).map_err(CommandError::file("write", &temporary))?;
    fs::rename(&temporary, &path).map_err(CommandError::file("write", &path))?;
    Ok(BuiltTool {
        plugin,
        path,
        bytes: wasm.len() as u64,
        examples,
    })
}

/// Returns a note about arguments without a description, which a model can only guess, or `None` if each has one.
fn note_on_undocumented_fields(input_schema: &Value) -> Option<String> {
    let mut fields = Vec::new();
    collect_undocumented(input_schema, "", &mut fields);
    let hidden = fields.len().saturating_sub(MAX_NOTED_FIELDS);
    fields.truncate(MAX_NOTED_FIELDS);
    let more = if hidden > 0 {
        format!(" and {hidden} more")
    } else {
        String::new()
    };
    (!fields.is_empty()).then(|| {
        format!(
            "note: no description for {}{more}; a model knows only what the doc comments of the fields say",
            fields.join(", ")
        )
    })
}

fn collect_undocumented(schema: &Value, place: &str, fields: &mut Vec<String>) {
    let properties = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    for (name, property) in properties {
        let place = format!("{place}{name}");
        // A reference has the description of the type.
        if property.get("description").is_none() && property.get("$ref").is_none() {
            fields.push(format!("`{place}`"));
        }
        collect_undocumented(property, &format!("{place}."), fields);
        if let Some(items) = property.get("items") {
            collect_undocumented(items, &format!("{place}[]."), fields);
        }
    }
    let definitions = schema.get("$defs").and_then(Value::as_object).into_iter().flatten();
    for (name, definition) in definitions {
        collect_undocumented(definition, &format!("{name}."), fields);
    }
}

/// Returns the message of `error`. For a recursive schema, adds which Rust type contains itself, and the name of the field to
/// change.
fn registration_error(error: &RegisterError) -> String {
    let message = in_one_line(error);
    let RegisterError::Schema {
        problem: SchemaProblem::Recursive { at, reference },
        ..
    } = error
    else {
        return message;
    };
    let recursive_type = match reference.strip_prefix("#/$defs/") {
        Some(name) => format!("`{name}`"),
        None => "the outermost type".to_owned(),
    };
    // The field is the last property in `at`, for example `tree` in `/properties/branches/items/properties/tree`.
    let field = at.rsplit_once("/properties/").map_or("", |(_, field)| field);
    let field = field.split('/').next().unwrap_or_default();
    format!(
        "{message}. In Rust: {recursive_type} contains itself through the field `{field}` of this or another type; \
        give that field the type `serde_json::Value`, or define a separate type for each level"
    )
}

/// Returns whether the manifest of the component requests capabilities.
fn requests_capabilities(inspection: &Inspection) -> bool {
    let manifest = inspection.manifest.as_ref();
    manifest.is_some_and(|manifest| !manifest.capabilities.is_empty())
}

#[cfg(test)]
mod tests {
    use art_sandbox::Manifest;
    use serde_json::json;

    use super::*;

    /// Returns the inspection of a tool that requests one capability and imports one interface.
    fn inspection(request: serde_json::Value, import: &str) -> Inspection {
        Inspection {
            imports: vec![import.to_owned()],
            manifest: Some(Manifest {
                capabilities: vec![serde_json::from_value(request).unwrap()],
                ..Manifest::default()
            }),
            ..Inspection::default()
        }
    }

    #[test]
    fn a_note_names_the_arguments_without_a_description() {
        let documented = json!({"properties": {"a": {"type": "string", "description": "A."}}});
        assert_eq!(note_on_undocumented_fields(&documented), None);
        let schema = json!({
            "properties": {"a": {"type": "string"}, "b": {"type": "array", "description": "B.", "items": {"$ref": "#/$defs/Row"}}},
            "$defs": {"Row": {"properties": {"c": {"type": "integer"}}}},
        });
        let note = note_on_undocumented_fields(&schema).unwrap();
        assert!(note.starts_with("note: no description for `a`, `Row.c`; "), "{note}");
    }

    #[test]
    fn the_error_for_recursive_types_names_the_field_to_change() {
        let message_for = |reference: &str, at: &str| {
            registration_error(&RegisterError::Schema {
                kind: art_tools::refusal::SchemaKind::Input,
                problem: SchemaProblem::Recursive {
                    at: at.to_owned(),
                    reference: reference.to_owned(),
                },
            })
        };
        let message_for_root = message_for("#", "/properties/branches/items/properties/tree");
        assert!(
            message_for_root.contains("In Rust: the outermost type contains itself"),
            "{message_for_root}"
        );
        assert!(
            message_for_root.contains("`tree` of this or another type; give that field the type `serde_json::Value`"),
            "{message_for_root}"
        );
        let message_for_inner_type = message_for("#/$defs/Branch", "/properties/a/properties/twigs/items");
        assert!(
            message_for_inner_type.contains("`Branch` contains itself") && message_for_inner_type.contains("`twigs`"),
            "{message_for_inner_type}"
        );
    }

    #[test]
    fn a_tool_must_import_what_it_requests() {
        let files_request = json!({"kind": "fs", "access": "read"});
        let refused =
            check_requests_are_usable(&inspection(files_request.clone(), "wasi:clocks/monotonic-clock@0.2.6"))
                .unwrap_err();
        assert!(refused.contains("set `wasi = true`"), "{refused}");
        check_requests_are_usable(&inspection(files_request, "wasi:filesystem/types@0.2.6")).unwrap();
        let http_request = json!({"kind": "http"});
        check_requests_are_usable(&inspection(http_request.clone(), "wasi:filesystem/types@0.2.6")).unwrap_err();
        check_requests_are_usable(&inspection(http_request, "wasi:http/outgoing-handler@0.2.12")).unwrap();
    }
}
