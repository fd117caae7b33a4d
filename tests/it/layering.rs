//! Checks the dependencies between the packages of this workspace.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A package of the workspace.
struct Package {
    name: &'static str,
    /// The directory, relative to the root of the workspace.
    directory: &'static str,
    /// The packages of the workspace that it may depend on. `None` allows all of them.
    allowed: Option<&'static [&'static str]>,
}

const fn package(name: &'static str, directory: &'static str, allowed: Option<&'static [&'static str]>) -> Package {
    Package {
        name,
        directory,
        allowed,
    }
}

/// The packages whose dependencies are checked.
const PACKAGES: &[Package] = &[
    package("art-core", "host/crates/art-core", Some(&[])),
    package("art-files", "host/crates/art-files", Some(&[])),
    package("art-agent", "host/crates/art-agent", Some(&["art-core"])),
    package("art-tools", "host/crates/art-tools", Some(&["art-core", "art-files"])),
    package(
        "art-sandbox",
        "host/crates/art-sandbox",
        Some(&["art-core", "art-files", "art-staging", "art-tools"]),
    ),
    package(
        "art-staging",
        "host/crates/art-staging",
        Some(&["art-core", "art-files"]),
    ),
    package("art-model", "host/crates/art-model", Some(&["art-core", "art-files"])),
    package(
        "art-lexical",
        "host/crates/art-lexical",
        Some(&["art-core", "art-model"]),
    ),
    package("art-store", "host/crates/art-store", Some(&["art-core", "art-files"])),
    package(
        "art-runtime",
        "host/crates/art-runtime",
        Some(&[
            "art-agent",
            "art-core",
            "art-files",
            "art-lexical",
            "art-model",
            "art-sandbox",
            "art-sdk-macros",
            "art-staging",
            "art-store",
            "art-tools",
        ]),
    ),
    package("art-host", "host", None),
    package("art-sdk", "sdk", Some(&["art-sdk-macros"])),
    package("art-sdk-macros", "sdk/macros", Some(&[])),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Returns the dependencies in the manifest in `directory`, for all platforms, without those of tests.
fn dependencies(directory: &str) -> Vec<String> {
    let path = root().join(directory).join("Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    let tables = platforms
        .into_iter()
        .flat_map(|all| all.values().filter_map(toml::Value::as_table));
    let mut names = Vec::new();
    for table in tables.chain([&manifest]) {
        for kind in ["dependencies", "build-dependencies"] {
            let found = table.get(kind).and_then(toml::Value::as_table);
            names.extend(found.into_iter().flat_map(|found| found.keys().cloned()));
        }
    }
    names
}

#[test]
fn a_package_depends_only_on_allowed_packages() {
    for package in PACKAGES {
        let Some(allowed) = package.allowed else { continue };
        for dependency in dependencies(package.directory)
            .iter()
            .filter(|name| name.starts_with("art-"))
        {
            assert!(
                allowed.contains(&dependency.as_str()),
                "`{}` must not depend on `{dependency}`; allowed: {allowed:?}",
                package.name
            );
        }
    }
}

#[test]
fn only_the_sandbox_depends_on_wasmtime() {
    for package in PACKAGES.iter().filter(|package| package.name != "art-sandbox") {
        for dependency in dependencies(package.directory) {
            assert!(
                !dependency.starts_with("wasmtime"),
                "`{}` must not depend on `{dependency}`; only `art-sandbox` may",
                package.name
            );
        }
    }
}

#[test]
fn the_runtime_has_no_dependency_for_command_lines_or_terminals() {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--offline",
            "--package",
            "art-runtime",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ])
        .current_dir(root())
        .output()
        .unwrap();
    let tree = String::from_utf8(tree.stdout).unwrap();
    let has = |name: &str| tree.lines().any(|line| line.split(' ').next() == Some(name));
    // `cargo tree` lists indirect dependencies too, such as `wasmtime`.
    assert!(has("wasmtime"), "{tree}");
    for name in ["clap", "rustyline", "indicatif", "art-host"] {
        assert!(!has(name), "`art-runtime` must not need `{name}`");
    }
}

#[test]
fn the_dependencies_of_every_package_of_the_host_are_checked() {
    for entry in std::fs::read_dir(root().join("host/crates")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(
            PACKAGES.iter().any(|package| package.name == name),
            "`{name}` is missing in `PACKAGES`"
        );
    }
}
