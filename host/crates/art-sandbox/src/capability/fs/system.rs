//! What the operating system does not allow or cannot do, although it is granted.

use std::io;
use std::path::Path;

use art_core::capability::{Access, Denial};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{AtFlags, OFlags, accessat};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::mount::{HostPlace, Mount};
use super::tree::FileTree;

/// Returns what the operating system says about an operation that it does not allow, or for which it lacks space or files, or `None` for
/// any other error. `metadata` is
/// that of the file or directory, if it is known.
pub(super) fn denial_reason(error: &io::Error, metadata: Option<&Metadata>) -> Option<String> {
    let reason = match Errno::from_io_error(error)? {
        Errno::NOSPC => return Some("no space left on device".to_owned()),
        Errno::DQUOT => return Some("the disk quota is used up".to_owned()),
        Errno::MFILE | Errno::NFILE => return Some("too many files are open".to_owned()),
        Errno::ROFS => "it is on a file system that can only be read".to_owned(),
        Errno::PERM => "the operation is not permitted there, for example because it is immutable".to_owned(),
        Errno::ACCESS => match metadata {
            Some(metadata) => format!(
                "it has the mode {:04o} and belongs to user {}, and this host runs as user {}",
                metadata.mode() & 0o7777,
                metadata.uid(),
                geteuid().as_raw()
            ),
            None => "this host may not look there".to_owned(),
        },
        _ => return None,
    };
    Some(format!("permission denied by the operating system: {reason}"))
}

impl FileTree {
    /// Returns the denials of files that the call may write according to its grants, and that the operating system does not let
    /// this host write. Files whose changes are staged are not checked.
    pub(crate) fn system_denials(&self) -> Vec<Denial> {
        self.mounts().iter().filter_map(|mount| write_denial(mount)).collect()
    }
}

/// Returns the denial of writing the file at the path of a right, if that is known without writing to it.
fn write_denial(mount: &Mount) -> Option<Denial> {
    let place = mount.place("").ok().filter(|_| mount.access().may_write())?;
    if place.is_directory_of_right() {
        return None;
    }
    let follow = true;
    let (error, metadata) = match place.metadata(follow) {
        Ok(metadata) if metadata.is_file() => (try_to_open(&place).err()?, Some(metadata)),
        Ok(_) => return None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => creation_error(&place)?,
        Err(_) => return None,
    };
    let path = mount.written_path();
    let reason = match (error.kind(), Path::new(&path).parent()) {
        (io::ErrorKind::NotFound, Some(directory)) => {
            format!("there is no directory `{}`; create it first", directory.display())
        }
        _ => denial_reason(&error, metadata.as_ref())?,
    };
    Some(Denial::by_system(&path, Access::ReadWrite, &reason))
}

/// Opens a file for writing, and closes it again.
fn try_to_open(place: &HostPlace) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options
        .write(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(match place.may_follow {
            true => FollowSymlinks::Yes,
            false => FollowSymlinks::No,
        });
    place.dir.open_with(&place.path, &options).map(drop)
}

/// Returns why no file can be created at a place, and the metadata of its directory if that exists. `None` if a file can be created.
fn creation_error(place: &HostPlace) -> Option<(io::Error, Option<Metadata>)> {
    let parent = place.path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let directory = match place.dir.open_dir(parent.unwrap_or(Path::new("."))) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some((error, None)),
        opened => opened.ok()?,
    };
    let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
    let error = accessat(&directory, ".", access, AtFlags::EACCESS).err()?;
    Some((error.into(), directory.dir_metadata().ok()))
}
