//! Paths that can be granted, and paths as a guest writes them. They are only compared as text here: the sandbox opens the files.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Access;

/// A grant of access to files: an entry `[[fs]]` of the file of grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FsGrant {
    /// The directory with everything below it, or the single file, as the operator wrote it. Absolute.
    pub path: PathBuf,
    /// The path to which `path` led when the grant was made, if it ran through a link; otherwise absent. The sandbox opens this
    /// path, and follows no link in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<PathBuf>,
    /// What may be done there. By default reading.
    #[serde(default)]
    pub access: Access,
    /// Whether changes by the tool are staged until a person has seen them and commits or drops them. By default false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stage: bool,
    /// Maximum number of bytes that one call may add. By default 256 MiB.
    #[serde(default = "default_max_bytes", skip_serializing_if = "is_default_max_bytes")]
    pub max_bytes: u64,
    /// Maximum number of files and directories that one call may create. By default 10,000.
    #[serde(default = "default_max_files", skip_serializing_if = "is_default_max_files")]
    pub max_files: u64,
}

const fn default_max_bytes() -> u64 {
    256 << 20
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_max_bytes(bytes: &u64) -> bool {
    *bytes == default_max_bytes()
}

const fn default_max_files() -> u64 {
    10_000
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_default_max_files(files: &u64) -> bool {
    *files == default_max_files()
}

impl FsGrant {
    /// Creates a grant without staging and with the default maximums of bytes and files. No part of `path` may be a link, unless
    /// [`with_resolved`](Self::with_resolved) says where it leads.
    #[must_use]
    pub const fn new(path: PathBuf, access: Access) -> Self {
        Self {
            path,
            resolved: None,
            access,
            stage: false,
            max_bytes: default_max_bytes(),
            max_files: default_max_files(),
        }
    }

    /// Sets the path to which the path of the grant leads: the same path with every link in it followed.
    #[must_use]
    pub fn with_resolved(mut self, resolved: PathBuf) -> Self {
        self.resolved = (resolved != self.path).then_some(resolved);
        self
    }

    /// Returns the path that the sandbox opens: the one to which the path of the grant led when the grant was made.
    #[must_use]
    pub fn base(&self) -> &Path {
        self.resolved.as_deref().unwrap_or(&self.path)
    }

    /// Checks what the types do not express. Whether the path may be granted on this machine is checked by the runtime.
    ///
    /// # Errors
    /// Fails with what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        let shown = self.path.display();
        let Some(text) = self.path.to_str() else {
            return Err(format!("the path `{shown}` is not UTF-8"));
        };
        if !self.path.is_absolute() {
            return Err(format!("the path `{shown}` is not absolute"));
        }
        if text.contains('\0') {
            return Err(format!("the path `{shown}` has a NUL character"));
        }
        if guest_path(text).is_err() || text.contains("/./") || text.ends_with("/.") || text.contains("//") {
            return Err(format!("the path `{shown}` has an empty part, `.` or `..`"));
        }
        if text.contains(['~', '$', '*', '?', '[', '\n', '\r']) {
            return Err(format!(
                "the path `{shown}` has a character that only a shell replaces; write the path itself"
            ));
        }
        if self.path.parent().is_none() {
            return Err("`/` cannot be granted".to_owned());
        }
        self.check_resolved()?;
        if self.stage && !self.access.may_write() {
            return Err(format!(
                "`stage` needs the access `read-write`, and `{shown}` has `read`"
            ));
        }
        Ok(())
    }

    /// Checks the path to which the path of the grant leads. It may have characters that a shell replaces, because nobody has to
    /// write it.
    fn check_resolved(&self) -> Result<(), String> {
        let base = self.base();
        let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
        let text = base.to_str().unwrap_or_default();
        if base.is_absolute() && base.parent().is_some() && base.components().all(is_plain) && !text.contains('\0') {
            return Ok(());
        }
        Err(format!(
            "the path `{}` leads to `{}`, which cannot be granted",
            self.path.display(),
            base.display()
        ))
    }

    /// Returns whether this grant allows `access` to `path`. The path is compared as text, part by part, with that of the grant
    /// and with the one to which that leads.
    #[must_use]
    pub fn covers(&self, path: &Path, access: Access) -> bool {
        self.access >= access && self.place_of(path).is_some()
    }

    /// Returns the path beneath [`base`](Self::base) for a path that is written beneath the path of the grant, or beneath the one
    /// to which that leads. Returns `None` for any other path.
    #[must_use]
    pub fn place_of(&self, path: &Path) -> Option<PathBuf> {
        let below = path
            .strip_prefix(&self.path)
            .or_else(|_| path.strip_prefix(self.base()));
        Some(join_below(self.base(), below.ok()?))
    }

    /// Returns the path beneath the path of the grant, as the operator wrote that, for a `place` beneath [`base`](Self::base).
    #[must_use]
    pub fn written_path_of(&self, place: &Path) -> PathBuf {
        let below = place.strip_prefix(self.base());
        below.map_or_else(|_| place.to_owned(), |below| join_below(&self.path, below))
    }
}

/// Joins a path and the path of something below it, which is empty for the path itself.
fn join_below(path: &Path, below: &Path) -> PathBuf {
    match below.as_os_str().is_empty() {
        true => path.to_owned(),
        false => path.join(below),
    }
}

/// The error for a path of a call that no grant can cover.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathProblem {
    /// The path is empty.
    #[error("the path is empty")]
    Empty,
    /// The path contains `..`.
    #[error("the path contains `..`: write it without")]
    Parent,
    /// The path contains a NUL.
    #[error("the path contains a character that no path has")]
    Nul,
}

/// Returns the normal form of a path that a guest writes: without the leading `/`, empty parts and `.`. `/` becomes the empty
/// string.
///
/// # Errors
/// Fails if the path contains `..` or NUL.
pub fn guest_path(text: &str) -> Result<String, PathProblem> {
    if text.contains('\0') {
        return Err(PathProblem::Nul);
    }
    let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
    let mut path = String::new();
    for part in parts {
        if part == ".." {
            return Err(PathProblem::Parent);
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(part);
    }
    Ok(path)
}

/// Returns the absolute path that a person or a model means by `text`: a `~` at its beginning is `home`, and a relative path begins
/// at `current`.
///
/// # Errors
/// Fails if the text is empty, or contains `..` or NUL.
pub(super) fn absolute_path(text: &str, home: Option<&Path>, current: &Path) -> Result<PathBuf, PathProblem> {
    if text.is_empty() {
        return Err(PathProblem::Empty);
    }
    let relative = guest_path(text)?;
    let path = match (relative.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if text.starts_with('~') && (rest.is_empty() || rest.starts_with('/')) => {
            home.join(rest.trim_start_matches('/'))
        }
        _ if text.starts_with('/') => Path::new("/").join(relative),
        _ => current.join(relative),
    };
    Ok(path.components().filter(|part| *part != Component::CurDir).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_grant_of(path: &str) -> Result<(), String> {
        FsGrant::new(path.into(), Access::Read).check()
    }

    #[test]
    fn a_plain_absolute_path_can_be_granted() {
        check_grant_of("/home/me/notes").unwrap();
        check_grant_of("/home/me/a file.txt").unwrap();
    }

    #[test]
    fn a_path_that_is_not_plain_and_absolute_cannot_be_granted() {
        for path in [
            "",
            "/",
            "notes",
            "./notes",
            "~/notes",
            "/home/../etc",
            "/home/./me",
            "/home//me",
            "/$HOME",
            "/home/*",
            "/home/\0me",
        ] {
            assert!(check_grant_of(path).is_err(), "{path}");
        }
    }

    #[test]
    fn a_grant_covers_its_path_and_what_is_below_it_but_not_a_longer_name() {
        let grant = FsGrant::new("/home/me/notes".into(), Access::Read);
        assert!(grant.covers(Path::new("/home/me/notes"), Access::Read));
        assert!(grant.covers(Path::new("/home/me/notes/a/b"), Access::Read));
        assert!(!grant.covers(Path::new("/home/me/notes2"), Access::Read));
        assert!(!grant.covers(Path::new("/home/me"), Access::Read));
        assert!(!grant.covers(Path::new("/home/me/notes"), Access::ReadWrite));
    }

    #[test]
    fn a_grant_through_a_link_covers_both_spellings_and_leads_to_one_place() {
        let grant = FsGrant::new("/home/me/data".into(), Access::Read).with_resolved("/mnt/disk".into());
        for path in ["/home/me/data/a", "/mnt/disk/a"] {
            assert!(grant.covers(Path::new(path), Access::Read), "{path}");
            assert_eq!(grant.place_of(Path::new(path)), Some("/mnt/disk/a".into()));
        }
        assert_eq!(grant.place_of(Path::new("/home/me/data")), Some("/mnt/disk".into()));
        assert_eq!(
            grant.written_path_of(Path::new("/mnt/disk/a")),
            Path::new("/home/me/data/a")
        );
        assert_eq!(grant.place_of(Path::new("/mnt/disk2")), None);
        assert!(!grant.covers(Path::new("/home/me"), Access::Read));
    }

    #[test]
    fn a_grant_whose_path_leads_to_no_plain_path_is_refused() {
        let leading_to = |resolved: &str| FsGrant::new("/a".into(), Access::Read).with_resolved(resolved.into());
        leading_to("/mnt/a [1]").check().unwrap();
        for resolved in ["", "/", "mnt", "/mnt/../etc", "/mnt\0"] {
            assert!(leading_to(resolved).check().is_err(), "{resolved}");
        }
    }

    #[test]
    fn a_path_of_a_call_may_be_relative_or_begin_with_the_home_directory() {
        let absolute = |text| absolute_path(text, Some(Path::new("/home/me")), Path::new("/base"));
        assert_eq!(absolute("./~/a"), Ok("/base/~/a".into()));
        assert_eq!(absolute("/etc/hosts"), Ok("/etc/hosts".into()));
        assert_eq!(absolute("~/notes/./a"), Ok("/home/me/notes/a".into()));
        assert_eq!(absolute("~"), Ok("/home/me".into()));
        assert_eq!(absolute("~other"), Ok("/base/~other".into()));
        assert_eq!(absolute("a/b"), Ok("/base/a/b".into()));
        assert_eq!(absolute("."), Ok("/base".into()));
        assert_eq!(absolute("../a"), Err(PathProblem::Parent));
        assert_eq!(absolute(""), Err(PathProblem::Empty));
    }

    proptest! {
        #[test]
        fn an_absolute_path_has_no_dot_parts(text in ".{0,40}") {
            if let Ok(path) = absolute_path(&text, Some(Path::new("/home/me")), Path::new("/base")) {
                prop_assert!(path.is_absolute());
                prop_assert!(path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_))));
            }
        }
    }
}
