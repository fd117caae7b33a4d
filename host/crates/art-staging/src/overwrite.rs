//! Writes committed contents over files that a new file cannot replace: those with several names, or of another owner or group.
//!
//! Before the commit is carried out, the old content of such a file is kept beside it. While the file has a mixture of both contents,
//! or one of them, the commit goes on, also after a crash. If somebody else has changed it, it is left as it is.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use art_files::FoundContent;
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use serde::{Deserialize, Serialize};

use crate::change::{Action, Change, Digest, PathState};
use crate::disk::{copy, current_state, open_regular, open_to_overwrite, remove_file, sync_directory};

/// A file that a commit writes over. It is in the journal of the commit.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Overwritten {
    /// The index of the change in the journal.
    pub(crate) index: usize,
    device: u64,
    inode: u64,
}

/// A change that writes over a file, and the two files beside that.
pub(crate) struct Overwrite<'a> {
    pub(crate) granted: &'a Dir,
    pub(crate) change: &'a Change,
    /// The file with the new content.
    pub(crate) new: PathBuf,
    /// The file with the old content.
    pub(crate) kept: PathBuf,
}

impl Overwrite<'_> {
    /// Keeps the old content of the file, and reserves space for the new one. Returns `None`, and does nothing, for a file that may
    /// not be written.
    ///
    /// # Errors
    /// Fails with [`io::ErrorKind::ResourceBusy`] if the file does not have the content that the call found in it.
    pub(crate) fn prepare(&self, index: usize) -> io::Result<Option<Overwritten>> {
        let target = match open_to_overwrite(self.granted, &self.change.path) {
            Err(error) if is_refused(&error) => return Ok(None),
            opened => opened?,
        };
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        remove_file(self.granted, &self.kept)?;
        let mut kept = self.granted.open_with(&self.kept, &options)?;
        if PathState::File(copy(&target, &mut kept)?) != self.change.before {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        kept.sync_all()?;
        let new = open_regular(self.granted, &self.new)?;
        art_files::reserve(&target, 0, new.metadata()?.len())?;
        let (device, inode) = identity(&target)?;
        Ok(Some(Overwritten { index, device, inode }))
    }

    /// Writes the new content over the file, unless that is done already, and removes the files beside it. Returns false if somebody
    /// else has changed, replaced or removed the file, which then stays as it is.
    pub(crate) fn carry_out(&self, overwritten: &Overwritten, digest: Digest) -> io::Result<bool> {
        let is_made = match (self.open_beside(&self.new)?, self.open_beside(&self.kept)?) {
            (Some(new), Some(kept)) => self.write(overwritten, &new, &kept)?,
            // An interrupted commit has removed one of the files, because the change was made, or could not be made.
            _ => current_state(self.granted, &self.change.path)? == PathState::File(digest),
        };
        self.remove()?;
        Ok(is_made)
    }

    fn write(&self, overwritten: &Overwritten, new: &File, kept: &File) -> io::Result<bool> {
        let target = match open_to_overwrite(self.granted, &self.change.path) {
            Err(error) if is_gone(&error) => return Ok(false),
            opened => opened?,
        };
        if identity(&target)? != (overwritten.device, overwritten.inode) {
            return Ok(false);
        }
        match art_files::compare(&target, kept, new)? {
            FoundContent::New => target.sync_all()?,
            FoundContent::Old | FoundContent::Mixed => {
                art_files::drop_special_bits(&target);
                art_files::overwrite(&target, new).inspect_err(|_| {
                    // If this fails too, the next start carries on.
                    art_files::overwrite(&target, kept).ok();
                })?;
            }
            FoundContent::Other => {
                self.put_kept_beside()?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Gives the old content a name that a person sees, since the file may have lost it before somebody else changed it.
    fn put_kept_beside(&self) -> io::Result<()> {
        let parent = self.change.path.parent().unwrap_or(Path::new(""));
        let names = self.kept.file_name().zip(self.change.path.file_name());
        let (kept, changed) = names.ok_or(io::ErrorKind::InvalidInput)?;
        let directory = match parent.as_os_str().is_empty() {
            true => self.granted.try_clone()?,
            false => self.granted.open_dir(parent)?,
        };
        let beside = art_files::put_beside(&directory, kept, &directory, changed)?;
        tracing::warn!(
            path = %self.change.path.display(), beside = %beside.display(),
            "a file was changed during a commit; what it was before is beside it"
        );
        sync_directory(self.granted, parent)
    }

    /// Opens one of the files beside. `None` if it was removed.
    fn open_beside(&self, path: &Path) -> io::Result<Option<File>> {
        match open_regular(self.granted, path) {
            Err(error) if is_gone(&error) => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// Removes the files beside, the old content first: if it is gone, the change is settled.
    fn remove(&self) -> io::Result<()> {
        [&self.kept, &self.new].into_iter().try_for_each(|path| {
            remove_file(self.granted, path).or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
        })
    }
}

/// Splits off files that get different contents under different names. Each name gets a file of its own then.
pub(crate) fn split_contradictory(
    overwritten: Vec<Overwritten>,
    changes: &[Change],
) -> (Vec<Overwritten>, Vec<Overwritten>) {
    let digest = |one: &Overwritten| match changes.get(one.index).map(|change| &change.action) {
        Some(Action::Write { digest, .. }) => Some(*digest),
        _ => None,
    };
    let mut contents: HashMap<(u64, u64), Option<Digest>> = HashMap::new();
    let mut contradictory = Vec::new();
    for one in &overwritten {
        let id = (one.device, one.inode);
        if *contents.entry(id).or_insert(digest(one)) != digest(one) {
            contradictory.push(id);
        }
    }
    overwritten
        .into_iter()
        .partition(|one| !contradictory.contains(&(one.device, one.inode)))
}

fn identity(file: &File) -> io::Result<(u64, u64)> {
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

/// Returns whether a file may not be written. A program that runs is such a file, too.
fn is_refused(error: &io::Error) -> bool {
    use io::ErrorKind::{ExecutableFileBusy, PermissionDenied};
    matches!(error.kind(), PermissionDenied | ExecutableFileBusy)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidInput
    )
}
