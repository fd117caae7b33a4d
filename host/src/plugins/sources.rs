//! Finds code in the sources of a crate that builds for a tool but never works in one.

use std::fs;
use std::path::Path;

/// Parts of the standard library that a tool lacks, with the reason.
const ABSENT: [(&str, &str); 3] = [
    ("std::fs", "files"),
    ("std::net", "network"),
    ("std::process::Command", "processes"),
];
/// Crates that are for the network.
const CLIENTS: [&str; 6] = ["attohttpc", "curl", "isahc", "minreq", "reqwest", "ureq"];
const MAX_DEPTH: usize = 8;

/// Says of each such part where it is used first, and names each dependency that is for the network.
pub(super) fn notes<'a>(folder: &Path, dependencies: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut found = [const { None }; ABSENT.len()];
    search(&folder.join("src"), 0, &mut found);
    let used = found.into_iter().zip(ABSENT).filter_map(|(place, (part, what))| {
        let place = place?;
        Some(format!(
            "note: {place} uses `{part}`, and a tool has no {what}: it fails in every call; take what the tool needs as an argument"
        ))
    });
    let clients = dependencies.filter(|name| CLIENTS.contains(name)).map(|name| {
        format!(
            "note: the dependency `{name}` is for the network, and a tool has none; take what it needs as an argument"
        )
    });
    used.chain(clients).collect()
}

/// Searches the files of a folder, in order. Unreadable ones are skipped: the build reports them.
fn search(folder: &Path, depth: usize, found: &mut [Option<String>]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" || stem == "test" {
            continue;
        }
        if path.is_dir() && depth < MAX_DEPTH {
            search(&path, depth + 1, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            search_file(&path, found);
        }
    }
}

/// Tests are at the end of a file, run natively, and may use everything.
fn search_file(path: &Path, found: &mut [Option<String>]) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let code = text
        .lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for (place, (part, _)) in found.iter_mut().zip(ABSENT) {
            if place.is_none() && line.contains(part) {
                *place = Some(format!("`{}` line {}", path.display(), number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(source: &str, dependencies: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/lib.rs"), source).unwrap();
        notes(dir.path(), dependencies.iter().copied())
    }

    #[test]
    fn what_a_tool_has_not_got_is_told_once_with_its_place() {
        let told = told(
            "// std::net\nuse std::fs;\nfn f() { std::fs::read(\"a\"); }\n",
            &["serde", "ureq"],
        );
        assert_eq!(told.len(), 2, "{told:?}");
        assert!(
            told[0].contains("src/lib.rs` line 2 uses `std::fs`, and a tool has no files"),
            "{told:?}"
        );
        assert!(told[1].contains("`ureq` is for the network"), "{told:?}");
    }

    #[test]
    fn tests_may_use_what_they_like() {
        assert!(told("fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n", &[]).is_empty());
    }
}
