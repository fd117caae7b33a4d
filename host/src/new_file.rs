//! Writes new files at paths that a user names.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::CommandError;

/// Writes a new file; with `force` an existing one is overwritten.
///
/// # Errors
/// Fails if the file exists and `force` is not set, if it is not a regular file, or if it cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), CommandError> {
    let mut file = open(path, force)?;
    file.write_all(bytes).map_err(CommandError::file("write", path))
}

/// Checks that [`write`] would not refuse the path because there is a file already.
///
/// # Errors
/// Fails if the file exists and `force` is not set.
pub(crate) fn check_free(path: &Path, force: bool) -> Result<(), CommandError> {
    match path.symlink_metadata() {
        Ok(_) if !force => Err(exists(path)),
        _ => Ok(()),
    }
}

fn exists(path: &Path) -> CommandError {
    CommandError::Failed(format!(
        "`{}` already exists; choose another path, or overwrite it with --force",
        path.display()
    ))
}

/// Opens an empty file: a new one, or with `force` an existing one. Links are not followed, since they may lead anywhere.
fn open(path: &Path, force: bool) -> Result<File, CommandError> {
    let new = OpenOptions::new().write(true).create_new(true).open(path);
    match new {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && force => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(exists(path));
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
