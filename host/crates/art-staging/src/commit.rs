//! Commits and drops staged changes.
//!
//! A commit first puts all new contents into temporary files beside their targets, then stores its journal, and then renames each
//! file to its target. Until the journal is stored, the commit can be undone. From then on, it can be carried out again after a
//! crash.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use serde::{Deserialize, Serialize};

use crate::change::{Action, Before, Change, ChangeSet};
use crate::disk::{current_state, open_regular, remove_file, sync_directory, write_durably};
use crate::draft::{is_draft, lock};
use crate::error::StagingError;
use crate::staging::{LOCK, SET_FILE, Staging, read_json};

/// The preparations of a commit, stored before they are made, so that they can be undone.
const PREPARING_FILE: &str = "preparing.json";
/// The journal of a commit. Once it is stored, the commit is carried out, also after a crash.
const JOURNAL_FILE: &str = "journal.json";

/// A file that is not what it was when the call first looked at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The full path.
    pub path: PathBuf,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` changed after the tool had read it", self.path.display())
    }
}

/// What a commit did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Committed {
    /// The full paths of what was changed.
    pub paths: Vec<PathBuf>,
}

/// The changes that one commit makes.
#[derive(Debug, Serialize, Deserialize)]
struct Journal {
    changes: Vec<Change>,
    /// Directories that did not exist before.
    directories: Vec<PathBuf>,
}

impl Staging {
    /// Commits changes: those at the paths, or the whole change set if there is no path. All are made or none, except for a change
    /// whose file somebody else changes during the commit: that change is not made, and stays in the change set.
    ///
    /// # Errors
    /// Fails without a change if a file is not what it was when the call first looked at it, or if there is no change at one of the
    /// paths.
    /// Fails in the middle if the operating system refuses a change; what is left is done when the staging is opened again.
    pub fn commit(&self, set: &ChangeSet, paths: &[PathBuf]) -> Result<Committed, StagingError> {
        let _lock = self.lock()?;
        self.recover_set(&set.id, self.folder(&set.id)?)?;
        // Another process may have committed a part of it.
        let set = self.read(&set.id)?;
        let selected = select(&set, paths)?;
        let target = open_target(&set)?;
        let conflicts = find_conflicts(&set, &target, &selected)?;
        if !conflicts.is_empty() {
            return Err(StagingError::Conflicts(conflicts));
        }
        let commit = Commit {
            staging: self,
            folder: self.folder(&set.id)?,
            target,
            set: &set,
        };
        commit.run(selected)
    }

    /// Drops changes: those at the paths, or the whole change set if there is no path. Returns their full paths.
    ///
    /// # Errors
    /// Fails if there is no change at one of the paths, or if the change set cannot be stored.
    pub fn discard(&self, set: &ChangeSet, paths: &[PathBuf]) -> Result<Vec<PathBuf>, StagingError> {
        let _lock = self.lock()?;
        let set = self.read(&set.id)?;
        let selected = select(&set, paths)?;
        self.store(&without_changes(&set, &selected))?;
        Ok(full_paths(&set, &selected))
    }

    /// Carries out the commits whose journals are complete, and removes the traces of others and of interrupted calls.
    pub(crate) fn recover(&self) -> Result<(), StagingError> {
        for name in self.names()? {
            let folder = match self.folder(&name) {
                Ok(folder) => folder,
                Err(_) => continue,
            };
            if is_draft(&name) {
                // A draft that is not locked belongs to a call that was interrupted.
                if lock(&folder).is_ok() {
                    self.remove(&name)?;
                }
            } else if folder.exists(SET_FILE) {
                // If this fails, for example because a disk is full, the next commit of the change set tries it again.
                if let Err(error) = self.recover_set(&name, folder) {
                    tracing::error!(%error, set = name, "an interrupted commit of staged changes cannot be carried out");
                }
            } else if name != LOCK {
                // All of it was committed or dropped before the process ended.
                self.remove(&name)?;
            }
        }
        Ok(())
    }

    fn recover_set(&self, id: &str, folder: Dir) -> Result<(), StagingError> {
        let (has_journal, has_preparations) = (folder.exists(JOURNAL_FILE), folder.exists(PREPARING_FILE));
        if !has_journal && !has_preparations {
            return Ok(());
        }
        let file = if has_journal { JOURNAL_FILE } else { PREPARING_FILE };
        let journal: Journal = read_json(&folder, file, &self.path().join(id))?;
        let set = self.read(id)?;
        let commit = Commit {
            staging: self,
            folder,
            target: open_target(&set)?,
            set: &set,
        };
        if has_journal {
            commit.carry_out(&journal).map(drop)
        } else {
            commit.undo(&journal)
        }
    }
}

/// A commit of some changes of a change set.
struct Commit<'a> {
    staging: &'a Staging,
    folder: Dir,
    target: Dir,
    set: &'a ChangeSet,
}

impl Commit<'_> {
    fn run(&self, selected: Vec<Change>) -> Result<Committed, StagingError> {
        let journal = Journal {
            directories: self.missing_directories(&selected),
            changes: selected,
        };
        self.write(PREPARING_FILE, &journal)?;
        if let Err(error) = self.prepare(&journal) {
            self.undo(&journal)?;
            return Err(error);
        }
        self.write(JOURNAL_FILE, &journal)?;
        self.carry_out(&journal)
    }

    fn write(&self, file: &str, journal: &Journal) -> Result<(), StagingError> {
        let bytes = serde_json::to_vec(journal).map_err(io::Error::from);
        let written = bytes.and_then(|bytes| write_durably(&self.folder, file, &bytes));
        written.map_err(StagingError::io(
            "write",
            self.staging.path().join(&self.set.id).join(file),
        ))
    }

    /// Returns the directories that have to be created, each after the directory that contains it.
    fn missing_directories(&self, selected: &[Change]) -> Vec<PathBuf> {
        let mut missing = Vec::new();
        for change in selected {
            let needed = match change.action {
                Action::CreateDirectory => Some(change.path.as_path()),
                Action::Write { .. } => change.path.parent(),
                Action::RemoveFile | Action::RemoveDirectory => None,
            };
            let above = needed.into_iter().flat_map(Path::ancestors);
            missing.extend(above.filter(|path| !self.target.exists(path)).map(Path::to_owned));
        }
        missing.retain(|path| !path.as_os_str().is_empty());
        missing.sort();
        missing.dedup();
        missing
    }

    /// Creates the directories, and the temporary files with the new contents.
    fn prepare(&self, journal: &Journal) -> Result<(), StagingError> {
        for path in &journal.directories {
            let created = self.target.create_dir(path);
            created.map_err(StagingError::io("create", self.set.directory.join(path)))?;
        }
        for (index, change) in journal.changes.iter().enumerate() {
            if let Action::Write { blob, .. } = &change.action {
                let copied = self.copy(blob, change, &self.temporary_path(index, change));
                copied.map_err(StagingError::io("write beside", self.set.full_path(change)))?;
            }
        }
        Ok(())
    }

    /// Copies new contents to a temporary file, with the permissions of the file that it replaces.
    fn copy(&self, blob: &str, change: &Change, temporary: &Path) -> io::Result<()> {
        let mut from = open_regular(&self.folder, Path::new(blob))?;
        remove_file(&self.target, temporary)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let replaced = self.target.symlink_metadata(&change.path).ok();
        let mode = replaced.as_ref().map(mode);
        if let Some(mode) = mode {
            options.mode(mode & 0o600);
        }
        let mut to = self.target.open_with(temporary, &options)?;
        io::copy(&mut from, &mut to)?;
        if let Some(mode) = mode {
            to.set_permissions(cap_std::fs::Permissions::from_mode(mode))?;
        }
        to.flush()?;
        to.sync_all()
    }

    /// Makes the prepared changes. It does not matter if an interrupted commit has made some of them already.
    fn carry_out(&self, journal: &Journal) -> Result<Committed, StagingError> {
        let mut done = Vec::new();
        // What is in a directory is removed before the directory.
        for (index, change) in journal.changes.iter().enumerate().rev() {
            let made = self.make_change(index, change);
            if made.map_err(StagingError::io("change", self.set.full_path(change)))? {
                done.push(change.clone());
            }
        }
        self.sync_directories(journal)?;
        done.reverse();
        let committed = Committed {
            paths: full_paths(self.set, &done),
        };
        self.staging.store(&without_changes(self.set, &done))?;
        self.remove_journal()?;
        Ok(committed)
    }

    /// Makes a change. Returns false, and does not overwrite the file, if somebody else changed it after the commit began.
    fn make_change(&self, index: usize, change: &Change) -> io::Result<bool> {
        let is_as_before = current_state(&self.target, &change.path)? == change.before;
        let temporary = self.temporary_path(index, change);
        match &change.action {
            Action::Write { digest, .. } => {
                if is_as_before && self.target.symlink_metadata(&temporary).is_ok() {
                    self.target.rename(&temporary, &self.target, &change.path)?;
                    return Ok(true);
                }
                remove_file(&self.target, &temporary)?;
                Ok(current_state(&self.target, &change.path)? == Before::File(*digest))
            }
            Action::CreateDirectory => Ok(true),
            Action::RemoveFile if is_as_before => remove_file(&self.target, &change.path).map(|()| true),
            Action::RemoveDirectory if is_as_before => match self.target.remove_dir(&change.path) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
                removed => removed.map(|()| true),
            },
            Action::RemoveFile | Action::RemoveDirectory => {
                Ok(current_state(&self.target, &change.path)? == Before::Nothing)
            }
        }
    }

    /// Waits until the directories of all changes are stored on the disk.
    fn sync_directories(&self, journal: &Journal) -> Result<(), StagingError> {
        let parents = journal.changes.iter().filter_map(|change| change.path.parent());
        let mut directories: Vec<_> = parents
            .chain(journal.directories.iter().map(PathBuf::as_path))
            .collect();
        directories.sort();
        directories.dedup();
        for path in directories
            .into_iter()
            .filter(|path| path.as_os_str().is_empty() || self.target.exists(path))
        {
            let synced = sync_directory(&self.target, path);
            synced.map_err(StagingError::io("store", self.set.directory.join(path)))?;
        }
        Ok(())
    }

    /// Removes what was prepared.
    fn undo(&self, journal: &Journal) -> Result<(), StagingError> {
        for (index, change) in journal.changes.iter().enumerate() {
            let temporary = self.temporary_path(index, change);
            match remove_file(&self.target, &temporary) {
                Err(error) if error.kind() != io::ErrorKind::NotADirectory => {
                    return Err(StagingError::io("remove", self.set.directory.join(temporary))(error));
                }
                _ => {}
            }
        }
        for path in journal.directories.iter().rev() {
            // Removing fails if somebody has put files into the directory, which then stays.
            drop(self.target.remove_dir(path));
        }
        self.remove_journal()
    }

    /// Removes the journal and the preparations. The change set itself may be removed already.
    fn remove_journal(&self) -> Result<(), StagingError> {
        for file in [JOURNAL_FILE, PREPARING_FILE] {
            let removed = remove_file(&self.folder, Path::new(file));
            removed.map_err(StagingError::io(
                "remove",
                self.staging.path().join(&self.set.id).join(file),
            ))?;
        }
        Ok(())
    }

    /// Returns the path of the temporary file of a change, beside its target.
    fn temporary_path(&self, index: usize, change: &Change) -> PathBuf {
        let name = format!(".art-{}-{index}.tmp", self.set.id);
        change.path.with_file_name(name)
    }
}

fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

fn open_target(set: &ChangeSet) -> Result<Dir, StagingError> {
    let opened = Dir::open_ambient_dir(&set.directory, ambient_authority());
    opened.map_err(StagingError::io("open", &set.directory))
}

/// Returns the changes at the paths, or all if there is no path.
fn select(set: &ChangeSet, paths: &[PathBuf]) -> Result<Vec<Change>, StagingError> {
    for path in paths {
        if !set.changes.iter().any(|change| change.is_at(&set.directory, path)) {
            return Err(StagingError::NoSuchFile {
                id: set.id.clone(),
                path: path.clone(),
            });
        }
    }
    let is_selected =
        |change: &&Change| paths.is_empty() || paths.iter().any(|path| change.is_at(&set.directory, path));
    Ok(set.changes.iter().filter(is_selected).cloned().collect())
}

fn find_conflicts(set: &ChangeSet, target: &Dir, selected: &[Change]) -> Result<Vec<Conflict>, StagingError> {
    let mut conflicts = Vec::new();
    for change in selected {
        let path = set.full_path(change);
        let current = current_state(target, &change.path).map_err(StagingError::io("read", &path))?;
        let is_made_already = change.action == Action::CreateDirectory && current == Before::Directory;
        if current != change.before && !is_made_already || current == Before::Unclear {
            conflicts.push(Conflict { path });
        }
    }
    Ok(conflicts)
}

/// Returns the change set without some of its changes.
fn without_changes(set: &ChangeSet, done: &[Change]) -> ChangeSet {
    let mut remaining = set.clone();
    remaining.changes.retain(|change| !done.contains(change));
    remaining
}

fn full_paths(set: &ChangeSet, changes: &[Change]) -> Vec<PathBuf> {
    changes.iter().map(|change| set.full_path(change)).collect()
}
