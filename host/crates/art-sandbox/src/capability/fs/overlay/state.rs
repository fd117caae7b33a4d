//! The changes of a call to the files under one grant, and what the call finds under the grant after these changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::sync::Arc;

use art_staging::{DigestReader, Draft, PathState};
use cap_std::fs::Metadata;

use super::host_files::HostFiles;
use super::{Found, Result, StagingArea};
use crate::capability::fs::base::OpenedBase;
use crate::capability::fs::bindings::types::{DescriptorType, DirectoryEntry, ErrorCode};
use crate::capability::fs::fault::code_of_error;
use crate::capability::fs::quota::Quota;
use crate::capability::fs::writes::Progress;

/// Maximum size of a file that is read in one piece, in bytes.
const MAX_SMALL_BYTES: u64 = 1 << 20;

/// The granted files and the draft, which are opened at the first use, and the changes of the call since then. Paths are relative
/// to the directory that `host` has opened; the path of that directory itself is empty.
#[derive(Debug)]
pub(super) struct OverlayState {
    host: HostFiles,
    draft: Draft,
    /// The change at each path that the call has changed.
    changes: BTreeMap<String, StagedChange>,
    /// Length of the longest path so far.
    longest_path: usize,
    /// The files of the host that were read because they are about to be changed.
    read: BTreeMap<String, ReadFile>,
    /// Why the last large file could not be read.
    reading_error: Option<ErrorCode>,
    /// How the writes to each blob went that the call has opened.
    progress: BTreeMap<String, Arc<Progress>>,
}

/// A file of the host that was read to its end.
#[derive(Debug)]
struct ReadFile {
    state: PathState,
    /// The copy in the draft, if there is one.
    copy: Option<(String, File)>,
}

/// The reading of a file of the host that is about to be changed, for its digest and, if the change keeps its content, for a copy in
/// the draft.
#[derive(Debug)]
pub(in crate::capability::fs) struct Reading {
    path_in_dir: String,
    reader: DigestReader,
    copy: Option<(String, File)>,
}

/// Upper bound of the memory of a path that the call changed, opened or read, without its text, in bytes.
const PATH_BYTES: usize = 256;

/// What the call has changed at one path.
#[derive(Clone, Debug)]
pub(super) struct StagedChange {
    pub(super) kind: ChangeKind,
    /// What was at the path on the host before the change.
    pub(super) before: PathState,
}

/// What is at a path after a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChangeKind {
    /// A file whose contents are in a blob of the draft, with the name of the blob.
    WrittenFile(String),
    /// A directory that the call created.
    NewDirectory,
    /// Nothing: what was there is removed.
    Removed,
}

impl Reading {
    /// Reads a piece of the file, and writes it to the copy. Returns its length, which is 0 at the end of the file.
    pub(in crate::capability::fs) fn advance(&mut self) -> io::Result<usize> {
        let piece = self.reader.read_piece()?;
        if let Some((_, copy)) = &mut self.copy {
            io::Write::write_all(copy, piece)?;
        }
        Ok(piece.len())
    }
}

impl OverlayState {
    /// Opens a draft for the granted directory, or for the directory that contains the granted file.
    pub(super) fn open(base: OpenedBase, area: &StagingArea) -> Result<Self> {
        let draft = area.staging.draft(area.origin.clone(), &base.path);
        let host = HostFiles::new(base)?;
        let draft = draft.inspect_err(|error| tracing::error!(%error, "no changes can be staged"));
        Ok(Self {
            host,
            draft: draft.ok().ok_or(ErrorCode::Io)?,
            changes: BTreeMap::new(),
            longest_path: 0,
            read: BTreeMap::new(),
            reading_error: None,
            progress: BTreeMap::new(),
        })
    }

    /// Returns an upper bound of the memory of all paths that the call changed or opened, in bytes.
    pub(super) fn memory_bytes(&self) -> usize {
        (self.changes.len() + self.host.opened() + self.read.len()) * (PATH_BYTES + self.longest_path)
    }

    /// Returns the draft and the change at each path.
    pub(super) fn into_parts(self) -> (Draft, BTreeMap<String, StagedChange>) {
        (self.draft, self.changes)
    }

    /// Returns the path in the opened directory for a path that is relative to the granted directory or file. If a directory is
    /// granted, `host.name()` is empty; otherwise it is the name of the granted file in the opened directory.
    pub(super) fn path_in_dir(&self, path_in_grant: &str) -> Result<String> {
        match (self.host.name(), path_in_grant) {
            ("", path_in_grant) => Ok(path_in_grant.to_owned()),
            (name, "") => Ok(name.to_owned()),
            _ => Err(ErrorCode::NotDirectory),
        }
    }

    /// Returns the names of the blobs that are part of the changes.
    pub(super) fn blobs(&self) -> Vec<String> {
        let blob = |change: &StagedChange| match &change.kind {
            ChangeKind::WrittenFile(blob) => Some(blob.clone()),
            _ => None,
        };
        self.changes.values().filter_map(blob).collect()
    }

    /// Returns how the writes go to the file at a path. `None` if the file is not in the draft.
    pub(super) fn progress(&mut self, path_in_dir: &str) -> Option<Arc<Progress>> {
        match self.changes.get(path_in_dir)?.kind.clone() {
            ChangeKind::WrittenFile(blob) => Some(self.blob_progress(&blob)),
            ChangeKind::NewDirectory | ChangeKind::Removed => None,
        }
    }

    /// Returns how the writes to a blob go.
    pub(super) fn blob_progress(&mut self, blob: &str) -> Arc<Progress> {
        Arc::clone(self.progress.entry(blob.to_owned()).or_default())
    }

    /// Returns the path of each file whose content in the draft is incomplete, and the reason.
    pub(super) fn incomplete_files(&self) -> impl Iterator<Item = (&str, String)> {
        self.changes.iter().filter_map(move |(path, change)| {
            let ChangeKind::WrittenFile(blob) = &change.kind else {
                return None;
            };
            let replaces = change.before != PathState::Nothing;
            let broken = self.progress.get(blob)?.failure(replaces)?;
            Some((path.as_str(), broken.reason))
        })
    }

    pub(super) fn draft(&mut self) -> &mut Draft {
        &mut self.draft
    }

    /// Returns whether a directory is granted, and not a single file.
    pub(super) fn grants_directory(&self) -> bool {
        self.host.name().is_empty()
    }

    /// Returns what the call finds at a path. Refuses a path with a link in place of a directory. A link at the end is found, but
    /// not followed.
    pub(super) fn find(&mut self, path_in_dir: &str) -> Result<Found> {
        self.longest_path = self.longest_path.max(path_in_dir.len());
        match self.changes.get(path_in_dir).map(|change| &change.kind) {
            Some(ChangeKind::WrittenFile(blob)) => {
                let file = self.draft.open_blob(blob).map_err(|error| code_of_error(&error))?;
                return Ok(Found::StagedFile(file));
            }
            Some(ChangeKind::NewDirectory) => return Ok(Found::NewDirectory),
            Some(ChangeKind::Removed) => return Ok(Found::Nothing),
            None => {}
        }
        for ancestor in ancestors(path_in_dir) {
            match self.changes.get(ancestor).map(|change| &change.kind) {
                Some(ChangeKind::Removed) => return Ok(Found::Nothing),
                Some(ChangeKind::WrittenFile(_)) => return Err(ErrorCode::NotDirectory),
                Some(ChangeKind::NewDirectory) | None => {}
            }
            match self.host.find(ancestor)? {
                Some(metadata) if metadata.is_symlink() => return Err(ErrorCode::Loop),
                _ => {}
            }
        }
        let found = self.host.find(path_in_dir)?;
        Ok(found.map_or(Found::Nothing, |metadata| Found::OnHost(Box::new(metadata))))
    }

    pub(super) fn open_host_file(&mut self, path_in_dir: &str) -> Result<File> {
        self.host.open_file(path_in_dir)
    }

    /// Returns what was at a path on the host before the call changed it. A commit checks that this is still there.
    /// [`PathState::Unclear`], for example for a file that vanished after the call opened it, makes the commit fail.
    fn state_before(&mut self, path_in_dir: &str) -> Result<PathState> {
        if let Some(change) = self.changes.get(path_in_dir) {
            return Ok(change.before);
        }
        match self.host.find(path_in_dir)? {
            None if self.host.was_opened(path_in_dir) => Ok(PathState::Unclear),
            None => Ok(PathState::Nothing),
            Some(metadata) if metadata.is_dir() => Ok(PathState::Directory),
            Some(metadata) if !metadata.is_file() => Ok(PathState::Unclear),
            Some(metadata) => {
                self.ensure_read(path_in_dir, &metadata, None)?;
                Ok(match self.read.get(path_in_dir) {
                    Some(read) if self.host.is_unchanged(path_in_dir, &metadata) => read.state,
                    // The file was replaced after it was read.
                    _ => PathState::Unclear,
                })
            }
        }
    }

    /// Starts to read a large file of the host that is about to be changed, and to copy it into the draft if a quota for the copy is
    /// given. Returns `None` for anything else: the change itself reads a small file.
    pub(super) fn start_reading_large(&mut self, path_in_dir: &str, quota: Option<&Quota>) -> Result<Option<Reading>> {
        match self.find(path_in_dir)? {
            Found::OnHost(metadata) if metadata.is_file() && metadata.len() > MAX_SMALL_BYTES => {
                let started = self.start_reading(path_in_dir, metadata.len(), quota);
                // The change fails with this error.
                self.reading_error = started.as_ref().err().copied();
                started.map(Some)
            }
            _ => Ok(None),
        }
    }

    fn start_reading(&mut self, path_in_dir: &str, bytes: u64, quota: Option<&Quota>) -> Result<Reading> {
        let reader = self.host.start_reading(path_in_dir)?;
        let copy = match quota {
            None => None,
            Some(quota) => {
                quota.take_bytes(bytes)?;
                Some(self.draft.new_blob().map_err(|error| code_of_error(&error))?)
            }
        };
        Ok(Reading {
            path_in_dir: path_in_dir.to_owned(),
            reader,
            copy,
        })
    }

    /// Notes what was read.
    pub(super) fn finish_reading(&mut self, reading: Reading) -> Result<()> {
        let state = self.host.state_of_read_file(&reading.path_in_dir, &reading.reader)?;
        let copy = reading.copy;
        self.read.insert(reading.path_in_dir, ReadFile { state, copy });
        Ok(())
    }

    /// Reads a small file of the host. Fails for a large one that was not read before. If a quota is given, the file must be copied.
    fn ensure_read(&mut self, path_in_dir: &str, metadata: &Metadata, quota: Option<&Quota>) -> Result<()> {
        if let Some(read) = self.read.get(path_in_dir)
            && (quota.is_none() || read.copy.is_some())
        {
            return Ok(());
        }
        if metadata.len() > MAX_SMALL_BYTES {
            return Err(self.reading_error.take().unwrap_or(ErrorCode::Busy));
        }
        let mut reading = self.start_reading(path_in_dir, metadata.len(), quota)?;
        // The file may grow while it is read, so the number of pieces is bounded.
        for _ in 0..=MAX_SMALL_BYTES / DigestReader::PIECE_BYTES as u64 {
            let bytes = reading.advance().map_err(|error| code_of_error(&error))?;
            if bytes == 0 {
                break;
            }
        }
        self.finish_reading(reading)
    }

    /// Puts a file into the draft in place of a file of the host: a copy, or an empty file if `truncates` is set.
    pub(super) fn copy_into_draft(&mut self, path_in_dir: &str, truncates: bool, quota: &Quota) -> Result<File> {
        let metadata = self.host.find(path_in_dir)?.ok_or(ErrorCode::NoEntry)?;
        self.ensure_read(path_in_dir, &metadata, (!truncates).then_some(quota))?;
        let before = self.state_before(path_in_dir)?;
        let (blob, file) = if truncates {
            self.draft.new_blob().map_err(|error| code_of_error(&error))?
        } else {
            let copy = self.read.get_mut(path_in_dir).and_then(|read| read.copy.take());
            copy.ok_or(ErrorCode::Io)?
        };
        let kind = ChangeKind::WrittenFile(blob);
        self.changes
            .insert(path_in_dir.to_owned(), StagedChange { kind, before });
        Ok(file)
    }

    /// Creates a file in the draft. Fails if something is at the path, or if its directory does not exist.
    pub(super) fn create_file(&mut self, path_in_dir: &str, quota: &Quota) -> Result<File> {
        self.check_creatable(path_in_dir)?;
        quota.take_file()?;
        let created = self.write_new_file(path_in_dir);
        created.inspect_err(|_| quota.give_back_file())
    }

    fn write_new_file(&mut self, path_in_dir: &str) -> Result<File> {
        let (blob, file) = self.draft.new_blob().map_err(|error| code_of_error(&error))?;
        self.set_change(path_in_dir, ChangeKind::WrittenFile(blob))?;
        Ok(file)
    }

    /// Fails if something is at a path, or if its directory does not exist.
    pub(super) fn check_creatable(&mut self, path_in_dir: &str) -> Result<()> {
        match self.find(path_in_dir)? {
            Found::Nothing => self.check_parent(path_in_dir),
            _ => Err(ErrorCode::Exist),
        }
    }

    fn check_parent(&mut self, path_in_dir: &str) -> Result<()> {
        let parent = path_in_dir.rsplit_once('/').map_or("", |(parent, _)| parent);
        match self.find(parent)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Ok(()),
            _ => Err(ErrorCode::NotDirectory),
        }
    }

    /// Records the change at a path, in place of an earlier one. If the path is now as it was before the call (there was nothing
    /// and is nothing, or there was a directory and is a directory), only removes the record of the earlier change. Refuses to
    /// put a file in place of a directory of the host, or the reverse.
    pub(super) fn set_change(&mut self, path_in_dir: &str, kind: ChangeKind) -> Result<()> {
        if path_in_dir.is_empty() {
            return Err(ErrorCode::NotPermitted);
        }
        let before = self.state_before(path_in_dir)?;
        let swaps_file_and_directory = matches!(
            (&kind, before),
            (ChangeKind::NewDirectory, PathState::File(_) | PathState::Unclear)
                | (ChangeKind::WrittenFile(_), PathState::Directory)
        );
        if swaps_file_and_directory {
            return Err(ErrorCode::NotPermitted);
        }
        let is_as_before = matches!(
            (&kind, before),
            (ChangeKind::Removed, PathState::Nothing) | (ChangeKind::NewDirectory, PathState::Directory)
        );
        if is_as_before {
            self.changes.remove(path_in_dir);
        } else {
            self.changes
                .insert(path_in_dir.to_owned(), StagedChange { kind, before });
        }
        Ok(())
    }

    /// Returns what is in a directory after the changes of the call.
    pub(super) fn list(&mut self, path_in_dir: &str) -> Result<Vec<DirectoryEntry>> {
        match self.find(path_in_dir)? {
            Found::Nothing => return Err(ErrorCode::NoEntry),
            found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
            _ => {}
        }
        let mut entries = self.changed_entries(path_in_dir);
        let changed_names: BTreeSet<String> = entries.iter().map(|(name, _)| name.clone()).collect();
        for (name, type_) in self.host.list(path_in_dir)? {
            if !changed_names.contains(&name) {
                entries.push((name, Some(type_)));
            }
        }
        let entry = |(name, type_): (String, Option<DescriptorType>)| Some(DirectoryEntry { type_: type_?, name });
        Ok(entries.into_iter().filter_map(entry).collect())
    }

    /// Returns the names that the call changed in a directory, with their types. A removed name has the type `None`.
    fn changed_entries(&self, path_in_dir: &str) -> Vec<(String, Option<DescriptorType>)> {
        let prefix = if path_in_dir.is_empty() {
            String::new()
        } else {
            format!("{path_in_dir}/")
        };
        let below = self
            .changes
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix));
        let directly_in = below.filter_map(|(path, change)| {
            let name = path
                .strip_prefix(&prefix)
                .filter(|name| !name.contains('/') && !name.is_empty())?;
            let type_ = match change.kind {
                ChangeKind::WrittenFile(_) => Some(DescriptorType::RegularFile),
                ChangeKind::NewDirectory => Some(DescriptorType::Directory),
                ChangeKind::Removed => None,
            };
            Some((name.to_owned(), type_))
        });
        directly_in.collect()
    }

    /// Moves a file that is in the draft.
    pub(super) fn move_file(&mut self, old: &str, new: &str) -> Result<()> {
        let Some(StagedChange { kind, .. }) = self.changes.get(old).cloned() else {
            return Err(ErrorCode::Io);
        };
        if self.find(new)?.is_directory() {
            return Err(ErrorCode::IsDirectory);
        }
        self.check_parent(new)?;
        self.set_change(new, kind)?;
        self.set_change(old, ChangeKind::Removed)
    }
}

/// Returns the directories between the opened directory and a path, the outermost first.
fn ancestors(path_in_dir: &str) -> impl Iterator<Item = &str> {
    path_in_dir
        .match_indices('/')
        .filter_map(|(index, _)| path_in_dir.get(..index))
}
