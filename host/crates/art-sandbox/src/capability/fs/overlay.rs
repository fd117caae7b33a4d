//! Staged changes: what a call changes under a grant with `stage = true` goes to a *draft*, a folder of the call with the
//! contents of the files that it wrote. The *overlay* puts the changes over the files of the host, so that the call sees them as
//! if they were made. After a success the draft becomes a change set, which a person commits or drops.
//!
//! The granted files themselves are only read. Links are not followed. A file can be moved, and a directory cannot.

mod host_files;
mod state;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::capability::FsGrant;
use art_staging::{DraftedAction, Origin, PathState, Staging, StagingError};
use cap_std::fs::Metadata;

pub(super) use self::state::Reading;
use self::state::{ChangeKind, OverlayState};
use super::base::GrantBase;
use super::bindings::types::{DirectoryEntry, ErrorCode};
use super::fault::code_of_error;
use super::quota::Quota;
use super::writes::Progress;
use crate::host_memory::{Charge, HostMemory};

type Result<T> = std::result::Result<T, ErrorCode>;

/// Where the drafts of a call go, and what is noted in them about the call.
#[derive(Clone, Debug)]
pub(crate) struct StagingArea {
    pub(crate) staging: Arc<Staging>,
    pub(crate) origin: Origin,
}

/// The changes of a call under one grant.
#[derive(Debug)]
pub(super) struct Overlay {
    grant: Arc<FsGrant>,
    base: Arc<GrantBase>,
    area: StagingArea,
    quota: Arc<Quota>,
    /// The opened granted files, the draft and the changes; present from the first use until the end of the call.
    state: Mutex<Option<OverlayState>>,
    memory: HostMemory,
    /// What the state takes of the memory of the host.
    charge: Mutex<Charge>,
}

/// What the call finds at a path.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    /// A file that the call wrote, opened in the draft.
    StagedFile(File),
    /// A directory that the call created.
    NewDirectory,
    /// Something on the host that the call has not changed.
    OnHost(Box<Metadata>),
}

impl Found {
    /// Returns whether something is there that is neither a regular file nor a directory.
    pub(super) fn is_special(&self) -> bool {
        matches!(self, Self::OnHost(metadata) if !metadata.is_dir() && !metadata.is_file())
    }

    pub(super) fn is_directory(&self) -> bool {
        match self {
            Self::NewDirectory => true,
            Self::OnHost(metadata) => metadata.is_dir(),
            Self::Nothing | Self::StagedFile(_) => false,
        }
    }

    /// Returns whether something is there that is not a directory.
    pub(super) fn is_non_directory(&self) -> bool {
        !self.is_directory() && !matches!(self, Self::Nothing)
    }
}

/// An open file under a grant whose changes are staged.
#[derive(Debug)]
pub(super) struct StagedFile {
    pub(super) file: File,
    /// How the writes to the file went, if it is in the draft.
    pub(super) progress: Option<Arc<Progress>>,
}

/// How the guest wants to open a file whose changes are staged.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OverlayOpening {
    pub(super) writes: bool,
    pub(super) creates: bool,
    pub(super) must_be_new: bool,
    pub(super) truncates: bool,
}

impl Overlay {
    /// Creates the overlay of a grant, whose files are at `base`. Its changes are charged to `memory`.
    pub(super) fn new(
        (grant, base): (&Arc<FsGrant>, &Arc<GrantBase>),
        area: StagingArea,
        quota: Arc<Quota>,
        memory: &HostMemory,
    ) -> Self {
        Self {
            grant: Arc::clone(grant),
            base: Arc::clone(base),
            area,
            quota,
            state: Mutex::new(None),
            memory: memory.clone(),
            charge: Mutex::new(memory.charge(0)),
        }
    }

    /// Returns whether this is the overlay of `grant`.
    pub(super) fn belongs_to(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Calls `operation` with the state and with a relative form of `path`, an absolute path on the host. The relative path
    /// begins at the directory that the state has opened. Fails if the call has no memory of the host left for further changes.
    fn with_state<T>(&self, path: &Path, operation: impl FnOnce(&mut OverlayState, &str) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        if state.is_none() {
            let base = self.base.open().map_err(|error| code_of_error(&error))?;
            *state = Some(OverlayState::open(base, &self.area)?);
        }
        let state = state.as_mut().ok_or(ErrorCode::Io)?;
        let path_in_grant = path.strip_prefix(self.grant.base()).ok().ok_or(ErrorCode::Access)?;
        let path_in_grant = path_in_grant.to_str().ok_or(ErrorCode::IllegalByteSequence)?;
        let path_in_dir = state.path_in_dir(path_in_grant)?;
        self.memory.try_charge(0).ok_or(ErrorCode::InsufficientMemory)?;
        let result = operation(state, &path_in_dir);
        let mut charge = self.charge.lock().unwrap_or_else(PoisonError::into_inner);
        charge.set(state.memory_bytes());
        result
    }

    fn lock(&self) -> MutexGuard<'_, Option<OverlayState>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, path: &Path) -> Result<Found> {
        self.with_state(path, |state, path_in_dir| state.find(path_in_dir))
    }

    /// Opens a file: in the draft if the call has changed it or wants to write to it, and on the host otherwise.
    pub(super) fn open(&self, path: &Path, opening: OverlayOpening) -> Result<StagedFile> {
        self.with_state(path, |state, path_in_dir| {
            let (mut is_emptied, truncates) = (false, opening.truncates);
            let file = match state.find(path_in_dir)? {
                Found::Nothing if opening.creates => state.create_file(path_in_dir, &self.quota)?,
                Found::Nothing => return Err(ErrorCode::NoEntry),
                _ if opening.must_be_new => return Err(ErrorCode::Exist),
                Found::StagedFile(file) => {
                    is_emptied = truncates;
                    truncate_if(file, truncates)?
                }
                Found::NewDirectory => return Err(ErrorCode::IsDirectory),
                Found::OnHost(metadata) if metadata.is_dir() => return Err(ErrorCode::IsDirectory),
                Found::OnHost(metadata) if !metadata.is_file() => return Err(ErrorCode::Access),
                Found::OnHost(_) if opening.writes => state.copy_into_draft(path_in_dir, truncates, &self.quota)?,
                Found::OnHost(_) => state.open_host_file(path_in_dir)?,
            };
            let progress = state.progress(path_in_dir);
            if let Some(progress) = progress.as_ref().filter(|_| is_emptied) {
                progress.note_emptied();
            }
            Ok(StagedFile { file, progress })
        })
    }

    /// Returns what to say of each file whose content in the draft is incomplete, because a write to it failed.
    pub(super) fn incomplete_files(&self) -> Vec<String> {
        let state = self.lock();
        let incomplete = state.iter().flat_map(OverlayState::incomplete_files);
        let describe = |(path, reason): (&str, String)| {
            let path = self.grant.base().join(path);
            format!("`{}` was not staged: a write to it failed: {reason}", path.display())
        };
        incomplete.map(describe).collect()
    }

    /// Starts the long part of a change: reading the large file of the host that is changed. If `copies` is set, the change keeps its
    /// content. Returns `None` if no large file is changed.
    pub(super) fn start_reading(&self, path: &Path, copies: bool) -> Result<Option<Reading>> {
        self.with_state(path, |state, path_in_dir| {
            state.start_reading_large(path_in_dir, copies.then_some(&*self.quota))
        })
    }

    /// Notes what was read, so that the change can be made.
    pub(super) fn finish_reading(&self, reading: Reading) -> Result<()> {
        self.lock()
            .as_mut()
            .map_or(Ok(()), |state| state.finish_reading(reading))
    }

    /// Waits until the contents of all written files are stored, and finds their digests, so that [`finish`](Self::finish) is short.
    /// Yields after each piece of them.
    pub(super) async fn store(&self) {
        let blobs = self.lock().as_ref().map(OverlayState::blobs);
        for blob in blobs.unwrap_or_default() {
            if let Err(error) = self.store_blob(&blob).await
                && let Some(state) = self.lock().as_mut()
            {
                state.blob_progress(&blob).note_failure(&error.to_string(), false);
            }
        }
    }

    async fn store_blob(&self, blob: &str) -> std::io::Result<()> {
        let reader = self
            .lock()
            .as_mut()
            .map(|state| state.draft().store_blob(blob))
            .transpose()?;
        let Some(mut reader) = reader else { return Ok(()) };
        let mut bytes = 0;
        loop {
            match reader.read_piece()?.len() {
                0 => break,
                read => bytes += read as u64,
            }
            tokio::task::yield_now().await;
        }
        if let Some(state) = self.lock().as_mut() {
            state.draft().note_digest(blob, reader.digest(), bytes);
        }
        Ok(())
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        self.with_state(path, OverlayState::list)
    }

    pub(super) fn create_directory(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, path_in_dir| {
            state.check_creatable(path_in_dir)?;
            self.quota.take_file()?;
            let created = state.set_change(path_in_dir, ChangeKind::NewDirectory);
            created.inspect_err(|_| self.quota.give_back_file())
        })
    }

    pub(super) fn remove_directory(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, path_in_dir| {
            match state.find(path_in_dir)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
                _ => {}
            }
            if state.list(path_in_dir)?.is_empty() {
                state.set_change(path_in_dir, ChangeKind::Removed)
            } else {
                Err(ErrorCode::NotEmpty)
            }
        })
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, path_in_dir| match state.find(path_in_dir)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Err(ErrorCode::IsDirectory),
            _ => state.set_change(path_in_dir, ChangeKind::Removed),
        })
    }

    /// Moves a file. Refuses a directory.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        if from == to {
            return self.find(from).map(drop);
        }
        self.with_state(from, |state, old_in_dir| {
            let truncates = false;
            match state.find(old_in_dir)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if found.is_directory() => return Err(ErrorCode::NotPermitted),
                Found::OnHost(metadata) if !metadata.is_file() => return Err(ErrorCode::NotPermitted),
                Found::OnHost(_) => drop(state.copy_into_draft(old_in_dir, truncates, &self.quota)?),
                _ => {}
            }
            // In a granted directory, a path in the grant is also a path in the opened directory. A granted file cannot be moved,
            // because the grant has no other path.
            let path_in_grant = to.strip_prefix(self.grant.base()).ok().and_then(Path::to_str);
            let new_in_dir = path_in_grant
                .filter(|_| state.grants_directory())
                .ok_or(ErrorCode::CrossDevice)?;
            state.move_file(old_in_dir, new_in_dir)
        })
    }

    /// Makes a change set of the changes of the call. Returns the identifier of the change set, or `None` if the call changed
    /// nothing.
    pub(super) fn finish(&self) -> std::result::Result<Option<String>, StagingError> {
        let Some(state) = self.lock().take() else {
            return Ok(None);
        };
        let (draft, changes) = state.into_parts();
        let drafted = changes.into_iter().map(|(path, change)| {
            let action = match (change.kind, change.before) {
                (ChangeKind::WrittenFile(blob), _) => DraftedAction::Write(blob),
                (ChangeKind::NewDirectory, _) => DraftedAction::CreateDirectory,
                (ChangeKind::Removed, PathState::Directory) => DraftedAction::RemoveDirectory,
                (ChangeKind::Removed, _) => DraftedAction::RemoveFile,
            };
            (PathBuf::from(path), action, change.before)
        });
        draft.finish(drafted.collect())
    }
}

fn truncate_if(file: File, truncates: bool) -> Result<File> {
    if truncates {
        file.set_len(0).map_err(|error| code_of_error(&error))?;
    }
    Ok(file)
}
