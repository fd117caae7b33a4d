//! Puts parts in the place of the files that they replace.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::AsFd as _;
use std::sync::atomic::Ordering;

use cap_std::fs::Dir;
use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::entry::{FileId, Target};
use super::folder::sync_directory;
use super::in_place::InPlaceWrite;
use super::part::WrittenFile;
use super::{FileNumber, MAX_COPIED_BYTES, State, Writes};
use crate::capability::fs::mount::identity;

/// Files of a call that were not written.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub(crate) struct NotWritten(pub(in crate::capability::fs) Vec<String>);

/// Why a file was not written.
#[derive(Clone, Debug)]
pub(super) enum Failure {
    /// The file is as it was, for this reason.
    NotWritten(String),
    /// Somebody else has changed, created or removed the file meanwhile, and it is as they left it.
    ChangedMeanwhile,
    /// The file may have a part of its new content, for this reason.
    Damaged(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::NotWritten(error.to_string())
    }
}

impl Failure {
    fn describe(&self, target: &Target) -> String {
        let path = &target.guest_path;
        match self {
            Self::NotWritten(reason) if target.replaces.is_some() => {
                format!("`/{path}` keeps its old content: {reason}")
            }
            Self::NotWritten(reason) => format!("`/{path}` was not created: {reason}"),
            Self::ChangedMeanwhile => {
                format!("`/{path}` was not written: somebody else changed it while the call ran; call again")
            }
            Self::Damaged(reason) => format!("`/{path}` may be incomplete: {reason}"),
        }
    }
}

impl Writes {
    /// Waits until the contents of all parts are stored, and writes those that cannot replace their files over them, so that
    /// [`publish`](Self::publish) is short. Yields after each piece. If this is dropped or [`discard`](Self::discard) follows, the
    /// files get their old contents back.
    pub(in crate::capability::fs) async fn store(&self) {
        let numbers: Vec<_> = self.lock().files.keys().copied().collect();
        for number in &numbers {
            if let Some(file) = self.lock().files.get(number)
                && let Err(error) = file.store()
            {
                file.progress.note_failure(&error.to_string(), false);
            }
            tokio::task::yield_now().await;
        }
        for number in numbers {
            let Some(mut write) = self.lock().start_in_place(number) else {
                continue;
            };
            loop {
                match write.advance() {
                    Ok(true) => tokio::task::yield_now().await,
                    Ok(false) => break,
                    Err(failure) => {
                        self.lock().fail(number, failure);
                        break;
                    }
                }
            }
            if let Some(file) = self.lock().files.get_mut(&number) {
                file.write = Some(write);
            }
        }
    }

    /// Puts all parts in the place of their files. A file with a broken write keeps its old content; if there was none, it is
    /// created only if nothing but the quota of the grant broke the write.
    ///
    /// # Errors
    /// Fails if a file was not written. All others are.
    pub(in crate::capability::fs) fn publish(&self) -> Result<(), NotWritten> {
        if self.is_empty() {
            return Ok(());
        }
        let mut state = self.lock();
        let failures = state.publish();
        *state = State {
            notes: std::mem::take(&mut state.notes),
            taken_notes: state.taken_notes,
            ..State::default()
        };
        self.has_parts.store(false, Ordering::Relaxed);
        drop(state);
        if failures.is_empty() {
            Ok(())
        } else {
            Err(NotWritten(failures))
        }
    }

    /// Drops all parts.
    pub(in crate::capability::fs) fn discard(&self) {
        *self.lock() = State::default();
        self.has_parts.store(false, Ordering::Relaxed);
    }
}

impl State {
    /// Starts to write a part over its file, if that is to be done and was not done yet.
    fn start_in_place(&mut self, number: FileNumber) -> Option<InPlaceWrite> {
        let file = self.files.get(&number)?;
        let is_to_do = file.in_place && file.write.is_none() && file.failure().is_none();
        let target = file.targets.first().filter(|_| is_to_do)?;
        let started = InPlaceWrite::start(&file.folder, &file.part, target);
        self.changed_in_place.extend(file.original);
        started.map_err(|failure| self.fail(number, failure)).ok()
    }

    fn fail(&mut self, number: FileNumber, failure: Failure) {
        if let Some(file) = self.files.get_mut(&number) {
            file.failure = Some(failure);
        }
    }

    /// Puts all parts in place, one directory after the other. Returns what to say of those that failed.
    fn publish(&mut self) -> Vec<String> {
        let mut failures = Vec::new();
        let mut places = Vec::new();
        for (number, file) in &mut self.files {
            file.store_in_place();
            self.changed_in_place.extend(file.original.filter(|_| file.in_place));
            match file.failure() {
                Some(failure) => failures.extend(file.targets.iter().map(|target| failure.describe(target))),
                None if file.in_place => {
                    if let Some(Err(error)) = file.write.as_mut().map(InPlaceWrite::settle) {
                        tracing::warn!(%error, "the old content of a file that was written cannot be removed");
                    }
                }
                None => places.extend(file.targets.iter().cloned().map(|target| (target, *number))),
            }
        }
        places.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
        let (mut directory, mut placed_files) = (None, Vec::new());
        let mut left: HashMap<FileNumber, usize> = HashMap::new();
        for (_, number) in &places {
            *left.entry(*number).or_default() += 1;
        }
        for (target, number) in &places {
            let Some(file) = self.files.get(number) else { continue };
            let is_last = left.get_mut(number).is_none_or(|left| {
                *left -= 1;
                *left == 0
            });
            let placed = change_directory(&mut directory, target, &mut failures)
                .and_then(|parent| file.place(target, parent, (is_last, &self.changed_in_place)));
            match placed {
                Ok(()) => {
                    placed_files.push(*number);
                    // Another name of the replaced file may be replaced too.
                    self.changed_in_place
                        .extend(target.replaces.map(|replaced| replaced.id));
                }
                Err(failure) => failures.push(failure.describe(target)),
            }
        }
        failures.extend(sync_last(directory));
        if self.has_new_directories {
            let synced = sync_directories_above(places.iter().map(|(target, _)| target));
            failures.extend(synced.err().map(|error| not_stored(&error)));
        }
        for number in placed_files {
            if let Some(file) = self.files.get_mut(&number) {
                file.settle();
            }
        }
        failures
    }
}

/// A directory in which parts are put, and its identity.
type OpenDirectory = (FileId, Dir);

/// Opens the directory of a target, unless it is the last one that was opened, which otherwise is stored.
fn change_directory<'a>(
    last: &'a mut Option<OpenDirectory>,
    target: &Target,
    failures: &mut Vec<String>,
) -> Result<&'a Dir, Failure> {
    if last.as_ref().is_none_or(|(id, _)| *id != target.key.0) {
        failures.extend(sync_last(last.take()));
        *last = Some((target.key.0, target.open_parent()?));
    }
    let (_, directory) = last.as_ref().ok_or(io::Error::from(Errno::NOENT))?;
    Ok(directory)
}

fn sync_last(last: Option<OpenDirectory>) -> Option<String> {
    let (_, directory) = last?;
    sync_directory(&directory).err().map(|error| not_stored(&error))
}

/// Waits until the directories above those of the targets are stored, each once.
fn sync_directories_above<'a>(targets: impl Iterator<Item = &'a Target>) -> io::Result<()> {
    let mut synced = HashSet::new();
    for directory in targets.flat_map(Target::directories_above) {
        let directory = directory?;
        if synced.insert(identity(&directory.dir_metadata()?)) {
            sync_directory(&directory)?;
        }
    }
    Ok(())
}

fn not_stored(error: &io::Error) -> String {
    format!("a folder with written files was not stored: {error}")
}

impl WrittenFile {
    /// Waits until the content of the part is stored.
    fn store(&self) -> io::Result<()> {
        self.folder.open_part(&self.part)?.sync_all()
    }

    /// Returns why the part must not be used.
    fn failure(&self) -> Option<Failure> {
        let replaces = self.targets.iter().any(|target| target.replaces.is_some());
        let broken = self.progress.failure(replaces);
        let broken = broken.map(|broken| Failure::NotWritten(format!("a write to it failed: {}", broken.reason)));
        self.failure.clone().or(broken)
    }

    /// Stores the part, and writes it over its file if it cannot replace that, as far as this was not done before.
    fn store_in_place(&mut self) {
        if self.failure().is_some() || self.write.is_some() {
            return;
        }
        let stored = self
            .store()
            .map_err(Failure::from)
            .and_then(|()| match self.targets.first() {
                Some(target) if self.in_place => {
                    let target = target.clone();
                    self.write_over(&target)
                }
                _ => Ok(()),
            });
        self.failure = stored.err();
    }

    /// Writes the part over a file at once.
    fn write_over(&mut self, target: &Target) -> Result<(), Failure> {
        let mut write = InPlaceWrite::start(&self.folder, &self.part, target)?;
        while write.advance()? {}
        self.write = Some(write);
        Ok(())
    }

    /// Puts the part, whose content is stored, at a target. It keeps its name in the folder unless this is the last one. The call
    /// itself may have changed some of the replaced files.
    fn place(
        &self,
        target: &Target,
        parent: &Dir,
        (is_last, changed_in_place): (bool, &HashSet<FileId>),
    ) -> Result<(), Failure> {
        let now = target.stamp_in(parent)?;
        let own_change = now.map(|now| now.id).filter(|id| changed_in_place.contains(id));
        let is_expected =
            now == target.replaces || own_change.is_some() && own_change == target.replaces.map(|old| old.id);
        if !is_expected {
            return Err(Failure::ChangedMeanwhile);
        }
        if let Some(mode) = self.mode {
            let part = self.folder.open_part(&self.part)?;
            rustix::fs::fchmod(part.as_fd(), rustix::fs::Mode::from_raw_mode(mode)).map_err(io::Error::from)?;
        }
        let part = match is_last {
            true => self.part.clone(),
            false => self.folder.link_part(&self.part)?,
        };
        self.rename(&part, target, parent)
    }

    fn rename(&self, part: &str, target: &Target, parent: &Dir) -> Result<(), Failure> {
        let from = self.folder.dir();
        if target.replaces.is_none() {
            match rustix::fs::renameat_with(from, part, parent, target.name(), RenameFlags::NOREPLACE) {
                // The file system cannot do this.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                Err(Errno::EXIST) => return Err(Failure::ChangedMeanwhile),
                renamed => return Ok(renamed.map_err(io::Error::from)?),
            }
        }
        match rustix::fs::renameat(from, part, parent, target.name()) {
            // Another file is mounted on this one.
            Err(Errno::BUSY | Errno::XDEV) if target.replaces.is_some() => self.replace_content(part, target),
            renamed => Ok(renamed.map_err(io::Error::from)?),
        }
    }

    /// Writes a part over a file that cannot be replaced.
    fn replace_content(&self, part: &str, target: &Target) -> Result<(), Failure> {
        if target.replaces.is_some_and(|stamp| stamp.bytes > MAX_COPIED_BYTES) {
            let reason = "it cannot be replaced, and is too large to be written in place";
            return Err(Failure::NotWritten(reason.to_owned()));
        }
        let mut write = InPlaceWrite::start(&self.folder, part, target)?;
        while write.advance()? {}
        Ok(write.settle()?)
    }
}
