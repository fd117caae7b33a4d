//! Warns about source code that compiles for a tool but always fails in one, because tools have no files, network or processes.

use std::fs;
use std::path::Path;

/// Parts of the standard library that always fail in a tool, each with the resource that tools lack.
const UNAVAILABLE: [(&str, &str); 3] = [
    ("std::fs", "files"),
    ("std::net", "network"),
    ("std::process::Command", "processes"),
];
/// Crates that need the network.
const NETWORK_CRATES: [&str; 6] = ["attohttpc", "curl", "isahc", "minreq", "reqwest", "ureq"];
/// Maximum depth of folders that are searched.
const MAX_DEPTH: usize = 8;

/// Returns a note for each unavailable part, with the line where it is first used, and one for each dependency that needs the
/// network.
pub(super) fn notes<'a>(folder: &Path, dependencies: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut first_uses = [const { None }; UNAVAILABLE.len()];
    search(&folder.join("src"), 0, &mut first_uses);
    let used = first_uses.into_iter().zip(UNAVAILABLE).filter_map(|(location, (part, resource))| {
        let location = location?;
        Some(format!(
            "note: {location} uses `{part}`; tools have no {resource}, so this call always fails; pass the data in as an argument"
        ))
    });
    let network = dependencies.filter(|name| NETWORK_CRATES.contains(name)).map(|name| {
        format!(
            "note: the dependency `{name}` needs the network, which tools do not have; pass the data in as an argument"
        )
    });
    used.chain(network).collect()
}

/// Searches the files of a folder in the order of their names. Skips unreadable files: the build reports them.
fn search(folder: &Path, depth: usize, first_uses: &mut [Option<String>]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" || stem == "test" {
            continue;
        }
        if path.is_dir() && depth < MAX_DEPTH {
            search(&path, depth + 1, first_uses);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            search_file(&path, first_uses);
        }
    }
}

/// Searches one file up to its tests, which run natively and may use the whole standard library.
fn search_file(path: &Path, first_uses: &mut [Option<String>]) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let code = text
        .lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for (location, (part, _)) in first_uses.iter_mut().zip(UNAVAILABLE) {
            if location.is_none() && line.contains(part) {
                *location = Some(format!("`{}` line {}", path.display(), number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes_for(source: &str, dependencies: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/lib.rs"), source).unwrap();
        notes(dir.path(), dependencies.iter().copied())
    }

    #[test]
    fn an_unavailable_part_gets_one_note_with_its_line() {
        let notes = notes_for(
            "// std::net\nuse std::fs;\nfn f() { std::fs::read(\"a\"); }\n",
            &["serde", "ureq"],
        );
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes[0].contains("src/lib.rs` line 2 uses `std::fs`; tools have no files"),
            "{notes:?}"
        );
        assert!(notes[1].contains("`ureq` needs the network"), "{notes:?}");
    }

    #[test]
    fn code_in_tests_gets_no_note() {
        assert!(notes_for("fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n", &[]).is_empty());
    }
}
