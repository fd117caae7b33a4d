//! Explains in a few lines why a crate does not link: the missing function, the dependency that needs it, and what to do.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use art_files::read_text;
use serde::Deserialize;

use super::cargo::{LinkerError, cargo_program};
use super::target::Target;

/// Name of the crate through which Rust code calls JavaScript functions.
const BINDGEN_CRATE: &str = "wasm-bindgen";
/// Beginning of the module name of each function that code imports through [`BINDGEN_CRATE`].
const BINDGEN_MODULE_PREFIX: &str = "__wbindgen";
/// Maximum size of the output of `cargo metadata`, in bytes.
const MAX_METADATA: u64 = 64 << 20;
/// Maximum number of crates that a message names.
const MAX_NAMED_CRATES: usize = 3;

/// An imported function that no crate defines.
#[derive(Debug, PartialEq, Eq)]
struct UnresolvedImport<'a> {
    module: &'a str,
    function: &'a str,
}

/// Explains why the crate with the `Cargo.toml` at `manifest` does not link. Writes the full output of the linker to a file, if
/// possible, and names this file in the last line.
pub(super) fn explain(linker_error: &LinkerError, manifest: &Path, target: Target) -> String {
    let graph = DependencyGraph::load(manifest, target);
    let mut lines = match unresolved_import(&linker_error.errors) {
        Some(import) if import.module.starts_with(BINDGEN_MODULE_PREFIX) => {
            explain_browser_import(&import, graph.as_ref())
        }
        Some(import) => explain_missing_function(&import, graph.as_ref(), target),
        None => vec!["does not link:".to_owned(), last_line(&linker_error.errors).to_owned()],
    };
    if let Some(path) = graph.and_then(|graph| graph.write_linker_output(&linker_error.full)) {
        lines.push(format!("full output of the linker: `{}`", path.display()));
    }
    lines.join("\n  ")
}

/// Explains an import of a JavaScript function, and names the dependencies that lead to it.
fn explain_browser_import(import: &UnresolvedImport<'_>, graph: Option<&DependencyGraph>) -> Vec<String> {
    let paths = graph.map(|graph| graph.paths_to(BINDGEN_CRATE)).unwrap_or_default();
    let dependents = if paths.is_empty() {
        String::new()
    } else {
        format!(": {}", paths.join(", "))
    };
    vec![
        format!("does not link, because it assumes a browser{dependents}"),
        format!(
            "why: `{}::{}` is a JavaScript function, and tools do not run in a browser",
            import.module, import.function
        ),
        "what to do: turn off the feature for browsers (such as `js` or `wasmbind`), or remove the crate; for a \
        clock or random numbers set `wasi = true` under `[package.metadata.art]`; for requests use `art_sdk::http`"
            .to_owned(),
    ]
}

/// Explains an import of any other function, and names the crates that use it.
fn explain_missing_function(
    import: &UnresolvedImport<'_>,
    graph: Option<&DependencyGraph>,
    target: Target,
) -> Vec<String> {
    let users = graph
        .map(|graph| graph.crates_using(import.function, target))
        .unwrap_or_default();
    let used_by = if users.is_empty() {
        String::new()
    } else {
        format!(", which `{}` uses", users.join("`, `"))
    };
    let what_to_do = match target {
        Target::Plain => {
            "what to do: if it is a function of the C library, set `wasi = true` under `[package.metadata.art]`; if not, build \
            it with the crate, or remove the crate"
        }
        Target::Wasi => "what to do: build it with the crate, for example in its `build.rs`, or remove the crate",
    };
    vec![
        format!(
            "does not link, because nothing provides the function `{}`{used_by}",
            import.function
        ),
        format!(
            "why: it is imported from `{}`, but a tool may import only the host interface",
            import.module
        ),
        what_to_do.to_owned(),
    ]
}

/// Returns the import that the linker could not resolve, from a line ``failed to resolve import `module::function` ``.
fn unresolved_import(errors: &str) -> Option<UnresolvedImport<'_>> {
    let (_, rest) = errors.split_once("failed to resolve import `")?;
    let (module, function) = rest.split_once('`')?.0.split_once("::")?;
    Some(UnresolvedImport { module, function })
}

fn last_line(errors: &str) -> &str {
    let mut lines = errors.lines().rev().map(str::trim);
    lines
        .find(|line| !line.is_empty())
        .unwrap_or("the linker reported no reason")
}

/// A crate with its direct and indirect dependencies, from the output of `cargo metadata`.
#[derive(Deserialize)]
struct DependencyGraph {
    packages: Vec<Package>,
    resolve: Resolve,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
}

#[derive(Deserialize)]
struct Resolve {
    /// Identifier of the package that does not link.
    root: Option<String>,
    nodes: Vec<Node>,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    /// Identifier of the package.
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    /// `dev`, `build`, or `None` for a normal dependency.
    kind: Option<String>,
}

impl Dependency {
    /// Returns whether this is a normal dependency, which is linked into the crate: not one for tests or build scripts only.
    fn is_linked(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

impl DependencyGraph {
    /// Runs `cargo metadata`. Returns `None` if it fails.
    fn load(manifest: &Path, target: Target) -> Option<Self> {
        let mut cargo = Command::new(cargo_program())
            .args(["metadata", "--format-version", "1", "--offline"])
            .args(["--filter-platform", target.triple(), "--manifest-path"])
            .arg(manifest)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let metadata = cargo.stdout.take().map(|stdout| read_text(stdout, MAX_METADATA));
        // The pipe is closed now, so cargo ends even if it had more to write.
        cargo.wait().ok()?;
        serde_json::from_str(&metadata?.ok()?).ok()
    }

    /// Returns the name of the package with this identifier.
    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        let package = self.packages.iter().find(|package| package.id == id);
        package.map_or(id, |package| &package.name)
    }

    /// Returns the direct dependencies through which the crate `name` is linked, at most [`MAX_NAMED_CRATES`]. Each text also
    /// names the crates between the dependency and `name`, and at the end `name` itself: `` `a` (through `b`, `name`) ``.
    fn paths_to(&self, name: &str) -> Vec<String> {
        let linked_dependencies = |id: &str| {
            let node = self.resolve.nodes.iter().find(|node| node.id == id);
            let deps = node.into_iter().flat_map(|node| &node.deps);
            deps.filter(|dependency| dependency.is_linked())
                .map(|dependency| dependency.pkg.as_str())
                .collect::<Vec<_>>()
        };
        let direct = self
            .resolve
            .root
            .as_deref()
            .map(linked_dependencies)
            .unwrap_or_default();
        let paths = direct
            .into_iter()
            .filter_map(|from| shortest_path(from, |id| self.name(id) == name, &linked_dependencies));
        paths
            .take(MAX_NAMED_CRATES)
            .map(|path| self.describe_path(&path))
            .collect()
    }

    fn describe_path(&self, path: &[&str]) -> String {
        let names: Vec<_> = path.iter().map(|id| self.name(id)).collect();
        match names.as_slice() {
            [first, between @ ..] if !between.is_empty() => format!("`{first}` (through `{}`)", between.join("`, `")),
            _ => format!("`{}`", names.join("`, `")),
        }
    }

    /// Returns the names of the crates whose compiled file contains the name of the function, at most [`MAX_NAMED_CRATES`].
    fn crates_using(&self, function: &str, target: Target) -> Vec<String> {
        let crate_names: BTreeMap<String, &str> = self
            .resolve
            .nodes
            .iter()
            .map(|node| self.name(&node.id))
            .map(|name| (name.replace('-', "_"), name))
            .collect();
        // `tool` is the cargo profile with which components are built.
        let folder = self.target_directory.join(target.triple()).join("tool/deps");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let users: BTreeSet<_> = files
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let (stem, _hash) = file.strip_prefix("lib")?.strip_suffix(".rlib")?.rsplit_once('-')?;
                let name = crate_names.get(stem)?;
                let code = fs::read(entry.path()).ok()?;
                let uses = code.windows(function.len()).any(|window| window == function.as_bytes());
                uses.then(|| (*name).to_owned())
            })
            .collect();
        users.into_iter().take(MAX_NAMED_CRATES).collect()
    }

    /// Writes the full output of the linker to the target folder. Returns the path of the file, or `None` if writing fails.
    fn write_linker_output(&self, text: &str) -> Option<PathBuf> {
        let path = self.target_directory.join("art-linker.txt");
        fs::write(&path, text).ok().map(|()| path)
    }
}

/// Returns the shortest path from the node `from` to a node for which `is_goal` returns true. `successors` returns the nodes to
/// which an edge leads from a node.
fn shortest_path<'a>(
    from: &'a str,
    is_goal: impl Fn(&str) -> bool,
    successors: &impl Fn(&str) -> Vec<&'a str>,
) -> Option<Vec<&'a str>> {
    let mut unfinished = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::from([from]);
    while let Some(path) = unfinished.pop_front() {
        let last = *path.last()?;
        if is_goal(last) {
            return Some(path);
        }
        for id in successors(last) {
            if seen.insert(id) {
                unfinished.push_back([path.as_slice(), &[id]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINKER_ERRORS: &str = "error: failed to encode component\n\nCaused by:\n    0: failed to decode world from module\n    \
        1: module was not valid\n    2: failed to resolve import `__wbindgen_placeholder__::__wbindgen_throw`\n    \
        3: module requires an import interface named `__wbindgen_placeholder__`\n";

    /// `my_tool` depends on `reqwest`, which leads to `wasm-bindgen`. `only-tests` also leads to it, but only the tests of
    /// `my_tool` use `only-tests`.
    fn dependency_graph() -> DependencyGraph {
        serde_json::from_value(serde_json::json!({
            "target_directory": "/nowhere",
            "packages": [
                {"id": "0", "name": "my_tool"}, {"id": "1", "name": "art-sdk"}, {"id": "2", "name": "reqwest"},
                {"id": "3", "name": "js-sys"}, {"id": "4", "name": "wasm-bindgen"}, {"id": "5", "name": "only-tests"},
            ],
            "resolve": {"root": "0", "nodes": [
                {"id": "0", "deps": [
                    {"pkg": "1", "dep_kinds": [{"kind": null}]},
                    {"pkg": "2", "dep_kinds": [{"kind": null}]},
                    {"pkg": "5", "dep_kinds": [{"kind": "dev"}]},
                ]},
                {"id": "1", "deps": []},
                {"id": "2", "deps": [{"pkg": "3", "dep_kinds": [{"kind": null}]}]},
                {"id": "3", "deps": [{"pkg": "4", "dep_kinds": [{"kind": null}]}]},
                {"id": "5", "deps": [{"pkg": "4", "dep_kinds": [{"kind": null}]}]},
            ]},
        }))
        .unwrap()
    }

    #[test]
    fn the_missing_function_is_read_from_the_linker_errors() {
        let found = unresolved_import(LINKER_ERRORS).unwrap();
        assert_eq!(
            (found.module, found.function),
            ("__wbindgen_placeholder__", "__wbindgen_throw")
        );
        assert_eq!(unresolved_import("rust-lld: error: out of memory"), None);
    }

    #[test]
    fn a_dependency_that_assumes_a_browser_is_named_with_the_crates_that_lead_to_bindgen() {
        let lines = explain_browser_import(&unresolved_import(LINKER_ERRORS).unwrap(), Some(&dependency_graph()));
        assert_eq!(
            lines[0],
            "does not link, because it assumes a browser: `reqwest` (through `js-sys`, `wasm-bindgen`)"
        );
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn an_unknown_error_is_reported_by_its_last_line() {
        assert_eq!(
            last_line("rust-lld: error: a\nrust-lld: error: b\n\n"),
            "rust-lld: error: b"
        );
        assert_eq!(last_line(""), "the linker reported no reason");
    }
}
