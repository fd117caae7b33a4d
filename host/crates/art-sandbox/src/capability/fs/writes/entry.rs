//! Directory entries: where the call finds files, and where their parts go.

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata};
use rustix::fs::{AtFlags, StatxFlags};
use rustix::io::Errno;

use super::Writes;
use crate::capability::fs::mount::{HostPlace, identity};
use crate::capability::fs::stamp::Stamp;

/// Maximum number of links that a path is followed through.
const MAX_LINKS: usize = 40;

/// Device and inode number of a file or directory.
pub(in crate::capability::fs) type FileId = (u64, u64);
/// A directory entry: the directory, and a name in it.
pub(super) type Key = (FileId, OsString);
/// A device and, if the system tells it, where it is mounted. A file can be moved only within one mount.
pub(super) type MountId = (u64, Option<u64>);

/// A directory entry on the host, at the end of all links that are followed.
#[derive(Clone, Debug)]
pub(in crate::capability::fs) struct Entry {
    /// The directory beneath which the entry was looked up.
    pub(super) granted: Arc<Dir>,
    pub(in crate::capability::fs) parent: Arc<Dir>,
    pub(super) key: Key,
    /// The path beneath `granted`.
    pub(super) path: PathBuf,
    /// The path as the guest knows it.
    pub(super) guest_path: Arc<str>,
    /// What is there on the host.
    pub(in crate::capability::fs) metadata: Option<Metadata>,
}

/// Where a part goes when the call has ended.
#[derive(Clone, Debug)]
pub(super) struct Target {
    granted: Arc<Dir>,
    pub(super) key: Key,
    /// The path beneath `granted`.
    pub(super) path: PathBuf,
    pub(super) guest_path: Arc<str>,
    /// What the part replaces; `None` if nothing is there.
    pub(super) replaces: Option<Stamp>,
}

impl Entry {
    /// Returns the entry at a place, which the guest knows as `guest_path`. If `follow` is set, follows a link at the end of the path.
    pub(in crate::capability::fs) fn find(
        writes: &Writes,
        place: &HostPlace,
        follow: bool,
        guest_path: &str,
    ) -> io::Result<Self> {
        let mut path = place.path.clone();
        for _ in 0..MAX_LINKS {
            let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
            let parent = place.dir.open_dir(parent_of(&path))?;
            let metadata = metadata_at(&parent, Path::new(&name))?;
            let key = (identity(&parent.dir_metadata()?), name);
            let is_link = metadata.as_ref().is_some_and(Metadata::is_symlink);
            if is_link && follow && place.may_follow && !writes.lock().by_entry.contains_key(&key) {
                path = path.with_file_name(place.dir.read_link(&path)?);
                continue;
            }
            return Ok(Self {
                granted: Arc::clone(&place.dir),
                parent: Arc::new(parent),
                key,
                path,
                guest_path: guest_path.into(),
                metadata,
            });
        }
        Err(Errno::LOOP.into())
    }

    pub(in crate::capability::fs) fn name(&self) -> &Path {
        Path::new(&self.key.1)
    }

    /// Fails if the directory does not allow to create an entry, as creating it would.
    pub(in crate::capability::fs) fn check_creatable(&self) -> io::Result<()> {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        Ok(rustix::fs::accessat(
            self.parent.as_fd(),
            ".",
            access,
            AtFlags::EACCESS,
        )?)
    }

    /// Returns the regular file on the host that has this entry.
    pub(super) fn host_file(&self) -> Option<FileId> {
        let metadata = self.metadata.as_ref().filter(|metadata| metadata.is_file());
        metadata.map(identity)
    }

    /// Returns this entry as the place of a part.
    pub(super) fn target(&self, replaces: Option<Stamp>) -> Target {
        Target {
            granted: Arc::clone(&self.granted),
            key: self.key.clone(),
            path: self.path.clone(),
            guest_path: Arc::clone(&self.guest_path),
            replaces,
        }
    }

    /// Follows a directory that was moved, if the entry is beneath it.
    pub(super) fn move_with_directory(&mut self, from: &Self, to: &Self) {
        move_path((&mut self.granted, &mut self.path), from, to);
    }
}

impl Target {
    /// Opens the directory of the target again.
    ///
    /// # Errors
    /// Fails if the directory was moved or replaced by somebody else.
    pub(super) fn open_parent(&self) -> io::Result<Dir> {
        let parent = self.granted.open_dir(parent_of(&self.path))?;
        if identity(&parent.dir_metadata()?) == self.key.0 {
            Ok(parent)
        } else {
            Err(io::Error::other("its folder was moved while the call ran"))
        }
    }

    pub(super) fn name(&self) -> &Path {
        Path::new(&self.key.1)
    }

    /// Returns what is at the target now.
    pub(super) fn stamp_in(&self, parent: &Dir) -> io::Result<Option<Stamp>> {
        Ok(metadata_at(parent, self.name())?.as_ref().map(Stamp::of))
    }

    /// Follows a directory that was moved, if the target is beneath it.
    pub(super) fn move_with_directory(&mut self, from: &Entry, to: &Entry) {
        move_path((&mut self.granted, &mut self.path), from, to);
    }

    /// Opens the directories above that of the target, up to the granted one.
    pub(super) fn directories_above(&self) -> impl Iterator<Item = io::Result<Dir>> {
        let above = parent_of(&self.path).ancestors().skip(1);
        above.map(|path| self.granted.open_dir(or_here(path)))
    }
}

fn move_path((granted, path): (&mut Arc<Dir>, &mut PathBuf), from: &Entry, to: &Entry) {
    if Arc::ptr_eq(granted, &from.granted)
        && let Ok(below) = path.strip_prefix(&from.path)
    {
        *path = to.path.join(below);
        *granted = Arc::clone(&to.granted);
    }
}

/// Returns the path of the directory that contains the end of a path.
pub(in crate::capability::fs) fn parent_of(path: &Path) -> &Path {
    path.parent().map_or(Path::new("."), or_here)
}

/// Returns a path, or `.` if it is empty.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

/// Returns the metadata of an entry, without following a link. `None` if nothing is there.
fn metadata_at(parent: &Dir, name: &Path) -> io::Result<Option<Metadata>> {
    match parent.symlink_metadata(name) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns where an open file or directory is mounted.
pub(super) fn mount_of(file: impl AsFd) -> io::Result<MountId> {
    let wanted = StatxFlags::MNT_ID;
    match rustix::fs::statx(&file, "", AtFlags::EMPTY_PATH, wanted | StatxFlags::BASIC_STATS) {
        Ok(status) => {
            let device = rustix::fs::makedev(status.stx_dev_major, status.stx_dev_minor);
            let is_told = status.stx_mask & wanted.bits() != 0;
            Ok((device, is_told.then_some(status.stx_mnt_id)))
        }
        Err(Errno::NOSYS | Errno::PERM) => Ok((rustix::fs::fstat(&file)?.st_dev, None)),
        Err(error) => Err(error.into()),
    }
}
