//! Opens files and directories of the guest.

use std::io;
use std::path::Path;

use art_core::capability::Access;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, File, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use std::sync::Arc;

use super::Fault;
use super::bindings::types::{DescriptorFlags, ErrorCode, OpenFlags, PathFlags};
use super::descriptor::{Content, Descriptor, HostFile, OpenFile};
use super::mount::{HostPlace, identity};
use super::overlay::{Found, Overlay, OverlayOpening};
use super::path::GuestPath;
use super::tree::{FileTree, GrantedPath, Target};
use super::work::Use;
use super::writes::{Entry, HostContent, OpenPart, SharedFile, WriteKind};

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

    /// Returns what happens to the content of a file that the guest opens in this way. `None` if it does not change.
    pub(super) fn planned_use(self) -> Option<Use> {
        let keeps_or_replaces = match self.has(OpenFlags::TRUNCATE) {
            true => Use::Replaces,
            false => Use::Keeps,
        };
        (self.access().may_write() && !self.has(OpenFlags::EXCLUSIVE)).then_some(keeps_or_replaces)
    }

    /// Returns whether a link at the end of the path is followed.
    fn follows(self) -> bool {
        self.path_flags.contains(PathFlags::SYMLINK_FOLLOW)
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
    if opening.access().may_write() {
        return open_to_write(granted, &place, opening);
    }
    if let Some(part) = granted.part_at(&place, opening.follows())? {
        check_is_file(granted, opening)?;
        return Ok(part_descriptor(granted, opening, part));
    }
    let (file, metadata) = open_with(granted, (&place.dir, &place.path), opening, &options(&place, opening))?;
    if metadata.is_dir() {
        return Ok(Descriptor::Directory(granted.path.as_str().into()));
    }
    check_is_file(granted, opening)?;
    let shared = granted.mount.writes.share(identity(&metadata), None);
    Ok(host_descriptor(granted, opening, file, shared))
}

/// Opens a file that the call may write. A file that is new or truncated has a part from now on.
fn open_to_write(granted: &GrantedPath, place: &HostPlace, opening: Opening) -> Result<Descriptor, Fault> {
    let (writes, access) = (&granted.mount.writes, Access::ReadWrite);
    let fault = |error: io::Error| open_fault(granted, &error, access);
    let entry = granted.entry(place, opening.follows()).map_err(fault)?;
    if let Some(part) = writes.open_entry(&entry).map_err(fault)? {
        if opening.has(OpenFlags::EXCLUSIVE) {
            return Err(ErrorCode::Exist.into());
        }
        check_is_file(granted, opening)?;
        if opening.has(OpenFlags::TRUNCATE) {
            part.file.set_len(0).map_err(fault)?;
            part.progress.note_emptied();
        }
        return Ok(part_descriptor(granted, opening, part));
    }
    match &entry.metadata {
        None if opening.has(OpenFlags::CREATE) => create(granted, &entry, opening),
        None => Err(ErrorCode::NoEntry.into()),
        Some(_) if opening.has(OpenFlags::EXCLUSIVE) => Err(ErrorCode::Exist.into()),
        Some(_) => open_existing(granted, entry, opening),
    }
}

/// Creates a file within the quota.
fn create(granted: &GrantedPath, entry: &Entry, opening: Opening) -> Result<Descriptor, Fault> {
    if granted.path.ends_like_directory {
        return Err(ErrorCode::IsDirectory.into());
    }
    let quota = &granted.mount.quota;
    quota.take_file()?;
    let created = match granted.mount.writes.create(entry) {
        Ok(Some(part)) => Ok(part_descriptor(granted, opening, part)),
        Ok(None) => create_in_place(granted, entry, opening),
        Err(error) => Err(open_fault(granted, &error, Access::ReadWrite)),
    };
    created.inspect_err(|_| quota.give_back_file())
}

/// Creates a file on the host at once, because it cannot have a part.
fn create_in_place(granted: &GrantedPath, entry: &Entry, opening: Opening) -> Result<Descriptor, Fault> {
    let mut options = base_options(FollowSymlinks::No);
    options.read(true).write(true).create_new(true);
    let (file, metadata) = open_with(granted, (&entry.parent, entry.name()), opening, &options)?;
    let shared = granted.mount.writes.share(identity(&metadata), Some(entry.clone()));
    shared.set_content(HostContent::InPlace);
    Ok(host_descriptor(granted, opening, file, shared))
}

/// Opens a file of the host that the call may write.
fn open_existing(granted: &GrantedPath, entry: Entry, opening: Opening) -> Result<Descriptor, Fault> {
    let options = |reads| {
        let mut options = base_options(FollowSymlinks::No);
        options.read(reads).write(true);
        options
    };
    let open = |reads| open_with(granted, (&entry.parent, entry.name()), opening, &options(reads));
    // A file that the call does not read is read too, if that is allowed: to be copied.
    let (file, metadata) = match open(true) {
        Err(_) if !opening.descriptor_flags.contains(DescriptorFlags::READ) => open(false)?,
        opened => opened?,
    };
    if metadata.is_dir() {
        return Err(ErrorCode::IsDirectory.into());
    }
    check_is_file(granted, opening)?;
    let fault = |error: io::Error| granted.fault(&error, Access::ReadWrite);
    let shared = granted.mount.writes.share(identity(&metadata), Some(entry));
    let host = host_file(granted, file, shared);
    if opening.has(OpenFlags::TRUNCATE) {
        match host.begin(WriteKind::Truncate).map_err(fault)? {
            HostContent::Part(part) => {
                part.file.set_len(0).map_err(fault)?;
                part.progress.note_emptied();
            }
            _ => host.file.set_len(0).map_err(fault)?,
        }
    }
    let may_set_times = true;
    Ok(file_descriptor(
        granted,
        opening,
        Content::OnHost(Box::new(host)),
        may_set_times,
    ))
}

/// Fails if the guest asks for a directory where a file is.
fn check_is_file(granted: &GrantedPath, opening: Opening) -> Result<(), ErrorCode> {
    if opening.has(OpenFlags::DIRECTORY) || granted.path.ends_like_directory {
        return Err(ErrorCode::NotDirectory);
    }
    Ok(())
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
    let content = Content::Staged(overlay.open(host_path, overlay_opening)?);
    Ok(file_descriptor(granted, opening, content, may_set_times))
}

/// Returns the descriptor of a part.
fn part_descriptor(granted: &GrantedPath, opening: Opening, part: OpenPart) -> Descriptor {
    let may_set_times = granted.mount.access().may_write();
    file_descriptor(granted, opening, Content::Part(part), may_set_times)
}

/// Returns the descriptor of a file of the host.
fn host_descriptor(granted: &GrantedPath, opening: Opening, file: File, shared: Arc<SharedFile>) -> Descriptor {
    let content = Content::OnHost(Box::new(host_file(granted, file, shared)));
    let may_set_times = granted.mount.access().may_write();
    file_descriptor(granted, opening, content, may_set_times)
}

fn host_file(granted: &GrantedPath, file: File, shared: Arc<SharedFile>) -> HostFile {
    HostFile {
        file: file.into_std(),
        shared,
        writes: Arc::clone(&granted.mount.writes),
    }
}

fn file_descriptor(granted: &GrantedPath, opening: Opening, content: Content, may_set_times: bool) -> Descriptor {
    Descriptor::File(Arc::new(OpenFile {
        content,
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

/// Opens a file or a directory at a path in a directory, and refuses everything else. Never waits: a pipe or a device is opened
/// without blocking, and is closed again.
fn open_with(
    granted: &GrantedPath,
    (dir, path): (&Dir, &Path),
    opening: Opening,
    options: &OpenOptions,
) -> Result<(File, Metadata), Fault> {
    let opened = dir.open_with(path, options);
    let opened = opened.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
    let access = opening.access();
    let (file, metadata) = opened.map_err(|error| open_fault(granted, &error, access))?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(special_file_fault(granted, access));
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

/// Returns the options to open a file or a directory to read it.
fn options(place: &HostPlace, opening: Opening) -> OpenOptions {
    let follows = opening.follows() && place.may_follow;
    base_options(if follows {
        FollowSymlinks::Yes
    } else {
        FollowSymlinks::No
    })
}

/// Returns options that never wait, for reading.
fn base_options(follow: FollowSymlinks) -> OpenOptions {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(follow);
    options
}
