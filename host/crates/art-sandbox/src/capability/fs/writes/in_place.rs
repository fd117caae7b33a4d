//! Writing a part over a file that keeps its identity, because it has several names or another owner.

use std::fs::File;
use std::io;
use std::sync::Arc;

use art_files::{copy_piece, drop_special_bits, reserve};
use cap_std::fs::Metadata;

use super::entry::Target;
use super::folder::{PartFolder, open_in_place};
use super::publish::Failure;
use super::recovery::KeptContent;
use crate::capability::fs::stamp::Stamp;

/// The writing of a part over a file. The old content is kept until it is [settled](Self::settle); if it is dropped before, the file
/// gets its old content back.
#[derive(Debug)]
pub(super) struct InPlaceWrite {
    folder: Arc<PartFolder>,
    /// The file, and what it was before.
    target: File,
    before: Stamp,
    new: File,
    /// The part that keeps the old content.
    old: File,
    kept: KeptContent,
    stage: Stage,
    offset: u64,
}

#[derive(Debug)]
enum Stage {
    /// The old content is copied. The file is as it was.
    Keeping,
    /// The new content is written over the old one, which this note says.
    Overwriting(String),
    /// The new content is stored, and the old one is kept with this note.
    Written(String),
    Settled,
}

impl InPlaceWrite {
    /// Prepares to write a part to a target.
    pub(super) fn start(folder: &Arc<PartFolder>, part: &str, target: &Target) -> Result<Self, Failure> {
        let parent = target.open_parent()?;
        let file = open_in_place(&parent, target.name())?;
        let before = Stamp::of(&Metadata::from_just_metadata(file.metadata()?));
        if Some(before) != target.replaces {
            return Err(Failure::ChangedMeanwhile);
        }
        let new = folder.open_part(part)?;
        let (old_name, old) = folder.new_part(0o600)?;
        let kept = KeptContent {
            path: match folder.contains(&parent) {
                true => target.name().to_owned(),
                false => target.path.clone(),
            },
            device: before.id.0,
            inode: before.id.1,
            old: old_name,
            new: part.to_owned(),
        };
        Ok(Self {
            folder: Arc::clone(folder),
            target: file,
            before,
            new,
            old,
            kept,
            stage: Stage::Keeping,
            offset: 0,
        })
    }

    /// Copies a piece. Returns whether more is to do.
    pub(super) fn advance(&mut self) -> Result<bool, Failure> {
        match &self.stage {
            Stage::Keeping => match copy_piece(&self.target, &self.old, self.offset)? {
                0 => self.start_overwriting()?,
                copied => self.offset += copied as u64,
            },
            Stage::Overwriting(_) => {
                if let Err(error) = self.overwrite_piece() {
                    return Err(self.undo_after(error));
                }
            }
            Stage::Written(_) | Stage::Settled => return Ok(false),
        }
        Ok(true)
    }

    fn start_overwriting(&mut self) -> Result<(), Failure> {
        self.old.sync_all()?;
        if Stamp::of(&Metadata::from_just_metadata(self.target.metadata()?)) != self.before {
            return Err(Failure::ChangedMeanwhile);
        }
        let note = self.kept.note_name();
        self.folder.store_note(&note, &self.kept)?;
        if let Err(error) = reserve(&self.target, 0, self.new.metadata()?.len()) {
            self.folder.dir().remove_file(&note)?;
            return Err(error.into());
        }
        self.stage = Stage::Overwriting(note);
        self.offset = 0;
        Ok(())
    }

    fn overwrite_piece(&mut self) -> io::Result<()> {
        match copy_piece(&self.new, &self.target, self.offset)? {
            0 => {
                self.target.set_len(self.offset)?;
                self.target.sync_all()?;
                drop_special_bits(&self.target);
                if let Stage::Overwriting(note) = &self.stage {
                    self.stage = Stage::Written(note.clone());
                }
            }
            copied => self.offset += copied as u64,
        }
        Ok(())
    }

    /// Forgets the old content.
    pub(super) fn settle(&mut self) -> io::Result<()> {
        if let Stage::Written(note) = std::mem::replace(&mut self.stage, Stage::Settled) {
            self.folder.dir().remove_file(note)?;
            super::folder::sync_directory(self.folder.dir())?;
            self.folder.dir().remove_file(&self.kept.old)?;
        }
        Ok(())
    }

    /// Gives the file its old content because of an error, and returns what to say of it.
    fn undo_after(&mut self, error: io::Error) -> Failure {
        match self.undo() {
            Ok(()) => Failure::from(error),
            Err(undo_error) => Failure::Damaged(format!(
                "{error}, and its old content cannot be put back: {undo_error}; it is kept in `{}`, and the next start of the host puts it \
                 back",
                self.folder.path()
            )),
        }
    }

    fn undo(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.stage, Stage::Settled) {
            Stage::Overwriting(note) | Stage::Written(note) => self.folder.put_back(&note),
            Stage::Keeping | Stage::Settled => Ok(()),
        }
    }
}

impl Drop for InPlaceWrite {
    fn drop(&mut self) {
        if let Err(error) = self.undo() {
            tracing::error!(%error, path = %self.kept.path.display(), "the old content of a file cannot be put back");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cap_std::ambient_authority;
    use cap_std::fs::Dir;

    use super::*;
    use crate::capability::fs::mount::HostPlace;
    use crate::capability::fs::writes::Writes;
    use crate::capability::fs::writes::entry::{Entry, mount_of};
    use crate::host_memory::HostMemory;

    /// Starts to write `new` over the file `a` in a folder, which has the content `old`.
    fn start(folder: &std::path::Path) -> InPlaceWrite {
        fs::write(folder.join("a"), "old").unwrap();
        let dir = Arc::new(Dir::open_ambient_dir(folder, ambient_authority()).unwrap());
        let place = HostPlace {
            dir: Arc::clone(&dir),
            path: "a".into(),
            may_follow: false,
        };
        let writes = Writes::new(&HostMemory::default(), None);
        let entry = Entry::find(&writes, &place, false, "a").unwrap();
        let parts = Arc::new(PartFolder::create(&dir, mount_of(&dir).unwrap(), None).unwrap());
        let (part, mut new) = parts.new_part(0o600).unwrap();
        io::Write::write_all(&mut new, b"new").unwrap();
        let target = entry.target(entry.metadata.as_ref().map(Stamp::of));
        InPlaceWrite::start(&parts, &part, &target).unwrap()
    }

    #[test]
    fn a_file_whose_old_content_cannot_be_put_back_is_not_said_to_have_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut write = start(folder.path());
        while !matches!(write.stage, Stage::Written(_)) {
            write.advance().unwrap();
        }
        write.folder.dir().remove_file(&write.kept.old).unwrap();
        let failure = write.undo_after(io::Error::other("the disk is full"));
        let Failure::Damaged(reason) = failure else {
            panic!("{failure:?}")
        };
        assert!(reason.contains("cannot be put back"), "{reason}");
        drop(write);
        // The folder stays, so that the next start tries again.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_write_that_is_dropped_before_it_is_settled_leaves_the_old_content() {
        for is_settled in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let mut write = start(folder.path());
            while write.advance().unwrap() {}
            assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), "new");
            if is_settled {
                write.settle().unwrap();
            }
            drop(write);
            let expected = if is_settled { "new" } else { "old" };
            assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), expected);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
