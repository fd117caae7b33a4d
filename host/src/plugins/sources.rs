//! Warns about source code that compiles for a tool but fails or has no effect when the tool runs: code that uses sockets or starts
//! processes, and code that uses files or prints in a component without WASI.

use std::fs;
use std::path::Path;

use super::target::Target;

/// A part of the standard library that fails in some or all tools.
struct UnavailablePart {
    /// Path of the module or type, as it stands in source code.
    path: &'static str,
    /// Whether it works in a component with WASI, within the grants of the tool.
    works_with_wasi: bool,
    /// Why it fails, and what to use in its place.
    advice: &'static str,
}

const UNAVAILABLE_PARTS: [UnavailablePart; 4] = [
    UnavailablePart {
        path: "std::fs",
        works_with_wasi: true,
        advice: "a component without WASI has no files: set `wasi = true` under `[package.metadata.art]` and request them \
            (`capabilities(fs(..))`), or pass the data in as an argument",
    },
    UnavailablePart {
        path: "println!",
        works_with_wasi: true,
        advice: "a component without WASI prints nothing: write to the log with `ctx.info(..)`, or return the text",
    },
    UnavailablePart {
        path: "std::net",
        works_with_wasi: false,
        advice: "tools have no sockets: send requests with `art_sdk::http`, or pass the data in as an argument",
    },
    UnavailablePart {
        path: "std::process::Command",
        works_with_wasi: false,
        advice: "tools start no programs: pass the data in as an argument",
    },
];
/// Crates that open sockets.
const NETWORK_CRATES: [&str; 6] = ["attohttpc", "curl", "isahc", "minreq", "reqwest", "ureq"];
/// Maximum depth of folders that are searched.
const MAX_DEPTH: usize = 8;

/// Returns a note for each part of the standard library that the crate in `folder` uses and that fails in components for
/// `target`, with the line of its first use, and a note for each dependency that opens sockets.
pub(super) fn notes_on_code_that_fails_at_run_time<'a>(
    folder: &Path,
    target: Target,
    dependencies: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let mut first_uses = [const { None }; UNAVAILABLE_PARTS.len()];
    find_first_uses(&folder.join("src"), 0, &mut first_uses);
    let fails = |part: &&UnavailablePart| target == Target::Plain || !part.works_with_wasi;
    let parts = first_uses.into_iter().zip(&UNAVAILABLE_PARTS);
    let failing_uses = parts.filter_map(|(location, part)| Some((location?, fails(&part).then_some(part)?)));
    let part_notes = failing_uses
        .map(|(location, UnavailablePart { path, advice, .. })| format!("note: {location} uses `{path}`; {advice}"));
    let network_notes = dependencies.filter(|name| NETWORK_CRATES.contains(name)).map(|name| {
        format!(
            "note: the dependency `{name}` opens sockets, which tools do not have: send requests with `art_sdk::http`"
        )
    });
    part_notes.chain(network_notes).collect()
}

/// Records where the files of a folder first use each of the [`UNAVAILABLE_PARTS`]. Reads the files in the order of their
/// names. Skips tests, which run natively, and unreadable files, which the build reports.
fn find_first_uses(folder: &Path, depth: usize, first_uses: &mut [Option<String>]) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths {
        let stem = path.file_stem().unwrap_or_default();
        if stem == "tests" || stem == "test" {
            continue;
        }
        if path.is_dir() && depth < MAX_DEPTH {
            find_first_uses(&path, depth + 1, first_uses);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            find_first_uses_in_file(&path, first_uses);
        }
    }
}

/// Searches one file, except for comments, up to its tests, which run natively and may use the whole standard library.
fn find_first_uses_in_file(path: &Path, first_uses: &mut [Option<String>]) {
    let text = fs::read_to_string(path).unwrap_or_default();
    let code = text
        .lines()
        .enumerate()
        .take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    for (number, line) in code.filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for (location, part) in first_uses.iter_mut().zip(&UNAVAILABLE_PARTS) {
            if location.is_none() && line.contains(part.path) {
                *location = Some(format!("`{}` line {}", path.display(), number + 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn notes_for(source: &str, target: Target, dependencies: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("src")).unwrap();
        fs::write(dir.path().join("src/lib.rs"), source).unwrap();
        notes_on_code_that_fails_at_run_time(dir.path(), target, dependencies.iter().copied())
    }

    /// Uses `std::fs` in line 2. `std::net` stands in a comment only, so it gets no note.
    const SOURCE_THAT_READS_A_FILE: &str = "// std::net\nuse std::fs;\nfn f() { std::fs::read(\"a\"); }\n";

    #[test]
    fn printing_is_noted_only_without_wasi() {
        let source = "fn f() { eprintln!(\"lost\"); }\n";
        let notes = notes_for(source, Target::Plain, &[]);
        assert!(
            notes[0].contains("line 1 uses `println!`; a component without WASI prints nothing"),
            "{notes:?}"
        );
        assert_eq!(notes_for(source, Target::Wasi, &[]), Vec::<String>::new());
    }

    #[test]
    fn an_unavailable_part_gets_one_note_with_the_line_of_its_first_use() {
        let notes = notes_for(SOURCE_THAT_READS_A_FILE, Target::Plain, &["serde", "ureq"]);
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(
            notes[0].contains("src/lib.rs` line 2 uses `std::fs`; a component without WASI has no files"),
            "{notes:?}"
        );
        assert!(notes[1].contains("`ureq` opens sockets"), "{notes:?}");
    }

    #[test]
    fn a_component_with_wasi_may_use_files_but_not_sockets() {
        assert!(notes_for(SOURCE_THAT_READS_A_FILE, Target::Wasi, &[]).is_empty());
        let notes = notes_for("fn f() { std::net::TcpStream::connect(\"a:1\"); }", Target::Wasi, &[]);
        assert!(notes[0].contains("tools have no sockets"), "{notes:?}");
    }

    #[test]
    fn code_in_tests_gets_no_note() {
        assert!(
            notes_for(
                "fn f() {}\n#[cfg(test)]\nmod tests { use std::fs; }\n",
                Target::Plain,
                &[]
            )
            .is_empty()
        );
    }
}
