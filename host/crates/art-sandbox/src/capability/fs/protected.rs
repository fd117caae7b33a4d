//! Places that no tool may reach, whatever is granted.

use std::collections::HashSet;
use std::fmt;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use cap_std::fs::Dir;
use rustix::fs::{AtFlags, CWD, statat};

/// The device and inode numbers of a file or directory.
type Identity = (u64, u64);

/// Files and directories that no tool may reach: with everything in them, and with the directories above them.
///
/// They are recognised when they are open, and not by their paths: a directory can be reached by several paths, for example where
/// it is mounted twice or where the case of letters does not matter.
#[derive(Debug, Default)]
pub(crate) struct ProtectedPlaces {
    paths: Vec<PathBuf>,
    /// Looked up at the first call with a grant of files, when the host has created all of them.
    identities: OnceLock<Identities>,
}

#[derive(Debug, Default)]
struct Identities {
    places: HashSet<Identity>,
    /// The places and all directories above them.
    places_and_above: HashSet<Identity>,
}

/// The error for a place that no tool may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IsProtected;

impl fmt::Display for IsProtected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it leads to a place of the host or the system, which no tool may reach")
    }
}

impl std::error::Error for IsProtected {}

impl IsProtected {
    /// Returns whether `error` was made from an [`IsProtected`].
    pub(super) fn in_error(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

impl ProtectedPlaces {
    pub(crate) const fn new(paths: Vec<PathBuf>) -> Self {
        Self {
            paths,
            identities: OnceLock::new(),
        }
    }

    /// Checks an opened directory, or the file `name` in it.
    ///
    /// # Errors
    /// Fails with [`IsProtected`] if that is a protected place, or in one, or if the directory contains one.
    pub(super) fn check(&self, dir: &Dir, name: Option<&Path>) -> io::Result<()> {
        if self.paths.is_empty() {
            return Ok(());
        }
        let identities = self.identities.get_or_init(|| Identities::of(&self.paths));
        let is_file_protected = name
            .and_then(|name| identity_at(dir, name).ok())
            .is_some_and(|file| identities.places.contains(&file));
        let mut chain = with_directories_above(dir)?.into_iter();
        let contains_protected = match name {
            None => chain
                .clone()
                .next()
                .is_some_and(|dir| identities.places_and_above.contains(&dir)),
            Some(_) => false,
        };
        if is_file_protected || contains_protected || chain.any(|dir| identities.places.contains(&dir)) {
            return Err(io::Error::other(IsProtected));
        }
        Ok(())
    }
}

impl Identities {
    fn of(paths: &[PathBuf]) -> Self {
        let mut identities = Self::default();
        for path in paths {
            identities.places.extend(identity_at(CWD, path));
            let ancestors = path.ancestors().filter_map(|path| identity_at(CWD, path).ok());
            identities.places_and_above.extend(ancestors);
        }
        identities
    }
}

/// Returns the identities of a directory and of all directories above it.
pub(super) fn with_directories_above(dir: &Dir) -> io::Result<Vec<Identity>> {
    let mut path = PathBuf::from(".");
    let mut chain = vec![identity_at(dir, &path)?];
    loop {
        path.push("..");
        match identity_at(dir, &path)? {
            // The root is the directory above itself.
            above if chain.last() == Some(&above) => return Ok(chain),
            above => chain.push(above),
        }
    }
}

fn identity_at(dir: impl AsFd, path: &Path) -> io::Result<Identity> {
    let status = statat(dir, path, AtFlags::empty())?;
    Ok((status.st_dev, status.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;

    use super::*;

    #[test]
    fn a_protected_place_is_recognised_from_inside_from_above_and_by_a_second_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = |relative: &str| folder.path().join(relative);
        for directory in ["home/state/deep", "home/other"] {
            fs::create_dir_all(path(directory)).unwrap();
        }
        fs::write(path("home/key"), "secret").unwrap();
        fs::hard_link(path("home/key"), path("home/other/name")).unwrap();
        let protected = ProtectedPlaces::new(vec![path("home/state"), path("home/key"), path("home/missing")]);
        let check = |directory: &str, name: Option<&str>| {
            let dir = Dir::open_ambient_dir(path(directory), ambient_authority()).unwrap();
            protected.check(&dir, name.map(Path::new)).is_ok()
        };
        assert!(check("home/other", None) && check("home/other", Some("new.txt")) && check("home", Some("new.txt")));
        for (directory, name) in [
            ("home", None),
            ("", None),
            ("home/state", None),
            ("home/state/deep", None),
            ("home/state/deep", Some("file")),
            ("home", Some("key")),
            ("home/other", Some("name")),
        ] {
            assert!(!check(directory, name), "{directory} {name:?}");
        }
    }
}
