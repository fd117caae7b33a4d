//! The files of one right, as they are on the host. All are opened beneath the directory that the operator granted.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use art_core::capability::{Access, FsRight, GrantUses};
use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use rustix::io::Errno;

use super::Fault;
use super::base::{GrantBase, means_no_directory};
use super::bindings::types::ErrorCode;
use super::fault::code_of_error;
use super::name::path_behind_escaped_names;
use super::overlay::Overlay;
use super::protected::with_directories_above;
use super::quota::Quota;
use super::system::denial_reason;
use super::tree::GrantedPath;
use super::writes::{Entry, FileId, OpenPart, Writes, is_own_name, parent_of};

/// A right of the call, with the directory beneath which its files are opened.
#[derive(Debug)]
pub(super) struct Mount {
    fs_right: FsRight,
    pub(super) quota: Arc<Quota>,
    /// Where changes go, if they are staged.
    overlay: Option<Arc<Overlay>>,
    base_of_grant: Arc<GrantBase>,
    /// The files that the call writes where changes are not staged.
    pub(super) writes: Arc<Writes>,
    base: OnceLock<Base>,
    /// Set when what an earlier call left unfinished beneath the base is cleared.
    recovered: OnceLock<()>,
}

/// Where the files of a right are on the host.
#[derive(Debug)]
struct Base {
    /// The granted directory, or the directory that contains the granted file.
    dir: Arc<Dir>,
    /// The path of the right beneath `dir`. It is empty if the right is `dir` itself.
    path: PathBuf,
    kind: BaseKind,
}

/// What a right leads to.
#[derive(Debug)]
enum BaseKind {
    /// The directory, opened. Everything below the right is opened beneath it.
    Directory(Arc<Dir>),
    /// A file, or a path at which nothing exists.
    FileOrNothing {
        /// Whether the right leads to the path of the grant itself, and not to a path below it. If so, a link at the end of the
        /// path is not followed: where the grant leads was found out when it was made.
        is_path_of_grant: bool,
    },
}

/// The place of a file or directory on the host: an open directory, and a path beneath it.
#[derive(Debug)]
pub(super) struct HostPlace {
    pub(super) dir: Arc<Dir>,
    /// The path beneath `dir`; `.` if this is the directory of a right itself.
    pub(super) path: PathBuf,
    /// Whether a link at the end of the path may be followed.
    pub(super) may_follow: bool,
}

impl Mount {
    pub(super) fn new(
        fs_right: FsRight,
        base_of_grant: Arc<GrantBase>,
        quota: Arc<Quota>,
        overlay: Option<Arc<Overlay>>,
        writes: Arc<Writes>,
    ) -> Self {
        Self {
            fs_right,
            quota,
            overlay,
            base_of_grant,
            writes,
            base: OnceLock::new(),
            recovered: OnceLock::new(),
        }
    }

    /// Returns the path of the right as the guest sees it.
    pub(super) fn guest_path(&self) -> &str {
        &self.fs_right.guest_path
    }

    pub(super) fn access(&self) -> Access {
        self.fs_right.access
    }

    /// Returns whether this directory is that of the right, or above it.
    pub(super) fn is_beneath(&self, directory: FileId) -> bool {
        let base = self.place("").and_then(|place| match place.is_directory_of_right() {
            true => with_directories_above(&place.dir),
            false => with_directories_above(&place.dir.open_dir(parent_of(&place.path))?),
        });
        base.is_ok_and(|chain| chain.contains(&directory))
    }

    /// Returns the path of the right on the host, beneath the path of the grant as the operator wrote it.
    pub(super) fn written_path(&self) -> String {
        let grant = &self.fs_right.grant;
        grant
            .written_path_of(&self.fs_right.host_path)
            .to_string_lossy()
            .into_owned()
    }

    /// Records the use of something below this right. `path_in_right` is empty for the right itself.
    pub(super) fn add_use(&self, path_in_right: &str, access: Access, uses: &mut GrantUses) {
        let grant = &self.fs_right.grant;
        let mut path = grant.written_path_of(&self.fs_right.host_path);
        if !path_in_right.is_empty() {
            path.push(path_in_right);
        }
        uses.add_path(access.action(), &grant.path, &path);
    }

    /// Returns whether both rights belong to the same grant.
    pub(super) fn is_of_same_grant(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.fs_right.grant, &other.fs_right.grant)
    }

    /// Returns the place of something below this right. `path_in_right` is empty for the right itself.
    pub(super) fn place(&self, path_in_right: &str) -> io::Result<HostPlace> {
        match self.base.get() {
            Some(base) => base.place(path_in_right),
            None => {
                let base = self.open_base()?;
                let place = base.place(path_in_right);
                // If nothing exists at the path of the right, a file or a directory may be created there later. So the base is
                // not kept then.
                if base.exists() {
                    drop(self.base.set(base));
                }
                place
            }
        }
    }

    fn open_base(&self) -> io::Result<Base> {
        let opened = self.base_of_grant.open()?;
        let path_in_grant = self.fs_right.host_path.strip_prefix(self.fs_right.grant.base());
        let path_in_grant = path_in_grant.map_err(|_outside| io::Error::from(Errno::ACCESS))?;
        match &opened.name {
            None => Base::in_directory(opened.dir, path_in_grant),
            Some(name) if path_in_grant.as_os_str().is_empty() => Ok(Base {
                path: name.clone(),
                dir: opened.dir,
                kind: BaseKind::FileOrNothing { is_path_of_grant: true },
            }),
            Some(_) if opened.exists() => Err(Errno::NOTDIR.into()),
            Some(_) => Err(Errno::NOENT.into()),
        }
    }
}

impl Base {
    /// Returns the base of a path beneath a granted directory.
    fn in_directory(dir: Arc<Dir>, path: &Path) -> io::Result<Self> {
        let kind = if path.as_os_str().is_empty() {
            BaseKind::Directory(Arc::clone(&dir))
        } else {
            match dir.open_dir(path) {
                Ok(directory) => BaseKind::Directory(Arc::new(directory)),
                Err(error) if means_no_directory(&error) => BaseKind::FileOrNothing {
                    is_path_of_grant: false,
                },
                Err(error) => return Err(error),
            }
        };
        let path = path.to_owned();
        Ok(Self { dir, path, kind })
    }

    fn exists(&self) -> bool {
        match self.kind {
            BaseKind::Directory(_) => true,
            BaseKind::FileOrNothing { .. } => self.dir.symlink_metadata(&self.path).is_ok(),
        }
    }

    fn place(&self, path_in_right: &str) -> io::Result<HostPlace> {
        match &self.kind {
            BaseKind::Directory(dir) => Ok(HostPlace {
                dir: Arc::clone(dir),
                path: match path_in_right {
                    "" => ".".into(),
                    below => below.into(),
                },
                may_follow: true,
            }),
            BaseKind::FileOrNothing { is_path_of_grant } if path_in_right.is_empty() => Ok(HostPlace {
                dir: Arc::clone(&self.dir),
                path: self.path.clone(),
                may_follow: !is_path_of_grant,
            }),
            BaseKind::FileOrNothing { .. } if self.exists() => Err(Errno::NOTDIR.into()),
            BaseKind::FileOrNothing { .. } => Err(Errno::NOENT.into()),
        }
    }
}

impl HostPlace {
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

    /// Returns whether this is the directory of a right itself, and not something below it. It cannot be removed or moved.
    pub(super) fn is_directory_of_right(&self) -> bool {
        self.path.as_os_str() == OsStr::new(".")
    }
}

impl GrantedPath {
    /// Returns the overlay for changes of this path, and the path on the host. `None` if changes are not staged.
    pub(super) fn overlay(&self) -> Option<(&Arc<Overlay>, PathBuf)> {
        let overlay = self.mount.overlay.as_ref()?;
        let path_of_right = &self.mount.fs_right.host_path;
        let path = if self.path_in_right.is_empty() {
            path_of_right.clone()
        } else {
            path_of_right.join(&self.path_in_right)
        };
        Some((overlay, path))
    }

    /// Returns the place of this path on the host if the guest uses the escaped name of an entry whose name is not UTF-8, and
    /// otherwise `None`.
    pub(super) fn place_behind_escaped_names(&self) -> Option<HostPlace> {
        if !self.path_in_right.contains('\\') || self.names_own() {
            return None;
        }
        let right = self.mount.place("").ok().filter(HostPlace::is_directory_of_right)?;
        let path = path_behind_escaped_names(&right.dir, &self.path_in_right)?;
        Some(HostPlace { path, ..right })
    }

    /// Returns whether the path has a name that the host uses for itself.
    pub(super) fn names_own(&self) -> bool {
        self.path_in_right.split('/').any(is_own_name)
    }

    /// Fails if the path has a name that the host uses for itself, or an escaped name of an entry whose name is not UTF-8. If the
    /// fault is a denial, it names `access`.
    pub(super) fn check_names(&self, access: Access) -> Result<(), Fault> {
        if self.names_own() {
            return Err(match access {
                Access::Read => ErrorCode::NoEntry.into(),
                Access::ReadWrite => Fault::never_allowed(
                    ErrorCode::NotPermitted,
                    self.path.as_str(),
                    access,
                    "the host uses this name for files that are being written",
                ),
            });
        }
        match self.place_behind_escaped_names() {
            None => Ok(()),
            Some(_) => Err(Fault::never_allowed(
                ErrorCode::IllegalByteSequence,
                self.path.as_str(),
                access,
                "its name is not UTF-8, so no tool can use it; rename it first",
            )),
        }
    }

    /// Fails if the right does not allow changes.
    pub(super) fn check_writable(&self) -> Result<(), Fault> {
        if self.mount.access().may_write() {
            Ok(())
        } else {
            Err(Fault::read_only(self.path.as_str()))
        }
    }

    /// Returns the place of this path on the host. Does not check `access`, but names it if the fault is a denial.
    pub(super) fn place(&self, access: Access) -> Result<HostPlace, Fault> {
        let place = self.mount.place(&self.path_in_right);
        let place = place.map_err(|error| self.fault(&error, access))?;
        self.mount.recovered.get_or_init(|| Writes::recover(&place.dir));
        Ok(place)
    }

    /// Returns the directory entry at a place of this path.
    pub(super) fn entry(&self, place: &HostPlace, follow: bool) -> io::Result<Entry> {
        Entry::find(&self.mount.writes, place, follow, self.path.as_str())
    }

    /// Returns the directory entry at a place of this path, which the caller is about to change.
    pub(super) fn entry_to_change(&self, place: &HostPlace) -> Result<Entry, Fault> {
        let follow = false;
        let entry = self.entry(place, follow);
        entry.map_err(|error| self.fault(&error, Access::ReadWrite))
    }

    /// Returns the part of the file at a place, if the call writes this file.
    pub(super) fn part_at(&self, place: &HostPlace, follow: bool) -> Result<Option<OpenPart>, Fault> {
        let writes = &self.mount.writes;
        if writes.is_empty() || place.is_directory_of_right() {
            return Ok(None);
        }
        // If there is no entry, there is no part, and the caller finds out why.
        let Ok(entry) = self.entry(place, follow) else {
            return Ok(None);
        };
        let part = writes.open_entry(&entry).map_err(|error| code_of_error(&error))?;
        if part.is_some() && self.path.ends_like_directory {
            return Err(ErrorCode::NotDirectory.into());
        }
        Ok(part)
    }

    /// Returns the place of this path on the host. Fails if the right does not allow changes.
    pub(super) fn place_to_change(&self) -> Result<HostPlace, Fault> {
        self.check_writable()?;
        self.place(Access::ReadWrite)
    }

    /// Creates the fault for an error at this path. If the fault is a denial, it names `access`.
    pub(super) fn fault(&self, error: &io::Error, access: Access) -> Fault {
        if error.kind() == io::ErrorKind::NotFound && self.runs_through_new_file() {
            return ErrorCode::NotDirectory.into();
        }
        let place = || self.mount.place(&self.path_in_right).ok();
        let metadata = || place().and_then(|place| place.metadata(true).ok());
        match denial_reason(error, None).and_then(|_| denial_reason(error, metadata().as_ref())) {
            Some(reason) => Fault::by_system(error, self.path.as_str(), access, reason),
            None => Fault::of_io_error(error, self.path.as_str(), access),
        }
    }

    /// Returns whether the path names something below a file that the call has created and that is not on the host yet.
    fn runs_through_new_file(&self) -> bool {
        let writes = &self.mount.writes;
        if writes.is_empty() {
            return false;
        }
        let is_new_file = |ancestor: &str| {
            let place = self.mount.place(ancestor);
            let entry = place.and_then(|place| self.entry(&place, false));
            entry.is_ok_and(|entry| writes.is_new(&entry))
        };
        let ancestors = Path::new(&self.path_in_right).ancestors().skip(1);
        ancestors.filter_map(Path::to_str).any(is_new_file)
    }
}

/// Returns the device and inode numbers, which identify a file while it exists.
pub(super) fn identity(metadata: &Metadata) -> (u64, u64) {
    (metadata.dev(), metadata.ino())
}
