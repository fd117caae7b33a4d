//! The list of the known security advisories of the engine is about the version that the host is built with.

use std::fs;
use std::path::Path;

use toml::{Table, Value};

fn read(path: &str) -> Table {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.parse()
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn advisories() -> Table {
    read("host/crates/art-sandbox/advisories.toml")
}

#[test]
fn the_advisories_are_those_of_the_engine_in_the_lock_file() {
    let reviewed = advisories();
    let lock = read("Cargo.lock");
    let packages = lock["package"].as_array().unwrap();
    let of_engine = packages.iter().filter(|package| {
        let name = package["name"].as_str().unwrap();
        name == "wasmtime" || name.starts_with("wasmtime-")
    });
    let versions: Vec<_> = of_engine
        .map(|package| (package["name"].as_str().unwrap(), &package["version"]))
        .collect();
    assert!(
        versions.iter().any(|(name, _)| *name == "wasmtime-wasi-http"),
        "{versions:?}"
    );
    for (name, version) in versions {
        assert_eq!(
            version, &reviewed["version"],
            "`{name}` has another version: read the advisories of this one, and revise `advisories.toml`"
        );
    }
}

#[test]
fn each_advisory_says_what_it_is_and_why_it_applies_or_not() {
    let reviewed = advisories();
    let entries = reviewed["advisory"].as_array().unwrap();
    for entry in entries {
        for field in ["id", "what", "why"] {
            let text = entry.get(field).and_then(Value::as_str).unwrap_or_default();
            assert!(!text.trim().is_empty(), "{entry}: `{field}` is missing");
        }
        assert!(entry.get("affected").is_some_and(Value::is_bool), "{entry}");
    }
    let named = usize::try_from(reviewed["advisories"].as_integer().unwrap()).unwrap();
    assert!(
        entries.len() <= named,
        "more advisories are listed than the release notes name"
    );
}
