//! `art plugin build --watch`: builds a crate again when one of its files changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use art_runtime::config::Config;
use art_runtime::error::in_one_line;

use super::build_all;
use crate::cli::Global;
use crate::commands::interrupt::{AfterInterrupt, Interrupts};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render;

/// How often the files are looked at. An editor that saves in steps is done between two looks.
const PERIOD: Duration = Duration::from_millis(300);
/// Folders nested deeper than this hold no sources.
const MAX_DEPTH: usize = 16;

/// What a folder looks like: each file with its time and size.
type Look = Vec<(PathBuf, Option<SystemTime>, u64)>;

/// Builds everything, then each crate whose files change, until the process is ended. A crate that does not build is told of.
pub(super) fn watch(global: &Global, config: &Config, folders: &[PathBuf]) -> Result<Exit, CommandError> {
    let _interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let mut seen: Vec<Look> = folders.iter().map(|folder| look(folder)).collect();
    build_and_tell(global, config, folders);
    loop {
        render::note("watching for changes; Ctrl-C ends it");
        for changed in wait(folders, &mut seen) {
            build_and_tell(global, config, &[changed]);
        }
    }
}

fn build_and_tell(global: &Global, config: &Config, folders: &[PathBuf]) {
    if let Err(error) = build_all(global, config, folders) {
        if global.json {
            render::json(&error.to_json());
        } else {
            render::note(&format!("error: {}", in_one_line(&error)));
        }
    }
}

/// Waits until crates have changed, and then until they change no more.
fn wait(folders: &[PathBuf], seen: &mut [Look]) -> Vec<PathBuf> {
    let mut changed = vec![false; folders.len()];
    loop {
        sleep(PERIOD);
        let mut calm = true;
        for ((folder, seen), changed) in folders.iter().zip(seen.iter_mut()).zip(&mut changed) {
            let now = look(folder);
            if now != *seen {
                *seen = now;
                (*changed, calm) = (true, false);
            }
        }
        if calm && changed.contains(&true) {
            let changed = folders.iter().zip(changed).filter(|(_, changed)| *changed);
            return changed.map(|(folder, _)| folder.clone()).collect();
        }
    }
}

fn look(folder: &Path) -> Look {
    let mut look = Vec::new();
    add(folder, 0, &mut look);
    look.sort();
    look
}

/// Adds the files of a folder. What cannot be read is as good as not there: it is an error of the build.
fn add(folder: &Path, depth: usize, look: &mut Look) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let path = entry.path();
        if is_result(&path) {
            continue;
        }
        if metadata.is_dir() && depth < MAX_DEPTH {
            add(&path, depth + 1, look);
        } else if metadata.is_file() {
            look.push((path, metadata.modified().ok(), metadata.len()));
        }
    }
}

/// What a build or an editor writes beside the sources.
fn is_result(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ends = |endings: &[&str]| {
        path.extension()
            .is_some_and(|ending| endings.iter().any(|other| ending == *other))
    };
    name.starts_with('.') || name == "target" || name == "Cargo.lock" || ends(&["wasm", "swp"]) || name.ends_with('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_a_source_is_seen_and_what_a_build_writes_is_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir_all(dir.path().join("src")).unwrap();
        fs::create_dir_all(dir.path().join("target")).unwrap();
        write("src/lib.rs", "a");
        let before = look(dir.path());
        for name in ["target/x", "tool.wasm", "Cargo.lock", ".lib.rs.swp", "src/lib.rs~"] {
            write(name, "x");
        }
        assert_eq!(look(dir.path()), before);
        write("src/lib.rs", "ab");
        assert_ne!(look(dir.path()), before);
    }
}
