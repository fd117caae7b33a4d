//! Loading every component of a folder, in parallel, without letting a bad file keep the others from loading.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use art_sandbox::{MAX_COMPONENT_BYTES, Plugin, Sandbox};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt};
use serde::Serialize;

use crate::error::in_one_line;

/// What a folder held.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Components that loaded, by file name.
    pub plugins: Vec<Arc<Plugin>>,
    /// Files that were refused, by file name.
    pub refused: Vec<Refused>,
}

/// A file that is not a tool of this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    /// Name of the file.
    pub file: String,
    /// Why it was refused and what to do.
    pub reason: String,
}

/// Loads every `.wasm` file of `folder`. A folder that does not exist holds nothing.
///
/// # Errors
/// When the folder exists and cannot be read.
pub fn load_folder(sandbox: &Sandbox, folder: &Path) -> std::io::Result<Loaded> {
    let dir = match Dir::open_ambient_dir(folder, ambient_authority()) {
        Ok(dir) => dir,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Loaded::default()),
        Err(error) => return Err(error),
    };
    let files = component_files(&dir)?;
    let results: Vec<_> = files.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism()
        .map_or(1, std::num::NonZero::get)
        .min(files.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| load_next(sandbox, &dir, &files, &next, &results));
        }
    });
    Ok(collect(files, results))
}

type Slot = Mutex<Option<Result<Plugin, String>>>;

fn load_next(sandbox: &Sandbox, dir: &Dir, files: &[String], next: &AtomicUsize, results: &[Slot]) {
    while let (Some(file), Some(slot)) = {
        let index = next.fetch_add(1, Ordering::Relaxed);
        (files.get(index), results.get(index))
    } {
        let loaded = load_file(sandbox, dir, file);
        if let Ok(mut slot) = slot.lock() {
            *slot = Some(loaded);
        }
    }
}

fn collect(files: Vec<String>, results: Vec<Slot>) -> Loaded {
    let mut loaded = Loaded::default();
    for (file, slot) in files.into_iter().zip(results) {
        match slot.into_inner().ok().flatten() {
            Some(Ok(plugin)) => loaded.plugins.push(Arc::new(plugin)),
            Some(Err(reason)) => loaded.refused.push(Refused { file, reason }),
            None => loaded.refused.push(Refused {
                file,
                reason: "the host panicked while it was loaded".to_owned(),
            }),
        }
    }
    loaded
}

/// Names of the `.wasm` entries, sorted, so that the first of two files with one tool name is always the same.
fn component_files(dir: &Dir) -> std::io::Result<Vec<String>> {
    let mut files = Vec::new();
    for entry in dir.entries()? {
        if let Ok(name) = entry?.file_name().into_string()
            && Path::new(&name).extension().is_some_and(|ending| ending == "wasm")
        {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

fn load_file(sandbox: &Sandbox, dir: &Dir, file: &str) -> Result<Plugin, String> {
    let wasm = read(dir, file)?;
    let name = file.strip_suffix(".wasm").unwrap_or(file);
    sandbox.load(name, &wasm).map_err(|error| in_one_line(&error))
}

/// Reads a regular file of the folder: no link, no pipe, no device, nothing beyond the size limit.
fn read(dir: &Dir, file: &str) -> Result<Vec<u8>, String> {
    let io = |error: std::io::Error| format!("could not be read: {error}");
    // Without `NONBLOCK` a pipe would hold the host until somebody writes to it.
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags(i32::try_from(flags.bits()).unwrap_or_default());
    if !dir.symlink_metadata(file).map_err(io)?.is_file() {
        return Err("not a regular file".to_owned());
    }
    let opened = dir.open_with(file, &options).map_err(io)?;
    let metadata = opened.metadata().map_err(io)?;
    if !metadata.is_file() {
        return Err("not a regular file".to_owned());
    }
    if metadata.len() > MAX_COMPONENT_BYTES {
        return Err(format!(
            "the file has {} bytes, more than the {MAX_COMPONENT_BYTES} allowed",
            metadata.len()
        ));
    }
    let mut bytes = Vec::new();
    opened
        .take(MAX_COMPONENT_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(io)?;
    Ok(bytes)
}
