//! Commits and drops staged changes.
//!
//! A commit first prepares: it puts all new contents into temporary files beside the files that they replace. Then it stores the
//! [`JOURNAL_FILE`], and then it renames each temporary file to the file that it replaces, or writes it over a file that it cannot
//! [replace](crate::overwrite). If the process is killed meanwhile, the next opening of the staging undoes the commit if the
//! [`JOURNAL_FILE`] was not stored yet, and otherwise completes it.

use std::fmt;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata, OpenOptions, OpenOptionsExt as _, PermissionsExt as _};
use serde::{Deserialize, Serialize};

use crate::change::{Action, Change, ChangeSet, Digest, PathState};
use crate::disk::{copy, current_state, open_regular, remove_file, sync_directory, write_durably};
use crate::draft::{is_draft, try_lock};
use crate::error::StagingError;
use crate::overwrite::{Overwrite, Overwritten, split_contradictory};
use crate::staging::{LOCK_FOLDER, SET_FILE, Staging, read_json};

/// The file with the journal while the commit is prepared. It is stored before the preparations, so that they can be undone.
const PREPARING_FILE: &str = "preparing.json";
/// The file with the same journal after the preparations. Once it is stored, the commit is carried out, also after a crash.
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
    /// The directories that the commit creates.
    directories: Vec<PathBuf>,
    /// The files that the commit writes over. Known after the preparations.
    overwritten: Vec<Overwritten>,
}

impl Staging {
    /// Commits the changes at `paths`, or the whole change set if there is no path. All are made or none. The only exception is
    /// a change of a file that somebody else changes during the commit: it is not made, and stays in the change set.
    ///
    /// # Errors
    /// Fails before any file is changed if a file is not what it was when the call first looked at it, or if the change set has
    /// no change at one of the paths. Fails in the middle if the operating system refuses a change; what is left is done when
    /// the staging is opened again.
    pub fn commit(&self, set: &ChangeSet, paths: &[PathBuf]) -> Result<Committed, StagingError> {
        let _lock = self.lock()?;
        self.recover_set(&set.id, self.folder(&set.id)?)?;
        // Reads the change set again, because another process may have committed a part of it.
        let set = self.read(&set.id)?;
        let selected = select(&set, paths)?;
        let granted = open_granted_directory(&set)?;
        let conflicts = find_conflicts(&set, &granted, &selected)?;
        if !conflicts.is_empty() {
            return Err(StagingError::Conflicts(conflicts));
        }
        let commit = Commit {
            staging: self,
            folder: self.folder(&set.id)?,
            granted,
            set: &set,
        };
        commit.run(selected)
    }

    /// Drops the changes at `paths`, or the whole change set if there is no path. Returns their full paths. If the granted
    /// directory still exists, first carries out or undoes an interrupted commit of the change set, so that all of the commit's
    /// changes are made or none. If that commit made all changes of the set, returns no path.
    ///
    /// # Errors
    /// Fails if an interrupted commit cannot be carried out or undone, if the change set has no change at one of the paths,
    /// or if what is left of the change set cannot be stored.
    pub fn discard(&self, set: &ChangeSet, paths: &[PathBuf]) -> Result<Vec<PathBuf>, StagingError> {
        let _lock = self.lock()?;
        if set.directory.is_dir() {
            self.recover_set(&set.id, self.folder(&set.id)?)?;
        }
        if !self.has_set(&set.id) {
            // The interrupted commit made all changes, so none is left to drop.
            return Ok(Vec::new());
        }
        let set = self.read(&set.id)?;
        let selected = select(&set, paths)?;
        self.store(&without_changes(&set, &selected))?;
        Ok(full_paths(&set, &selected))
    }

    fn has_set(&self, id: &str) -> bool {
        self.folder(id).is_ok_and(|folder| folder.exists(SET_FILE))
    }

    /// Carries out the interrupted commits whose preparations were complete, undoes other interrupted commits, and removes the
    /// drafts of interrupted calls.
    pub(crate) fn recover(&self) -> Result<(), StagingError> {
        // Nobody creates a draft before it is locked, so one that is not locked belongs to a call that was interrupted.
        let creating = self.lock_drafts();
        for name in self.entry_names()? {
            let folder = match self.folder(&name) {
                Ok(folder) => folder,
                Err(_) => continue,
            };
            if is_draft(&name) {
                if creating.is_ok() && try_lock(&folder).is_ok() {
                    self.remove_left(&name);
                }
            } else if folder.exists(SET_FILE) {
                // If this fails, for example because a disk is full, the next commit of the change set tries it again.
                if let Err(error) = self.recover_set(&name, folder) {
                    tracing::error!(%error, set = name, "an interrupted commit of staged changes cannot be carried out");
                }
            } else if name != LOCK_FOLDER {
                // A change set without a description: all of it was committed or dropped, but the process ended before the
                // folder was removed.
                self.remove_left(&name);
            }
        }
        Ok(())
    }

    /// Removes a folder that an interrupted call or commit has left. If that fails, the next start tries it again.
    fn remove_left(&self, name: &str) {
        if let Err(error) = self.remove(name) {
            tracing::error!(%error, name, "what was left of staged changes cannot be removed");
        }
    }

    /// Carries out or undoes the interrupted commit of a change set, if there is one.
    fn recover_set(&self, id: &str, folder: Dir) -> Result<(), StagingError> {
        let (was_prepared, was_begun) = (folder.exists(JOURNAL_FILE), folder.exists(PREPARING_FILE));
        if !was_prepared && !was_begun {
            return Ok(());
        }
        let file = if was_prepared { JOURNAL_FILE } else { PREPARING_FILE };
        let journal: Journal = read_json(&folder, file, &self.path().join(id))?;
        let set = self.read(id)?;
        let commit = Commit {
            staging: self,
            folder,
            granted: open_granted_directory(&set)?,
            set: &set,
        };
        if was_prepared {
            commit.carry_out(&journal).map(drop)
        } else {
            commit.undo(&journal)
        }
    }
}

/// A commit of some changes of a change set.
struct Commit<'a> {
    staging: &'a Staging,
    /// The folder of the change set.
    folder: Dir,
    /// The granted directory, in which the changes are made.
    granted: Dir,
    set: &'a ChangeSet,
}

impl Commit<'_> {
    fn run(&self, selected: Vec<Change>) -> Result<Committed, StagingError> {
        let mut journal = Journal {
            directories: self.missing_directories(&selected),
            changes: selected,
            overwritten: Vec::new(),
        };
        self.write_journal(PREPARING_FILE, &journal)?;
        match self.prepare(&journal) {
            Ok(overwritten) => journal.overwritten = overwritten,
            Err(error) => {
                self.undo(&journal)?;
                return Err(error);
            }
        }
        // The journal says that the temporary files are there, so they must not be lost when it is stored.
        if let Err(error) = self.sync_directories(&journal) {
            self.undo(&journal)?;
            return Err(error);
        }
        self.write_journal(JOURNAL_FILE, &journal)?;
        self.carry_out(&journal)
    }

    fn write_journal(&self, file: &str, journal: &Journal) -> Result<(), StagingError> {
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
            let with_parents = needed.into_iter().flat_map(Path::ancestors);
            missing.extend(
                with_parents
                    .filter(|path| !self.granted.exists(path))
                    .map(Path::to_owned),
            );
        }
        missing.retain(|path| !path.as_os_str().is_empty());
        missing.sort();
        missing.dedup();
        missing
    }

    /// Creates the directories, and the temporary files with the new contents. Returns the files to write over.
    fn prepare(&self, journal: &Journal) -> Result<Vec<Overwritten>, StagingError> {
        for path in &journal.directories {
            let created = self.granted.create_dir(path);
            created.map_err(StagingError::io("create", self.set.directory.join(path)))?;
        }
        let mut overwritten = Vec::new();
        for (index, change) in journal.changes.iter().enumerate() {
            if let Action::Write { blob, digest, .. } = &change.action {
                let copied = self.copy(blob, change, &self.temporary_path(index, change));
                let (copied, can_replace) =
                    copied.map_err(StagingError::io("write beside", self.set.full_path(change)))?;
                if copied != *digest {
                    return Err(StagingError::ContentChanged {
                        id: self.set.id.clone(),
                        path: self.set.full_path(change),
                    });
                }
                if !can_replace {
                    overwritten.extend(self.prepare_overwrite(index, change)?);
                }
            }
        }
        self.keep_apart(overwritten, journal)
    }

    fn prepare_overwrite(&self, index: usize, change: &Change) -> Result<Option<Overwritten>, StagingError> {
        let path = self.set.full_path(change);
        match self.overwrite(index, change).prepare(index) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                Err(StagingError::Conflicts(vec![Conflict { path }]))
            }
            prepared => prepared.map_err(StagingError::io("write over", path)),
        }
    }

    /// Returns the files to write over without those that get different contents under different names, which are replaced.
    fn keep_apart(&self, overwritten: Vec<Overwritten>, journal: &Journal) -> Result<Vec<Overwritten>, StagingError> {
        let (overwritten, replaced) = split_contradictory(overwritten, &journal.changes);
        for one in replaced {
            if let Some(change) = journal.changes.get(one.index) {
                let removed = remove_file(&self.granted, &self.kept_path(one.index, change));
                removed.map_err(StagingError::io("write beside", self.set.full_path(change)))?;
            }
        }
        Ok(overwritten)
    }

    fn overwrite<'a>(&'a self, index: usize, change: &'a Change) -> Overwrite<'a> {
        Overwrite {
            granted: &self.granted,
            change,
            new: self.temporary_path(index, change),
            kept: self.kept_path(index, change),
        }
    }

    /// Copies new contents to a temporary file, with the group, the attributes and the permissions of the file that it replaces.
    /// Returns their digest, and whether the temporary file can take the place of that file.
    fn copy(&self, blob: &str, change: &Change, temporary: &Path) -> io::Result<(Digest, bool)> {
        let from = open_regular(&self.folder, Path::new(blob))?;
        remove_file(&self.granted, temporary)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let replaced = self.granted.symlink_metadata(&change.path).ok();
        let mode = replaced.as_ref().map(permission_bits);
        if let Some(mode) = mode {
            // Others may read the file only when its contents are complete.
            options.mode(mode & 0o600);
        }
        let mut to = self.granted.open_with(temporary, &options)?;
        let digest = copy(from, &mut to)?;
        let mut to = to.into_std();
        let can_replace = match change.before {
            PathState::File(_) => art_files::take_attributes(&open_regular(&self.granted, &change.path)?, &to)?,
            _ => true,
        };
        if let Some(mode) = mode {
            to.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))?;
        }
        to.flush()?;
        to.sync_all()?;
        Ok((digest, can_replace))
    }

    /// Makes the prepared changes. It does not matter if an interrupted commit has made some of them already.
    fn carry_out(&self, journal: &Journal) -> Result<Committed, StagingError> {
        let mut done = Vec::new();
        for (index, change) in order(journal) {
            let made = self.make_change(index, change, journal);
            if made.map_err(StagingError::io("change", self.set.full_path(change)))? {
                done.push((index, change.clone()));
            }
        }
        self.sync_directories(journal)?;
        done.sort_by_key(|(index, _)| *index);
        let done: Vec<_> = done.into_iter().map(|(_, change)| change).collect();
        let committed = Committed {
            paths: full_paths(self.set, &done),
        };
        self.staging.store(&without_changes(self.set, &done))?;
        self.remove_journal()?;
        Ok(committed)
    }

    /// Makes a change, unless it is made already. Returns false, and leaves the file or directory as it is, if somebody else
    /// changed it after the commit began.
    fn make_change(&self, index: usize, change: &Change, journal: &Journal) -> io::Result<bool> {
        if let (Some(overwritten), Action::Write { digest, .. }) = (journal.overwritten(index), &change.action) {
            return self.overwrite(index, change).carry_out(overwritten, *digest);
        }
        let is_as_before = current_state(&self.granted, &change.path)? == change.before;
        let temporary = self.temporary_path(index, change);
        match &change.action {
            Action::Write { digest, .. } => {
                if is_as_before && self.granted.symlink_metadata(&temporary).is_ok() {
                    self.granted.rename(&temporary, &self.granted, &change.path)?;
                    return Ok(true);
                }
                // Either the interrupted commit has made the change, or somebody else has changed the file.
                remove_file(&self.granted, &temporary)?;
                Ok(current_state(&self.granted, &change.path)? == PathState::File(*digest))
            }
            // The directory has existed at least since the preparations of the commit.
            Action::CreateDirectory => Ok(true),
            Action::RemoveFile if is_as_before => remove_file(&self.granted, &change.path).map(|()| true),
            Action::RemoveDirectory if is_as_before => match self.granted.remove_dir(&change.path) {
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => Ok(false),
                removed => removed.map(|()| true),
            },
            Action::RemoveFile | Action::RemoveDirectory => {
                Ok(current_state(&self.granted, &change.path)? == PathState::Nothing)
            }
        }
    }

    /// Waits until the changes in all directories are stored on the disk.
    fn sync_directories(&self, journal: &Journal) -> Result<(), StagingError> {
        let changed = journal.changes.iter().map(|change| &change.path);
        let parents = changed.chain(&journal.directories).filter_map(|path| path.parent());
        let mut directories: Vec<_> = parents
            .chain(journal.directories.iter().map(PathBuf::as_path))
            .collect();
        directories.sort();
        directories.dedup();
        for path in directories
            .into_iter()
            .filter(|path| path.as_os_str().is_empty() || self.granted.exists(path))
        {
            let synced = sync_directory(&self.granted, path);
            synced.map_err(StagingError::io("store", self.set.directory.join(path)))?;
        }
        Ok(())
    }

    /// Removes the temporary files and the directories that the preparations created.
    fn undo(&self, journal: &Journal) -> Result<(), StagingError> {
        for (index, change) in journal.changes.iter().enumerate() {
            for temporary in [self.temporary_path(index, change), self.kept_path(index, change)] {
                match remove_file(&self.granted, &temporary) {
                    Err(error) if error.kind() != io::ErrorKind::NotADirectory => {
                        return Err(StagingError::io("remove", self.set.directory.join(temporary))(error));
                    }
                    // After `NotADirectory`, the temporary file is gone too: somebody has replaced its directory by a file.
                    _ => {}
                }
            }
        }
        for path in journal.directories.iter().rev() {
            // Removing fails if somebody has put files into the directory, which then stays.
            drop(self.granted.remove_dir(path));
        }
        self.remove_journal()
    }

    /// Removes both files with the journal. The change set itself may be removed already.
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

    /// Returns the path of the temporary file of a change, beside the file that it replaces.
    fn temporary_path(&self, index: usize, change: &Change) -> PathBuf {
        let name = format!(".art-{}-{index}.tmp", self.set.id);
        change.path.with_file_name(name)
    }

    /// Returns the path of the temporary file with the old content of a file that a change writes over.
    fn kept_path(&self, index: usize, change: &Change) -> PathBuf {
        let name = format!(".art-{}-{index}.old.tmp", self.set.id);
        change.path.with_file_name(name)
    }
}

impl Journal {
    fn overwritten(&self, index: usize) -> Option<&Overwritten> {
        self.overwritten.iter().find(|overwritten| overwritten.index == index)
    }
}

/// Returns the changes of a journal, and their indices, in the order in which they are made: in reverse, so that the contents of a
/// directory are removed before the directory, and those that write over a file at the end, because this changes what other names
/// of the file have.
fn order(journal: &Journal) -> impl Iterator<Item = (usize, &Change)> {
    let changes = journal.changes.iter().enumerate().rev();
    let (over, other): (Vec<_>, Vec<_>) = changes.partition(|(index, _)| journal.overwritten(*index).is_some());
    other.into_iter().chain(over)
}

/// Returns the permissions for new contents. Set-user-ID, set-group-ID and the sticky bit are not among them: the owner gave these
/// to contents that no tool wrote.
fn permission_bits(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o777
}

/// Opens the granted directory. Follows no link: the directory, or one above it, may have been replaced by one meanwhile.
pub(crate) fn open_granted_directory(set: &ChangeSet) -> Result<Dir, StagingError> {
    let opened = art_files::open_directory_without_links(&set.directory);
    let opened = opened.map(|directory| Dir::from_std_file(directory.into()));
    opened.map_err(StagingError::io("open", &set.directory))
}

/// Returns the changes of a change set at `paths`, or all if there is no path.
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

/// Returns the conflicts: the files that are not what they were when the call first looked at them.
fn find_conflicts(set: &ChangeSet, granted: &Dir, selected: &[Change]) -> Result<Vec<Conflict>, StagingError> {
    let mut conflicts = Vec::new();
    for change in selected {
        let path = set.full_path(change);
        let current = current_state(granted, &change.path).map_err(StagingError::io("read", &path))?;
        let is_made_already = change.action == Action::CreateDirectory && current == PathState::Directory;
        if current != change.before && !is_made_already || current == PathState::Unclear {
            conflicts.push(Conflict { path });
        }
    }
    Ok(conflicts)
}

/// Returns the change set without some of its changes.
fn without_changes(set: &ChangeSet, removed: &[Change]) -> ChangeSet {
    let mut remaining = set.clone();
    remaining.changes.retain(|change| !removed.contains(change));
    remaining
}

fn full_paths(set: &ChangeSet, changes: &[Change]) -> Vec<PathBuf> {
    changes.iter().map(|change| set.full_path(change)).collect()
}
