//! Puts parts in the place of the files that they replace.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustix::fs::RenameFlags;
use rustix::io::Errno;

use super::folder::sync_directory;
use super::{Entry, Key, State, Writes, WrittenFile};

/// Files of a call that were not written.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.join("; "))]
pub(crate) struct NotWritten(Vec<String>);

impl Writes {
    /// Waits until the contents of all parts are stored, so that [`publish`](Self::publish) is short. Yields after each part.
    pub(in crate::capability::fs) async fn store(&self) {
        let files: Vec<_> = self.lock().files.values().cloned().collect();
        for file in files {
            if let Err(error) = file.store() {
                file.progress.note_failure(&error.to_string(), false);
            }
            tokio::task::yield_now().await;
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
        let files = std::mem::take(&mut state.files);
        state.originals.clear();
        let failures = publish_files(&state, &files);
        state.directories.clear();
        state.folders.clear();
        self.has_parts.store(false, Ordering::Relaxed);
        drop(state);
        if failures.is_empty() {
            Ok(())
        } else {
            Err(NotWritten(failures))
        }
    }

    /// Puts the part at one entry in its place, because another name of the file is about to be created.
    pub(in crate::capability::fs) fn publish_entry(&self, entry: &Entry) -> io::Result<()> {
        let mut state = self.lock();
        let Some(file) = state.remove(&entry.key) else {
            return Ok(());
        };
        let published = file.store().and_then(|()| file.publish(&state, &entry.key));
        published.inspect_err(|_| file.clone().discard())
    }

    /// Drops all parts.
    pub(in crate::capability::fs) fn discard(&self) {
        *self.lock() = State::default();
        self.has_parts.store(false, Ordering::Relaxed);
    }
}

fn publish_files(state: &State, files: &BTreeMap<Key, WrittenFile>) -> Vec<String> {
    let mut failures = Vec::new();
    for (key, file) in files {
        let broken = file.progress.failure();
        let published = match broken.filter(|broken| !broken.by_quota || file.original.is_some()) {
            Some(broken) => Err(format!("a write to it failed: {}", broken.reason)),
            None => file
                .store()
                .and_then(|()| file.publish(state, key))
                .map_err(|error| error.to_string()),
        };
        if let Err(reason) = published {
            let state = if file.original.is_some() {
                "keeps its old content"
            } else {
                "was not created"
            };
            failures.push(format!("`/{}` {state}: {reason}", file.guest_path));
        }
    }
    for directory in state.directories.values() {
        if let Err(error) = sync_directory(directory) {
            failures.push(format!("a folder with written files was not stored: {error}"));
        }
    }
    failures
}

impl WrittenFile {
    /// Waits until the content of the part is stored.
    fn store(&self) -> io::Result<()> {
        self.folder.open_part(&self.part)?.sync_all()
    }

    /// Puts the part, whose content is stored, in its place.
    fn publish(&self, state: &State, key: &Key) -> io::Result<()> {
        if self.in_place {
            let mut part = self.folder.open_part(&self.part)?;
            return self.folder.write_in_place(&mut part, &self.path, self.original);
        }
        if let Some(mode) = self.mode {
            let part = self.folder.open_part(&self.part)?;
            rustix::fs::fchmod(part.as_fd(), rustix::fs::Mode::from_raw_mode(mode))?;
        }
        let parent = state.directories.get(&key.0).map(Arc::clone).ok_or(Errno::NOENT)?;
        let from = self.folder.dir().as_fd();
        if self.must_be_new {
            match rustix::fs::renameat_with(from, &*self.part, parent.as_fd(), &key.1, RenameFlags::NOREPLACE) {
                // The file system cannot do this.
                Err(Errno::INVAL | Errno::NOSYS) => {}
                renamed => return Ok(renamed?),
            }
        }
        Ok(rustix::fs::renameat(from, &*self.part, parent.as_fd(), &key.1)?)
    }
}
