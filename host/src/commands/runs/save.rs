//! `art runs save`: copies a file of a run, which a tool produced, from the store to the file system.

use std::path::{Path, PathBuf};

use art_runtime::read_journal;
use art_store::{Store, digest};
use serde_json::json;

use super::{find_run, produced};
use crate::cli::GlobalOptions;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::new_file;
use crate::render::{self, units};

/// Where to save a file.
pub(super) struct Destination<'a> {
    /// The folder, or the path of the new file. `None` means the current folder.
    pub(super) path: Option<&'a Path>,
    /// Whether to overwrite an existing file.
    pub(super) force: bool,
}

pub(super) async fn save(
    global: &GlobalOptions,
    store: &dyn Store,
    id: &str,
    name: &str,
    destination: &Destination<'_>,
) -> Result<Exit, CommandError> {
    let run = find_run(global, store, id).await?;
    let files = produced::files(&read_journal(store, &run).await?);
    let Some(file) = files.iter().find(|file| file.name == name) else {
        let names: Vec<_> = files.iter().map(|file| format!("`{}`", file.name)).collect();
        let names = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        return Err(CommandError::Failed(format!(
            "run `{}` produced no file `{name}`; its files: {names}",
            run.trace_id
        )));
    };
    let bytes = store.get_blob(&run.thread_id, &file.digest).await?;
    let Some(bytes) = bytes.filter(|bytes| digest(bytes) == file.digest) else {
        return Err(CommandError::Failed(format!(
            "the stored content of `{name}` is damaged or missing"
        )));
    };
    let path = destination.path_for(&file.name);
    new_file::write(&path, &bytes, destination.force)?;
    if global.json {
        render::json(&json!({"path": path, "file": file}));
    } else {
        render::print(&path.display().to_string());
        render::note(&format!("saved {} of {}", units::bytes(file.bytes), file.media_type));
    }
    Ok(Exit::Success)
}

impl Destination<'_> {
    /// Returns the path of the new file. `name` is the name of the file in the run, which is never a path.
    fn path_for(&self, name: &str) -> PathBuf {
        match self.path {
            None => PathBuf::from(name),
            Some(path) if path.is_dir() => path.join(name),
            Some(path) => path.to_owned(),
        }
    }
}
