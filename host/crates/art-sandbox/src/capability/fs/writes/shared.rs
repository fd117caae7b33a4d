//! Open files of the host. All descriptors of a file share one [`SharedFile`], since all of them see what one of them writes.

use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::entry::{Entry, FileId, Key};
use super::part::Progress;

/// A file of the host that the call has open.
#[derive(Debug)]
pub(in crate::capability::fs) struct SharedFile {
    pub(super) id: FileId,
    state: Mutex<SharedState>,
}

#[derive(Debug, Default)]
struct SharedState {
    place: FilePlace,
    content: HostContent,
}

/// Where the call finds an open file.
#[derive(Clone, Debug, Default)]
pub(super) enum FilePlace {
    /// The call has opened the file only to read it.
    #[default]
    Unknown,
    At(Box<Entry>),
    /// The call has removed the file from this path of the guest, or has put another there.
    Removed(Arc<str>),
}

/// Where the content of an open file of the host is.
#[derive(Clone, Debug, Default)]
pub(in crate::capability::fs) enum HostContent {
    /// In the file, which the call has not changed.
    #[default]
    Unchanged,
    /// In the file, to which the call has appended something in place.
    Appended,
    /// In the file, which the call changes in place because it can have no part.
    InPlace,
    /// In a part.
    Part(Arc<OpenPart>),
}

/// An open part.
#[derive(Debug)]
pub(in crate::capability::fs) struct OpenPart {
    pub(in crate::capability::fs) file: File,
    pub(in crate::capability::fs) progress: Arc<Progress>,
}

impl SharedFile {
    pub(super) fn new(id: FileId) -> Self {
        Self {
            id,
            state: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, SharedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(in crate::capability::fs) fn content(&self) -> HostContent {
        self.lock().content.clone()
    }

    pub(in crate::capability::fs) fn set_content(&self, content: HostContent) {
        self.lock().content = content;
    }

    pub(super) fn place(&self) -> FilePlace {
        self.lock().place.clone()
    }

    /// Notes where the file was opened to be written, unless that is known.
    pub(super) fn note_place(&self, entry: Entry) {
        let place = &mut self.lock().place;
        if !matches!(place, FilePlace::At(_)) {
            *place = FilePlace::At(Box::new(entry));
        }
    }

    /// Notes that the call has moved what was at the entry `from`.
    pub(super) fn note_move(&self, from: &Key, to: &Entry) {
        let place = &mut self.lock().place;
        if matches!(place, FilePlace::At(entry) if entry.key == *from) {
            *place = FilePlace::At(Box::new(to.clone()));
        }
    }

    /// Notes that the call has removed or replaced what was at an entry.
    pub(super) fn note_removal(&self, removed: &Key) {
        let place = &mut self.lock().place;
        if let FilePlace::At(entry) = place
            && entry.key == *removed
        {
            *place = FilePlace::Removed(Arc::clone(&entry.guest_path));
        }
    }

    /// Notes that the call has moved a directory.
    pub(super) fn note_directory_move(&self, from: &Entry, to: &Entry) {
        if let FilePlace::At(entry) = &mut self.lock().place {
            entry.move_with_directory(from, to);
        }
    }
}
