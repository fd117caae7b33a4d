//! `art runs save`: a file that a tool left becomes a file of the person.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use art_store::{Store, digest};
use serde_json::json;

use super::{find, left};
use crate::cli::Global;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::render::{self, units};

/// Where a file goes.
pub(super) struct Target<'a> {
    /// A folder or the new file itself; none for this folder.
    pub(super) path: Option<&'a Path>,
    /// Overwrite an existing file.
    pub(super) force: bool,
}

pub(super) async fn save(
    global: &Global,
    store: &dyn Store,
    id: &str,
    name: &str,
    target: &Target<'_>,
) -> Result<Exit, CommandError> {
    let run = find(store, id).await?;
    let files = left::files(&store.read_journal(&run.trace_id).await?);
    let Some(file) = files.iter().find(|file| file.name == name) else {
        let names: Vec<_> = files.iter().map(|file| format!("`{}`", file.name)).collect();
        let left = if names.is_empty() {
            "none".to_owned()
        } else {
            names.join(", ")
        };
        return Err(CommandError::Failed(format!(
            "run `{}` left no file `{name}`; it left {left}",
            run.trace_id
        )));
    };
    let bytes = store.get_blob(&run.thread_id, &file.digest).await?;
    let Some(bytes) = bytes.filter(|bytes| digest(bytes) == file.digest) else {
        return Err(CommandError::Failed(format!(
            "the bytes of `{name}` are damaged or gone"
        )));
    };
    let path = target.place(&file.name);
    target.write(&path, &bytes)?;
    if global.json {
        render::json(&json!({"path": path, "file": file}));
    } else {
        render::answer(&path.display().to_string());
        render::note(&format!("saved {} of {}", units::bytes(file.bytes), file.media_type));
    }
    Ok(Exit::Success)
}

impl Target<'_> {
    /// Returns the path of the new file. Its name is the person's or one that the run gave it, which is never a path.
    fn place(&self, name: &str) -> PathBuf {
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

    /// Returns an empty file: a new one, or with `force` one that was there. No link is followed, since it may lead
    /// anywhere.
    fn open(&self, path: &Path) -> Result<File, CommandError> {
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        match new {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.force => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                return Err(CommandError::Failed(format!(
                    "`{}` is there already; give another path with --to, or --force to write over it",
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
            return Err(CommandError::Failed(format!("`{}` is no regular file", path.display())));
        }
        file.set_len(0).map_err(CommandError::file("write", path))?;
        Ok(file)
    }
}
