//! Images: what a disk may hold after the power was cut.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::chance::Chance;
use crate::disk::Event;

/// Number of bytes that a disk writes as a whole or not at all.
const SECTOR: usize = 512;

/// A change of a file that is not on the disk yet.
#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Truncate { size: usize },
}

/// A file: what is surely on the disk, and the later changes that may be.
#[derive(Clone, Debug, Default)]
struct File {
    durable: Vec<u8>,
    pending: Vec<Change>,
}

/// Which of the pending changes an image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Nothing,
    Everything,
    /// All changes before a random one, and some sectors of that one.
    Torn,
    /// Any sectors of any changes.
    Any,
}

impl Kept {
    pub(crate) const ALL: [Self; 4] = [Self::Nothing, Self::Everything, Self::Torn, Self::Any];
}

/// The state of a disk between two operations.
#[derive(Clone, Debug, Default)]
pub(crate) struct DiskState {
    /// The files to which a name may refer after a loss of power. The first is the one at the last sync of the directory, the
    /// last is the one that programs see. `None` means that there is no file with that name.
    names: BTreeMap<String, Vec<Option<File>>>,
    /// Number of acknowledgements for each writer.
    pub(crate) acknowledged: BTreeMap<usize, usize>,
}

impl DiskState {
    /// Returns a disk with the files of a directory whose names begin with `prefix`, except for shared indexes (`-shm`).
    pub(crate) fn of(directory: &Path, prefix: &str) -> Self {
        let mut names = BTreeMap::new();
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if name.starts_with(prefix) && entry.file_type().unwrap().is_file() && !name.ends_with("-shm") {
                let durable = fs::read(entry.path()).unwrap();
                let pending = Vec::new();
                names.insert(name, vec![Some(File { durable, pending })]);
            }
        }
        Self {
            names,
            ..Self::default()
        }
    }

    /// Applies the next operation.
    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::Create { file } => self.versions(file).push(Some(File::default())),
            Event::Delete { file, synced } => {
                self.versions(file).push(None);
                if *synced {
                    self.sync_directory();
                }
            }
            Event::Write { file, offset, bytes } => self.file(file).pending.push(Change::Write {
                offset: usize::try_from(*offset).unwrap(),
                bytes: bytes.clone(),
            }),
            Event::Truncate { file, size } => self.file(file).pending.push(Change::Truncate {
                size: usize::try_from(*size).unwrap(),
            }),
            Event::Sync { file } => self.sync(file),
            Event::SyncFailed { file } => self.file(file).pending.clear(),
            Event::Acknowledged { writer } => *self.acknowledged.entry(*writer).or_default() += 1,
        }
    }

    fn versions(&mut self, name: &str) -> &mut Vec<Option<File>> {
        self.names.entry(name.to_owned()).or_insert_with(|| vec![None])
    }

    fn file(&mut self, name: &str) -> &mut File {
        let last = self.versions(name).last_mut().unwrap();
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

    fn sync_directory(&mut self) {
        for versions in self.names.values_mut() {
            versions.drain(..versions.len() - 1);
        }
    }

    /// Writes an image into a directory.
    pub(crate) fn write_image(&self, directory: &Path, kept: Kept, chance: &mut Chance) {
        for (name, versions) in &self.names {
            let version = match kept {
                Kept::Nothing => 0,
                Kept::Everything => versions.len() - 1,
                Kept::Torn | Kept::Any => chance.below(versions.len()),
            };
            if let Some(file) = &versions[version] {
                fs::write(directory.join(name), file.content(kept, chance)).unwrap();
            }
        }
    }
}

impl File {
    fn content(&self, kept: Kept, chance: &mut Chance) -> Vec<u8> {
        let mut content = self.durable.clone();
        let last = match kept {
            Kept::Torn => chance.below(self.pending.len() + 1),
            Kept::Nothing => 0,
            Kept::Everything | Kept::Any => self.pending.len(),
        };
        for (index, change) in self.pending.iter().take(last + 1).enumerate() {
            match kept {
                Kept::Nothing => {}
                Kept::Everything => change.apply(&mut content),
                Kept::Torn if index < last => change.apply(&mut content),
                Kept::Torn | Kept::Any => change.apply_in_part(&mut content, chance),
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

    /// Applies random sectors of a write, or a truncation by chance. Sectors that are missing at the end of a file do not make it
    /// longer.
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

/// Puts bytes into a file. If the file ends before `offset`, fills the gap with zeros.
fn put(content: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if content.len() < end {
        content.resize(end, 0);
    }
    content[offset..end].copy_from_slice(bytes);
}
