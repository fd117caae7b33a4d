//! Operations on paths that do not open a file for the guest: creating directories, removing, moving and linking files, setting
//! their times, and reading links.
//!
//! A *right* is what one call may use of a grant of the operator: the file or directory of the grant, or something below it.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use art_core::capability::Access;
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::Fault;
use super::bindings::types::{ErrorCode, NewTimestamp};
use super::mount::{HostPlace, identity};
use super::overlay::{Found, Overlay};
use super::path::GuestPath;
use super::status::file_times;
use super::tree::{FileTree, GrantedPath, Target};
use super::writes::Entry;

/// A path at which something may be created, removed, moved, linked or replaced.
enum ChangeablePath {
    /// A path whose changes are made on the host.
    OnHost(GrantedPath, HostPlace),
    /// A path whose changes are staged: the overlay to which they go, the path on the host, and the path of the guest.
    Staged(Arc<Overlay>, PathBuf, GrantedPath),
}

impl FileTree {
    pub(super) fn create_directory(&self, directory: &str, path: &str) -> Result<(), Fault> {
        let path = GuestPath::join(directory, path, Access::ReadWrite)?;
        let granted = match self.target(path, Access::ReadWrite)? {
            Target::AboveRights(_) => return Err(ErrorCode::Exist.into()),
            Target::Granted(granted) => granted,
        };
        if let Some((overlay, host_path)) = granted.overlay() {
            granted.check_writable()?;
            return Ok(overlay.create_directory(&host_path)?);
        }
        let place = granted.place_to_change()?;
        if place.is_directory_of_right() || granted.part_at(&place, false)?.is_some() {
            return Err(ErrorCode::Exist.into());
        }
        create_within_quota(&granted, || place.dir.create_dir(&place.path))?;
        self.writes.note_new_directory();
        Ok(())
    }

    pub(super) fn remove_directory(&self, directory: &str, path: &str) -> Result<(), Fault> {
        let (granted, place) = match self.find_changeable(directory, path)? {
            ChangeablePath::OnHost(granted, place) => (granted, place),
            ChangeablePath::Staged(overlay, host_path, _) => return Ok(overlay.remove_directory(&host_path)?),
        };
        let entry = granted.entry_to_change(&place)?;
        if self.writes.is_new(&entry) {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.check_holds_no_right(&granted, &entry)?;
        self.check_holds_no_new_files(&entry)?;
        let removed = place.dir.remove_dir(&place.path);
        removed.map_err(|error| granted.fault(&error, Access::ReadWrite))
    }

    pub(super) fn remove_file(&self, directory: &str, path: &str) -> Result<(), Fault> {
        let (granted, place) = match self.find_changeable(directory, path)? {
            ChangeablePath::OnHost(granted, place) => (granted, place),
            ChangeablePath::Staged(.., granted) if granted.path.ends_like_directory => {
                return Err(ErrorCode::NotDirectory.into());
            }
            ChangeablePath::Staged(overlay, host_path, _) => return Ok(overlay.remove_file(&host_path)?),
        };
        if granted.path.ends_like_directory {
            return Err(ErrorCode::NotDirectory.into());
        }
        let entry = granted.entry_to_change(&place)?;
        if entry.metadata.is_none() && !self.writes.is_new(&entry) {
            return Err(granted.fault(&Errno::NOENT.into(), Access::ReadWrite));
        }
        let removed = self.writes.remove(&entry);
        removed.map_err(|error| granted.fault(&error, Access::ReadWrite))
    }

    /// Moves a file or, if changes are not staged, a directory to another path of the same grant. `from` and `to` each have a
    /// directory of the guest and a path relative to it. A link is not moved: what it leads to depends on where it is.
    pub(super) fn rename(&self, from: (&str, &str), to: (&str, &str)) -> Result<(), Fault> {
        let ((old, old_place), (new, new_place)) =
            match (self.find_changeable(from.0, from.1)?, self.find_changeable(to.0, to.1)?) {
                (ChangeablePath::OnHost(old, old_place), ChangeablePath::OnHost(new, new_place)) => {
                    ((old, old_place), (new, new_place))
                }
                (ChangeablePath::Staged(overlay, old_path, old), ChangeablePath::Staged(_, new_path, new)) => {
                    check_same_grant(&old, &new)?;
                    let names_directory = old.path.ends_like_directory || new.path.ends_like_directory;
                    if names_directory && overlay.find(&old_path)?.is_non_directory() {
                        return Err(ErrorCode::NotDirectory.into());
                    }
                    return Ok(overlay.rename(&old_path, &new_path)?);
                }
                _ => return Err(ErrorCode::CrossDevice.into()),
            };
        check_same_grant(&old, &new)?;
        let (from, to) = (old.entry_to_change(&old_place)?, new.entry_to_change(&new_place)?);
        let is_written = self.writes.is_new(&from);
        if !is_written {
            let metadata = from.metadata.as_ref();
            let metadata = metadata.ok_or_else(|| old.fault(&Errno::NOENT.into(), Access::ReadWrite))?;
            if metadata.is_symlink() {
                return Err(link_fault(&old));
            }
            if metadata.is_dir() {
                return self.rename_directory((&old, &from), (&new, &to));
            }
        }
        if old.path.ends_like_directory || new.path.ends_like_directory {
            return Err(ErrorCode::NotDirectory.into());
        }
        if !self.writes.is_new(&to) && to.metadata.as_ref().is_some_and(|metadata| metadata.is_dir()) {
            return Err(ErrorCode::IsDirectory.into());
        }
        let renamed = self.writes.rename(&from, &to);
        renamed.map_err(|error| old.fault(&error, Access::ReadWrite))
    }

    /// Moves a directory, with all parts of files in it.
    fn rename_directory(
        &self,
        (old, from): (&GrantedPath, &Entry),
        (new, to): (&GrantedPath, &Entry),
    ) -> Result<(), Fault> {
        self.check_holds_no_right(old, from)?;
        self.check_holds_no_right(new, to)?;
        if self.writes.is_new(to) {
            return Err(ErrorCode::NotDirectory.into());
        }
        self.check_holds_no_new_files(to)?;
        let renamed = from.parent.rename(from.name(), &to.parent, to.name());
        renamed.map_err(|error| old.fault(&error, Access::ReadWrite))?;
        self.writes.note_directory_move(from, to);
        Ok(())
    }

    /// Fails if an entry is the directory of a right of the call, or one above it: the right would lead elsewhere, or what it limits
    /// would be reached by another right.
    fn check_holds_no_right(&self, granted: &GrantedPath, entry: &Entry) -> Result<(), Fault> {
        let directory = entry.metadata.as_ref().filter(|metadata| metadata.is_dir());
        let Some(directory) = directory.map(identity) else {
            return Ok(());
        };
        match self.mounts().iter().any(|mount| mount.is_beneath(directory)) {
            true => Err(directory_of_right_fault(granted)),
            false => Ok(()),
        }
    }

    /// Fails if an entry is a directory with files that the call has created and that are not on the host yet.
    fn check_holds_no_new_files(&self, entry: &Entry) -> Result<(), ErrorCode> {
        let directory = entry.metadata.as_ref().filter(|metadata| metadata.is_dir());
        let holds = |metadata| !self.writes.new_names_in(identity(metadata)).is_empty();
        if !self.writes.is_empty() && directory.is_some_and(holds) {
            return Err(ErrorCode::NotEmpty);
        }
        Ok(())
    }

    /// Gives a file a second name within one grant, unless changes are staged.
    pub(super) fn link(&self, from: (&str, &str), to: (&str, &str)) -> Result<(), Fault> {
        let (ChangeablePath::OnHost(old, old_place), ChangeablePath::OnHost(new, new_place)) =
            (self.find_changeable(from.0, from.1)?, self.find_changeable(to.0, to.1)?)
        else {
            // Changes are staged for each name by itself, so the two names would be separate files after a commit.
            return Err(ErrorCode::NotPermitted.into());
        };
        check_same_grant(&old, &new)?;
        let (from, to) = (old.entry_to_change(&old_place)?, new.entry_to_change(&new_place)?);
        if to.metadata.is_some() || self.writes.is_new(&to) {
            return Err(ErrorCode::Exist.into());
        }
        if !self.writes.is_new(&from) {
            let metadata = from.metadata.as_ref();
            let metadata = metadata.ok_or_else(|| old.fault(&Errno::NOENT.into(), Access::ReadWrite))?;
            if !metadata.is_file() {
                return Err(link_fault(&old));
            }
        }
        if old.path.ends_like_directory || new.path.ends_like_directory {
            return Err(ErrorCode::NotDirectory.into());
        }
        create_within_quota(&new, || self.writes.link(&from, &to))
    }

    /// Refuses to create a symbolic link, which could lead the host or another tool out of what is granted.
    pub(super) fn refuse_link(&self, directory: &str, path: &str) -> Result<(), Fault> {
        let (ChangeablePath::OnHost(granted, _) | ChangeablePath::Staged(.., granted)) =
            self.find_changeable(directory, path)?;
        Err(link_fault(&granted))
    }

    /// Returns the target of a link. A link with an absolute target is refused, and so is every link in a staged grant.
    pub(super) fn read_link(&self, directory: &str, path: &str) -> Result<String, Fault> {
        let granted = match self.target(GuestPath::join(directory, path, Access::Read)?, Access::Read)? {
            Target::AboveRights(_) => return Err(ErrorCode::Invalid.into()),
            Target::Granted(granted) => granted,
        };
        if let Some((overlay, host_path)) = granted.overlay() {
            return Err(match overlay.find(&host_path)? {
                Found::Nothing => ErrorCode::NoEntry,
                Found::OnHost(metadata) if metadata.is_symlink() => ErrorCode::Loop,
                _ => ErrorCode::Invalid,
            }
            .into());
        }
        let place = granted.place(Access::Read)?;
        if place.is_directory_of_right() || granted.part_at(&place, false)?.is_some() {
            return Err(ErrorCode::Invalid.into());
        }
        let target = place.dir.read_link(&place.path);
        let target = target.map_err(|error| granted.fault(&error, Access::Read))?;
        let text = target.into_os_string().into_string();
        text.ok().ok_or_else(|| ErrorCode::IllegalByteSequence.into())
    }

    pub(super) fn set_times(
        &self,
        directory: &str,
        path: &str,
        follow: bool,
        (accessed, modified): (NewTimestamp, NewTimestamp),
    ) -> Result<(), Fault> {
        let path = GuestPath::join(directory, path, Access::ReadWrite)?;
        let granted = match self.target(path, Access::ReadWrite)? {
            Target::AboveRights(path) => return Err(Fault::read_only(&path)),
            Target::Granted(granted) => granted,
        };
        if let Some((overlay, host_path)) = granted.overlay() {
            granted.check_writable()?;
            // Only a file that the call wrote has a copy in the draft, whose times can be set.
            let Found::StagedFile(file) = overlay.find(&host_path)? else {
                return Err(ErrorCode::NotPermitted.into());
            };
            let set = file.set_times(file_times(accessed, modified)?);
            return set.map_err(|error| granted.fault(&error, Access::ReadWrite));
        }
        let place = granted.place_to_change()?;
        let times = file_times(accessed, modified)?;
        if let Some(part) = granted.part_at(&place, follow)? {
            let set = part.file.set_times(times);
            return set.map_err(|error| granted.fault(&error, Access::ReadWrite));
        }
        let set = open_to_set_times(&place, follow).and_then(|file| file.set_times(times));
        set.map_err(|error| granted.fault(&error, Access::ReadWrite))
    }

    /// Returns where a change of `path` is made, whether or not something is there. Fails if the rights of the call do not allow
    /// changes at the path, and for the directory of a right itself.
    fn find_changeable(&self, directory: &str, path: &str) -> Result<ChangeablePath, Fault> {
        let path = GuestPath::join(directory, path, Access::ReadWrite)?;
        let granted = match self.target(path, Access::ReadWrite)? {
            Target::AboveRights(path) => return Err(Fault::no_grant(&path, Access::ReadWrite)),
            Target::Granted(granted) => granted,
        };
        if let Some((overlay, host_path)) = granted.overlay() {
            granted.check_writable()?;
            if granted.path_in_right.is_empty() && overlay.find(&host_path)?.is_directory() {
                return Err(directory_of_right_fault(&granted));
            }
            return Ok(ChangeablePath::Staged(Arc::clone(overlay), host_path, granted));
        }
        let place = granted.place_to_change()?;
        if place.is_directory_of_right() {
            return Err(directory_of_right_fault(&granted));
        }
        Ok(ChangeablePath::OnHost(granted, place))
    }
}

/// Creates a file or directory within the quota.
fn create_within_quota(granted: &GrantedPath, create: impl FnOnce() -> io::Result<()>) -> Result<(), Fault> {
    let quota = &granted.mount.quota;
    quota.take_file()?;
    create().map_err(|error| {
        quota.give_back_file();
        granted.fault(&error, Access::ReadWrite)
    })
}

fn directory_of_right_fault(granted: &GrantedPath) -> Fault {
    Fault::never_allowed(
        ErrorCode::NotPermitted,
        granted.path.as_str(),
        Access::ReadWrite,
        "the directory of a grant cannot be removed or moved, nor one above it",
    )
}

fn check_same_grant(old: &GrantedPath, new: &GrantedPath) -> Result<(), ErrorCode> {
    let is_same = old.mount.is_of_same_grant(&new.mount);
    if is_same { Ok(()) } else { Err(ErrorCode::CrossDevice) }
}

fn link_fault(granted: &GrantedPath) -> Fault {
    let reason = "a tool cannot create or move links";
    Fault::never_allowed(
        ErrorCode::NotPermitted,
        granted.path.as_str(),
        Access::ReadWrite,
        reason,
    )
}

fn open_to_set_times(place: &HostPlace, follow: bool) -> io::Result<std::fs::File> {
    let mut options = OpenOptions::new();
    let follow = if follow && place.may_follow {
        FollowSymlinks::Yes
    } else {
        FollowSymlinks::No
    };
    options
        .read(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(follow);
    Ok(place.dir.open_with(&place.path, &options)?.into_std())
}
