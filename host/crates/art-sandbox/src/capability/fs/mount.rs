//! The files of one right on the host. All are opened beneath the directory that the operator granted.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use art_core::capability::{Access, FsRight, Uses};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use rustix::io::Errno;

use super::Fault;
use super::overlay::Overlay;
use super::quota::Quota;
use super::tree::GrantedPath;

/// A right of the call, with the directory beneath which its files are opened.
#[derive(Debug)]
pub(super) struct Mount {
    right: FsRight,
    pub(super) quota: Arc<Quota>,
    /// Where changes go, if they are staged.
    overlay: Option<Arc<Overlay>>,
    base: OnceLock<Base>,
}

/// Where the files of a right are.
#[derive(Debug)]
struct Base {
    /// The granted directory, or the directory that contains the granted file.
    dir: Arc<Dir>,
    /// The path of the right beneath `dir`. It is empty if the right is `dir` itself.
    path: PathBuf,
    kind: Kind,
}

/// What a right leads to.
#[derive(Debug)]
enum Kind {
    /// A directory; everything below it is opened beneath this one.
    Directory(Arc<Dir>),
    /// A file, or a path at which nothing exists.
    Other {
        /// Whether the right is the granted file itself. The links in its path are already resolved, so no link is followed.
        is_granted: bool,
    },
}

/// A directory, and the path of something beneath it.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) dir: Arc<Dir>,
    pub(super) path: PathBuf,
    /// Whether a link at the end of the path may be followed.
    pub(super) may_follow: bool,
}

impl Mount {
    pub(super) fn new(right: FsRight, quota: Arc<Quota>, overlay: Option<Arc<Overlay>>) -> Self {
        Self {
            right,
            quota,
            overlay,
            base: OnceLock::new(),
        }
    }

    /// Returns the path of the right as the guest sees it.
    pub(super) fn guest_path(&self) -> &str {
        &self.right.guest
    }

    pub(super) fn access(&self) -> Access {
        self.right.access
    }

    /// Records the use of something below this right. `rest` is empty for the right itself.
    pub(super) fn add_use(&self, rest: &str, access: Access, uses: &mut Uses) {
        let grant = &self.right.grant.path;
        match rest {
            "" => uses.add_path(access.action(), grant, &self.right.path),
            rest => uses.add_path(access.action(), grant, &self.right.path.join(rest)),
        }
    }

    /// Returns whether both rights belong to the same grant.
    pub(super) fn is_of_same_grant(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.right.grant, &other.right.grant)
    }

    /// Returns the place of something below this right. `rest` is empty for the right itself.
    pub(super) fn place(&self, rest: &str) -> io::Result<Place> {
        match self.base.get() {
            Some(base) => base.place(rest),
            None => {
                let base = self.open_base()?;
                let place = base.place(rest);
                // If nothing exists at the path, a file or a directory may be created there later, so the base is not kept.
                if base.exists() {
                    drop(self.base.set(base));
                }
                place
            }
        }
    }

    fn open_base(&self) -> io::Result<Base> {
        let granted = &self.right.grant.path;
        match Dir::open_ambient_dir(granted, ambient_authority()) {
            Ok(dir) => {
                let below = self.right.path.strip_prefix(granted).unwrap_or(Path::new(""));
                Base::below(Arc::new(dir), below)
            }
            Err(error) if means_no_directory(&error) => Base::of_other(granted),
            Err(error) => Err(error),
        }
    }
}

impl Base {
    /// Returns the base of a path beneath a granted directory.
    fn below(dir: Arc<Dir>, path: &Path) -> io::Result<Self> {
        let kind = if path.as_os_str().is_empty() {
            Kind::Directory(Arc::clone(&dir))
        } else {
            match dir.open_dir(path) {
                Ok(directory) => Kind::Directory(Arc::new(directory)),
                Err(error) if means_no_directory(&error) => Kind::Other { is_granted: false },
                Err(error) => return Err(error),
            }
        };
        let path = path.to_owned();
        Ok(Self { dir, path, kind })
    }

    /// Returns the base of a granted path at which there is a file or nothing.
    fn of_other(granted: &Path) -> io::Result<Self> {
        let real = std::fs::canonicalize(granted).unwrap_or_else(|_| granted.to_owned());
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(Errno::NOENT.into());
        };
        Ok(Self {
            dir: Arc::new(Dir::open_ambient_dir(parent, ambient_authority())?),
            path: name.into(),
            kind: Kind::Other { is_granted: true },
        })
    }

    fn exists(&self) -> bool {
        match self.kind {
            Kind::Directory(_) => true,
            Kind::Other { .. } => self.dir.symlink_metadata(&self.path).is_ok(),
        }
    }

    fn place(&self, rest: &str) -> io::Result<Place> {
        match &self.kind {
            Kind::Directory(dir) => Ok(Place {
                dir: Arc::clone(dir),
                path: if rest.is_empty() { ".".into() } else { rest.into() },
                may_follow: true,
            }),
            Kind::Other { is_granted } if rest.is_empty() => Ok(Place {
                dir: Arc::clone(&self.dir),
                path: self.path.clone(),
                may_follow: !is_granted,
            }),
            Kind::Other { .. } if self.exists() => Err(Errno::NOTDIR.into()),
            Kind::Other { .. } => Err(Errno::NOENT.into()),
        }
    }
}

/// Returns whether an error means that there is no directory: nothing, or something else.
fn means_no_directory(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotADirectory | io::ErrorKind::NotFound)
}

impl Place {
    /// Returns the metadata of the file or directory at this place.
    pub(super) fn metadata(&self, follow: bool) -> io::Result<Metadata> {
        if self.path == Path::new(".") {
            self.dir.dir_metadata()
        } else if follow && self.may_follow {
            self.dir.metadata(&self.path)
        } else {
            self.dir.symlink_metadata(&self.path)
        }
    }

    /// Returns whether this is the directory of the right itself, which cannot be removed or moved.
    pub(super) fn is_right_itself(&self) -> bool {
        self.path.as_os_str() == OsStr::new(".")
    }
}

impl GrantedPath {
    /// Returns the overlay for changes of this path, and the path on the host. `None` if changes are not staged.
    pub(super) fn overlay(&self) -> Option<(&Arc<Overlay>, PathBuf)> {
        let overlay = self.mount.overlay.as_ref()?;
        let right = &self.mount.right.path;
        let path = if self.rest.is_empty() {
            right.clone()
        } else {
            right.join(&self.rest)
        };
        Some((overlay, path))
    }

    /// Fails if the right does not allow changes.
    pub(super) fn check_writable(&self) -> Result<(), Fault> {
        if self.mount.access().may_write() {
            Ok(())
        } else {
            Err(Fault::read_only(self.path.as_str()))
        }
    }

    /// Returns the place of this path on the host.
    pub(super) fn place(&self, access: Access) -> Result<Place, Fault> {
        self.mount.place(&self.rest).map_err(|error| self.fault(&error, access))
    }

    /// Returns the place of this path on the host. Fails if the right does not allow changes.
    pub(super) fn place_to_change(&self) -> Result<Place, Fault> {
        self.check_writable()?;
        self.place(Access::ReadWrite)
    }

    pub(super) fn fault(&self, error: &io::Error, access: Access) -> Fault {
        Fault::at(error, self.path.as_str(), access)
    }
}

/// Returns the device and inode numbers, which identify a file while it exists.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
