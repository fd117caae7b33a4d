//! Symbolic links in paths: following all of them, or none.

use std::ffi::OsString;
use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;

/// Maximum number of links that [`resolve`] follows, as many as the operating system does.
const MAX_LINKS: usize = 40;
/// Flags with which a directory is opened: only as the place of what is beneath it.
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The error for a path that runs through a symbolic link, where no link may be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkInPath {
    /// The path of the link.
    pub link: PathBuf,
}

impl fmt::Display for LinkInPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is a symbolic link", self.link.display())
    }
}

impl std::error::Error for LinkInPath {}

impl LinkInPath {
    /// Returns the [`LinkInPath`] from which `error` was made, or `None` if it has another cause.
    #[must_use]
    pub fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// Returns the absolute path to which `path` leads: every link in it is followed, also one at its end, and `..` is what the
/// operating system takes it for. Parts at which nothing exists, or at which this process may not look, stay as they are written.
///
/// # Errors
/// Fails if the path is empty, if it has too many links, or if it is relative and there is no current directory.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    let mut resolved = PathBuf::from("/");
    // The parts that are left to resolve, the next one last.
    let mut parts = reversed_parts(&absolute);
    let mut links = 0;
    while let Some(part) = parts.pop() {
        if part == ".." {
            resolved.pop();
            continue;
        }
        let next = resolved.join(part);
        // Reading fails if there is no link.
        let Ok(target) = std::fs::read_link(&next) else {
            resolved = next;
            continue;
        };
        links += 1;
        if links > MAX_LINKS {
            return Err(Errno::LOOP.into());
        }
        if target.is_absolute() {
            resolved = PathBuf::from("/");
        }
        parts.extend(reversed_parts(&target));
    }
    Ok(resolved)
}

/// Returns the names and `..` in a path, the last one first.
fn reversed_parts(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::RootDir | Component::CurDir | Component::Prefix(_) => None,
    });
    parts.collect()
}

/// Opens the directory at an absolute path without `..`, if no part of the path is a link. The handle can only be used to open
/// what is beneath the directory.
///
/// # Errors
/// Fails with [`LinkInPath`] if a part of the path is a link, and with the error of the operating system if there is no
/// directory at the path or it cannot be opened.
pub fn open_directory_without_links(path: &Path) -> io::Result<OwnedFd> {
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(is_plain) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the path is relative or has `..`",
        ));
    }
    match openat2(CWD, path, DIRECTORY, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Older kernels and some containers do not offer this system call. For a link, the steps find out which one it is.
        Err(Errno::NOSYS | Errno::PERM | Errno::LOOP) => open_in_steps(path),
        opened => Ok(opened?),
    }
}

/// Opens each directory of an absolute path beneath the one before it.
fn open_in_steps(path: &Path) -> io::Result<OwnedFd> {
    let mut opened = PathBuf::from("/");
    let mut directory = openat(CWD, "/", DIRECTORY, Mode::empty())?;
    for part in path.components().skip(1) {
        opened.push(part);
        let name = Path::new(part.as_os_str());
        directory = match openat(&directory, name, DIRECTORY | OFlags::NOFOLLOW, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) if is_link(&directory, name)? => {
                return Err(io::Error::other(LinkInPath { link: opened }));
            }
            next => next?,
        };
    }
    Ok(directory)
}

/// Returns whether there is a link at `name` in a directory.
///
/// # Errors
/// Fails if this cannot be found out, unless nothing is there.
pub fn is_link(directory: impl AsFd, name: &Path) -> io::Result<bool> {
    match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(status) => Ok(FileType::from_raw_mode(status.st_mode) == FileType::Symlink),
        Err(Errno::NOENT) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates a folder with `real/sub` and links to it, and returns its path without links.
    fn folder_with_links() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        fs::create_dir_all(path.join("real/sub")).unwrap();
        symlink("real", path.join("relative")).unwrap();
        symlink(path.join("real"), path.join("absolute")).unwrap();
        symlink("nowhere/file", path.join("dangling")).unwrap();
        symlink("loop", path.join("loop")).unwrap();
        (folder, path)
    }

    #[test]
    fn every_link_of_a_path_is_followed_and_what_does_not_exist_is_kept() {
        let (_folder, path) = folder_with_links();
        for (written, expected) in [
            ("relative/sub", "real/sub"),
            ("absolute/./sub//", "real/sub"),
            ("relative/new/file", "real/new/file"),
            ("dangling", "nowhere/file"),
            ("relative/sub/../x", "real/x"),
            ("relative/..", ""),
        ] {
            assert_eq!(resolve(&path.join(written)).unwrap(), path.join(expected), "{written}");
        }
        assert_eq!(
            resolve(&path.join("loop")).unwrap_err().raw_os_error(),
            Some(Errno::LOOP.raw_os_error())
        );
        assert!(resolve(Path::new("")).is_err());
    }

    #[test]
    fn a_link_anywhere_in_a_path_is_named_and_not_followed() {
        let (_folder, path) = folder_with_links();
        for open in [open_directory_without_links, open_in_steps] {
            open(&path.join("real/sub")).unwrap();
            for (opened, link) in [
                ("relative/sub", "relative"),
                ("absolute", "absolute"),
                ("loop/x", "loop"),
            ] {
                let error = open(&path.join(opened)).unwrap_err();
                let expected = LinkInPath { link: path.join(link) };
                assert_eq!(LinkInPath::in_error(&error), Some(&expected), "{opened}: {error}");
            }
            let missing = open(&path.join("real/none/x")).unwrap_err();
            assert_eq!(missing.kind(), io::ErrorKind::NotFound);
            fs::write(path.join("file"), "").unwrap();
            let file = open(&path.join("file")).unwrap_err();
            assert_eq!(file.kind(), io::ErrorKind::NotADirectory);
        }
    }

    #[test]
    fn a_path_that_is_relative_or_leads_upwards_is_not_opened() {
        for path in ["", "tmp", "/tmp/../etc", ".."] {
            assert!(open_directory_without_links(Path::new(path)).is_err(), "{path}");
        }
    }
}
