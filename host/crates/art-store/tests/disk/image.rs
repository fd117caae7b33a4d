//! Images: what a disk may hold after the power was cut.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::chance::Chance;
use crate::disk::DiskEvent;

/// Number of bytes that a disk writes as a whole or not at all.
const SECTOR: usize = 512;

/// A change of a file since its last sync.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { size: usize },
}

/// A file: the content that is surely on the disk, and the changes since the last sync, which may be on the disk or not.
#[derive(Clone, Debug, Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

/// Which of the pending changes of each file an image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeptChanges {
    Nothing,
    Everything,
    /// All changes of a file before a random one, and some sectors of that one.
    Torn,
    /// Random sectors of each change.
    RandomSectors,
}

impl KeptChanges {
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Everything, Self::Torn, Self::RandomSectors];
}

/// The state of a disk between two operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskState {
    /// For each name, the files to which it may refer after a loss of power. The first one had the name at the last sync of the
    /// directory, the last one has it for programs that run now. `None` means that there is no file with that name.
    files_by_name: BTreeMap<String, Vec<Option<File>>>,
    /// For each writer (an index into `WRITERS`), how many of its writes the store has acknowledged as durable.
    pub(crate) acknowledged_writes: BTreeMap<usize, usize>,
}

impl DiskState {
    /// Returns the state of a disk on which everything is durable. It has the files of a directory whose names begin with
    /// `prefix`, except for the indexes of write-ahead logs (`-shm`).
    pub(crate) fn of(directory: &Path, prefix: &str) -> Self {
        let mut files_by_name = BTreeMap::new();
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with(prefix) && entry.file_type().unwrap().is_file() && !name.ends_with("-shm") {
                let durable = fs::read(entry.path()).unwrap();
                let pending = Vec::new();
                files_by_name.insert(name, vec![Some(File { durable, pending })]);
            }
        }
        Self {
            files_by_name,
            ..Self::default()
        }
    }

    /// Applies the next event: an operation on a file, or an acknowledgement.
    pub(crate) fn apply(&mut self, event: &DiskEvent) {
        match event {
            DiskEvent::Create { file } => self.candidates(file).push(Some(File::default())),
            DiskEvent::Delete { file, syncs_directory } => {
                self.candidates(file).push(None);
                if *syncs_directory {
                    self.sync_directory();
                }
            }
            DiskEvent::Write { file, offset, bytes } => self.file(file).pending.push(Change::Write {
                offset: usize::try_from(*offset).unwrap(),
                bytes: bytes.clone(),
            }),
            DiskEvent::Truncate { file, size } => self.file(file).pending.push(Change::Truncate {
                size: usize::try_from(*size).unwrap(),
            }),
            DiskEvent::Sync { file } => self.sync(file),
            // The operating system has forgotten these changes, so no later sync writes them.
            DiskEvent::SyncFailed { file } => self.file(file).pending.clear(),
            DiskEvent::Acknowledged { writer } => *self.acknowledged_writes.entry(*writer).or_default() += 1,
        }
    }

    /// Returns the files to which a name may refer.
    fn candidates(&mut self, name: &str) -> &mut Vec<Option<File>> {
        self.files_by_name.entry(name.to_owned()).or_insert_with(|| vec![None])
    }

    /// Returns the file that has a name now.
    fn file(&mut self, name: &str) -> &mut File {
        let last = self.candidates(name).last_mut().unwrap();
        last.as_mut().expect("a write to a file that does not exist")
    }

    fn sync(&mut self, name: &str) {
        let file = self.file(name);
        for change in std::mem::take(&mut file.pending) {
            change.apply(&mut file.durable);
        }
        // The VFS of the system syncs the directory with the first sync of a log.
        if name.ends_with("-wal") || name.ends_with("-journal") {
            self.sync_directory();
        }
    }

    /// Makes the present names durable, so that each name refers to the file that has it now.
    fn sync_directory(&mut self) {
        for candidates in self.files_by_name.values_mut() {
            candidates.drain(..candidates.len() - 1);
        }
    }

    /// Writes an image into a directory: what may be on the disk if the power is cut in this state.
    pub(crate) fn write_image(&self, directory: &Path, kept: KeptChanges, chance: &mut Chance) {
        for (name, candidates) in &self.files_by_name {
            let candidate = match kept {
                KeptChanges::Nothing => 0,
                KeptChanges::Everything => candidates.len() - 1,
                KeptChanges::Torn | KeptChanges::RandomSectors => chance.below(candidates.len()),
            };
            if let Some(file) = &candidates[candidate] {
                fs::write(directory.join(name), file.content(kept, chance)).unwrap();
            }
        }
    }
}

impl File {
    /// Returns the durable content with those of the pending changes that are kept.
    fn content(&self, kept: KeptChanges, chance: &mut Chance) -> Vec<u8> {
        let mut content = self.durable.clone();
        // For `Torn`, the change at this index is kept in part, those before it are kept whole, and those after it are dropped.
        // If the index is `pending.len()`, no change has it, so all are kept whole. The other kinds treat all changes alike.
        let torn_index = match kept {
            KeptChanges::Torn => chance.below(self.pending.len() + 1),
            KeptChanges::Nothing => 0,
            KeptChanges::Everything | KeptChanges::RandomSectors => self.pending.len(),
        };
        for (index, change) in self.pending.iter().take(torn_index + 1).enumerate() {
            match kept {
                KeptChanges::Nothing => {}
                KeptChanges::Everything => change.apply(&mut content),
                KeptChanges::Torn if index < torn_index => change.apply(&mut content),
                KeptChanges::Torn | KeptChanges::RandomSectors => change.apply_in_part(&mut content, chance),
            }
        }
        content
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { offset, bytes } => put(content, *offset, bytes),
            Self::Truncate { size } => content.truncate(*size),
        }
    }

    /// Applies random sectors of a write, or a truncation by chance. If the last sectors of a write beyond the end of the file
    /// are not applied, the file stays shorter.
    fn apply_in_part(&self, content: &mut Vec<u8>, chance: &mut Chance) {
        let Self::Write { offset, bytes } = self else {
            if chance.below(2) == 0 {
                self.apply(content);
            }
            return;
        };
        let mut start = *offset;
        while start < offset + bytes.len() {
            let end = ((start / SECTOR + 1) * SECTOR).min(offset + bytes.len());
            if chance.below(2) == 0 {
                put(content, start, &bytes[start - offset..end - offset]);
            }
            start = end;
        }
    }
}

/// Writes bytes into the content of a file. If the content ends before `offset`, fills the gap with zeros.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}
