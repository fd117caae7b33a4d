//! Replaces files so that readers find the old file or the new one, and removes what a killed process has left of the new one.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// The beginning of the names of files that are not complete yet. Each is locked by the process that writes it.
const PREFIX: &str = ".art-new-";
/// How many names are tried for a new file.
const MAX_ATTEMPTS: u32 = 64;

/// What a test does before a complete file gets its name.
static BEFORE_RENAME: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets what is done before a complete file gets its name: `hook` gets this name. Tests stop the process there. If a hook is set
/// already, it stays.
pub fn set_before_rename(hook: fn(&Path)) {
    BEFORE_RENAME.get_or_init(|| hook);
}

/// Replaces a file, or creates it. `write` writes the whole content to a file that only its owner can read. After a crash, the file
/// is the old one or the new one.
///
/// # Errors
/// Fails with the error of `write`, and if the file cannot be written or renamed. The old file stays then.
pub fn replace(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    place(path, write, |temporary| fs::rename(temporary, path))
}

/// Creates a file; otherwise the same as [`replace`].
///
/// # Errors
/// Same as [`replace`], and fails with [`ErrorKind::AlreadyExists`] if there is a file already, which stays.
pub fn create(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    place(path, write, |temporary| {
        fs::hard_link(temporary, path)?;
        fs::remove_file(temporary)
    })
}

/// Writes a temporary file, and calls `name` with its path, which gives it the name `path`.
fn place(
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
    name: impl FnOnce(&Path) -> io::Result<()>,
) -> io::Result<()> {
    let folder = folder_of(path);
    let (mut file, temporary) = create_locked(folder)?;
    let written = write(&mut file).and_then(|()| file.sync_all()).and_then(|()| {
        if let Some(hook) = BEFORE_RENAME.get() {
            hook(path);
        }
        name(&temporary)
    });
    if written.is_err() {
        // The first error counts. What cannot be removed now is removed by the next start.
        drop(fs::remove_file(&temporary));
    }
    written?;
    sync_folder(folder)
}

/// Removes the files that killed processes have left behind in a folder: those that [`replace`] had not completed. A file that a
/// living process writes stays, because it is locked, and so does one of another user, such as one that a `sudo` command left. Returns
/// the number of files that were removed.
///
/// # Errors
/// Fails if the folder cannot be listed, except if it does not exist, or if a file of this user cannot be removed.
pub fn remove_left_behind(folder: &Path) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        entries => entries?,
    };
    let mut removed = 0;
    for entry in entries {
        let entry = entry?;
        let is_temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if is_temporary && is_own_file(&entry)? && remove_if_unlocked(&entry.path())? {
            removed += 1;
        }
    }
    Ok(removed)
}

/// Returns whether an entry of a folder is a regular file of this user.
fn is_own_file(entry: &fs::DirEntry) -> io::Result<bool> {
    match entry.metadata() {
        Ok(metadata) => Ok(metadata.is_file() && metadata.uid() == rustix::process::geteuid().as_raw()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Removes a file unless another process or handle has locked it. Returns whether it was removed.
fn remove_if_unlocked(path: &Path) -> io::Result<bool> {
    let file = match super::open_regular(path) {
        // Its writer has just given it its name, or somebody else removes it.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        file => file?,
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(false),
        Err(TryLockError::Error(error)) => return Err(error),
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        removed => removed.map(|()| true),
    }
}

/// Creates a new file in a folder and locks it.
fn create_locked(folder: &Path) -> io::Result<(File, PathBuf)> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    for _ in 0..MAX_ATTEMPTS {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = folder.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        let file = match options.write(true).create_new(true).mode(0o600).open(&path) {
            // A process with the same number has left it behind.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
            file => file?,
        };
        super::lock(&file)?;
        // Somebody may have taken the file for one that was left behind before it was locked, and removed it.
        if file.metadata()?.nlink() > 0 {
            return Ok((file, path));
        }
    }
    Err(io::Error::new(
        ErrorKind::AlreadyExists,
        format!("no free name for a new file; remove those that begin with `{PREFIX}`"),
    ))
}

fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Waits until the names in a folder are stored.
fn sync_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder)?.sync_all() {
        // Some file systems can wait only for files, not for folders.
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

/// Replaces a file by one with this content; see [`replace`].
///
/// # Errors
/// Same as [`replace`].
pub fn replace_with(path: &Path, content: &[u8]) -> io::Result<()> {
    replace(path, |file| file.write_all(content))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_created_and_replaced_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for content in ["one", "two"] {
            replace_with(&path, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
        }
        assert_eq!(names(folder.path()), ["a"]);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_exists_is_not_created_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        create(&path, |file| file.write_all(b"one")).unwrap();
        let again = create(&path, |file| file.write_all(b"two"));
        assert_eq!(again.unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn a_write_that_fails_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        replace_with(&path, b"old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(io::Error::other("the disk is full"))
        });
        assert_eq!(failed.unwrap_err().to_string(), "the disk is full");
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(names(folder.path()), ["a"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_another_one_writes_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (killed, _) = create_locked(folder.path()).unwrap();
        drop(killed);
        let (_writing, path) = create_locked(folder.path()).unwrap();
        fs::write(folder.path().join(".tmpXYZ"), "of another program").unwrap();
        fs::create_dir(folder.path().join(format!("{PREFIX}folder"))).unwrap();
        assert_eq!(remove_left_behind(folder.path()).unwrap(), 1);
        assert!(path.exists());
        assert_eq!(names(folder.path()).len(), 3);
        assert_eq!(remove_left_behind(&folder.path().join("missing")).unwrap(), 0);
    }

    #[test]
    fn what_another_user_left_stays_and_is_no_error() {
        // Only root can give a file away.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let (killed, path) = create_locked(folder.path()).unwrap();
        drop(killed);
        std::os::unix::fs::chown(&path, Some(54_321), None).unwrap();
        assert_eq!(remove_left_behind(folder.path()).unwrap(), 0);
        assert!(path.exists());
    }

    #[test]
    fn a_new_file_gets_another_name_than_one_that_was_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let (_first, first_path) = create_locked(folder.path()).unwrap();
        let (_second, second_path) = create_locked(folder.path()).unwrap();
        assert_ne!(first_path, second_path);
    }
}
