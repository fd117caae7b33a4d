//! Why a crate does not link: which of its crates, what is missing, and what to do, in a few lines.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use art_files::read_text;
use serde::Deserialize;

use super::cargo::{LinkerMessage, program};
use super::target::Target;

/// The crate that gives Rust the functions of a browser, and the module that its imports are in.
const BROWSER: (&str, &str) = ("wasm-bindgen", "__wbindgen");
/// Bytes of what cargo tells of the crates that a tool is made of.
const MAX_METADATA: u64 = 64 << 20;
/// Crates that are named at most.
const MAX_NAMED: usize = 3;

/// A function that nobody has.
#[derive(Debug, PartialEq, Eq)]
struct Missing<'a> {
    module: &'a str,
    function: &'a str,
}

/// Says why the crate of `manifest` does not link. The whole text of the linker goes to a file, which is named.
pub(super) fn explain(linker: &LinkerMessage, manifest: &Path, target: Target) -> String {
    let crates = Crates::of(manifest, target);
    let mut lines = match missing(&linker.said) {
        Some(missing) if missing.module.starts_with(BROWSER.1) => for_a_browser(&missing, crates.as_ref()),
        Some(missing) => undefined(&missing, crates.as_ref(), target),
        None => vec!["does not link:".to_owned(), last_line(&linker.said).to_owned()],
    };
    if let Some(path) = crates.and_then(|crates| crates.keep(&linker.full)) {
        lines.push(format!("all that the linker said: `{}`", path.display()));
    }
    lines.join("\n  ")
}

fn for_a_browser(missing: &Missing<'_>, crates: Option<&Crates>) -> Vec<String> {
    let paths = crates.map(|crates| crates.paths_to(BROWSER.0)).unwrap_or_default();
    let named = if paths.is_empty() {
        String::new()
    } else {
        format!(": {}", paths.join(", "))
    };
    vec![
        format!("does not link, because it assumes a browser{named}"),
        format!("why: `{}::{}` is a function of JavaScript, and a tool runs in no browser", missing.module, missing.function),
        "what to do: turn off the feature that is for browsers (such as `js` or `wasmbind`), or leave the crate out; for a \
         clock or random numbers set `wasi = true` under `[package.metadata.art]`; a tool has no network"
            .to_owned(),
    ]
}

fn undefined(missing: &Missing<'_>, crates: Option<&Crates>, target: Target) -> Vec<String> {
    let users = crates
        .map(|crates| crates.that_use(missing.function, target))
        .unwrap_or_default();
    let who = if users.is_empty() {
        String::new()
    } else {
        format!(", which is used by `{}`", users.join("`, `"))
    };
    let setting = match target {
        Target::Plain => {
            "what to do: if it is a function of the C library, set `wasi = true` under `[package.metadata.art]`; if not, build \
             it with the crate, or leave the crate out"
        }
        Target::Wasi => "what to do: build it with the crate, for example in its `build.rs`, or leave the crate out",
    };
    vec![
        format!(
            "does not link, because nobody has the function `{}`{who}",
            missing.function
        ),
        format!(
            "why: it is imported from `{}`, and a tool imports the contract alone",
            missing.module
        ),
        setting.to_owned(),
    ]
}

/// The import that the linker could not make a component of: ``failed to resolve import `module::function` ``.
fn missing(said: &str) -> Option<Missing<'_>> {
    let (_, rest) = said.split_once("failed to resolve import `")?;
    let (module, function) = rest.split_once('`')?.0.split_once("::")?;
    Some(Missing { module, function })
}

fn last_line(said: &str) -> &str {
    let mut lines = said.lines().rev().map(str::trim);
    lines
        .find(|line| !line.is_empty())
        .unwrap_or("the linker does not say why")
}

/// What `cargo metadata` says of a crate and of those that it is built on.
#[derive(Deserialize)]
struct Crates {
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
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Dependency {
    /// Neither for tests nor for the build.
    fn is_linked(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.is_none())
    }
}

impl Crates {
    fn of(manifest: &Path, target: Target) -> Option<Self> {
        let mut cargo = Command::new(program())
            .args(["metadata", "--format-version", "1", "--offline"])
            .args(["--filter-platform", target.triple(), "--manifest-path"])
            .arg(manifest)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let told = cargo.stdout.take().map(|told| read_text(told, MAX_METADATA));
        // With the pipe closed it ends by itself.
        cargo.wait().ok()?;
        serde_json::from_str(&told?.ok()?).ok()
    }

    fn name<'a>(&'a self, id: &'a str) -> &'a str {
        let package = self.packages.iter().find(|package| package.id == id);
        package.map_or(id, |package| &package.name)
    }

    /// What the crate itself depends on, and what leads from there to the crate `name`: `` `a` (through `b`) ``.
    fn paths_to(&self, name: &str) -> Vec<String> {
        let linked = |id: &str| {
            let node = self.resolve.nodes.iter().find(|node| node.id == id);
            let deps = node.into_iter().flat_map(|node| &node.deps);
            deps.filter(|dependency| dependency.is_linked())
                .map(|dependency| dependency.pkg.as_str())
                .collect::<Vec<_>>()
        };
        let direct = self.resolve.root.as_deref().map(linked).unwrap_or_default();
        let paths = direct
            .into_iter()
            .filter_map(|from| shortest(from, |id| self.name(id) == name, &linked));
        paths.take(MAX_NAMED).map(|path| self.described(&path)).collect()
    }

    fn described(&self, path: &[&str]) -> String {
        let names: Vec<_> = path.iter().map(|id| self.name(id)).collect();
        match names.as_slice() {
            [first, between @ ..] if !between.is_empty() => format!("`{first}` (through `{}`)", between.join("`, `")),
            _ => format!("`{}`", names.join("`, `")),
        }
    }

    /// The crates whose compiled form has the name of the function in it.
    fn that_use(&self, function: &str, target: Target) -> Vec<String> {
        let known: BTreeMap<String, &str> = self
            .resolve
            .nodes
            .iter()
            .map(|node| self.name(&node.id))
            .map(|name| (name.replace('-', "_"), name))
            .collect();
        let folder = self.target_directory.join(target.triple()).join("tool/deps");
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let users: BTreeSet<_> = files
            .filter_map(|entry| {
                let file = entry.file_name().into_string().ok()?;
                let stem = file
                    .strip_prefix("lib")?
                    .strip_suffix(".rlib")?
                    .rsplit_once('-')?
                    .0
                    .to_owned();
                let name = known.get(&stem)?;
                let code = fs::read(entry.path()).ok()?;
                let has = code.windows(function.len()).any(|window| window == function.as_bytes());
                has.then(|| (*name).to_owned())
            })
            .collect();
        users.into_iter().take(MAX_NAMED).collect()
    }

    /// Writes the text beside what was built.
    fn keep(&self, text: &str) -> Option<PathBuf> {
        let path = self.target_directory.join("art-linker.txt");
        fs::write(&path, text).ok().map(|()| path)
    }
}

/// The shortest way from `from` to something that `is_goal`.
fn shortest<'a>(
    from: &'a str,
    is_goal: impl Fn(&str) -> bool,
    next: &impl Fn(&str) -> Vec<&'a str>,
) -> Option<Vec<&'a str>> {
    let mut open = VecDeque::from([vec![from]]);
    let mut seen = BTreeSet::from([from]);
    while let Some(path) = open.pop_front() {
        let last = *path.last()?;
        if is_goal(last) {
            return Some(path);
        }
        for id in next(last) {
            if seen.insert(id) {
                open.push_back([path.as_slice(), &[id]].concat());
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "error: failed to encode component\n\nCaused by:\n    0: failed to decode world from module\n    \
        1: module was not valid\n    2: failed to resolve import `__wbindgen_placeholder__::__wbindgen_throw`\n    \
        3: module requires an import interface named `__wbindgen_placeholder__`\n";

    fn crates() -> Crates {
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
    fn what_is_missing_is_read_from_what_the_linker_says() {
        let found = missing(SAID).unwrap();
        assert_eq!(
            (found.module, found.function),
            ("__wbindgen_placeholder__", "__wbindgen_throw")
        );
        assert_eq!(missing("rust-lld: error: out of memory"), None);
    }

    #[test]
    fn a_crate_that_assumes_a_browser_is_named_with_what_leads_to_it() {
        let told = for_a_browser(&missing(SAID).unwrap(), Some(&crates()));
        assert_eq!(
            told[0],
            "does not link, because it assumes a browser: `reqwest` (through `js-sys`, `wasm-bindgen`)"
        );
        assert_eq!(told.len(), 3);
    }

    #[test]
    fn what_is_not_understood_is_told_in_the_words_of_the_linker() {
        assert_eq!(
            last_line("rust-lld: error: a\nrust-lld: error: b\n\n"),
            "rust-lld: error: b"
        );
        assert_eq!(last_line(""), "the linker does not say why");
    }
}
