//! Staged writes: what a call changes under a grant with `stage = true` goes to a draft, and the call sees it as if it were done.
//!
//! The granted files themselves are only read. Links are not followed, and only files are moved.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use art_core::capability::FsGrant;
use art_staging::{Before, Draft, Drafted, Origin, Staging, StagingError};
use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use super::bindings::types::{DescriptorType, DirectoryEntry, ErrorCode};
use super::fault::code_of_error;
use super::listing::type_of;
use super::quota::Quota;

type Result<T> = std::result::Result<T, ErrorCode>;

/// Where the drafts of a call go.
#[derive(Clone, Debug)]
pub(crate) struct StagingArea {
    pub(crate) staging: Arc<Staging>,
    pub(crate) origin: Origin,
}

/// The changes of a call under one grant.
#[derive(Debug)]
pub(super) struct Overlay {
    grant: Arc<FsGrant>,
    area: StagingArea,
    quota: Arc<Quota>,
    state: Mutex<Option<State>>,
}

/// What was opened at the first use.
#[derive(Debug)]
struct State {
    /// The granted directory, or that which contains the granted file.
    dir: Dir,
    /// The name of the granted file in `dir`; empty if a directory is granted.
    name: String,
    draft: Draft,
    entries: BTreeMap<String, Entry>,
    /// What the files were that the call opened, when it first did.
    stamps: HashMap<String, Stamp>,
}

/// What the call made of a path.
#[derive(Clone, Debug)]
struct Entry {
    kind: EntryKind,
    /// What is there on the host.
    before: Before,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum EntryKind {
    /// A file with the contents of a blob.
    File(String),
    Directory,
    Nothing,
}

/// What tells one state of a file from another without reading it.
type Stamp = (u64, u64, u64, i64, i64, i64, i64);

/// What the call finds at a path.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    /// A file that the call wrote.
    Staged(File),
    /// A directory that the call created.
    NewDirectory,
    /// Something on the host.
    Host(Box<Metadata>),
}

impl Found {
    /// Returns whether it is neither a regular file nor a directory.
    pub(super) fn is_special(&self) -> bool {
        matches!(self, Self::Host(metadata) if !metadata.is_dir() && !metadata.is_file())
    }

    pub(super) fn is_directory(&self) -> bool {
        match self {
            Self::NewDirectory => true,
            Self::Host(metadata) => metadata.is_dir(),
            Self::Nothing | Self::Staged(_) => false,
        }
    }
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OverlayOpening {
    pub(super) writes: bool,
    pub(super) creates: bool,
    pub(super) is_new: bool,
    pub(super) truncates: bool,
}

impl Overlay {
    pub(super) fn new(grant: &Arc<FsGrant>, area: StagingArea, quota: Arc<Quota>) -> Self {
        Self {
            grant: Arc::clone(grant),
            area,
            quota,
            state: Mutex::new(None),
        }
    }

    /// Returns whether this is the overlay of `grant`.
    pub(super) fn is_of(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Calls `operation` with the state and the path below its directory. `path` is the path on the host.
    fn with<T>(&self, path: &Path, operation: impl FnOnce(&mut State, &str) -> Result<T>) -> Result<T> {
        let mut state = self.lock();
        if state.is_none() {
            *state = Some(State::open(&self.grant.path, &self.area)?);
        }
        let state = state.as_mut().ok_or(ErrorCode::Io)?;
        let below = path.strip_prefix(&self.grant.path).ok().ok_or(ErrorCode::Access)?;
        let below = below.to_str().ok_or(ErrorCode::IllegalByteSequence)?;
        let key = match (state.name.as_str(), below) {
            ("", below) => below.to_owned(),
            (name, "") => name.to_owned(),
            _ => return Err(ErrorCode::NotDirectory),
        };
        operation(state, &key)
    }

    fn lock(&self) -> MutexGuard<'_, Option<State>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, path: &Path) -> Result<Found> {
        self.with(path, |state, key| state.find(key))
    }

    /// Opens a file, in the draft if it is written to.
    pub(super) fn open(&self, path: &Path, opening: OverlayOpening) -> Result<File> {
        self.with(path, |state, key| match state.find(key)? {
            Found::Nothing if opening.creates => state.create(key, &self.quota),
            Found::Nothing => Err(ErrorCode::NoEntry),
            _ if opening.is_new => Err(ErrorCode::Exist),
            Found::Staged(file) => emptied(file, opening.truncates),
            Found::NewDirectory => Err(ErrorCode::IsDirectory),
            Found::Host(metadata) if metadata.is_dir() => Err(ErrorCode::IsDirectory),
            Found::Host(metadata) if !metadata.is_file() => Err(ErrorCode::Access),
            Found::Host(_) if opening.writes => state.copy_up(key, opening.truncates, &self.quota),
            Found::Host(_) => state.open_on_host(key),
        })
    }

    pub(super) fn list(&self, path: &Path) -> Result<Vec<DirectoryEntry>> {
        self.with(path, State::list)
    }

    pub(super) fn create_directory(&self, path: &Path) -> Result<()> {
        self.with(path, |state, key| {
            state.check_new(key)?;
            self.quota.add_file()?;
            state.put(key, EntryKind::Directory)
        })
    }

    pub(super) fn remove_directory(&self, path: &Path) -> Result<()> {
        self.with(path, |state, key| {
            match state.find(key)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
                _ => {}
            }
            if state.list(key)?.is_empty() {
                state.put(key, EntryKind::Nothing)
            } else {
                Err(ErrorCode::NotEmpty)
            }
        })
    }

    pub(super) fn remove_file(&self, path: &Path) -> Result<()> {
        self.with(path, |state, key| match state.find(key)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Err(ErrorCode::IsDirectory),
            _ => state.put(key, EntryKind::Nothing),
        })
    }

    /// Moves a file. A directory is not moved.
    pub(super) fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        if from == to {
            return self.find(from).map(drop);
        }
        self.with(from, |state, old| {
            match state.find(old)? {
                Found::Nothing => return Err(ErrorCode::NoEntry),
                found if found.is_directory() => return Err(ErrorCode::NotPermitted),
                Found::Host(metadata) if !metadata.is_file() => return Err(ErrorCode::NotPermitted),
                Found::Host(_) => drop(state.copy_up(old, false, &self.quota)?),
                _ => {}
            }
            let Some(Entry { kind, .. }) = state.entries.get(old).cloned() else {
                return Err(ErrorCode::Io);
            };
            let below = to.strip_prefix(&self.grant.path).ok().and_then(Path::to_str);
            let new = below
                .filter(|_| state.name.is_empty())
                .ok_or(ErrorCode::CrossDevice)?
                .to_owned();
            if state.find(&new)?.is_directory() {
                return Err(ErrorCode::IsDirectory);
            }
            state.check_parent(&new)?;
            state.put(&new, kind)?;
            state.put(old, EntryKind::Nothing)
        })
    }

    /// Makes a change set of what the call did. Returns its identifier, or `None` if it did nothing.
    pub(super) fn finish(&self) -> std::result::Result<Option<String>, StagingError> {
        let Some(State { draft, entries, .. }) = self.lock().take() else {
            return Ok(None);
        };
        let drafted = entries.into_iter().map(|(path, entry)| {
            let drafted = match (entry.kind, entry.before) {
                (EntryKind::File(blob), _) => Drafted::Write(blob),
                (EntryKind::Directory, _) => Drafted::CreateDirectory,
                (EntryKind::Nothing, Before::Directory) => Drafted::RemoveDirectory,
                (EntryKind::Nothing, _) => Drafted::RemoveFile,
            };
            (PathBuf::from(path), drafted, entry.before)
        });
        draft.finish(drafted.collect())
    }
}

impl State {
    fn open(granted: &Path, area: &StagingArea) -> Result<Self> {
        let code = |error: io::Error| code_of_error(&error);
        let (path, name) = match granted.is_dir() {
            true => (granted.to_owned(), String::new()),
            false => split(&std::fs::canonicalize(granted).unwrap_or_else(|_| granted.to_owned()))?,
        };
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(code)?;
        let draft = area.staging.draft(area.origin.clone(), &path);
        let draft = draft.inspect_err(|error| tracing::error!(%error, "no changes can be staged"));
        Ok(Self {
            dir,
            name,
            draft: draft.ok().ok_or(ErrorCode::Io)?,
            entries: BTreeMap::new(),
            stamps: HashMap::new(),
        })
    }

    /// Returns what is at a path. A link on the way to it is refused, and one at its end is what is found.
    fn find(&self, key: &str) -> Result<Found> {
        match self.entries.get(key).map(|entry| &entry.kind) {
            Some(EntryKind::File(blob)) => {
                let file = self.draft.open_blob(blob).map_err(|error| code_of_error(&error))?;
                return Ok(Found::Staged(file));
            }
            Some(EntryKind::Directory) => return Ok(Found::NewDirectory),
            Some(EntryKind::Nothing) => return Ok(Found::Nothing),
            None => {}
        }
        for above in ancestors(key) {
            match self.entries.get(above).map(|entry| &entry.kind) {
                Some(EntryKind::Nothing) => return Ok(Found::Nothing),
                Some(EntryKind::File(_)) => return Err(ErrorCode::NotDirectory),
                Some(EntryKind::Directory) | None => {}
            }
            match self.on_host(above)? {
                Some(metadata) if metadata.is_symlink() => return Err(ErrorCode::Loop),
                _ => {}
            }
        }
        let found = self.on_host(key)?;
        Ok(found.map_or(Found::Nothing, |metadata| Found::Host(Box::new(metadata))))
    }

    fn on_host(&self, key: &str) -> Result<Option<Metadata>> {
        let path = if key.is_empty() { "." } else { key };
        match self.dir.symlink_metadata(path) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(code_of_error(&error)),
        }
    }

    fn open_on_host(&mut self, key: &str) -> Result<File> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
            .follow(FollowSymlinks::No);
        let file = self.dir.open_with(key, &options);
        let opened = file.and_then(|file| file.metadata().map(|metadata| (file, metadata)));
        let (file, metadata) = opened.map_err(|error| code_of_error(&error))?;
        if !metadata.is_file() {
            return Err(ErrorCode::Access);
        }
        self.stamps.entry(key.to_owned()).or_insert_with(|| stamp(&metadata));
        Ok(file.into_std())
    }

    /// Returns what is at a path on the host, for the check before a commit.
    fn before(&mut self, key: &str) -> Result<Before> {
        if let Some(entry) = self.entries.get(key) {
            return Ok(entry.before);
        }
        match self.on_host(key)? {
            None if self.stamps.contains_key(key) => Ok(Before::Unclear),
            None => Ok(Before::Nothing),
            Some(metadata) if metadata.is_dir() => Ok(Before::Directory),
            Some(metadata) if !metadata.is_file() => Ok(Before::Unclear),
            Some(_) => self.digest(key, None),
        }
    }

    /// Reads a file of the host to its end, and copies it. It is unclear what it was if it changed in the meantime, or since the call
    /// opened it first.
    fn digest(&mut self, key: &str, mut copy: Option<&mut File>) -> Result<Before> {
        let code = |error: io::Error| code_of_error(&error);
        let mut file = self.open_on_host(key)?;
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = io::Read::read(&mut file, &mut buffer).map_err(code)?;
            let bytes = buffer.get(..read).unwrap_or_default();
            if bytes.is_empty() {
                break;
            }
            hasher.update(bytes);
            if let Some(copy) = copy.as_mut() {
                io::Write::write_all(copy, bytes).map_err(code)?;
            }
        }
        let now = Metadata::from_just_metadata(file.metadata().map_err(code)?);
        let is_same = self.stamps.get(key) == Some(&stamp(&now));
        Ok(if is_same {
            Before::File(hasher.finalize().into())
        } else {
            Before::Unclear
        })
    }

    /// Copies a file of the host into the draft, or begins an empty one in its place.
    fn copy_up(&mut self, key: &str, truncates: bool, quota: &Quota) -> Result<File> {
        if !truncates {
            let length = self.on_host(key)?.map_or(0, |metadata| metadata.len());
            quota.add_bytes(length)?;
        }
        let (blob, mut file) = self.draft.new_blob().map_err(|error| code_of_error(&error))?;
        let copy = (!truncates).then_some(&mut file);
        let before = self.digest(key, copy)?;
        let kind = EntryKind::File(blob);
        self.entries.insert(key.to_owned(), Entry { kind, before });
        Ok(file)
    }

    fn create(&mut self, key: &str, quota: &Quota) -> Result<File> {
        self.check_new(key)?;
        quota.add_file()?;
        let (blob, file) = self.draft.new_blob().map_err(|error| code_of_error(&error))?;
        self.put(key, EntryKind::File(blob))?;
        Ok(file)
    }

    fn check_new(&self, key: &str) -> Result<()> {
        match self.find(key)? {
            Found::Nothing => self.check_parent(key),
            _ => Err(ErrorCode::Exist),
        }
    }

    fn check_parent(&self, key: &str) -> Result<()> {
        let parent = key.rsplit_once('/').map_or("", |(parent, _)| parent);
        match self.find(parent)? {
            Found::Nothing => Err(ErrorCode::NoEntry),
            found if found.is_directory() => Ok(()),
            _ => Err(ErrorCode::NotDirectory),
        }
    }

    /// Notes what a path now is. A file does not take the place of a directory, and a directory not that of a file.
    fn put(&mut self, key: &str, kind: EntryKind) -> Result<()> {
        if key.is_empty() {
            return Err(ErrorCode::NotPermitted);
        }
        let before = self.before(key)?;
        let is_other_kind = matches!(
            (&kind, before),
            (EntryKind::Directory, Before::File(_) | Before::Unclear) | (EntryKind::File(_), Before::Directory)
        );
        if is_other_kind {
            return Err(ErrorCode::NotPermitted);
        }
        let is_as_before = matches!(
            (&kind, before),
            (EntryKind::Nothing, Before::Nothing) | (EntryKind::Directory, Before::Directory)
        );
        if is_as_before {
            self.entries.remove(key);
        } else {
            self.entries.insert(key.to_owned(), Entry { kind, before });
        }
        Ok(())
    }

    fn list(&mut self, key: &str) -> Result<Vec<DirectoryEntry>> {
        match self.find(key)? {
            Found::Nothing => return Err(ErrorCode::NoEntry),
            found if !found.is_directory() => return Err(ErrorCode::NotDirectory),
            _ => {}
        }
        let mut entries = self.staged_in(key);
        let own: BTreeSet<String> = entries.iter().map(|(name, _)| name.clone()).collect();
        for (name, type_) in self.entries_on_host(key)? {
            if !own.contains(&name) {
                entries.push((name, Some(type_)));
            }
        }
        let entry = |(name, type_): (String, Option<DescriptorType>)| Some(DirectoryEntry { type_: type_?, name });
        Ok(entries.into_iter().filter_map(entry).collect())
    }

    /// Returns the names in a directory of which the call made something, with their types. What it removed has none.
    fn staged_in(&self, key: &str) -> Vec<(String, Option<DescriptorType>)> {
        let prefix = if key.is_empty() {
            String::new()
        } else {
            format!("{key}/")
        };
        let below = self
            .entries
            .range(prefix.clone()..)
            .take_while(|(path, _)| path.starts_with(&prefix));
        let direct = below.filter_map(|(path, entry)| {
            let name = path
                .strip_prefix(&prefix)
                .filter(|name| !name.contains('/') && !name.is_empty())?;
            let type_ = match entry.kind {
                EntryKind::File(_) => Some(DescriptorType::RegularFile),
                EntryKind::Directory => Some(DescriptorType::Directory),
                EntryKind::Nothing => None,
            };
            Some((name.to_owned(), type_))
        });
        direct.collect()
    }

    /// Returns the names and types of a directory on the host. A name that is no text is an error.
    fn entries_on_host(&self, key: &str) -> Result<Vec<(String, DescriptorType)>> {
        let code = |error: io::Error| code_of_error(&error);
        let path = if key.is_empty() { "." } else { key };
        let entries = match self.dir.read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(code(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(code)?;
            let name = entry
                .file_name()
                .into_string()
                .ok()
                .ok_or(ErrorCode::IllegalByteSequence)?;
            if found.len() >= super::listing::MAX_ENTRIES as usize {
                return Err(ErrorCode::Overflow);
            }
            found.push((name, entry.file_type().map_or(DescriptorType::Unknown, type_of)));
        }
        Ok(found)
    }
}

fn emptied(file: File, truncates: bool) -> Result<File> {
    if truncates {
        file.set_len(0).map_err(|error| code_of_error(&error))?;
    }
    Ok(file)
}

fn split(path: &Path) -> Result<(PathBuf, String)> {
    let name = path.file_name().and_then(|name| name.to_str());
    match (path.parent(), name) {
        (Some(parent), Some(name)) => Ok((parent.to_owned(), name.to_owned())),
        _ => Err(ErrorCode::NoEntry),
    }
}

/// Returns the directories above a path, the outermost first, without the granted one.
fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    key.match_indices('/').filter_map(|(at, _)| key.get(..at))
}

fn stamp(metadata: &Metadata) -> Stamp {
    (
        metadata.dev(),
        metadata.ino(),
        metadata.len(),
        metadata.mtime(),
        metadata.mtime_nsec(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    )
}
