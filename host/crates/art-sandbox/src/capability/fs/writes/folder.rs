//! Folders of parts. A *part* is a file with the new content of a granted file, while the call that writes it runs. The parts of a
//! call are in a locked folder of its own, in the granted directory or in that of the file, so they are on the same file system as
//! what they replace. If the lock of a folder is free, its writer is gone, and the folder is [recovered](super::recovery).

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, DirBuilder, DirBuilderExt as _, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use serde::Serialize;

use super::entry::{Entry, MountId};
use super::note::{Note, WriteNotes};
use super::recovery::{self, MovedFile, moved_note_name};
use crate::capability::fs::mount::identity;

/// Number of times that a folder is created again because another call removed the folder around it.
const MAX_TRIES: u32 = 100;
/// The file by which a folder of parts is recognised.
pub(super) const MARKER: &str = "art-parts";

/// Returns whether an entry with this name is the host's own: a folder of parts, or a file that a commit of staged changes writes.
pub(in crate::capability::fs) fn is_own_name(name: &str) -> bool {
    name.starts_with(".art-") && (name.ends_with(".part") || name.ends_with(".tmp"))
}

/// Returns the name of the folder in which this user has the folders of all calls, in a directory.
pub(super) fn user_folder_name() -> String {
    format!(".art-{}.part", rustix::process::geteuid().as_raw())
}

/// Returns whether this is the name of the folder of a call.
pub(super) fn is_call_folder(name: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    name.len() == 16 && name.bytes().all(is_digit)
}

/// The folder of the parts of one call in one directory. It is removed when it is dropped.
#[derive(Debug)]
pub(super) struct PartFolder {
    /// The directory in which the folder of the user is.
    place: Arc<Dir>,
    mount: MountId,
    /// The folder of the user, which contains the folder of the call.
    user: Dir,
    dir: Dir,
    name: String,
    part_count: AtomicU32,
    /// Whether the folder has old content that could not be put back, so that it must not be removed.
    must_be_kept: AtomicBool,
    /// The note of the host about the folder, which is removed after it.
    note: Option<Note>,
    /// Shows other calls and processes that the folder is in use.
    _lock: File,
}

impl PartFolder {
    /// Creates the folder of a call in a directory with this mount, and makes a note about it before.
    pub(super) fn create(place: &Arc<Dir>, mount: MountId, notes: Option<&WriteNotes>) -> io::Result<Self> {
        let mut random = [0; 8];
        getrandom::fill(&mut random).map_err(io::Error::other)?;
        let name = format!("{:016x}", u64::from_le_bytes(random));
        let noted = notes.map(|notes| notes.add(&name, place)).transpose();
        let note = noted.unwrap_or_else(|error| {
            // What is left of the call then is cleared when its directory is used again.
            tracing::warn!(%error, "it cannot be noted where files are written");
            None
        });
        for _ in 0..MAX_TRIES {
            match Self::try_create(place, mount, &name) {
                // Another call has just removed the folder of the user.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    // For example because the file system has no locks. A folder that others can use is not that of the host.
                    if let Ok(user) = open_user_folder(place) {
                        drop(user.remove_dir(&name));
                        drop(place.remove_dir(user_folder_name()));
                    }
                    return Err(error);
                }
                Ok(mut folder) => {
                    folder.note = note;
                    return Ok(folder);
                }
            }
        }
        Err(Errno::BUSY.into())
    }

    fn try_create(place: &Arc<Dir>, mount: MountId, name: &str) -> io::Result<Self> {
        let is_made = create_private(place, &user_folder_name())?;
        let user = open_user_folder(place).inspect_err(|_| {
            // The file system may not be able to keep a folder private.
            if is_made {
                drop(place.remove_dir(user_folder_name()));
            }
        })?;
        // Nobody removes folders that are not in use before this one is locked.
        let user_lock = user.open(".")?.into_std();
        art_files::lock(&user_lock)?;
        create_private(&user, name)?;
        let dir = user.open_dir_nofollow(name)?;
        let lock = try_lock(&dir)?;
        dir.create(MARKER)?;
        Ok(Self {
            place: Arc::clone(place),
            mount,
            user,
            dir,
            name: name.to_owned(),
            part_count: AtomicU32::new(0),
            must_be_kept: AtomicBool::new(false),
            note: None,
            _lock: lock,
        })
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// Returns where the folder is mounted.
    pub(super) fn mount(&self) -> MountId {
        self.mount
    }

    /// Returns whether the folder is in this directory.
    pub(super) fn contains(&self, directory: &Dir) -> bool {
        let id = |dir: &Dir| dir.dir_metadata().as_ref().map(identity).ok();
        id(&self.place) == id(directory)
    }

    /// Creates an empty part. Returns its name, and the file for reading and writing.
    pub(super) fn new_part(&self, mode: u32) -> io::Result<(String, File)> {
        let name = self.new_name();
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(mode);
        let file = self.dir.open_with(&name, &options)?.into_std();
        Ok((name, file))
    }

    /// Gives a part a second name in the folder, and returns it.
    pub(super) fn link_part(&self, part: &str) -> io::Result<String> {
        let name = self.new_name();
        self.dir.hard_link(part, &self.dir, &name)?;
        Ok(name)
    }

    fn new_name(&self) -> String {
        self.part_count.fetch_add(1, Ordering::Relaxed).to_string()
    }

    /// Opens a part for reading and writing.
    pub(super) fn open_part(&self, name: &str) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).follow(FollowSymlinks::No);
        Ok(self.dir.open_with(name, &options)?.into_std())
    }

    /// Stores a note about a file that the folder keeps, so that it and the folder survive a crash.
    pub(super) fn store_note(&self, note: &str, content: &impl Serialize) -> io::Result<()> {
        let temporary = format!("{note}.tmp");
        let mut file = self.dir.create(&temporary)?;
        io::Write::write_all(&mut file, &serde_json::to_vec(content)?)?;
        file.sync_all()?;
        self.dir.rename(&temporary, &self.dir, note)?;
        [&self.dir, &self.user, &*self.place]
            .into_iter()
            .try_for_each(sync_directory)?;
        if let Some(of_folder) = &self.note {
            of_folder.store()?;
        }
        Ok(())
    }

    /// Moves the file at an entry into the folder. It comes back if the returned value is dropped, or if the process is killed.
    pub(super) fn set_aside(self: &Arc<Self>, entry: &Entry) -> io::Result<SetAside> {
        let name = self.new_name();
        let path = match self.contains(&entry.parent) {
            true => entry.name().to_owned(),
            false if self.contains(&entry.granted) => entry.path.clone(),
            false => return Err(Errno::XDEV.into()),
        };
        let note = moved_note_name(&name);
        self.store_note(&note, &MovedFile { path })?;
        entry.parent.rename(entry.name(), &self.dir, &name)?;
        Ok(SetAside {
            folder: Arc::clone(self),
            note,
            is_settled: false,
        })
    }

    /// Puts back the old content of a file, whose note this is. If this fails, the folder stays, so that it can be put back later.
    pub(super) fn put_back(&self, note: &str) -> io::Result<()> {
        let put_back = recovery::put_back(&self.place, &self.dir, note, false);
        put_back.inspect_err(|_| self.must_be_kept.store(true, Ordering::Relaxed))
    }

    /// Returns the path of the folder beneath its directory.
    pub(super) fn path(&self) -> String {
        format!("{}/{}", user_folder_name(), self.name)
    }
}

/// A file that the call has moved into its folder. It comes back if this is dropped before it is settled.
#[derive(Debug)]
pub(super) struct SetAside {
    folder: Arc<PartFolder>,
    note: String,
    is_settled: bool,
}

impl SetAside {
    /// Lets the file go with the folder.
    pub(super) fn settle(mut self) -> io::Result<()> {
        self.folder.dir.remove_file(&self.note)?;
        self.is_settled = true;
        Ok(())
    }
}

impl Drop for SetAside {
    fn drop(&mut self) {
        if self.is_settled {
            return;
        }
        if let Err(error) = recovery::move_back(&self.folder.place, &self.folder.dir, &self.note) {
            self.folder.must_be_kept.store(true, Ordering::Relaxed);
            tracing::error!(%error, "a file that a call has moved cannot be moved back");
        }
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        if self.must_be_kept.load(Ordering::Relaxed) {
            if let Some(note) = &mut self.note {
                note.must_be_kept = true;
            }
            return;
        }
        if let Err(error) = recovery::remove_folder(&self.user, &self.dir, &self.name) {
            tracing::warn!(%error, "a folder with unfinished files cannot be removed");
        }
        // Fails if another call has a folder there.
        drop(self.place.remove_dir(user_folder_name()));
    }
}

/// Opens a regular file to read and write it. Follows no link in the last part of the path.
pub(super) fn open_in_place(dir: &Dir, path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options
        .read(true)
        .write(true)
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(FollowSymlinks::No);
    let file = dir.open_with(path, &options)?.into_std();
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(Errno::ACCESS.into())
    }
}

/// Opens the folder of this user in a directory. Refuses one that somebody else made or may change.
pub(super) fn open_user_folder(place: &Dir) -> io::Result<Dir> {
    let user = place.open_dir_nofollow(user_folder_name())?;
    let metadata = user.dir_metadata()?;
    let is_private = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o077 == 0;
    if is_private { Ok(user) } else { Err(Errno::PERM.into()) }
}

/// Creates a folder that only its owner can use. Returns whether there was none.
fn create_private(dir: &Dir, name: &str) -> io::Result<bool> {
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    match dir.create_dir_with(name, &builder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        created => created.map(|()| true),
    }
}

/// Locks a folder. Fails at once if it is locked already, also by this process.
pub(super) fn try_lock(folder: &Dir) -> io::Result<File> {
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
