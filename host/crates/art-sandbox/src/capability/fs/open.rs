//! Opens files and directories of the guest.

use std::io;
use std::path::Path;

use art_core::capability::Access;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::sync::Arc;

use super::Fault;
use super::bindings::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use super::descriptor::{Descriptor, OpenFile};
use super::mount::HostPlace;
use super::overlay::{Found, Overlay, OverlayOpening};
use super::path::GuestPath;
use super::tree::{FileTree, GrantedPath, Target};

/// How the guest wants to open something.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    pub(super) path_flags: PathFlags,
    pub(super) open_flags: OpenFlags,
    pub(super) descriptor_flags: DescriptorFlags,
}

impl Opening {
    /// Returns the access that the guest needs to open something in this way.
    fn access(self) -> Access {
        let changing = OpenFlags::CREATE | OpenFlags::TRUNCATE;
        if self.descriptor_flags.contains(DescriptorFlags::WRITE) || self.open_flags.intersects(changing) {
            Access::ReadWrite
        } else {
            Access::Read
        }
    }

    fn has(self, flag: OpenFlags) -> bool {
        self.open_flags.contains(flag)
    }

    /// Refuses flags that contradict each other or are not supported.
    fn check(self) -> Result<(), ErrorCode> {
        let synchronous = DescriptorFlags::FILE_INTEGRITY_SYNC
            | DescriptorFlags::DATA_INTEGRITY_SYNC
            | DescriptorFlags::REQUESTED_WRITE_SYNC;
        let only_for_files = OpenFlags::CREATE | OpenFlags::EXCLUSIVE | OpenFlags::TRUNCATE;
        if self.descriptor_flags.intersects(synchronous) {
            return Err(ErrorCode::Unsupported);
        }
        if self.has(OpenFlags::DIRECTORY) && self.open_flags.intersects(only_for_files) {
            return Err(ErrorCode::Invalid);
        }
        Ok(())
    }
}

impl FileTree {
    /// Opens a file or a directory, at a path relative to a directory of the guest.
    pub(super) fn open(&self, directory: &str, path: &str, opening: Opening) -> Result<Descriptor, Fault> {
        opening.check()?;
        let access = opening.access();
        match self.target(GuestPath::join(directory, path, access)?, access)? {
            Target::AboveRights(_) if opening.has(OpenFlags::EXCLUSIVE) => Err(ErrorCode::Exist.into()),
            Target::AboveRights(_) if access.may_write() => Err(ErrorCode::IsDirectory.into()),
            Target::AboveRights(path) => Ok(Descriptor::Directory(path.into())),
            Target::Granted(granted) => open_granted(&granted, opening),
        }
    }
}

fn open_granted(granted: &GrantedPath, opening: Opening) -> Result<Descriptor, Fault> {
    if let Some((overlay, host_path)) = granted.overlay() {
        return open_staged(granted, overlay, &host_path, opening);
    }
    let place = match opening.access() {
        Access::Read => granted.place(Access::Read)?,
        Access::ReadWrite => granted.place_to_change()?,
    };
    if place.is_directory_of_right() {
        return open_directory(granted, opening);
    }
    let (file, metadata) = if opening.has(OpenFlags::CREATE) {
        open_or_create(granted, &place, opening)?
    } else {
        open_existing(granted, &place, opening)?
    };
    if metadata.is_dir() {
        return Ok(Descriptor::Directory(granted.path.as_str().into()));
    }
    if opening.has(OpenFlags::DIRECTORY) || granted.path.ends_like_directory {
        return Err(ErrorCode::NotDirectory.into());
    }
    let may_set_times = granted.mount.access().may_write();
    Ok(file_descriptor(granted, opening, file.into_std(), may_set_times))
}

/// Opens a path whose changes are staged. A file that the call only reads and has not changed is opened on the host; any other
/// file is opened in the draft of the call.
fn open_staged(
    granted: &GrantedPath,
    overlay: &Overlay,
    host_path: &Path,
    opening: Opening,
) -> Result<Descriptor, Fault> {
    let writes = opening.access().may_write();
    if writes {
        granted.check_writable()?;
    }
    let found = overlay.find(host_path)?;
    if found.is_directory() {
        return open_directory(granted, opening);
    }
    if found.is_special() {
        return Err(special_file_fault(granted, opening.access()));
    }
    if opening.has(OpenFlags::DIRECTORY) || granted.path.ends_like_directory {
        return Err(if matches!(found, Found::Nothing) {
            ErrorCode::NoEntry
        } else {
            ErrorCode::NotDirectory
        }
        .into());
    }
    // Without `writes`, the file may be that of the host, which must not be changed, not even its times.
    let may_set_times = writes;
    let overlay_opening = OverlayOpening {
        writes,
        creates: opening.has(OpenFlags::CREATE),
        must_be_new: opening.has(OpenFlags::CREATE) && opening.has(OpenFlags::EXCLUSIVE),
        truncates: opening.has(OpenFlags::TRUNCATE),
    };
    Ok(file_descriptor(
        granted,
        opening,
        overlay.open(host_path, overlay_opening)?,
        may_set_times,
    ))
}

fn file_descriptor(granted: &GrantedPath, opening: Opening, file: std::fs::File, may_set_times: bool) -> Descriptor {
    Descriptor::File(Arc::new(OpenFile {
        file,
        mount: Arc::clone(&granted.mount),
        may_read: opening.descriptor_flags.contains(DescriptorFlags::READ),
        may_write: opening.access().may_write(),
        may_set_times,
    }))
}

fn open_directory(granted: &GrantedPath, opening: Opening) -> Result<Descriptor, Fault> {
    match opening.access() {
        Access::Read => Ok(Descriptor::Directory(granted.path.as_str().into())),
        Access::ReadWrite if opening.has(OpenFlags::EXCLUSIVE) => Err(ErrorCode::Exist.into()),
        Access::ReadWrite => Err(ErrorCode::IsDirectory.into()),
    }
}

/// Opens the file or directory at a place, or creates a file there within the quota.
fn open_or_create(granted: &GrantedPath, place: &HostPlace, opening: Opening) -> Result<(File, Metadata), Fault> {
    if !opening.has(OpenFlags::EXCLUSIVE) {
        match open_with(granted, place, opening, &options(place, opening)) {
            Err(Fault::Code(ErrorCode::NoEntry)) => {}
            result => return result,
        }
    }
    if granted.path.ends_like_directory {
        return Err(ErrorCode::IsDirectory.into());
    }
    let quota = &granted.mount.quota;
    quota.take_file()?;
    let created = open_with(granted, place, opening, options(place, opening).create_new(true));
    created.inspect_err(|_| quota.give_back_file())
}

fn open_existing(granted: &GrantedPath, place: &HostPlace, opening: Opening) -> Result<(File, Metadata), Fault> {
    open_with(granted, place, opening, &options(place, opening))
}

/// Opens a file or a directory, and refuses everything else. Truncates a file if the guest asks for it. Never waits: a pipe or a
/// device is opened without blocking, and is closed again.
fn open_with(
    granted: &GrantedPath,
    place: &HostPlace,
    opening: Opening,
    options: &OpenOptions,
) -> Result<(File, Metadata), Fault> {
    let opened = place.dir.open_with(&place.path, options);
    let opened = opened.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let access = opening.access();
    let (file, metadata) = opened.map_err(|error| open_fault(granted, &error, access))?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(special_file_fault(granted, access));
    }
    if metadata.is_file() && opening.has(OpenFlags::TRUNCATE) {
        file.set_len(0).map_err(|error| granted.fault(&error, access))?;
    }
    Ok((file, metadata))
}

fn open_fault(granted: &GrantedPath, error: &io::Error, access: Access) -> Fault {
    // Opening a socket, or a pipe that has no reader, fails with this error.
    if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) {
        return special_file_fault(granted, access);
    }
    granted.fault(error, access)
}

fn special_file_fault(granted: &GrantedPath, access: Access) -> Fault {
    let reason = "it is no regular file and no directory";
    Fault::never_allowed(ErrorCode::Access, granted.path.as_str(), access, reason)
}

/// Returns the options to open a file or a directory. They do not truncate a file: [`open_with`] does that after it has checked
/// the type.
fn options(place: &HostPlace, opening: Opening) -> OpenOptions {
    let follows = opening.path_flags.contains(PathFlags::SYMLINK_FOLLOW) && place.may_follow;
    let writes = opening.access().may_write();
    let mut options = OpenOptions::new();
    options
        .read(!writes || opening.descriptor_flags.contains(DescriptorFlags::READ))
        .write(writes)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(if follows {
            FollowSymlinks::Yes
        } else {
            FollowSymlinks::No
        });
    options
}
