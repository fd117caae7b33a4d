//! Drafts: the changes of calls that still run.

use std::collections::HashMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_std::fs::{Dir, OpenOptions};

use crate::change::{Action, Change, ChangeSet, Digest, Origin, PathState};
use crate::disk::{DigestReader, digest, open_regular, sync_directory, write_durably};
use crate::error::StagingError;
use crate::staging::SET_FILE;

/// The changes of a call that still runs. They are dropped if [`Draft::finish`] is not called. If the process is killed, they are
/// dropped when the [`Staging`](crate::Staging) is opened again.
#[derive(Debug)]
pub struct Draft {
    /// The folder of all drafts and change sets.
    root: Dir,
    /// The folder of this draft.
    folder: Dir,
    /// Name of the folder of this draft.
    name: String,
    /// Identifier that the change set will have.
    id: String,
    origin: Origin,
    /// The granted directory.
    directory: PathBuf,
    /// Number of blobs: files in the folder of this draft, each with the new contents of a file that the call writes.
    blob_count: u32,
    /// The digests and sizes of the blobs that are stored.
    stored: HashMap<String, (Digest, u64)>,
    is_finished: bool,
    /// The lock of the folder, which shows other processes that this draft is in use.
    _lock: File,
}

/// What a call did at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftedAction {
    /// It wrote the file whose contents are now in this blob.
    Write(String),
    /// It created the directory.
    CreateDirectory,
    /// It removed the file.
    RemoveFile,
    /// It removed the directory.
    RemoveDirectory,
}

impl Draft {
    pub(crate) fn new(root: Dir, id: String, origin: Origin, directory: PathBuf) -> Result<Self, StagingError> {
        let name = draft_name(&id);
        let failed = |source| StagingError::io("create", PathBuf::from(&name))(source);
        root.create_dir(&name).map_err(failed)?;
        let folder = root.open_dir(&name).map_err(failed)?;
        let lock = try_lock(&folder).map_err(failed)?;
        Ok(Self {
            root,
            folder,
            name,
            id,
            origin,
            directory,
            blob_count: 0,
            stored: HashMap::new(),
            is_finished: false,
            _lock: lock,
        })
    }

    /// Creates a blob: a file, empty at first, for the new contents of a file that the call writes. Returns the name of the blob
    /// and the open file, which can be read and written.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub fn new_blob(&mut self) -> std::io::Result<(String, File)> {
        let name = self.blob_count.to_string();
        self.blob_count += 1;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        let file = self.folder.open_with(&name, &options)?.into_std();
        Ok((name, file))
    }

    /// Opens a blob again, for reading and writing.
    ///
    /// # Errors
    /// Fails if the file cannot be opened.
    pub fn open_blob(&self, name: &str) -> std::io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        Ok(self.folder.open_with(name, &options)?.into_std())
    }

    /// Waits until the contents of a blob are stored, and returns a reader of them, for [`note_digest`](Self::note_digest).
    ///
    /// # Errors
    /// Fails if the blob cannot be read or stored.
    pub fn store_blob(&self, name: &str) -> std::io::Result<DigestReader> {
        let file = open_regular(&self.folder, Path::new(name))?;
        file.sync_all()?;
        Ok(DigestReader::new(file))
    }

    /// Notes the digest and the size of a blob, so that [`finish`](Self::finish) does not read it. Nothing may be written to the blob
    /// any more.
    pub fn note_digest(&mut self, name: &str, digest: Digest, bytes: u64) {
        self.stored.insert(name.to_owned(), (digest, bytes));
    }

    /// Turns the draft into a change set, and returns its identifier. `drafted` has each path, what the call did there, and what
    /// was there before. Returns `None`, and keeps nothing, if the call changed nothing.
    ///
    /// # Errors
    /// Fails if the changes cannot be stored.
    pub fn finish(mut self, drafted: Vec<(PathBuf, DraftedAction, PathState)>) -> Result<Option<String>, StagingError> {
        if drafted.is_empty() {
            return Ok(None);
        }
        let changes = drafted
            .into_iter()
            .map(|(path, action, before)| self.to_change(path, action, before))
            // Keeps errors too, so that `collect` returns the first of them.
            .filter(|change| !change.as_ref().is_ok_and(Change::changes_nothing))
            .collect::<std::io::Result<Vec<_>>>();
        if matches!(&changes, Ok(changes) if changes.is_empty()) {
            return Ok(None);
        }
        let failed = StagingError::io("store", PathBuf::from(&self.id));
        let stored = changes.and_then(|changes| self.store(changes));
        stored.map_err(failed)?;
        self.is_finished = true;
        Ok(Some(self.id.clone()))
    }

    fn to_change(&self, path: PathBuf, drafted: DraftedAction, before: PathState) -> std::io::Result<Change> {
        let action = match drafted {
            DraftedAction::Write(blob) => {
                let (digest, bytes) = match self.stored.get(&blob) {
                    Some(stored) => *stored,
                    None => {
                        let file = open_regular(&self.folder, Path::new(&blob))?;
                        file.sync_all()?;
                        let bytes = file.metadata()?.len();
                        (digest(file)?, bytes)
                    }
                };
                Action::Write { blob, digest, bytes }
            }
            DraftedAction::CreateDirectory => Action::CreateDirectory,
            DraftedAction::RemoveFile => Action::RemoveFile,
            DraftedAction::RemoveDirectory => Action::RemoveDirectory,
        };
        Ok(Change { path, action, before })
    }

    /// Writes the description of the change set, and makes the folder of the draft the folder of the change set.
    fn store(&self, mut changes: Vec<Change>) -> std::io::Result<()> {
        changes.sort_by(|a, b| a.path.cmp(&b.path));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let set = ChangeSet {
            id: self.id.clone(),
            origin: self.origin.clone(),
            created: now.unwrap_or_default().as_secs(),
            directory: self.directory.clone(),
            changes,
        };
        write_durably(&self.folder, SET_FILE, &serde_json::to_vec(&set)?)?;
        self.root.rename(&self.name, &self.root, &self.id)?;
        sync_directory(&self.root, Path::new("."))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.is_finished
            && let Err(error) = self.root.remove_dir_all(&self.name)
        {
            tracing::warn!(%error, draft = self.name, "a draft of staged changes cannot be removed");
        }
    }
}

/// End of the name of the folder of a draft.
const DRAFT_ENDING: &str = ".draft";

fn draft_name(id: &str) -> String {
    format!("{id}{DRAFT_ENDING}")
}

/// Returns whether the folder with this name is that of a draft.
pub(crate) fn is_draft(name: &str) -> bool {
    name.ends_with(DRAFT_ENDING)
}

/// Locks a folder. Fails at once if another process, or another part of this process, has locked it.
pub(crate) fn try_lock(folder: &Dir) -> std::io::Result<File> {
    let file = folder.open(".")?.into_std();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}
