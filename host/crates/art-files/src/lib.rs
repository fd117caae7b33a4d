//! Opens and locks files that other programs can write to or lock, without blocking for ever, and follows links in paths or none.
//!
//! The path of such a file may name a pipe, a device or a folder instead of a file. Opening a pipe blocks until another process
//! writes to it, and reading a device may never end.

mod attributes;
mod links;
mod overwrite;
mod replace;

use std::fmt;
use std::fs::{File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

pub use attributes::{drop_special_bits, take_attributes};
pub use links::{LinkInPath, is_link, open_directory_without_links, resolve};
pub use overwrite::{FoundContent, compare, copy_piece, overwrite, put_beside, rename_to_free_name, reserve};
pub use replace::{create, remove_left_behind, replace, replace_with, set_before_rename};

/// Maximum time for which [`lock`] waits.
const MAX_LOCK_WAIT: Duration = Duration::from_secs(5);
/// Interval at which [`lock`] tries again.
const LOCK_INTERVAL: Duration = Duration::from_millis(10);

/// The error for a path that does not name a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegular {}

impl NotRegular {
    /// Returns whether `error` was made from a [`NotRegular`].
    #[must_use]
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|cause| cause.is::<Self>())
    }
}

/// Opens a regular file for reading. Follows links and never blocks.
///
/// # Errors
/// Fails if the file cannot be opened, and with [`NotRegular`] if it is a pipe, a device, a socket or a folder.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(openat(CWD, path, open_flags(), Mode::empty())?)
}

/// Opens a regular file in an open folder for reading. Does not follow links and never blocks.
///
/// # Errors
/// Same as [`open_regular`], and fails with [`NotRegular`] for a link.
pub fn open_entry(folder: impl AsFd, name: &str) -> io::Result<File> {
    match openat(folder, name, open_flags() | OFlags::NOFOLLOW, Mode::empty()) {
        // `NOFOLLOW` fails with this error for a link.
        Err(Errno::LOOP) => Err(io::Error::other(NotRegular)),
        opened => check_regular(opened?),
    }
}

/// Opens a regular file for reading and writing, and creates it, for its owner alone, if it does not exist. Neither follows links
/// nor blocks.
///
/// # Errors
/// Fails if the file cannot be opened or created, and with [`NotRegular`] if it is a pipe, a device, a socket, a folder or a link.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW;
    match openat(CWD, path, flags, Mode::RUSR | Mode::WUSR) {
        // A link, a folder, or a socket.
        Err(Errno::LOOP | Errno::ISDIR | Errno::NXIO) => Err(io::Error::other(NotRegular)),
        opened => check_regular(opened?),
    }
}

/// Reads a text of at most `limit` bytes from a file or a pipe, which may never end.
///
/// # Errors
/// Fails with [`ErrorKind::FileTooLarge`] if the text is longer, with [`ErrorKind::InvalidData`] if it is not UTF-8, and
/// with any error of reading.
pub fn read_text(from: impl Read, limit: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("it has more than the {limit} bytes allowed");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    String::from_utf8(bytes).map_err(|error| {
        let reason = format!("it is not UTF-8 text: {error}");
        io::Error::new(ErrorKind::InvalidData, reason)
    })
}

/// Locks a file or a folder until it is closed, so that neither another process nor another handle of this process can lock it.
/// Waits for at most five seconds if it is locked.
///
/// The wait is needed even if the holder has already released the lock: a child process that the holder is just starting
/// inherits the open file, and with it the lock, for a moment.
///
/// # Errors
/// Fails with [`ErrorKind::TimedOut`] if another holder keeps the lock, and with any error of locking.
pub fn lock(file: &File) -> io::Result<()> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) if start.elapsed() < MAX_LOCK_WAIT => std::thread::sleep(LOCK_INTERVAL),
            Err(TryLockError::WouldBlock) => {
                return Err(io::Error::new(
                    ErrorKind::TimedOut,
                    "another process has locked it; try again",
                ));
            }
            Err(TryLockError::Error(error)) => return Err(error),
            Ok(()) => return Ok(()),
        }
    }
}

/// Returns why users other than this one and root can change a file or the entries of a folder, or `None` if they cannot. The
/// primary group of this user counts as this user, because many systems give each user a group of their own.
#[must_use]
pub fn writable_by_others(metadata: &Metadata) -> Option<&'static str> {
    owned_by_others(metadata).or_else(|| problem_of_mode(metadata))
}

/// Returns which other users can write to a file or folder because of its mode, or `None` if none can.
fn problem_of_mode(metadata: &Metadata) -> Option<&'static str> {
    let is_of_other_group = metadata.gid() != rustix::process::getegid().as_raw();
    match metadata.mode() {
        mode if mode & 0o002 != 0 => Some("every user can write to it"),
        mode if mode & 0o020 != 0 && is_of_other_group => Some("a group of other users can write to it"),
        _ => None,
    }
}

/// Returns whether `owner` stands for the users outside of a user namespace. `uid_map` is the map of its users, as
/// `/proc/self/uid_map` has it: the map of the whole machine has all of them.
fn is_unmapped(owner: u32, uid_map: &str) -> bool {
    /// The user whom the kernel shows in place of those who have no number in the namespace.
    const OVERFLOW_USER: u32 = 65_534;
    let all_users = ["0", "0", "4294967295"];
    owner == OVERFLOW_USER && !uid_map.is_empty() && !uid_map.split_whitespace().eq(all_users)
}

/// Returns that a file or folder belongs to another user than this one and root, or `None` if it does not.
fn owned_by_others(metadata: &Metadata) -> Option<&'static str> {
    let owner = metadata.uid();
    let is_ours = owner == 0 || owner == rustix::process::geteuid().as_raw();
    (!is_ours).then_some("it belongs to another user")
}

/// Returns the nearest folder above `path` in which users other than this one and root can put something else in the place of
/// `path` or of a folder above it, and why they can. Returns `None` if there is no such folder. In a folder with the sticky bit, such
/// as `/tmp`, nobody but its owner can replace what belongs to somebody else. In a user namespace, such as that of a container without
/// root, the folders of the system belong to a user who is not in it, and who counts as root. The caller checks `path` itself.
///
/// # Errors
/// Fails if there is nothing at `path`, or if a folder above it cannot be examined.
pub fn replaceable_by_others(path: &Path) -> io::Result<Option<(PathBuf, &'static str)>> {
    const STICKY: u32 = 0o1000;
    let uid_map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    for above in path.canonicalize()?.ancestors().skip(1) {
        let metadata = above.metadata()?;
        let by_owner = owned_by_others(&metadata).filter(|_| !is_unmapped(metadata.uid(), &uid_map));
        let by_mode = problem_of_mode(&metadata).filter(|_| metadata.mode() & STICKY == 0);
        if let Some(problem) = by_owner.or(by_mode) {
            return Ok(Some((above.to_owned(), problem)));
        }
    }
    Ok(None)
}

/// Returns the flags for opening. Without `NONBLOCK` a pipe would block; without `NOCTTY` a terminal could become the
/// controlling terminal of the process.
fn open_flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

fn check_regular(opened: OwnedFd) -> io::Result<File> {
    let file = File::from(opened);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other(NotRegular))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::io::Read;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    fn is_not_regular(opened: io::Result<File>) -> bool {
        opened.is_err_and(|error| NotRegular::is_cause_of(&error))
    }

    #[test]
    fn a_file_is_opened_and_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "text").unwrap();
        let mut text = String::new();
        let mut file = open_regular(&folder.path().join("a")).unwrap();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "text");
        assert!(open_entry(File::open(folder.path()).unwrap(), "a").is_ok());
    }

    #[test]
    fn a_pipe_without_a_writer_is_refused_without_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(is_not_regular(open_regular(&pipe)));
        assert!(is_not_regular(open_entry(File::open(folder.path()).unwrap(), "pipe")));
    }

    #[test]
    fn a_device_and_a_folder_are_refused() {
        assert!(is_not_regular(open_regular(Path::new("/dev/zero"))));
        assert!(is_not_regular(open_regular(Path::new("/"))));
    }

    #[test]
    fn open_regular_follows_links_and_open_entry_does_not() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "text").unwrap();
        symlink("a", folder.path().join("link")).unwrap();
        assert!(open_regular(&folder.path().join("link")).is_ok());
        assert!(is_not_regular(open_entry(File::open(folder.path()).unwrap(), "link")));
    }

    #[test]
    fn a_folder_is_writable_by_others_because_of_its_mode_its_group_or_its_owner() {
        let folder = tempfile::tempdir().unwrap();
        let problem = || writable_by_others(&fs::metadata(folder.path()).unwrap());
        let set_mode = |mode| fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
        for (mode, expected) in [
            (0o700, None),
            (0o755, None),
            (0o775, None),
            (0o777, Some("every user can write to it")),
            (0o1777, Some("every user can write to it")),
        ] {
            set_mode(mode);
            assert_eq!(problem(), expected, "{mode:o}");
        }
        set_mode(0o775);
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(folder.path(), None, Some(54_321)).unwrap();
            assert_eq!(problem(), Some("a group of other users can write to it"));
            std::os::unix::fs::chown(folder.path(), Some(54_321), None).unwrap();
            assert_eq!(problem(), Some("it belongs to another user"));
        }
    }

    #[test]
    fn a_folder_above_is_named_if_others_can_replace_what_is_in_it() {
        let parent = tempfile::tempdir().unwrap();
        let parent = parent.path().canonicalize().unwrap();
        let (above, path) = (parent.join("above"), parent.join("above/folder/file"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        let set_mode = |mode| fs::set_permissions(&above, fs::Permissions::from_mode(mode)).unwrap();
        for (mode, expected) in [
            (0o700, None),
            (0o755, None),
            (0o1777, None),
            (0o777, Some("every user can write to it")),
        ] {
            set_mode(mode);
            let expected = expected.map(|problem| (above.clone(), problem));
            assert_eq!(replaceable_by_others(&path).unwrap(), expected, "{mode:o}");
        }
        // Only root can give a file away.
        if rustix::process::geteuid().is_root() {
            set_mode(0o1755);
            std::os::unix::fs::chown(&above, Some(54_321), None).unwrap();
            let expected = Some((above, "it belongs to another user"));
            assert_eq!(replaceable_by_others(&path).unwrap(), expected);
        }
        replaceable_by_others(&parent.join("missing")).unwrap_err();
    }

    #[test]
    fn the_owner_of_folders_of_the_system_has_no_number_in_a_user_namespace() {
        let (of_machine, of_namespace) = (
            "         0          0 4294967295\n",
            "      1000       1000          1\n",
        );
        assert!(is_unmapped(65_534, of_namespace));
        assert!(!is_unmapped(65_534, of_machine));
        assert!(!is_unmapped(1_001, of_namespace));
        assert!(!is_unmapped(65_534, ""));
    }

    #[test]
    fn a_missing_file_is_reported_as_not_found() {
        let error = open_regular(Path::new("/nowhere/a")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!NotRegular::is_cause_of(&error));
    }
}
