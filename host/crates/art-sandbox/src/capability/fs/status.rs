//! What a guest learns about a file or a directory besides its contents.

use std::fs::FileTimes;
use std::time::{Duration, SystemTime};

use art_core::capability::Access;
use cap_std::fs::{Metadata, MetadataExt as _};
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;

use super::Fault;
use super::bindings::types::{DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue, NewTimestamp};
use super::descriptor::Descriptor;
use super::fault::code_of_error;
use super::listing::type_of;
use super::mount::identity;
use super::overlay::Found;
use super::path::GuestPath;
use super::tree::{FileTree, GrantedPath, Target};

/// What is known about a file or a directory.
#[derive(Debug)]
pub(super) enum Status {
    /// A directory above rights, or one that the call created in a draft. Only its path is known.
    DirectoryPath(String),
    /// A file or directory on the host, or a file in a draft.
    Metadata(Box<Metadata>),
}

impl FileTree {
    /// Returns what is known about a path relative to a directory of the guest. `follow` says whether a link at the end is
    /// followed.
    pub(super) fn status(&self, directory: &str, path: &str, follow: bool) -> Result<Status, Fault> {
        match self.target_to_look_at(GuestPath::join(directory, path, Access::Read)?, Access::Read)? {
            Target::AboveRights(path) => Ok(Status::DirectoryPath(path)),
            Target::Granted(granted) => {
                if granted.names_own() {
                    return Err(ErrorCode::NoEntry.into());
                }
                if let Some(place) = granted.place_behind_escaped_names() {
                    let metadata = place.metadata(follow);
                    let metadata = metadata.map_err(|error| granted.fault(&error, Access::Read))?;
                    return Ok(Status::Metadata(Box::new(metadata)));
                }
                if let Some((overlay, host_path)) = granted.overlay() {
                    return staged_status(&granted, overlay.find(&host_path)?, follow);
                }
                let place = granted.place(Access::Read)?;
                if let Some(part) = granted.part_at(&place, follow)? {
                    let metadata = part.file.metadata().map_err(|error| code_of_error(&error))?;
                    return Ok(Status::Metadata(Box::new(Metadata::from_just_metadata(metadata))));
                }
                // A link whose path ends like that of a directory is always followed.
                let metadata = place.metadata(follow || granted.path.ends_like_directory);
                let metadata = metadata.map_err(|error| granted.fault(&error, Access::Read))?;
                if granted.path.ends_like_directory && !metadata.is_dir() {
                    return Err(ErrorCode::NotDirectory.into());
                }
                Ok(Status::Metadata(Box::new(metadata)))
            }
        }
    }

    /// Returns what is known about an open file or directory.
    pub(super) fn descriptor_status(&self, descriptor: &Descriptor) -> Result<Status, Fault> {
        match descriptor {
            Descriptor::Directory(path) => {
                let follow = true;
                self.status(path, ".", follow)
            }
            Descriptor::File(open) => {
                let metadata = open.file().metadata().map_err(|error| code_of_error(&error))?;
                Ok(Status::Metadata(Box::new(Metadata::from_just_metadata(metadata))))
            }
        }
    }
}

/// Returns what is known about a path whose changes are staged.
fn staged_status(granted: &GrantedPath, found: Found, follow: bool) -> Result<Status, Fault> {
    if granted.path.ends_like_directory && found.is_non_directory() {
        return Err(ErrorCode::NotDirectory.into());
    }
    match found {
        Found::Nothing => Err(ErrorCode::NoEntry.into()),
        Found::NewDirectory => Ok(Status::DirectoryPath(granted.path.as_str().to_owned())),
        Found::StagedFile(file) => {
            let metadata = file.metadata().map_err(|error| code_of_error(&error))?;
            Ok(Status::Metadata(Box::new(Metadata::from_just_metadata(metadata))))
        }
        // No link is followed under a grant whose changes are staged.
        Found::OnHost(metadata) if follow && metadata.is_symlink() => Err(ErrorCode::Loop.into()),
        Found::OnHost(metadata) => Ok(Status::Metadata(metadata)),
    }
}

impl Status {
    /// Returns the type, size and times for the guest.
    pub(super) fn stat(&self) -> DescriptorStat {
        match self {
            Self::DirectoryPath(_) => DescriptorStat {
                type_: DescriptorType::Directory,
                link_count: 1,
                size: 0,
                data_access_timestamp: None,
                data_modification_timestamp: None,
                status_change_timestamp: None,
            },
            Self::Metadata(metadata) => DescriptorStat {
                type_: type_of(metadata.file_type()),
                link_count: metadata.nlink(),
                size: metadata.len(),
                data_access_timestamp: datetime(metadata.atime(), metadata.atime_nsec()),
                data_modification_timestamp: datetime(metadata.mtime(), metadata.mtime_nsec()),
                status_change_timestamp: datetime(metadata.ctime(), metadata.ctime_nsec()),
            },
        }
    }

    /// Returns a hash that identifies the file or directory and does not reveal the inode numbers of the host.
    pub(super) fn hash(&self) -> MetadataHashValue {
        let mut hasher = blake3::Hasher::new();
        match self {
            // The prefix, whose text has no meaning, keeps the hashes of paths apart from those of inode numbers.
            Self::DirectoryPath(path) => hasher.update(b"above").update(path.as_bytes()),
            Self::Metadata(metadata) => {
                let (device, inode) = identity(metadata);
                hasher.update(&device.to_le_bytes()).update(&inode.to_le_bytes())
            }
        };
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        let hash = u128::from_le_bytes(bytes);
        #[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
        MetadataHashValue {
            lower: hash as u64,
            upper: (hash >> 64) as u64,
        }
    }
}

fn datetime(seconds: i64, nanoseconds: i64) -> Option<Datetime> {
    Some(Datetime {
        seconds: seconds.try_into().ok()?,
        nanoseconds: nanoseconds.try_into().ok()?,
    })
}

/// Returns the access and modification times to set, as the guest gives them.
pub(super) fn file_times(accessed: NewTimestamp, modified: NewTimestamp) -> Result<FileTimes, ErrorCode> {
    let mut times = FileTimes::new();
    if let Some(time) = system_time(accessed)? {
        times = times.set_accessed(time);
    }
    if let Some(time) = system_time(modified)? {
        times = times.set_modified(time);
    }
    Ok(times)
}

fn system_time(time: NewTimestamp) -> Result<Option<SystemTime>, ErrorCode> {
    match time {
        NewTimestamp::NoChange => Ok(None),
        NewTimestamp::Now => Ok(Some(SystemTime::now())),
        NewTimestamp::Timestamp(Datetime { seconds, nanoseconds }) if nanoseconds < 1_000_000_000 => {
            let since_epoch = Duration::new(seconds, nanoseconds);
            let time = SystemTime::UNIX_EPOCH.checked_add(since_epoch);
            time.map(Some).ok_or(ErrorCode::Overflow)
        }
        NewTimestamp::Timestamp(_) => Err(ErrorCode::Invalid),
    }
}
