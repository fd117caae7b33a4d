//! Where the files of a grant are on the host.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use art_core::capability::{CallGrants, Capability, Denial, FsGrant, revoke_command};
use art_files::{LinkInPath, is_link, open_directory_without_links};
use cap_std::fs::Dir;
use rustix::io::Errno;

use super::protected::{IsProtected, ProtectedPlaces};

/// The directory or file to which a grant leads. All rights of a call to the same grant share one.
///
/// It is opened before the guest runs, and follows no link: where the grant leads was found out when it was made. So neither the
/// guest nor another program can lead it elsewhere.
#[derive(Debug)]
pub(super) struct GrantBase {
    grant: Arc<FsGrant>,
    protected: Arc<ProtectedPlaces>,
    opened: OnceLock<OpenedBase>,
}

/// The opened directory of a grant, or the one that contains the granted file.
#[derive(Clone, Debug)]
pub(super) struct OpenedBase {
    pub(super) dir: Arc<Dir>,
    /// The name of the granted file in `dir`. `None` if `dir` is what is granted.
    pub(super) name: Option<PathBuf>,
    /// The path of `dir`.
    pub(super) path: PathBuf,
}

impl GrantBase {
    pub(super) fn new(grant: &Arc<FsGrant>, protected: &Arc<ProtectedPlaces>) -> Self {
        Self {
            grant: Arc::clone(grant),
            protected: Arc::clone(protected),
            opened: OnceLock::new(),
        }
    }

    /// Returns whether this is the base of `grant`.
    pub(super) fn belongs_to(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Opens the base, or returns the one that is open.
    ///
    /// # Errors
    /// Fails with [`LinkInPath`] if a link is in the way, with [`IsProtected`] for a place that no tool may reach, and with the
    /// error of the operating system if the directory cannot be opened.
    pub(super) fn open(&self) -> io::Result<OpenedBase> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened.clone());
        }
        let opened = self.open_now()?;
        // If nothing is there, a file or a directory may be created later. So the base is not kept then.
        if opened.exists() {
            drop(self.opened.set(opened.clone()));
        }
        Ok(opened)
    }

    fn open_now(&self) -> io::Result<OpenedBase> {
        let path = self.grant.base();
        let opened = match open_base_directory(path) {
            Ok(dir) => OpenedBase {
                dir: Arc::new(dir),
                name: None,
                path: path.to_owned(),
            },
            Err(error) if means_no_directory(&error) => open_parent(path)?,
            Err(error) => return Err(error),
        };
        self.protected.check(&opened.dir, opened.name.as_deref())?;
        Ok(opened)
    }

    /// Returns the denial of every call with this grant, if the base must not be opened. Other errors are left to the operations
    /// of the guest, which may not need this grant.
    pub(super) fn refusal(&self, grants: &CallGrants) -> Option<Denial> {
        let error = self.open().err()?;
        let action = self.grant.access.action();
        let path = self.grant.path.to_string_lossy();
        let reason = refusal_reason(&error)?;
        let reason = match LinkInPath::in_error(&error) {
            // Whoever made the link may want another place to be granted, so no command is suggested that grants it.
            Some(_) => {
                let command = revoke_command(&grants.tool, &self.grant);
                format!("{reason} (hint: look where it leads; `{command}` removes the grant)")
            }
            None => reason,
        };
        Some(Denial::new(Capability::Fs, action, &path, &reason))
    }
}

impl OpenedBase {
    /// Returns whether something is at the path of the grant.
    pub(super) fn exists(&self) -> bool {
        self.name
            .as_ref()
            .is_none_or(|name| self.dir.symlink_metadata(name).is_ok())
    }
}

/// Returns why a base must not be opened, or `None` if it is only an error of the operating system.
pub(super) fn refusal_reason(error: &io::Error) -> Option<String> {
    if let Some(link) = LinkInPath::in_error(error) {
        return Some(format!("{link}, which it was not when this was granted"));
    }
    IsProtected::in_error(error).map(ToString::to_string)
}

/// Opens the directory that contains the granted file.
fn open_parent(path: &Path) -> io::Result<OpenedBase> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(Errno::NOENT.into());
    };
    let dir = open_base_directory(parent)?;
    if is_link(&dir, Path::new(name))? {
        return Err(io::Error::other(LinkInPath { link: path.to_owned() }));
    }
    Ok(OpenedBase {
        dir: Arc::new(dir),
        name: Some(name.into()),
        path: parent.to_owned(),
    })
}

fn open_base_directory(path: &Path) -> io::Result<Dir> {
    Ok(Dir::from_std_file(open_directory_without_links(path)?.into()))
}

/// Returns whether opening a directory failed because there is a file at its path, or nothing.
pub(super) fn means_no_directory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound)
}
