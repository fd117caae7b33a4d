//! The folder with all change sets and drafts.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _};

use crate::change::{ChangeSet, Origin};
use crate::disk::{open_regular, remove_file, write_durably};
use crate::draft::{Draft, is_draft, try_lock};
use crate::error::StagingError;

/// The file that describes a change set, in its folder.
pub(crate) const SET_FILE: &str = "changes.json";
/// The folder that is locked while changes are committed or dropped, or while interrupted commits are recovered.
pub(crate) const LOCK_FOLDER: &str = "lock";
/// Maximum size of the description of a change set, and of the journal of a commit, in bytes.
const MAX_SET_BYTES: u64 = 64 << 20;

/// The folder with all change sets and drafts of a host. Each of them has its own folder in it.
#[derive(Debug)]
pub struct Staging {
    path: PathBuf,
    root: Dir,
}

impl Staging {
    /// Opens the folder, and creates it if there is none. Carries out the interrupted commits whose preparations were complete,
    /// undoes other interrupted commits, and removes the drafts of interrupted calls.
    ///
    /// # Errors
    /// Fails if the folder cannot be used. An interrupted commit that can be neither carried out nor undone is only logged.
    pub fn open(path: &Path) -> Result<Self, StagingError> {
        let staging = Self::open_without_recovery(path)?;
        // If another process has the lock, it may be committing right now, and its commit must not be recovered.
        if let Ok(lock) = staging.lock_with(try_lock) {
            staging.recover()?;
            drop(lock);
        }
        Ok(staging)
    }

    fn open_without_recovery(path: &Path) -> Result<Self, StagingError> {
        let mut builder = std::fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        let created = builder.recursive(true).create(path);
        let root = created.and_then(|()| Dir::open_ambient_dir(path, ambient_authority()));
        Ok(Self {
            path: path.to_owned(),
            root: root.map_err(StagingError::io("open", path))?,
        })
    }

    /// Locks the folder, to commit or drop changes. Waits for a few seconds while somebody else has the lock.
    pub(crate) fn lock(&self) -> Result<File, StagingError> {
        self.lock_with(|folder| {
            let folder = folder.open(".")?.into_std();
            art_files::lock(&folder)?;
            Ok(folder)
        })
    }

    /// Locks the folder: calls `lock` with the [`LOCK_FOLDER`] in it, which exists only to be locked.
    fn lock_with(&self, lock: impl Fn(&Dir) -> std::io::Result<File>) -> Result<File, StagingError> {
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let locked = match self.root.create_dir_with(LOCK_FOLDER, &builder) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            _ => self.root.open_dir(LOCK_FOLDER).and_then(|folder| lock(&folder)),
        };
        locked.map_err(StagingError::io("lock", self.path.join(LOCK_FOLDER)))
    }

    /// Locks the creation of drafts. Waits for a few seconds while somebody else has the lock.
    pub(crate) fn lock_drafts(&self) -> Result<File, StagingError> {
        let locked = self.root.open(".").and_then(|root| {
            let root = root.into_std();
            art_files::lock(&root)?;
            Ok(root)
        });
        locked.map_err(StagingError::io("lock", &self.path))
    }

    /// Starts a draft for the changes of a call beneath a granted directory. Removes what the same call staged there before: a
    /// call is made again if the host was stopped before it had stored the end of the call.
    ///
    /// # Errors
    /// Fails if the folder of the draft cannot be created, or if an earlier change set cannot be removed.
    pub fn draft(&self, origin: Origin, directory: &Path) -> Result<Draft, StagingError> {
        let is_of_same_call = |set: &ChangeSet| set.origin == origin && set.directory == directory;
        for set in self.list()?.iter().filter(|set| is_of_same_call(set)) {
            self.remove(&set.id)?;
        }
        let _creating = self.lock_drafts()?;
        let root = self.root.try_clone().map_err(StagingError::io("open", &self.path))?;
        Draft::new(root, new_id(), origin, directory.to_owned())
    }

    /// Returns all change sets, the oldest first.
    ///
    /// # Errors
    /// Fails if the folder or a description cannot be read.
    pub fn list(&self) -> Result<Vec<ChangeSet>, StagingError> {
        let mut sets = Vec::new();
        for name in self.entry_names()? {
            if !is_draft(&name) && self.root.exists(Path::new(&name).join(SET_FILE)) {
                sets.push(self.read(&name)?);
            }
        }
        sets.sort_by(|a, b| (a.created, &a.id).cmp(&(b.created, &b.id)));
        Ok(sets)
    }

    /// Returns all change sets of a run, or a single change set. `name` is the identifier of the run or of the change set, or a
    /// prefix that no other identifier has.
    ///
    /// # Errors
    /// Fails if `name` is empty, or if no identifier begins with it, or several do and none is equal to it.
    pub fn find(&self, name: &str) -> Result<Vec<ChangeSet>, StagingError> {
        Self::find_in(self.list()?, name)
    }

    /// Same as [`find`](Self::find), but looks only among the given change sets.
    ///
    /// # Errors
    /// Fails if `name` is empty, or if no identifier begins with it, or several do and none is equal to it.
    pub fn find_in(mut sets: Vec<ChangeSet>, name: &str) -> Result<Vec<ChangeSet>, StagingError> {
        let identifiers: BTreeSet<&str> = sets.iter().flat_map(ChangeSet::identifiers).collect();
        let mut matching = identifiers
            .range(name..)
            .take_while(|identifier| !name.is_empty() && identifier.starts_with(name));
        let found = match (matching.next(), matching.next()) {
            (None, _) => return Err(StagingError::Unknown(name.to_owned())),
            (Some(first), Some(_)) if *first != name => return Err(StagingError::Ambiguous(name.to_owned())),
            (Some(first), _) => (*first).to_owned(),
        };
        sets.retain(|set| set.identifiers().contains(&found.as_str()));
        Ok(sets)
    }

    /// Returns the names of all folders in the staging folder: of change sets, of drafts, and the [`LOCK_FOLDER`].
    pub(crate) fn entry_names(&self) -> Result<Vec<String>, StagingError> {
        let failed = |error| StagingError::io("list", &self.path)(error);
        let mut names = Vec::new();
        for entry in self.root.entries().map_err(failed)? {
            names.extend(entry.map_err(failed)?.file_name().into_string().ok());
        }
        Ok(names)
    }

    /// Opens the folder of a change set or a draft.
    pub(crate) fn folder(&self, name: &str) -> Result<Dir, StagingError> {
        self.root
            .open_dir(name)
            .map_err(StagingError::io("open", self.path.join(name)))
    }

    /// Reads the description of a change set.
    pub(crate) fn read(&self, id: &str) -> Result<ChangeSet, StagingError> {
        read_json(&self.folder(id)?, SET_FILE, &self.path.join(id))
    }

    /// Stores the description of a change set, or removes the change set if it has no changes any more.
    pub(crate) fn store(&self, set: &ChangeSet) -> Result<(), StagingError> {
        if set.changes.is_empty() {
            return self.remove(&set.id);
        }
        let bytes = serde_json::to_vec(set).map_err(std::io::Error::from);
        let folder = self.folder(&set.id)?;
        let written = bytes.and_then(|bytes| write_durably(&folder, SET_FILE, &bytes));
        written.map_err(StagingError::io("store", self.path.join(&set.id)))
    }

    /// Removes a change set or a draft.
    pub(crate) fn remove(&self, name: &str) -> Result<(), StagingError> {
        let failed = |error| StagingError::io("remove", self.path.join(name))(error);
        // A folder without a description is not a change set, so the description is removed first in case the rest cannot be
        // removed.
        let removed =
            remove_file(&self.root, &Path::new(name).join(SET_FILE)).and_then(|()| self.root.remove_dir_all(name));
        match removed {
            // Somebody else has removed it meanwhile.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            removed => removed.map_err(failed),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

/// Reads a JSON file of the host's own data, up to a maximum size. `folder_path` is the path of `folder`, for errors.
pub(crate) fn read_json<T: serde::de::DeserializeOwned>(
    folder: &Dir,
    name: &str,
    folder_path: &Path,
) -> Result<T, StagingError> {
    let path = folder_path.join(name);
    let mut bytes = Vec::new();
    let read = open_regular(folder, Path::new(name)).and_then(|file| file.take(MAX_SET_BYTES).read_to_end(&mut bytes));
    read.map_err(StagingError::io("read", &path))?;
    serde_json::from_slice(&bytes).map_err(|source| StagingError::Invalid { path, source })
}

/// Returns an identifier that no other change set has: the time, this process and a counter.
fn new_id() -> String {
    static COUNTER: AtomicU32 = AtomicU32::new(0);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    format!("{:x}-{:x}-{number:x}", now.as_micros(), std::process::id())
}
