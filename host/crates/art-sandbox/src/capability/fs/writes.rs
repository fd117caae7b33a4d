//! Files that a call writes under a grant whose changes are not staged. What the call truncates, rewrites or creates is written to
//! a [part](folder), and takes the place of the file when the call has ended without a trap. Until then the call sees the part in
//! place of the file, and everybody else sees the old file. So a write that breaks off, whatever the reason, never leaves a part
//! of a file. Everything but the contents of files changes at once: directories, names, times.
//!
//! A part belongs to a file, not to a name. That of a file on the host is found by the identity of the file. That of a file that is
//! not on the host yet, or that the call has moved over another file, is found by its directory entry, which then hides what is
//! there on the host. If the call removes the last name of a file, its part is dropped too.
//!
//! Some files are changed *in place*, without this protection: by appending, because they are too large to be copied, or because no
//! part can be created. The call says so. A file with several names or with another owner is written in place when the call has
//! ended, since a part cannot replace it; its old content is kept until that is done.

mod entry;
mod folder;
mod in_place;
mod names;
mod note;
mod part;
mod publish;
mod recovery;
mod shared;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use cap_std::fs::{Metadata, MetadataExt as _};
use rustix::io::Errno;

pub(super) use self::entry::{Entry, FileId, parent_of};
use self::entry::{Key, Target, mount_of};
use self::folder::PartFolder;
pub(super) use self::folder::is_own_name;
pub(crate) use self::note::WriteNotes;
pub(super) use self::part::{NewPart, Progress};
use self::part::{WrittenFile, take_attributes, take_group};
pub(crate) use self::publish::NotWritten;
use self::shared::FilePlace;
pub(super) use self::shared::{HostContent, OpenPart, SharedFile};
use super::mount::identity;
use super::stamp::Stamp;
use crate::host_memory::{Charge, HostMemory};

/// Maximum size of a file whose content is copied, in bytes.
const MAX_COPIED_BYTES: u64 = 64 << 20;
/// Maximum number of folders of parts of a call. They are kept open.
const MAX_FOLDERS: usize = 32;
/// Maximum number of lines about files that are changed in place, for each call.
const MAX_NOTES: usize = 20;
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
    /// Bytes that were copied, or are copied at the end of the call, and were not counted.
    uncounted_bytes: AtomicU64,
    /// Where the host notes in which directories the call writes.
    host_notes: Option<Arc<WriteNotes>>,
}

/// The number of a written file of the call.
type FileNumber = u64;

#[derive(Debug, Default)]
struct State {
    /// The files with parts.
    files: BTreeMap<FileNumber, WrittenFile>,
    next_number: FileNumber,
    /// The files that are not on the host, or not at this entry.
    by_entry: BTreeMap<Key, FileNumber>,
    /// The files of the host.
    by_file: HashMap<FileId, FileNumber>,
    /// The files of the host that the call itself has changed in place, so that a change of them says nothing about somebody else.
    changed_in_place: HashSet<FileId>,
    /// The files of the host that the call has open. Those that it has closed are removed now and then.
    open: HashMap<FileId, Weak<SharedFile>>,
    /// The number of open files at which closed ones are removed.
    max_open: usize,
    /// The folder of the parts in each directory that has one.
    folders: HashMap<FileId, Arc<PartFolder>>,
    /// Whether the call has created directories, which must be stored before what is in them.
    has_new_directories: bool,
    notes: Vec<String>,
    /// The number of notes that were taken. They are kept, so that the same is not noted again.
    taken_notes: usize,
}

/// What the call finds at an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Written(FileNumber),
    /// A file of the host that the call has not written.
    OnHost(FileId),
}

/// How an open file is about to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteKind {
    Truncate,
    Rewrite,
}

/// What begins when a file of the host is about to be written.
#[derive(Debug)]
pub(super) enum Begun {
    /// The file is changed in place.
    InPlace,
    /// A part, which has to get the content of the file first.
    Part(Box<NewPart>),
}

impl Writes {
    /// Creates the list of the files of a call. It is charged to `memory`.
    pub(super) fn new(memory: &HostMemory, host_notes: Option<&Arc<WriteNotes>>) -> Self {
        Self {
            memory: memory.clone(),
            state: Mutex::default(),
            has_parts: AtomicBool::new(false),
            has_notes: AtomicBool::new(false),
            uncounted_bytes: AtomicU64::new(0),
            host_notes: host_notes.cloned(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Clears what calls whose process is gone have left in a granted directory.
    pub(super) fn recover(granted: &cap_std::fs::Dir) {
        recovery::recover(granted);
    }

    /// Returns whether the call has written no file.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_parts.load(Ordering::Relaxed)
    }

    /// Opens the part of the file at an entry, if it has one.
    pub(super) fn open_entry(&self, entry: &Entry) -> io::Result<Option<OpenPart>> {
        let state = self.lock();
        match state.shown(entry) {
            Some(Shown::Written(number)) => state.files.get(&number).map(WrittenFile::open).transpose(),
            _ => Ok(None),
        }
    }

    /// Returns what the descriptors of a file share. `entry` is its directory entry if the guest may write to it.
    pub(super) fn share(&self, file: FileId, entry: Option<Entry>) -> Arc<SharedFile> {
        let shared = self.lock().share(file);
        if let Some(entry) = entry {
            shared.note_place(entry);
        }
        shared
    }

    /// Returns the names in a directory that are not on the host.
    pub(super) fn new_names_in(&self, directory: FileId) -> Vec<OsString> {
        let state = self.lock();
        let from = (directory, OsString::new());
        let keys = state.by_entry.range(from..).map(|(key, _)| key);
        keys.take_while(|key| key.0 == directory)
            .map(|(_, name)| name.clone())
            .collect()
    }

    /// Returns whether what the call finds at an entry is not what is there on the host.
    pub(super) fn is_new(&self, entry: &Entry) -> bool {
        !self.is_empty() && self.lock().by_entry.contains_key(&entry.key)
    }

    /// Creates a file, where nothing is. Returns its part, or `None` if no part can be created there, which is noted.
    pub(super) fn create(&self, entry: &Entry) -> io::Result<Option<OpenPart>> {
        entry.check_creatable()?;
        let charge = self.charge(entry)?;
        let created = self.folder(entry).and_then(|folder| {
            let (part, file) = folder.new_part(0o666)?;
            take_group(&entry.parent, &file)?;
            Ok((folder, part, file))
        });
        let (folder, part, file) = match created {
            Err(error) if means_no_part(&error) => {
                self.note_in_place(&entry.guest_path, &format!("there is no place beside it ({error})"));
                return Ok(None);
            }
            created => created?,
        };
        let written = WrittenFile {
            folder,
            part,
            progress: Arc::default(),
            original: None,
            targets: vec![entry.target(None)],
            mode: None,
            in_place: false,
            set_aside: Vec::new(),
            write: None,
            failure: None,
            _charge: charge,
        };
        let progress = Arc::clone(&written.progress);
        let mut state = self.lock();
        let number = state.add(written);
        state.by_entry.insert(entry.key.clone(), number);
        self.has_parts.store(true, Ordering::Relaxed);
        Ok(Some(OpenPart { file, progress }))
    }

    /// Begins to write an open file of the host.
    pub(super) fn begin(&self, shared: &Arc<SharedFile>, file: &File, kind: WriteKind) -> io::Result<Begun> {
        let metadata = Metadata::from_just_metadata(file.metadata()?);
        let entry = match shared.place() {
            FilePlace::At(entry) => entry,
            FilePlace::Removed(path) => return Ok(self.begin_without_entry(&metadata, &path)),
            FilePlace::Unknown => return Err(Errno::BADF.into()),
        };
        let is_replaced = self.lock().is_replaced(&entry, shared.id);
        if is_replaced && metadata.nlink() > 1 {
            return Ok(self.begin_without_entry(&metadata, &entry.guest_path));
        }
        let is_large = metadata.len() > MAX_COPIED_BYTES;
        if is_large && kind == WriteKind::Rewrite {
            if is_replaced {
                return Err(Errno::FBIG.into());
            }
            self.note_in_place(&entry.guest_path, "it is larger than 64 MiB");
            return Ok(Begun::InPlace);
        }
        let target = entry.target(Some(Stamp::of(&metadata)));
        let part = check_copyable(file, kind)
            .and_then(|()| self.new_part((shared, file, &metadata), &entry, (!is_replaced).then_some(target)));
        match part {
            Err(error) if means_no_part(&error) && !is_replaced => {
                self.note_in_place(
                    &entry.guest_path,
                    &format!("it cannot be copied to its folder ({error})"),
                );
                Ok(Begun::InPlace)
            }
            Ok(part) if is_large && part.written.as_ref().is_some_and(|written| written.in_place) => {
                self.note_in_place(&entry.guest_path, "it is larger than 64 MiB");
                Ok(Begun::InPlace)
            }
            Ok(mut part) => {
                part.copied = part.copied.take().filter(|_| kind == WriteKind::Rewrite);
                Ok(Begun::Part(Box::new(part)))
            }
            Err(error) => Err(error),
        }
    }

    /// Begins to write a file that is not any more where the call opened it. If it has no name left, nobody else sees it.
    fn begin_without_entry(&self, metadata: &Metadata, guest_path: &str) -> Begun {
        if metadata.nlink() > 0 {
            self.note_in_place(
                guest_path,
                "the call has removed or replaced this name, and the file has others",
            );
        }
        Begun::InPlace
    }

    /// Creates the part of a file. Without a target, it is never published.
    fn new_part(
        &self,
        (shared, file, metadata): (&Arc<SharedFile>, &File, &Metadata),
        entry: &Entry,
        target: Option<Target>,
    ) -> io::Result<NewPart> {
        let charge = self.charge(entry)?;
        entry.check_creatable()?;
        let folder = self.folder(entry)?;
        let (part, part_file) = folder.new_part(0o600)?;
        let mut written = WrittenFile {
            folder,
            part,
            progress: Arc::default(),
            original: Some(shared.id),
            targets: Vec::new(),
            // No set-user-ID and no set-group-ID: the owner gave these bits to other content.
            mode: Some(metadata.mode() & 0o777),
            in_place: false,
            set_aside: Vec::new(),
            write: None,
            failure: None,
            _charge: charge,
        };
        let open = OpenPart {
            file: part_file,
            progress: Arc::clone(&written.progress),
        };
        let prepared =
            take_attributes(file, &open.file, &entry.parent).and_then(|in_place| Ok((in_place, file.try_clone()?)));
        let (written, copied) = match (prepared, target) {
            (Ok((in_place, copied)), Some(target)) => {
                written.in_place = in_place;
                written.targets.push(target);
                (Some(written), copied)
            }
            (Ok((_, copied)), None) => {
                written.discard();
                (None, copied)
            }
            (Err(error), _) => {
                written.discard();
                return Err(error);
            }
        };
        Ok(NewPart {
            shared: Arc::clone(shared),
            open,
            copied: Some(copied),
            offset: 0,
            written,
        })
    }

    /// Lets the call find a part that is complete in place of its file.
    pub(super) fn finish_part(&self, mut part: NewPart) -> io::Result<()> {
        let open = OpenPart {
            file: part.open.file.try_clone()?,
            progress: Arc::clone(&part.open.progress),
        };
        if let Some(written) = part.written.take() {
            let mut state = self.lock();
            let number = state.add(written);
            state.by_file.insert(part.shared.id, number);
            self.has_parts.store(true, Ordering::Relaxed);
        }
        part.shared.set_content(HostContent::Part(Arc::new(open)));
        Ok(())
    }

    /// Charges for a file with a part.
    fn charge(&self, entry: &Entry) -> io::Result<Charge> {
        let path_bytes = entry.guest_path.len() + entry.path.as_os_str().len() + 2 * entry.key.1.len();
        let charge = self.memory.try_charge(FILE_BYTES + path_bytes);
        Ok(charge.ok_or(Errno::NOMEM)?)
    }

    /// Returns the folder for the part of an entry: in the granted directory or, if that cannot be, in the directory of the entry.
    fn folder(&self, entry: &Entry) -> io::Result<Arc<PartFolder>> {
        let mount = mount_of(&entry.parent)?;
        let mut failure = Errno::XDEV.into();
        for place in [&entry.granted, &entry.parent] {
            if mount_of(place)? != mount {
                continue;
            }
            let place_id = identity(&place.dir_metadata()?);
            let mut state = self.lock();
            if let Some(folder) = state.folders.get(&place_id) {
                return Ok(Arc::clone(folder));
            }
            if state.folders.len() >= MAX_FOLDERS {
                break;
            }
            match PartFolder::create(place, mount, self.host_notes.as_deref()) {
                Ok(folder) => {
                    let folder = Arc::new(folder);
                    state.folders.insert(place_id, Arc::clone(&folder));
                    return Ok(folder);
                }
                Err(error) if means_no_part(&error) => failure = error,
                Err(error) => return Err(error),
            }
        }
        Err(failure)
    }

    /// Notes that the call has created a directory.
    pub(super) fn note_new_directory(&self) {
        self.lock().has_new_directories = true;
    }

    /// Notes that the call changes a file in place from now on.
    pub(super) fn note_change_in_place(&self, shared: &SharedFile) {
        self.lock().changed_in_place.insert(shared.id);
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

    /// Notes for the person that something is appended to a file, which happens in place.
    pub(super) fn note_appending(&self, shared: &SharedFile, file: &File) {
        let path = match shared.place() {
            FilePlace::At(entry) => entry.guest_path,
            FilePlace::Removed(path) => path,
            FilePlace::Unknown => return,
        };
        // Nobody else sees a file without a name.
        let metadata = file.metadata().map(Metadata::from_just_metadata);
        if metadata.is_ok_and(|metadata| metadata.nlink() > 0) {
            self.note_in_place(&path, "something is appended to it");
        }
    }

    /// Adds bytes to those that were not counted yet.
    pub(super) fn add_work(&self, bytes: u64) {
        self.uncounted_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the number of bytes that were copied since the last time and not counted.
    pub(super) fn take_work(&self) -> u64 {
        self.uncounted_bytes.swap(0, Ordering::Relaxed)
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
}

impl State {
    /// Returns what the call finds at an entry. `None` if there is neither a regular file nor a part.
    fn shown(&self, entry: &Entry) -> Option<Shown> {
        if let Some(number) = self.by_entry.get(&entry.key) {
            return Some(Shown::Written(*number));
        }
        let file = entry.host_file()?;
        let number = self.by_file.get(&file);
        Some(number.map_or(Shown::OnHost(file), |number| Shown::Written(*number)))
    }

    fn add(&mut self, file: WrittenFile) -> FileNumber {
        let number = self.next_number;
        self.next_number += 1;
        self.files.insert(number, file);
        number
    }

    fn share(&mut self, file: FileId) -> Arc<SharedFile> {
        if let Some(shared) = self.open.get(&file).and_then(Weak::upgrade) {
            return shared;
        }
        if self.open.len() >= self.max_open {
            self.open.retain(|_, shared| shared.strong_count() > 0);
            self.max_open = 2 * self.open.len() + 16;
        }
        let shared = Arc::new(SharedFile::new(file));
        self.open.insert(file, Arc::downgrade(&shared));
        shared
    }

    /// Returns whether the call has put another file over this one, which stays at its entry on the host until the call ends.
    fn is_replaced(&self, entry: &Entry, file: FileId) -> bool {
        let number = self.by_entry.get(&entry.key);
        let written = number.and_then(|number| self.files.get(number));
        written.is_some_and(|written| {
            let mut replaced = written.targets.iter().filter_map(|target| target.replaces);
            replaced.any(|stamp| stamp.id == file)
        })
    }
}

/// Fails if the content of a file must be copied and cannot be read.
fn check_copyable(file: &File, kind: WriteKind) -> io::Result<()> {
    let mut byte = [0];
    match kind {
        WriteKind::Truncate => Ok(()),
        WriteKind::Rewrite => std::os::unix::fs::FileExt::read_at(file, &mut byte, 0).map(drop),
    }
}

/// Returns whether a part cannot be created although the disk has room for it.
fn means_no_part(error: &io::Error) -> bool {
    let errnos = [
        Errno::ACCESS,
        Errno::PERM,
        Errno::ROFS,
        Errno::XDEV,
        // A file that may only be written is read.
        Errno::BADF,
        // The file system has no locks.
        Errno::NOLCK,
        Errno::NOTSUP,
    ];
    errnos
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
