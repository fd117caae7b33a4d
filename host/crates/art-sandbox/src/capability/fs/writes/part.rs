//! Parts: how they are created and how the writes to them went.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_files::copy_piece;
use cap_std::fs::{Dir, MetadataExt as _};

use super::entry::{FileId, Target, mount_of};
use super::folder::{PartFolder, SetAside};
use super::in_place::InPlaceWrite;
use super::publish::Failure;
use super::shared::{OpenPart, SharedFile};
use crate::host_memory::Charge;

/// How the writes to a file went.
#[derive(Debug, Default)]
pub(in crate::capability::fs) struct Progress(Mutex<Option<BrokenWrite>>);

/// A write failed, so the content is incomplete.
#[derive(Clone, Debug)]
pub(in crate::capability::fs) struct BrokenWrite {
    pub(in crate::capability::fs) reason: String,
    /// Whether the quota of the grant refused the write.
    by_quota: bool,
}

impl Progress {
    /// Notes that a write failed. The first failure counts, but one of the disk counts more than one of the quota.
    pub(in crate::capability::fs) fn note_failure(&self, reason: &str, by_quota: bool) {
        let mut broken = self.lock();
        if broken.as_ref().is_none_or(|broken| broken.by_quota && !by_quota) {
            let reason = reason.to_owned();
            *broken = Some(BrokenWrite { reason, by_quota });
        }
    }

    /// Notes that the file is empty, so that what failed before does not matter any more.
    pub(in crate::capability::fs) fn note_emptied(&self) {
        *self.lock() = None;
    }

    /// Returns the failure because of which the content must not be used. A new file with as much as the quota allowed may be used;
    /// a file that exists is not replaced by a part of its content.
    pub(in crate::capability::fs) fn failure(&self, replaces: bool) -> Option<BrokenWrite> {
        self.lock().clone().filter(|broken| replaces || !broken.by_quota)
    }

    fn lock(&self) -> MutexGuard<'_, Option<BrokenWrite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that the call writes.
#[derive(Debug)]
pub(super) struct WrittenFile {
    pub(super) folder: Arc<PartFolder>,
    /// The name of the part in the folder.
    pub(super) part: String,
    pub(super) progress: Arc<Progress>,
    /// The file of the host whose content this is, and which keeps its name until the call ends.
    pub(super) original: Option<FileId>,
    /// Where the part goes: one place, or several for a new file that the call gave several names.
    pub(super) targets: Vec<Target>,
    /// The permissions of the file that the part replaces.
    pub(super) mode: Option<u32>,
    /// Whether the file of the host keeps its identity, so that the content of the part is written into it.
    pub(super) in_place: bool,
    /// The files of the host that had the names from which the call has moved the part. They come back unless the part is published.
    pub(super) set_aside: Vec<SetAside>,
    /// The writing of the part over the file, which is undone if this is dropped.
    pub(super) write: Option<InPlaceWrite>,
    /// Why the file cannot be written.
    pub(super) failure: Option<Failure>,
    /// What this takes of the memory of the host.
    pub(super) _charge: Charge,
}

impl WrittenFile {
    pub(super) fn open(&self) -> io::Result<OpenPart> {
        Ok(OpenPart {
            file: self.folder.open_part(&self.part)?,
            progress: Arc::clone(&self.progress),
        })
    }

    /// Removes the part, because the call has removed the file. Descriptors of it stay usable.
    pub(super) fn discard(mut self) {
        self.settle();
        drop(self.folder.dir().remove_file(&self.part));
    }

    /// Lets the files go that were set aside for the part.
    pub(super) fn settle(&mut self) {
        for set_aside in self.set_aside.drain(..) {
            if let Err(error) = set_aside.settle() {
                tracing::warn!(%error, "a file that a call has moved cannot be removed");
            }
        }
    }
}

/// A part that is being created for an open file of the host.
#[derive(Debug)]
pub(in crate::capability::fs) struct NewPart {
    pub(super) shared: Arc<SharedFile>,
    pub(super) open: OpenPart,
    /// The file, until its content is copied. `None` if the content is replaced.
    pub(super) copied: Option<File>,
    pub(super) offset: u64,
    /// What becomes of the part; `None` if it is never published, because the call has removed the file.
    pub(super) written: Option<WrittenFile>,
}

impl NewPart {
    /// Copies a piece of the content. Returns its length, which is 0 at the end.
    pub(in crate::capability::fs) fn advance(&mut self) -> io::Result<usize> {
        let Some(original) = &self.copied else { return Ok(0) };
        let copied = copy_piece(original, &self.open.file, self.offset)?;
        self.offset += copied as u64;
        Ok(copied)
    }

    /// Returns the number of bytes that the end of the call has to copy because of this part.
    pub(in crate::capability::fs) fn later_bytes(&self) -> u64 {
        let in_place = self.written.iter().filter(|written| written.in_place);
        let replaced = in_place
            .flat_map(|written| &written.targets)
            .filter_map(|target| target.replaces);
        replaced.map(|stamp| stamp.bytes).sum()
    }
}

impl Drop for NewPart {
    fn drop(&mut self) {
        // What was not finished is dropped.
        if let Some(written) = self.written.take() {
            written.discard();
        }
    }
}

/// Gives a part the group and the extended attributes of the file that it replaces. Returns whether the part cannot replace the file,
/// so that the file is written in place.
pub(super) fn take_attributes(original: &File, part: &File, parent: &Dir) -> io::Result<bool> {
    let can_replace = art_files::take_attributes(original, part)?;
    // A file can be mounted on another one, which then cannot be replaced.
    let is_mounted = match (mount_of(original)?, mount_of(parent)?) {
        ((_, Some(of_file)), (_, Some(of_parent))) => of_file != of_parent,
        ((of_file, _), (of_parent, _)) => of_file != of_parent,
    };
    Ok(!can_replace || is_mounted)
}

/// Gives a new file the group of its directory if the directory says so and the system allows it.
pub(super) fn take_group(parent: &Dir, part: &File) -> io::Result<()> {
    let metadata = parent.dir_metadata()?;
    if metadata.mode() & 0o2000 != 0 {
        let group = rustix::fs::Gid::from_raw(metadata.gid());
        rustix::fs::fchown(part.as_fd(), None, Some(group)).ok();
    }
    Ok(())
}
