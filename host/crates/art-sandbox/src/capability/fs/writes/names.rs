//! What the call does with the names of files: moving, removing and linking them.

use std::io;
use std::sync::{Arc, Weak};

use cap_std::fs::{Metadata, MetadataExt as _};
use rustix::io::Errno;

use super::entry::{Entry, FileId, Key, mount_of};
use super::part::WrittenFile;
use super::{FileNumber, MAX_COPIED_BYTES, SharedFile, Shown, State, Writes};
use crate::capability::fs::stamp::Stamp;

impl Writes {
    /// Moves a file to another entry, and replaces what is there. A file without a part moves at once. A written file replaces
    /// another one only when the call has ended, so that a call that is stopped before leaves the other one.
    pub(in crate::capability::fs) fn rename(&self, from: &Entry, to: &Entry) -> io::Result<()> {
        let mut state = self.lock();
        let shown = state.shown(from);
        if shown.is_some() && shown == state.shown(to) {
            // Both are names of one file, so nothing happens.
            return Ok(());
        }
        state.check_removable(to)?;
        match shown {
            Some(Shown::Written(number)) if state.must_wait(number, from, to) => state.move_part(number, from, to),
            _ => state.move_on_host(from, to),
        }
    }

    /// Removes a file.
    pub(in crate::capability::fs) fn remove(&self, entry: &Entry) -> io::Result<()> {
        let mut state = self.lock();
        state.check_removable(entry)?;
        if entry.metadata.is_some() {
            entry.parent.remove_file(entry.name())?;
        }
        state.forget(entry);
        Ok(())
    }

    /// Gives a file a second name. That of a file that is not on the host yet is created when the call has ended.
    pub(in crate::capability::fs) fn link(&self, from: &Entry, to: &Entry) -> io::Result<()> {
        let mut state = self.lock();
        if let Some(number) = state.by_entry.get(&from.key).copied() {
            to.check_creatable()?;
            let file = state.files.get_mut(&number).ok_or(Errno::NOENT)?;
            file.check_same_mount(to)?;
            file.targets.push(to.target(None));
            state.by_entry.insert(to.key.clone(), number);
            return Ok(());
        }
        let written = match state.shown(from) {
            Some(Shown::Written(number)) => state.files.get(&number),
            _ => None,
        };
        if written.is_some_and(|written| !written.in_place && written.replaced_bytes() > MAX_COPIED_BYTES) {
            // Both names would get the new content by writing over the old one, which is too large to be kept meanwhile.
            return Err(Errno::BUSY.into());
        }
        from.parent.hard_link(from.name(), &to.parent, to.name())?;
        if let Some((file, before)) = from.host_file().zip(from.metadata.as_ref()) {
            if let Some(written) = state.written_of(file) {
                written.in_place = true;
            }
            state.stamp_again(file, before);
        }
        Ok(())
    }

    /// Notes that the call has moved a directory, with all that is beneath it.
    pub(in crate::capability::fs) fn note_directory_move(&self, from: &Entry, to: &Entry) {
        let mut state = self.lock();
        for target in state.files.values_mut().flat_map(|file| &mut file.targets) {
            target.move_with_directory(from, to);
        }
        for shared in state.open.values().filter_map(Weak::upgrade) {
            shared.note_directory_move(from, to);
        }
    }
}

impl State {
    /// Returns whether a written file is moved only when the call has ended: if it is not on the host at `from`, or if it would
    /// replace another file. One that keeps its identity cannot wait.
    fn must_wait(&self, number: FileNumber, from: &Entry, to: &Entry) -> bool {
        let in_place = self.files.get(&number).is_some_and(|file| file.in_place);
        let is_on_host = !self.by_entry.contains_key(&from.key);
        !is_on_host || to.metadata.is_some() && !in_place
    }

    /// Moves a part, and sets aside what is at its old entry on the host.
    fn move_part(&mut self, number: FileNumber, from: &Entry, to: &Entry) -> io::Result<()> {
        to.check_creatable()?;
        let file = self.files.get_mut(&number).ok_or(Errno::NOENT)?;
        file.check_same_mount(to)?;
        if from.metadata.is_some() {
            let set_aside = file.folder.set_aside(from)?;
            file.set_aside.push(set_aside);
        }
        self.note_removal(from);
        self.forget_part(to);
        self.by_entry.remove(&from.key);
        let file = self.files.get_mut(&number).ok_or(Errno::NOENT)?;
        if let Some(original) = file.original.take() {
            self.by_file.remove(&original);
        }
        file.targets.retain(|target| target.key != from.key);
        file.targets.push(to.target(to.metadata.as_ref().map(Stamp::of)));
        self.by_entry.insert(to.key.clone(), number);
        if let Some((moved, before)) = from.host_file().zip(from.metadata.as_ref()) {
            self.stamp_again(moved, before);
        }
        Ok(())
    }

    fn move_on_host(&mut self, from: &Entry, to: &Entry) -> io::Result<()> {
        if let Some(Shown::Written(number)) = self.shown(from) {
            let file = self.files.get(&number).ok_or(Errno::NOENT)?;
            file.check_same_mount(to)?;
        }
        let is_hidden_name = from.host_file().is_some() && from.host_file() == to.host_file();
        match is_hidden_name {
            // A part hides that the file has this name already. The system would leave both names.
            true => from.parent.remove_file(from.name())?,
            false => from.parent.rename(from.name(), &to.parent, to.name())?,
        }
        self.forget(to);
        let Some((file, before)) = from.host_file().zip(from.metadata.as_ref()) else {
            return Ok(());
        };
        if let Some(shared) = self.shared(file) {
            shared.note_move(&from.key, to);
        }
        if let Some(written) = self.written_of(file) {
            for target in written.targets.iter_mut().filter(|target| target.key == from.key) {
                *target = to.target(target.replaces);
            }
        }
        self.stamp_again(file, before);
        Ok(())
    }

    /// Fails if the file at an entry is written in place when the call has ended, through this entry, and has other names: then its new
    /// content would be lost.
    fn check_removable(&self, entry: &Entry) -> io::Result<()> {
        let has_other_names = entry.metadata.as_ref().is_some_and(|metadata| metadata.nlink() > 1);
        let written = entry.host_file().and_then(|file| self.by_file.get(&file));
        match written.and_then(|number| self.files.get(number)) {
            Some(file) if has_other_names && file.targets.iter().any(|target| target.key == entry.key) => {
                Err(Errno::BUSY.into())
            }
            _ => Ok(()),
        }
    }

    /// Drops what the call knows of the file at an entry, because the call has removed or replaced it.
    fn forget(&mut self, entry: &Entry) {
        self.note_removal(entry);
        self.forget_part(entry);
        if let Some((file, before)) = entry.host_file().zip(entry.metadata.as_ref()) {
            self.stamp_again(file, before);
        }
    }

    /// Drops the part at an entry.
    fn forget_part(&mut self, entry: &Entry) {
        let number = match self.by_entry.remove(&entry.key) {
            Some(number) => Some(number),
            None => entry.host_file().and_then(|file| self.by_file.get(&file)).copied(),
        };
        if let Some(number) = number {
            self.drop_target(number, &entry.key);
        }
    }

    /// Drops one place of a part, and the part itself if it has no other.
    fn drop_target(&mut self, number: FileNumber, key: &Key) {
        let Some(file) = self.files.get_mut(&number) else {
            return;
        };
        file.targets.retain(|target| target.key != *key);
        if file.targets.is_empty()
            && let Some(file) = self.files.remove(&number)
        {
            if let Some(original) = file.original {
                self.by_file.remove(&original);
            }
            file.discard();
        }
    }

    fn note_removal(&self, entry: &Entry) {
        if let Some(shared) = entry.host_file().and_then(|file| self.shared(file)) {
            shared.note_removal(&entry.key);
        }
    }

    fn shared(&self, file: FileId) -> Option<Arc<SharedFile>> {
        self.open.get(&file).and_then(Weak::upgrade)
    }

    fn written_of(&mut self, file: FileId) -> Option<&mut WrittenFile> {
        self.by_file.get(&file).and_then(|number| self.files.get_mut(number))
    }

    /// Notes the times of a file again, which the call has changed by moving, linking or unlinking it. `before` is what it was before
    /// that: a change by somebody else stays visible.
    fn stamp_again(&mut self, file: FileId, before: &Metadata) {
        // A file with several names may be replaced by other parts than its own.
        let own = self.by_file.get(&file);
        let is_concerned = |number: &FileNumber| before.nlink() > 1 || own == Some(number);
        let files = self.files.iter_mut().filter(|(number, _)| is_concerned(number));
        let old = Some(Stamp::of(before));
        for target in files
            .flat_map(|(_, file)| &mut file.targets)
            .filter(|target| target.replaces == old)
        {
            if let Ok(parent) = target.open_parent()
                && let Ok(Some(now)) = target.stamp_in(&parent)
                && now.id == file
            {
                target.replaces = Some(now);
            }
        }
    }
}

impl WrittenFile {
    /// Fails if the part cannot be moved to an entry, because that is on another file system or has its folder elsewhere.
    fn check_same_mount(&self, to: &Entry) -> io::Result<()> {
        let is_reachable = !self.in_place || self.folder.contains(&to.granted) || self.folder.contains(&to.parent);
        if is_reachable && mount_of(&to.parent)? == self.folder.mount() {
            Ok(())
        } else {
            Err(Errno::XDEV.into())
        }
    }

    /// Returns the size of the file that the part replaces.
    fn replaced_bytes(&self) -> u64 {
        let stamps = self.targets.iter().filter_map(|target| target.replaces);
        stamps.map(|stamp| stamp.bytes).max().unwrap_or_default()
    }
}
