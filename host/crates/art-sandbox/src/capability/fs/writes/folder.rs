//! Folders of parts. A *part* is a file with the new content of a granted file, while the call that writes it runs. The parts of a
//! call are in a locked folder of its own beneath the granted directory, so they are on the same file system as what they replace.
//! If the lock of a folder is free, its writer is gone: the old contents that are kept in it are put back, and it is removed.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{FallocateFlags, FlockOperation, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::FileId;
use crate::capability::fs::mount::identity;

/// Number of times that a folder is created again because another call removed the folder around it.
const MAX_TRIES: u32 = 100;
/// Maximum size of a [`KeptContent`] as JSON, in bytes.
const MAX_JSON_BYTES: u64 = 64 << 10;
/// End of the name of a file with a [`KeptContent`].
const KEPT_ENDING: &str = ".kept.json";

/// Returns whether an entry with this name is the host's own: a folder of parts, or a file that a commit of staged changes writes.
pub(in crate::capability::fs) fn is_own_name(name: &str) -> bool {
    name.starts_with(".art-") && (name.ends_with(".part") || name.ends_with(".tmp"))
}

/// Returns the name of the folder in which this user has the folders of all calls, in a granted directory.
fn user_folder_name() -> String {
    format!(".art-{}.part", rustix::process::geteuid().as_raw())
}

/// The folder of the parts of one call beneath one granted directory. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct PartFolder {
    granted: Arc<Dir>,
    /// The folder of the user, which contains the folder of the call.
    user: Dir,
    dir: Dir,
    name: String,
    part_count: AtomicU32,
    /// Whether the folder has old content that could not be put back, so that it must not be removed.
    must_be_kept: AtomicBool,
    /// Shows other calls and processes that the folder is in use.
    _lock: File,
}

/// The old content of a file, which is kept in a part while the file is written in place.
#[derive(Debug, Serialize, Deserialize)]
struct KeptContent {
    /// The path of the file beneath the granted directory.
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    /// The name of the part.
    part: String,
}

impl PartFolder {
    pub(super) fn create(granted: &Arc<Dir>) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("{:016x}", u64::from_le_bytes(random));
        for _ in 0..MAX_TRIES {
            match Self::try_create(granted, &name) {
                // Another call has just removed the folder of the user.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => return result,
            }
        }
        Err(Errno::BUSY.into())
    }

    fn try_create(granted: &Arc<Dir>, name: &str) -> io::Result<Self> {
        create_private(granted, &user_folder_name())?;
        let user = open_user_folder(granted)?;
        // Nobody removes folders that are not in use before this one is locked.
        let user_lock = user.open(".")?.into_std();
        art_files::lock(&user_lock)?;
        create_private(&user, name)?;
        let dir = user.open_dir_nofollow(name)?;
        let lock = try_lock(&dir)?;
        Ok(Self {
            granted: Arc::clone(granted),
            user,
            dir,
            name: name.to_owned(),
            part_count: AtomicU32::new(0),
            must_be_kept: AtomicBool::new(false),
            _lock: lock,
        })
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Creates an empty part. Returns its name, and the file for reading and writing.
    pub(super) fn new_part(&self, mode: u32) -> io::Result<(String, File)> {
        let name = self.part_count.fetch_add(1, Ordering::Relaxed).to_string();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(mode);
        let file = self.dir.open_with(&name, &options)?.into_std();
        Ok((name, file))
    }

    /// Opens a part for reading and writing.
    pub(super) fn open_part(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).follow(FollowSymlinks::No);
        Ok(self.dir.open_with(name, &options)?.into_std())
    }

    /// Writes the content of a part over the file at a path beneath the granted directory, which keeps its identity. Space is
    /// reserved first, and the old content is kept until the new one is stored. If this fails, the file has its old content.
    pub(super) fn write_in_place(&self, part: &mut File, path: &Path, original: Option<FileId>) -> io::Result<()> {
        let mut target = open_in_place(&self.granted, path)?;
        let metadata = Metadata::from_just_metadata(target.metadata()?);
        if Some(identity(&metadata)) != original {
            return Err(io::Error::other("somebody else replaced it"));
        }
        let (old_part, mut old) = self.new_part(0o600)?;
        io::copy(&mut target, &mut old)?;
        old.sync_all()?;
        let (device, inode) = identity(&metadata);
        let kept = KeptContent {
            path: path.to_owned(),
            device,
            inode,
            bytes: metadata.len(),
            part: old_part.clone(),
        };
        let note = format!("{old_part}{KEPT_ENDING}");
        self.store(&note, &serde_json::to_vec(&kept)?)?;
        let bytes = part.metadata()?.len();
        reserve(&target, 0, bytes)?;
        if let Err(error) = overwrite(&mut target, part, bytes) {
            put_back(&self.granted, &self.dir, &note)
                .inspect_err(|_| self.must_be_kept.store(true, Ordering::Relaxed))?;
            return Err(error);
        }
        drop_special_bits(&target);
        self.dir.remove_file(&note)?;
        self.dir.remove_file(&old_part)
    }

    /// Stores a small file of the folder, so that it and the folder survive a crash.
    fn store(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let temporary = format!("{name}.tmp");
        let mut file = self.dir.create(&temporary)?;
        io::Write::write_all(&mut file, bytes)?;
        file.sync_all()?;
        self.dir.rename(&temporary, &self.dir, name)?;
        [&self.dir, &self.user, &*self.granted]
            .into_iter()
            .try_for_each(sync_directory)
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        if self.must_be_kept.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = self.user.remove_dir_all(&self.name) {
            tracing::warn!(%error, "a folder with unfinished files cannot be removed");
        }
        // Fails if another call has a folder there.
        drop(self.granted.remove_dir(user_folder_name()));
    }
}

/// Puts back the old contents of files whose writers are gone, and removes what these left in a granted directory.
pub(super) fn recover(granted: &Dir) {
    let Ok(user) = open_user_folder(granted) else { return };
    // While another call creates its folder or recovers, there is nothing to do.
    let Ok(lock) = try_lock(&user) else { return };
    for entry in user.entries().into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Ok(folder) = user.open_dir_nofollow(&name) else {
            continue;
        };
        // A folder that is locked is in use.
        let Ok(_lock) = try_lock(&folder) else { continue };
        let recovered = put_all_back(granted, &folder).and_then(|()| user.remove_dir_all(&name));
        if let Err(error) = recovered {
            tracing::error!(%error, "what a call left unfinished in a granted folder cannot be cleared");
        }
    }
    drop(lock);
    drop(granted.remove_dir(user_folder_name()));
}

fn put_all_back(granted: &Dir, folder: &Dir) -> io::Result<()> {
    for entry in folder.entries()? {
        if let Ok(name) = entry?.file_name().into_string()
            && name.ends_with(KEPT_ENDING)
        {
            put_back(granted, folder, &name)?;
        }
    }
    Ok(())
}

/// Gives a file the content that is kept in a folder, and removes the note about it.
fn put_back(granted: &Dir, folder: &Dir, note: &str) -> io::Result<()> {
    let file = io::Read::take(folder.open(note)?, MAX_JSON_BYTES);
    let kept: KeptContent = serde_json::from_reader(file)?;
    let mut target = open_in_place(granted, &kept.path)?;
    let metadata = Metadata::from_just_metadata(target.metadata()?);
    if identity(&metadata) != (kept.device, kept.inode) {
        return Err(io::Error::other("the file was replaced"));
    }
    let mut old = folder.open(&kept.part)?.into_std();
    overwrite(&mut target, &mut old, kept.bytes)?;
    folder.remove_file(note)
}

/// Writes `bytes` bytes over a file, and waits until they are stored.
fn overwrite(target: &mut File, from: &mut File, bytes: u64) -> io::Result<()> {
    io::Seek::rewind(target)?;
    io::Seek::rewind(from)?;
    io::copy(from, target)?;
    target.set_len(bytes)?;
    target.sync_all()
}

/// Reserves space, so that writing there does not fail because the disk is full. Does nothing on file systems that cannot.
pub(in crate::capability::fs) fn reserve(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match rustix::fs::fallocate(file.as_fd(), FallocateFlags::KEEP_SIZE, offset, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        result => Ok(result?),
    }
}

/// Removes set-user-ID and set-group-ID from a file that a tool writes: its owner gave these bits to other content. Fails silently
/// for a file of another user, where the system does the same for everybody but root.
pub(in crate::capability::fs) fn drop_special_bits(file: &File) {
    let Ok(metadata) = file.metadata().map(Metadata::from_just_metadata) else {
        return;
    };
    if metadata.mode() & 0o6000 != 0 {
        let mode = rustix::fs::Mode::from_raw_mode(metadata.mode() & 0o1777);
        rustix::fs::fchmod(file.as_fd(), mode).ok();
    }
}

/// Opens a regular file to read and write it. Follows no link in the last part of the path.
fn open_in_place(granted: &Dir, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(FollowSymlinks::No);
    let file = granted.open_with(path, &options)?.into_std();
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Errno::ACCESS.into())
    }
}

/// Opens the folder of this user in a granted directory. Refuses one that somebody else made or may change.
fn open_user_folder(granted: &Dir) -> io::Result<Dir> {
    let user = granted.open_dir_nofollow(user_folder_name())?;
    let metadata = user.dir_metadata()?;
    let is_private = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0;
    if is_private { Ok(user) } else { Err(Errno::PERM.into()) }
}

fn create_private(dir: &Dir, name: &str) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    match dir.create_dir_with(name, &builder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        created => created,
    }
}

/// Locks a folder. Fails at once if it is locked already, also by this process.
fn try_lock(folder: &Dir) -> io::Result<File> {
    let file = folder.open(".")?.into_std();
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    Ok(file)
}

/// Waits until the entries of a directory are stored.
pub(super) fn sync_directory(dir: &Dir) -> io::Result<()> {
    match dir.open(".")?.sync_all() {
        // Some file systems can wait only for files.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}
