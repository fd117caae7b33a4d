//! Writes new files at paths that a user names.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::CommandError;

/// Writes a new file. With `force`, overwrites an existing one.
///
/// # Errors
/// Fails if the file exists and `force` is not set, if it is not a regular file, or if it cannot be written.
pub(crate) fn write(path: &Path, bytes: &[u8], force: bool) -> Result<(), CommandError> {
    let mut file = open_empty(path, force)?;
    file.write_all(bytes).map_err(CommandError::file("write", path))
}

/// Checks that [`write`] would not refuse the path, as far as this can be known in advance.
///
/// # Errors
/// Fails if the file exists and `force` is not set, or if the file does not exist and its directory is not writable.
pub(crate) fn check_can_write(path: &Path, force: bool) -> Result<(), CommandError> {
    if path.symlink_metadata().is_ok() {
        return if force { Ok(()) } else { Err(exists_error(path)) };
    }
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let access = rustix::fs::access(parent, rustix::fs::Access::WRITE_OK);
    let to_error = CommandError::file("write into", parent);
    access.map_err(std::io::Error::from).map_err(to_error)
}

fn exists_error(path: &Path) -> CommandError {
    CommandError::Failed(format!(
        "`{}` already exists; choose another path, or overwrite it with --force",
        path.display()
    ))
}

/// Opens an empty file: a new one, or with `force` an existing one after removing its content. Links are not followed, since
/// they may lead anywhere.
fn open_empty(path: &Path, force: bool) -> Result<File, CommandError> {
    let created = OpenOptions::new().write(true).create_new(true).open(path);
    match created {
        Err(error) if error.kind() == ErrorKind::AlreadyExists && force => {}
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Err(exists_error(path));
        }
        created => return created.map_err(CommandError::file("create", path)),
    }
    // With `NONBLOCK`, opening a pipe does not block. A pipe is refused below.
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
