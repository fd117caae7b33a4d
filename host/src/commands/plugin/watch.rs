//! `art plugin build --watch`: rebuilds a crate when one of its files changes.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, SystemTime};

use art_runtime::config::Config;
use art_runtime::error::in_one_line;

use super::build_all;
use crate::cli::GlobalOptions;
use crate::commands::interrupt::{AfterInterrupt, Interrupts};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::plugins::build::Optimization;
use crate::render;

/// Time between two scans of the files. It is longer than the pauses of an editor that saves a file in several steps.
const SCAN_INTERVAL: Duration = Duration::from_millis(300);
/// Maximum depth of folders that are scanned. Changes in deeper folders are not noticed.
const MAX_DEPTH: usize = 16;

/// The files of a folder, each with its modification time and its size in bytes.
type Snapshot = Vec<(PathBuf, Option<SystemTime>, u64)>;

/// Builds all crates, and then a crate again whenever its files change, until a signal ends the process. Build errors are
/// reported.
pub(super) fn watch(global: &GlobalOptions, config: &Config, folders: &[PathBuf]) -> Result<Exit, CommandError> {
    let _interrupts = Interrupts::listen(AfterInterrupt::End)?;
    let mut snapshots: Vec<Snapshot> = folders.iter().map(|folder| snapshot(folder)).collect();
    build_and_report(global, config, folders);
    loop {
        render::note("watching for changes; stop with Ctrl-C");
        for changed in wait_for_changes(folders, &mut snapshots) {
            build_and_report(global, config, &[changed]);
        }
    }
}

fn build_and_report(global: &GlobalOptions, config: &Config, folders: &[PathBuf]) {
    if let Err(error) = build_all(global, config, folders, Optimization::PerCrate) {
        if global.json {
            render::json(&error.to_json());
        } else {
            render::note(&format!("error: {}", in_one_line(&error)));
        }
    }
}

/// Waits until files of crates change, and then until a scan finds no further change. Returns the folders of the changed
/// crates, and updates `snapshots`.
fn wait_for_changes(folders: &[PathBuf], snapshots: &mut [Snapshot]) -> Vec<PathBuf> {
    let mut changed = vec![false; folders.len()];
    loop {
        sleep(SCAN_INTERVAL);
        let mut is_stable = true;
        for ((folder, last_snapshot), changed) in folders.iter().zip(snapshots.iter_mut()).zip(&mut changed) {
            let now = snapshot(folder);
            if now != *last_snapshot {
                *last_snapshot = now;
                (*changed, is_stable) = (true, false);
            }
        }
        if is_stable && changed.contains(&true) {
            let folders = folders.iter().zip(changed);
            return folders
                .filter(|(_, changed)| *changed)
                .map(|(folder, _)| folder.clone())
                .collect();
        }
    }
}

fn snapshot(folder: &Path) -> Snapshot {
    let mut files = Vec::new();
    add_files(folder, 0, &mut files);
    files.sort();
    files
}

/// Adds the files of a folder and of the folders in it. Skips unreadable files and folders: the build reports them.
fn add_files(folder: &Path, depth: usize, files: &mut Snapshot) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        let path = entry.path();
        if is_ignored(&path) {
            continue;
        }
        if metadata.is_dir() && depth < MAX_DEPTH {
            add_files(&path, depth + 1, files);
        } else if metadata.is_file() {
            files.push((path, metadata.modified().ok(), metadata.len()));
        }
    }
}

/// Returns whether a file or folder is the output of a build, a temporary file of an editor, or hidden.
fn is_ignored(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let has_extension = |extensions: &[&str]| {
        path.extension()
            .is_some_and(|extension| extensions.iter().any(|other| extension == *other))
    };
    name.starts_with('.')
        || name == "target"
        || name == "Cargo.lock"
        || has_extension(&["wasm", "swp"])
        || name.ends_with('~')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_sources_are_noticed_and_generated_files_are_not() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::create_dir_all(dir.path().join("src")).unwrap();
        fs::create_dir_all(dir.path().join("target")).unwrap();
        write("src/lib.rs", "a");
        let before = snapshot(dir.path());
        for name in ["target/x", "tool.wasm", "Cargo.lock", ".lib.rs.swp", "src/lib.rs~"] {
            write(name, "x");
        }
        assert_eq!(snapshot(dir.path()), before);
        write("src/lib.rs", "ab");
        assert_ne!(snapshot(dir.path()), before);
    }
}
