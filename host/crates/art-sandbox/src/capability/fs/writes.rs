//! Files that a call writes under a grant whose changes are not staged. What the call truncates, rewrites or creates is written to
//! a [part](folder), and takes the place of the file when the call has ended without a trap. Until then the call sees the part in
//! place of the file, and everybody else sees the old file. So a write that breaks off, whatever the reason, never leaves a part
//! of a file. Everything but the contents of files changes at once: directories, names, times.
//!
//! Some files are changed *in place*, without this protection: by appending, because they are too large to be copied, or because no
//! part can be created. The call says so. A file with several names or with another owner is written in place when the call has
//! ended, since a part cannot replace it; its old content is kept until that is done.

mod folder;
mod publish;

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cap_std::fs::{Dir, Metadata, MetadataExt as _};
use rustix::fs::{AtFlags, XattrFlags};
use rustix::io::Errno;

use self::folder::PartFolder;
pub(super) use self::folder::{drop_special_bits, is_own_name, reserve};
pub(crate) use self::publish::NotWritten;
use super::mount::{HostPlace, identity};
use crate::host_memory::{Charge, HostMemory};

/// Maximum size of a file that is copied to be rewritten, in bytes.
const MAX_COPIED_BYTES: u64 = 64 << 20;
/// Maximum number of links that a path is followed through.
const MAX_LINKS: usize = 40;
/// Maximum number of directories in which a call has parts. They are kept open.
const MAX_DIRECTORIES: usize = 256;
/// Maximum number of lines about files that are changed in place, for each call.
const MAX_NOTES: usize = 20;

/// Device and inode number of a file or directory.
pub(super) type FileId = (u64, u64);
/// A directory entry: the directory, and a name in it.
type Key = (FileId, OsString);

/// Upper bound of the memory for a file with a part, without its paths, in bytes.
const FILE_BYTES: usize = 1024;

/// The files that a call writes.
#[derive(Debug)]
pub(super) struct Writes {
    /// The account for the notes about files with parts.
    memory: HostMemory,
    state: Mutex<State>,
    /// Whether the call has parts, so that most calls need no lock.
    has_parts: AtomicBool,
    has_notes: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// The folder of the parts beneath each granted directory.
    folders: HashMap<FileId, Arc<PartFolder>>,
    /// The open directories that contain the files.
    directories: HashMap<FileId, Arc<Dir>>,
    files: BTreeMap<Key, WrittenFile>,
    /// The entry of each file that has a part, by the identity of the file.
    originals: HashMap<FileId, Key>,
    notes: Vec<String>,
    /// The number of notes that were taken. They are kept, so that the same is not noted again.
    taken_notes: usize,
}

/// A file with a part.
#[derive(Clone, Debug)]
struct WrittenFile {
    folder: Arc<PartFolder>,
    part: String,
    progress: Arc<Progress>,
    /// The path as the guest knows it.
    guest_path: String,
    /// The path beneath the granted directory.
    path: PathBuf,
    /// The file that the part replaces.
    original: Option<FileId>,
    /// Whether nothing may be replaced.
    must_be_new: bool,
    /// The permissions of the file that the part replaces.
    mode: Option<u32>,
    /// Whether the file keeps its identity, so that the content of the part is written into it.
    in_place: bool,
    /// What this takes of the memory of the host.
    _charge: Arc<Charge>,
}

/// How the writes to a part went.
#[derive(Debug, Default)]
pub(super) struct Progress(Mutex<Option<BrokenWrite>>);

/// A write failed, so the part is incomplete.
#[derive(Clone, Debug)]
struct BrokenWrite {
    reason: String,
    /// Whether the quota of the grant refused the write.
    by_quota: bool,
}

impl Progress {
    /// Notes that a write failed.
    pub(super) fn note_failure(&self, reason: &str, by_quota: bool) {
        let reason = reason.to_owned();
        self.lock().get_or_insert(BrokenWrite { reason, by_quota });
    }

    /// Notes that the file is empty, so that what failed before does not matter any more.
    pub(super) fn note_emptied(&self) {
        *self.lock() = None;
    }

    fn failure(&self) -> Option<BrokenWrite> {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Option<BrokenWrite>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An open part.
#[derive(Debug)]
pub(super) struct OpenPart {
    pub(super) file: File,
    pub(super) progress: Arc<Progress>,
}

/// A directory entry on the host, at the end of all links that are followed.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The directory beneath which the entry was looked up.
    granted: Arc<Dir>,
    pub(super) parent: Arc<Dir>,
    key: Key,
    path: PathBuf,
    /// What is there on the host.
    pub(super) metadata: Option<Metadata>,
}

/// How a file is about to be written.
#[derive(Clone, Copy, Debug)]
pub(super) enum WriteKind {
    New { must_be_new: bool },
    Truncate,
    Rewrite,
}

impl Entry {
    pub(super) fn name(&self) -> &Path {
        Path::new(&self.key.1)
    }

    /// Returns the entry at a place. If `follow` is set, follows a link at the end of the path.
    pub(super) fn find(writes: &Writes, place: &HostPlace, follow: bool) -> io::Result<Self> {
        let mut path = place.path.clone();
        for _ in 0..MAX_LINKS {
            let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
            let parent_path = path.parent().filter(|parent| !parent.as_os_str().is_empty());
            let parent = place.dir.open_dir(parent_path.unwrap_or(Path::new(".")))?;
            let metadata = match parent.symlink_metadata(&name) {
                Ok(metadata) => Some(metadata),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(error),
            };
            let key = (identity(&parent.dir_metadata()?), name);
            let is_link = metadata.as_ref().is_some_and(Metadata::is_symlink);
            if is_link && follow && place.may_follow && !writes.lock().files.contains_key(&key) {
                path = path.with_file_name(place.dir.read_link(&path)?);
                continue;
            }
            return Ok(Self {
                granted: Arc::clone(&place.dir),
                parent: Arc::new(parent),
                key,
                path,
                metadata,
            });
        }
        Err(Errno::LOOP.into())
    }

    /// Returns whether both are the same entry of the same directory.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.key == other.key
    }

    /// Fails if the directory does not allow to create an entry, as creating it would.
    pub(super) fn check_creatable(&self) -> io::Result<()> {
        let access = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        Ok(rustix::fs::accessat(
            self.parent.as_fd(),
            ".",
            access,
            AtFlags::EACCESS,
        )?)
    }

    fn original(&self) -> Option<FileId> {
        self.metadata
            .as_ref()
            .filter(|metadata| metadata.is_file())
            .map(identity)
    }
}

impl Writes {
    /// Creates the list of the files of a call. It is charged to `memory`.
    pub(super) fn new(memory: &HostMemory) -> Self {
        Self {
            memory: memory.clone(),
            state: Mutex::default(),
            has_parts: AtomicBool::new(false),
            has_notes: AtomicBool::new(false),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears what calls whose process is gone have left in a granted directory.
    pub(super) fn recover(granted: &Dir) {
        folder::recover(granted);
    }

    /// Returns whether the call has written no file.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_parts.load(Ordering::Relaxed)
    }

    /// Opens the part of the file at an entry, if it has one.
    pub(super) fn open_entry(&self, entry: &Entry) -> io::Result<Option<OpenPart>> {
        self.lock().find(entry).map(WrittenFile::open).transpose()
    }

    /// Opens the part of a file, if it has one.
    pub(super) fn open_original(&self, file: FileId) -> io::Result<Option<OpenPart>> {
        if self.is_empty() {
            return Ok(None);
        }
        let state = self.lock();
        let written = state.originals.get(&file).and_then(|key| state.files.get(key));
        written.map(WrittenFile::open).transpose()
    }

    /// Returns the names of new files in a directory.
    pub(super) fn new_names_in(&self, directory: FileId) -> Vec<OsString> {
        let state = self.lock();
        let in_directory = state.in_directory(directory);
        in_directory.map(|((_, name), _)| name.clone()).collect()
    }

    /// Begins to write a file. Returns its part, or `None` if the file is changed in place, which is noted. `original` is the
    /// opened file unless it is new.
    pub(super) fn begin(
        &self,
        entry: &Entry,
        original: Option<&File>,
        kind: WriteKind,
        guest_path: &str,
    ) -> io::Result<Option<OpenPart>> {
        let metadata = original.map(File::metadata).transpose()?;
        let metadata = metadata.map(Metadata::from_just_metadata);
        let bytes = metadata.as_ref().map_or(0, Metadata::len);
        if matches!(kind, WriteKind::Rewrite) && bytes > MAX_COPIED_BYTES {
            self.note_in_place(guest_path, "it is larger than 64 MiB");
            return Ok(None);
        }
        let path_bytes = guest_path.len() + entry.path.as_os_str().len() + 2 * entry.key.1.len();
        let charge = self.memory.try_charge(FILE_BYTES + path_bytes).ok_or(Errno::NOMEM)?;
        let folder = self.folder(entry);
        let created = folder.and_then(|folder| {
            new_part(&folder, entry, original.zip(metadata.as_ref()), kind).map(|made| (folder, made))
        });
        let (folder, (part, file, in_place)) = match created {
            Err(error) if means_no_part(&error) && original.is_some() => {
                self.note_in_place(guest_path, &format!("it cannot be copied to its folder ({error})"));
                return Ok(None);
            }
            created => created?,
        };
        let progress = Arc::default();
        let written = WrittenFile {
            folder,
            part,
            progress: Arc::clone(&progress),
            guest_path: guest_path.to_owned(),
            path: entry.path.clone(),
            original: metadata.as_ref().map(identity),
            must_be_new: matches!(kind, WriteKind::New { must_be_new: true }),
            // No set-user-ID and no set-group-ID: the owner gave these bits to other content.
            mode: metadata.as_ref().map(|metadata| metadata.mode() & 0o777),
            in_place,
            _charge: Arc::new(charge),
        };
        let mut state = self.lock();
        state.directories.insert(entry.key.0, Arc::clone(&entry.parent));
        state.insert(entry.key.clone(), written);
        self.has_parts.store(true, Ordering::Relaxed);
        Ok(Some(OpenPart { file, progress }))
    }

    /// Returns the folder for the part of an entry. Fails as creating a file there would.
    fn folder(&self, entry: &Entry) -> io::Result<Arc<PartFolder>> {
        entry.check_creatable()?;
        let granted = identity(&entry.granted.dir_metadata()?);
        if granted.0 != entry.key.0.0 {
            return Err(Errno::XDEV.into());
        }
        if self.lock().directories.len() >= MAX_DIRECTORIES {
            self.publish().map_err(io::Error::other)?;
        }
        let mut state = self.lock();
        if let Some(folder) = state.folders.get(&granted) {
            return Ok(Arc::clone(folder));
        }
        let folder = Arc::new(PartFolder::create(&entry.granted)?);
        state.folders.insert(granted, Arc::clone(&folder));
        Ok(folder)
    }

    /// Notes for the person that a file is changed in place.
    pub(super) fn note_in_place(&self, guest_path: &str, reason: &str) {
        let note = format!("`/{guest_path}` is changed in place: {reason}");
        let notes = &mut self.lock().notes;
        if notes.len() < MAX_NOTES && !notes.contains(&note) {
            notes.push(note);
            self.has_notes.store(true, Ordering::Relaxed);
        }
    }

    /// Returns the notes about files that were changed in place since the last time.
    pub(super) fn take_notes(&self) -> Vec<String> {
        if self.has_notes.swap(false, Ordering::Relaxed) {
            let mut state = self.lock();
            let new = state.notes.iter().skip(state.taken_notes).cloned().collect();
            state.taken_notes = state.notes.len();
            new
        } else {
            Vec::new()
        }
    }

    /// Returns whether the call has created the file at an entry, where nothing is on the host.
    pub(super) fn is_new(&self, entry: &Entry) -> bool {
        entry.metadata.is_none() && self.lock().files.contains_key(&entry.key)
    }

    /// Drops the part at an entry, if there is one, because the file was removed or replaced.
    pub(super) fn forget(&self, entry: &Entry) {
        if let Some(file) = self.lock().remove(&entry.key) {
            file.discard();
        }
    }

    /// Moves the part at one entry to another, and drops the part there.
    pub(super) fn rename(&self, from: &Entry, to: &Entry) {
        let mut state = self.lock();
        let moved = state.remove(&from.key);
        if let Some(replaced) = state.remove(&to.key) {
            replaced.discard();
        }
        let Some(moved) = moved else { return };
        state.directories.insert(to.key.0, Arc::clone(&to.parent));
        let moved = WrittenFile {
            must_be_new: false,
            path: to.path.clone(),
            ..moved
        };
        state.insert(to.key.clone(), moved);
    }
}

impl State {
    fn find(&self, entry: &Entry) -> Option<&WrittenFile> {
        let by_identity = || self.files.get(self.originals.get(&entry.original()?)?);
        self.files.get(&entry.key).or_else(by_identity)
    }

    fn in_directory(&self, directory: FileId) -> impl Iterator<Item = (&Key, &WrittenFile)> {
        let in_directory = move |(key, _): &(&Key, &WrittenFile)| key.0 == directory;
        self.files
            .range((directory, OsString::new())..)
            .take_while(in_directory)
    }

    fn insert(&mut self, key: Key, file: WrittenFile) {
        if let Some(original) = file.original {
            self.originals.insert(original, key.clone());
        }
        self.files.insert(key, file);
    }

    fn remove(&mut self, key: &Key) -> Option<WrittenFile> {
        let file = self.files.remove(key)?;
        if let Some(original) = file.original {
            self.originals.remove(&original);
        }
        Some(file)
    }
}

impl WrittenFile {
    fn open(&self) -> io::Result<OpenPart> {
        Ok(OpenPart {
            file: self.folder.open_part(&self.part)?,
            progress: Arc::clone(&self.progress),
        })
    }

    fn discard(self) {
        drop(self.folder.dir().remove_file(&self.part));
    }
}

/// Returns whether a part cannot be created although the disk has room for it.
fn means_no_part(error: &io::Error) -> bool {
    // `BADF` is the error of reading a file that may only be written.
    let errnos = [Errno::ACCESS, Errno::PERM, Errno::ROFS, Errno::XDEV, Errno::BADF];
    errnos
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

/// Creates the part of a file: empty, or with the content of the original if that is rewritten. Returns its name, the open file, and
/// whether the file is written in place when the call has ended.
fn new_part(
    folder: &PartFolder,
    entry: &Entry,
    original: Option<(&File, &Metadata)>,
    kind: WriteKind,
) -> io::Result<(String, File, bool)> {
    let mode = if original.is_some() { 0o600 } else { 0o666 };
    let (part, mut file) = folder.new_part(mode)?;
    let prepared = match original {
        Some((original, metadata)) => copy_original(original, metadata, &mut file, kind),
        None => keep_group(&entry.parent, &file).map(|()| false),
    };
    match prepared {
        Ok(in_place) => Ok((part, file, in_place)),
        Err(error) => {
            drop(folder.dir().remove_file(&part));
            Err(error)
        }
    }
}

/// Gives a part the group and the extended attributes of the file that it replaces, and its content if that is
/// rewritten. Returns whether the part cannot replace the file, so that the file is written in place.
fn copy_original(original: &File, metadata: &Metadata, part: &mut File, kind: WriteKind) -> io::Result<bool> {
    if matches!(kind, WriteKind::Rewrite) {
        copy_content(original, part)?;
    }
    let made = Metadata::from_just_metadata(part.metadata()?);
    let has_other_group = made.gid() != metadata.gid()
        && rustix::fs::fchown(part.as_fd(), None, Some(rustix::fs::Gid::from_raw(metadata.gid()))).is_err();
    copy_attributes(original, part);
    Ok(metadata.nlink() > 1 || made.uid() != metadata.uid() || has_other_group)
}

/// Copies the content of a file that may be open only for writing.
fn copy_content(original: &File, part: &mut File) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    let mut buffer = vec![0; 256 << 10];
    let mut offset = 0;
    loop {
        let read = original.read_at(&mut buffer, offset)?;
        let bytes = buffer.get(..read).unwrap_or_default();
        if bytes.is_empty() {
            return Ok(());
        }
        part.write_all_at(bytes, offset)?;
        offset += read as u64;
    }
}

/// Copies the extended attributes, such as access control lists, as far as this is allowed. Leaves out the capabilities of a
/// program.
fn copy_attributes(original: &File, part: &File) {
    let mut names = vec![0_u8; 64 << 10];
    let Ok(length) = rustix::fs::flistxattr(original.as_fd(), &mut names) else {
        return;
    };
    let names = names.get(..length).unwrap_or_default();
    let mut value = vec![0_u8; 64 << 10];
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        if name == b"security.capability" {
            continue;
        }
        if let Ok(length) = rustix::fs::fgetxattr(original.as_fd(), name, &mut value) {
            let value = value.get(..length).unwrap_or_default();
            rustix::fs::fsetxattr(part.as_fd(), name, value, XattrFlags::empty()).ok();
        }
    }
}

/// Gives a new file the group of its directory if the directory says so.
fn keep_group(parent: &Dir, part: &File) -> io::Result<()> {
    let metadata = parent.dir_metadata()?;
    if metadata.mode() & 0o2000 != 0 {
        rustix::fs::fchown(part.as_fd(), None, Some(rustix::fs::Gid::from_raw(metadata.gid())))?;
    }
    Ok(())
}
