//! Opening files that may be anything.
//!
//! A path may name a pipe, a device or a folder. Opening a pipe blocks until another process writes to it, and a device
//! may have no end. So every file that another program could have put there is opened with these functions.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// The path does not name a regular file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRegular;

impl fmt::Display for NotRegular {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a regular file")
    }
}

impl std::error::Error for NotRegular {}

impl NotRegular {
    /// Returns whether this is the cause of `error`.
    #[must_use]
    pub fn is_cause_of(error: &io::Error) -> bool {
        error.get_ref().is_some_and(|cause| cause.is::<Self>())
    }
}

/// Opens a regular file for reading, and follows links. Never blocks.
///
/// # Errors
/// Fails if it cannot be opened, and with [`NotRegular`] when it is a pipe, a device, a socket or a folder.
pub fn open_regular(path: &Path) -> io::Result<File> {
    regular(openat(CWD, path, flags(), Mode::empty())?)
}

/// Opens a regular file of an open folder, without following links; see [`open_regular`].
///
/// # Errors
/// Fails as [`open_regular`] does.
pub fn open_entry(folder: impl AsFd, name: &str) -> io::Result<File> {
    match openat(folder, name, flags() | OFlags::NOFOLLOW, Mode::empty()) {
        // The error for a link that is not followed.
        Err(Errno::LOOP) => Err(io::Error::other(NotRegular)),
        opened => regular(opened?),
    }
}

/// Reads the text of a file or a pipe, which may never end, up to a limit.
///
/// # Errors
/// [`ErrorKind::FileTooLarge`] when it has more than `most` bytes, [`ErrorKind::InvalidData`] when it is not UTF-8, and
/// whatever reading fails with.
pub fn read_text(from: impl Read, most: u64) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let reason = format!("it has more than the {most} bytes allowed");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    String::from_utf8(bytes).map_err(|error| {
        let reason = format!("it is not UTF-8 text: {error}");
        io::Error::new(ErrorKind::InvalidData, reason)
    })
}

/// Returns the flags for opening. Without `NONBLOCK` a pipe would block the host; without `NOCTTY` a terminal could
/// become its controlling one.
fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY
}

fn regular(opened: OwnedFd) -> io::Result<File> {
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
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn irregular(opened: io::Result<File>) -> bool {
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
    fn a_pipe_that_nobody_writes_to_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(irregular(open_regular(&pipe)));
        assert!(irregular(open_entry(File::open(folder.path()).unwrap(), "pipe")));
    }

    #[test]
    fn a_device_and_a_folder_are_refused() {
        assert!(irregular(open_regular(Path::new("/dev/zero"))));
        assert!(irregular(open_regular(Path::new("/"))));
    }

    #[test]
    fn a_link_is_followed_to_a_path_and_not_within_a_folder() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "text").unwrap();
        symlink("a", folder.path().join("link")).unwrap();
        assert!(open_regular(&folder.path().join("link")).is_ok());
        assert!(irregular(open_entry(File::open(folder.path()).unwrap(), "link")));
    }

    #[test]
    fn what_is_not_there_is_told_as_that() {
        let error = open_regular(Path::new("/nowhere/a")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!NotRegular::is_cause_of(&error));
    }
}
