//! Staged writes: the changes of a call under a grant with `stage = true` go to a draft, and the call sees them as if they were
//! made.
//!
//! The granted files themselves are only read. Links are not followed. A file can be moved, and a directory cannot.

mod host_files;
mod state;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::capability::FsGrant;
use art_staging::{Before, Drafted, Origin, Staging, StagingError};
use cap_std::fs::Metadata;

use self::state::{EntryKind, State};
use super::bindings::types::{DirectoryEntry, ErrorCode};
use super::fault::code_of_error;
use super::quota::Quota;

type Result<T> = std::result::Result<T, ErrorCode>;

/// Where the drafts of a call go.
#[derive(Clone, Debug)]
pub(crate) struct StagingArea {
    pub(crate) staging: Arc<Staging>,
    pub(crate) origin: Origin,
}

/// The changes of a call under one grant.
#[derive(Debug)]
pub(super) struct Overlay {
    grant: Arc<FsGrant>,
    area: StagingArea,
    quota: Arc<Quota>,
    /// Present from the first use until the end of the call.
    state: Mutex<Option<State>>,
}

/// What the call finds at a path.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    /// A file that the call wrote.
    Staged(File),
    /// A directory that the call created.
    NewDirectory,
    /// Something on the host.
    Host(Box<Metadata>),
}

impl Found {
    /// Returns whether something is there that is neither a regular file nor a directory.
    pub(super) fn is_special(&self) -> bool {
        matches!(self, Self::Host(metadata) if !metadata.is_dir() && !metadata.is_file())
    }

    pub(super) fn is_directory(&self) -> bool {
        match self {
            Self::NewDirectory => true,
            Self::Host(metadata) => metadata.is_dir(),
            Self::Nothing | Self::Staged(_) => false,
        }
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OverlayOpening {
    pub(super) writes: bool,
    pub(super) creates: bool,
    pub(super) must_be_new: bool,
    pub(super) truncates: bool,
}

impl Overlay {
    pub(super) fn new(grant: &Arc<FsGrant>, area: StagingArea, quota: Arc<Quota>) -> Self {
        Self {
            grant: Arc::clone(grant),
            area,
            quota,
            state: Mutex::new(None),
        }
    }

    /// Returns whether this is the overlay of `grant`.
    pub(super) fn belongs_to(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Calls `operation` with the state and the path below the directory that the state opened. `path` is the path on the host.
    fn with_state<T>(&self, path: &Path, operation: impl FnOnce(&mut State, &str) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        if state.is_none() {
            *state = Some(State::open(&self.grant.path, &self.area)?);
        }
        let state = state.as_mut().ok_or(ErrorCode::Io)?;
        let below = path.strip_prefix(&self.grant.path).ok().ok_or(ErrorCode::Access)?;
        let below = below.to_str().ok_or(ErrorCode::IllegalByteSequence)?;
        let key = state.key(below)?;
        operation(state, &key)
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, path: &Path) -> Result<Found> {
        self.with_state(path, |state, key| state.find(key))
    }

    /// Opens a file, in the draft if it is written to.
    pub(super) fn open(&self, path: &Path, opening: OverlayOpening) -> Result<File> {
        self.with_state(path, |state, key| match state.find(key)? {
            Found::Nothing if opening.creates => state.create(key, &self.quota),
            Found::Nothing => Err(ErrorCode::NoEntry),
            _ if opening.must_be_new => Err(ErrorCode::Exist),
            Found::Staged(file) => truncate_if(file, opening.truncates),
            Found::NewDirectory => Err(ErrorCode::IsDirectory),
            Found::Host(metadata) if metadata.is_dir() => Err(ErrorCode::IsDirectory),
            Found::Host(metadata) if !metadata.is_file() => Err(ErrorCode::Access),
            Found::Host(_) if opening.writes => state.copy_up(key, opening.truncates, &self.quota),
            Found::Host(_) => state.open_host_file(key),
        })
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        self.with_state(path, State::list)
    }

    pub(super) fn create_directory(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, key| {
            state.check_new(key)?;
            self.quota.add_file()?;
            state.put(key, EntryKind::Directory)
        })
    }

    pub(super) fn remove_directory(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, key| {
            match state.find(key)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
                _ => {}
            }
            if state.list(key)?.is_empty() {
                state.put(key, EntryKind::Nothing)
            } else {
                Err(ErrorCode::NotEmpty)
            }
        })
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        self.with_state(path, |state, key| match state.find(key)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Err(ErrorCode::IsDirectory),
            _ => state.put(key, EntryKind::Nothing),
        })
    }

    /// Moves a file. Refuses a directory.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        if from == to {
            return self.find(from).map(drop);
        }
        self.with_state(from, |state, old| {
            match state.find(old)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if found.is_directory() => return Err(ErrorCode::NotPermitted),
                Found::Host(metadata) if !metadata.is_file() => return Err(ErrorCode::NotPermitted),
                Found::Host(_) => drop(state.copy_up(old, false, &self.quota)?),
                _ => {}
            }
            let below = to.strip_prefix(&self.grant.path).ok().and_then(Path::to_str);
            let new = below
                .filter(|_| state.grants_directory())
                .ok_or(ErrorCode::CrossDevice)?;
            state.move_file(old, new)
        })
    }

    /// Makes a change set of the changes of the call. Returns its identifier, or `None` if the call changed nothing.
    pub(super) fn finish(&self) -> std::result::Result<Option<String>, StagingError> {
        let Some(state) = self.lock().take() else {
            return Ok(None);
        };
        let (draft, entries) = state.into_parts();
        let drafted = entries.into_iter().map(|(path, entry)| {
            let drafted = match (entry.kind, entry.before) {
                (EntryKind::File(blob), _) => Drafted::Write(blob),
                (EntryKind::Directory, _) => Drafted::CreateDirectory,
                (EntryKind::Nothing, Before::Directory) => Drafted::RemoveDirectory,
                (EntryKind::Nothing, _) => Drafted::RemoveFile,
            };
            (PathBuf::from(path), drafted, entry.before)
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
