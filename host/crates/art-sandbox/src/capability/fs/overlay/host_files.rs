//! The files of a grant whose changes are staged, as they are on the host. They are never changed here: changes go to a draft.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use art_staging::{DigestReader, PathState};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use super::Result;
use crate::capability::fs::base::OpenedBase;
use crate::capability::fs::bindings::types::{DescriptorType, ErrorCode};
use crate::capability::fs::fault::code_of_error;
use crate::capability::fs::listing::{MAX_ENTRIES, type_of};
use crate::capability::fs::name::guest_name;
use crate::capability::fs::stamp::Stamp;
use crate::capability::fs::writes::is_own_name;

/// The files of one grant on the host, and the stamps of those that the call opened. Their paths are relative to `dir`; the path
/// of `dir` itself is empty.
#[derive(Debug)]
pub(super) struct HostFiles {
    /// The granted directory, or the directory that contains the granted file.
    dir: Arc<Dir>,
    /// The name of the granted file in `dir`; empty if a directory is granted.
    name: String,
    /// The stamp of each file that the call opened, taken when it first opened the file.
    stamps: HashMap<String, Stamp>,
}

impl HostFiles {
    /// Creates the files of a grant that leads to `base`.
    pub(super) fn new(base: OpenedBase) -> Result<Self> {
        let name = base.name.map_or(Ok(String::new()), |name| {
            let name = name.into_os_string().into_string();
            name.ok().ok_or(ErrorCode::IllegalByteSequence)
        });
        Ok(Self {
            dir: base.dir,
            name: name?,
            stamps: HashMap::new(),
        })
    }

    /// Returns the name of the granted file; empty if a directory is granted.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of files that the call has opened.
    pub(super) fn opened(&self) -> usize {
        self.stamps.len()
    }

    /// Returns whether the call has opened the file at a path.
    pub(super) fn was_opened(&self, path_in_dir: &str) -> bool {
        self.stamps.contains_key(path_in_dir)
    }

    /// Returns the metadata of what is at a path, or `None` if nothing is. Does not follow a link at the end of the path.
    pub(super) fn find(&self, path_in_dir: &str) -> Result<Option<Metadata>> {
        let path = if path_in_dir.is_empty() { "." } else { path_in_dir };
        match self.dir.symlink_metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(code_of_error(&error)),
        }
    }

    /// Opens a regular file to read it.
    pub(super) fn open_file(&mut self, path_in_dir: &str) -> Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .follow(FollowSymlinks::No);
        let file = self.dir.open_with(path_in_dir, &options);
        let opened = file.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        let (file, metadata) = opened.map_err(|error| code_of_error(&error))?;
        if !metadata.is_file() {
            return Err(ErrorCode::Access);
        }
        self.stamps
            .entry(path_in_dir.to_owned())
            .or_insert_with(|| Stamp::of(&metadata));
        Ok(file.into_std())
    }

    /// Starts to read a file from its beginning to its end.
    pub(super) fn start_reading(&mut self, path_in_dir: &str) -> Result<DigestReader> {
        Ok(DigestReader::new(self.open_file(path_in_dir)?))
    }

    /// Returns the digest of a file that was read to its end, or [`PathState::Unclear`] if the file has changed since the call first
    /// opened it. The commit of a change of the file then fails with a conflict.
    pub(super) fn state_of_read_file(&self, path_in_dir: &str, reader: &DigestReader) -> Result<PathState> {
        let metadata = reader.file().metadata().map_err(|error| code_of_error(&error))?;
        let is_unchanged = self.is_unchanged(path_in_dir, &Metadata::from_just_metadata(metadata));
        Ok(if is_unchanged {
            PathState::File(reader.digest())
        } else {
            PathState::Unclear
        })
    }

    /// Returns whether `now` is what a file was when the call first opened it.
    pub(super) fn is_unchanged(&self, path_in_dir: &str, now: &Metadata) -> bool {
        self.stamps.get(path_in_dir) == Some(&Stamp::of(now))
    }

    /// Returns the names and types of what is in a directory. A directory that the call created in the draft does not exist on
    /// the host, and its list is empty. An entry whose name is not UTF-8 has its escaped name.
    pub(super) fn list(&self, path_in_dir: &str) -> Result<Vec<(String, DescriptorType)>> {
        let code = |error: io::Error| code_of_error(&error);
        let path = if path_in_dir.is_empty() { "." } else { path_in_dir };
        let entries = match self.dir.read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(code(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(code)?;
            let name = guest_name(entry.file_name(), &self.dir, Path::new(path));
            if found.len() >= MAX_ENTRIES as usize {
                return Err(ErrorCode::Overflow);
            }
            if is_own_name(&name) {
                continue;
            }
            found.push((name, entry.file_type().map_or(DescriptorType::Unknown, type_of)));
        }
        Ok(found)
    }
}
