//! `art runs save`: writes a file that a tool produced to the file system.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use art_store::{Store, digest};
use serde_json::json;

use super::{find_run, produced};
use crate::cli::Global;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, units};

/// Destination of a file.
pub(super) struct Destination<'a> {
    /// The folder, or the path of the new file. `None` means the current folder.
    pub(super) path: Option<&'a Path>,
    /// Whether to overwrite an existing file.
    pub(super) force: bool,
}

pub(super) async fn save(
    global: &Global,
    store: &dyn Store,
    id: &str,
    name: &str,
    destination: &Destination<'_>,
) -> Result<Exit, CommandError> {
    let run = find_run(store, id).await?;
    let files = produced::files(&store.read_journal(&run.trace_id).await?);
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
    destination.write(&path, &bytes)?;
    if global.json {
        render::json(&json!({"path": path, "file": file}));
    } else {
        render::answer(&path.display().to_string());
        render::note(&format!("saved {} of {}", units::bytes(file.bytes), file.media_type));
    }
    Ok(Exit::Success)
}

impl Destination<'_> {
    /// Returns the path of the new file. `name` comes from the run and is never a path.
    fn path_for(&self, name: &str) -> PathBuf {
        match self.path {
            None => PathBuf::from(name),
            Some(path) if path.is_dir() => path.join(name),
            Some(path) => path.to_owned(),
        }
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), CommandError> {
        let mut file = self.open(path)?;
        file.write_all(bytes).map_err(CommandError::file("write", path))
    }

    /// Opens an empty file: a new one, or with `force` an existing one. Links are not followed, since they may lead anywhere.
    fn open(&self, path: &Path) -> Result<File, CommandError> {
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        match new {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.force => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(CommandError::Failed(format!(
                    "`{}` already exists; set another path with --to, or overwrite it with --force",
                    path.display()
                )));
            }
            new => return new.map_err(CommandError::file("create", path)),
        }
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = OpenOptions::new().write(true).custom_flags(flags).open(path);
        let file = file.map_err(CommandError::file("open", path))?;
        if !file.metadata().map_err(CommandError::file("read", path))?.is_file() {
            return Err(CommandError::Failed(format!(
                "`{}` is not a regular file",
                path.display()
            )));
        }
        file.set_len(0).map_err(CommandError::file("write", path))?;
        Ok(file)
    }
}
