//! Clears what calls have left whose process is gone: puts back the old contents of files that they were writing in place, and
//! removes their folders.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use art_files::{FoundContent, compare, overwrite};
use cap_fs_ext::DirExt as _;
use cap_std::fs::{Dir, Metadata, PermissionsExt as _};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::folder::{
    MARKER, is_call_folder, open_in_place, open_user_folder, sync_directory, try_lock, user_folder_name,
};
use crate::capability::fs::mount::identity;

/// Maximum size of a [`KeptContent`] as JSON, in bytes.
const MAX_JSON_BYTES: u64 = 64 << 10;
/// End of the name of a file with a [`KeptContent`].
const KEPT_ENDING: &str = ".kept.json";
/// End of the name of a file with a [`MovedFile`].
const MOVED_ENDING: &str = ".moved.json";

/// The note about the old content of a file, which is kept in a part while the file is written in place.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeptContent {
    /// The path of the file beneath the directory that has the folder of the user.
    pub(super) path: PathBuf,
    pub(super) device: u64,
    pub(super) inode: u64,
    /// The name of the part with the old content.
    pub(super) old: String,
    /// The name of the part with the new content.
    pub(super) new: String,
}

impl KeptContent {
    pub(super) fn note_name(&self) -> String {
        format!("{}{KEPT_ENDING}", self.old)
    }
}

/// The note about a file of the host that is kept in the folder because the call has moved it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MovedFile {
    /// The path of the file beneath the directory that has the folder of the user.
    pub(super) path: PathBuf,
}

/// Returns the name of the note about a file in the folder.
pub(super) fn moved_note_name(name: &str) -> String {
    format!("{name}{MOVED_ENDING}")
}

/// Puts back the old contents of files whose writers are gone, and removes what these left in a directory.
pub(super) fn recover(place: &Dir) {
    let Ok(user) = open_user_folder(place) else { return };
    // While another call creates its folder or recovers, there is nothing to do.
    let Ok(lock) = try_lock(&user) else { return };
    for entry in user.entries().into_iter().flatten().flatten() {
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        if !is_call_folder(&name) {
            continue;
        }
        let Ok(folder) = user.open_dir_nofollow(&name) else {
            continue;
        };
        // A folder that is locked is in use.
        let Ok(_lock) = try_lock(&folder) else { continue };
        let recovered = put_all_back(place, &folder).and_then(|()| remove_folder(&user, &folder, &name));
        if let Err(error) = recovered {
            tracing::error!(%error, "what a call left unfinished in a granted folder cannot be cleared");
        }
    }
    drop(lock);
    drop(place.remove_dir(user_folder_name()));
}

/// Removes the folder of a call with all that the host has made in it. Anything else stays.
pub(super) fn remove_folder(user: &Dir, folder: &Dir, name: &str) -> io::Result<()> {
    // A folder without its marker is empty, if it is that of a call at all.
    if folder.symlink_metadata(MARKER).is_ok_and(|marker| marker.is_file()) {
        let names = folder.entries()?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let names = names.collect::<io::Result<Vec<_>>>()?;
        let own = names.iter().flatten().filter(|name| is_name_in_folder(name));
        // The notes first: what they are about is settled, and they must not outlive it.
        let (notes, parts): (Vec<&String>, Vec<_>) = own.partition(|name| name.ends_with(".json"));
        notes
            .into_iter()
            .chain(parts)
            .try_for_each(|name| folder.remove_file(name))?;
        folder.remove_file(MARKER)?;
    }
    user.remove_dir(name)
}

/// Returns whether the host has made the file with this name in the folder of a call: a part, or a note about one.
fn is_name_in_folder(name: &str) -> bool {
    let name = name.strip_suffix(".tmp").unwrap_or(name);
    let number = [KEPT_ENDING, MOVED_ENDING]
        .iter()
        .find_map(|ending| name.strip_suffix(ending));
    let number = number.unwrap_or(name);
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Puts back all old contents and moved files in the folder of a call. The first error does not stop the others.
fn put_all_back(place: &Dir, folder: &Dir) -> io::Result<()> {
    let mut result = Ok(());
    for entry in folder.entries()? {
        let Ok(name) = entry?.file_name().into_string() else {
            continue;
        };
        let keeps_new = true;
        result = result.and(match &name {
            note if note.ends_with(KEPT_ENDING) => put_back(place, folder, note, keeps_new),
            note if note.ends_with(MOVED_ENDING) => move_back(place, folder, note),
            _ => Ok(()),
        });
    }
    result
}

/// Gives a file the content that is kept in a folder, and removes the note about it. If somebody else has changed the file
/// meanwhile, puts the old content beside it. Does nothing to a file that was removed or replaced, or, if `keeps_new` is set, that has
/// its whole new content.
pub(super) fn put_back(place: &Dir, folder: &Dir, note: &str, keeps_new: bool) -> io::Result<()> {
    let kept: KeptContent = read_note(folder, note)?;
    if let Some(target) = open_kept(place, &kept)? {
        let old = folder.open(&kept.old)?.into_std();
        let new = folder.open(&kept.new)?.into_std();
        match compare(&target, &old, &new)? {
            FoundContent::New if keeps_new => target.sync_all()?,
            FoundContent::Old => target.sync_all()?,
            FoundContent::New | FoundContent::Mixed => overwrite(&target, &old)?,
            FoundContent::Other => {
                let mode = Metadata::from_just_metadata(target.metadata()?).permissions().mode() & 0o777;
                folder.set_permissions(&kept.old, cap_std::fs::Permissions::from_mode(mode))?;
                put_beside(folder, &kept.old, place, &kept.path)?;
            }
        }
    }
    folder.remove_file(note)?;
    sync_directory(folder)
}

/// Moves a file back that is kept in a folder, and removes the note about it. If somebody else has put another file there meanwhile,
/// it gets a name beside that.
pub(super) fn move_back(place: &Dir, folder: &Dir, note: &str) -> io::Result<()> {
    let moved: MovedFile = read_note(folder, note)?;
    let name = note.trim_end_matches(MOVED_ENDING);
    if folder.symlink_metadata(name).is_ok() {
        match rename_to_free_name(folder, name, place, &moved.path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => put_beside(folder, name, place, &moved.path)?,
            renamed => renamed?,
        }
    }
    folder.remove_file(note)?;
    sync_directory(folder)
}

fn read_note<T: DeserializeOwned>(folder: &Dir, note: &str) -> io::Result<T> {
    Ok(serde_json::from_reader(folder.open(note)?.take(MAX_JSON_BYTES))?)
}

/// Opens the file whose old content is kept. `None` if it was removed or replaced.
fn open_kept(place: &Dir, kept: &KeptContent) -> io::Result<Option<File>> {
    let is_there = match place.symlink_metadata(&kept.path) {
        Ok(metadata) => identity(&metadata) == (kept.device, kept.inode) && metadata.is_file(),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => false,
        Err(error) => return Err(error),
    };
    is_there.then(|| open_in_place(place, &kept.path)).transpose()
}

/// Puts a file of the folder beside the one at a path, under a name that says so, because somebody else has changed that one.
fn put_beside(folder: &Dir, name: &str, place: &Dir, path: &Path) -> io::Result<()> {
    let (parent, changed) = open_parent(place, path)?;
    let beside = art_files::put_beside(folder, name.as_ref(), &parent, changed)?;
    tracing::warn!(
        path = %path.display(), beside = %beside.display(),
        "a file was changed before its old content could be put back, which is beside it now"
    );
    sync_directory(&parent)
}

fn rename_to_free_name(from: &Dir, old: &str, to: &Dir, path: &Path) -> io::Result<()> {
    let (parent, name) = open_parent(to, path)?;
    art_files::rename_to_free_name(from, old.as_ref(), &parent, name)?;
    sync_directory(&parent)
}

/// Opens the directory of what is at a path, and returns it with the name of that.
fn open_parent<'a>(place: &Dir, path: &'a Path) -> io::Result<(Dir, &'a OsStr)> {
    let parent = place.open_dir(super::entry::parent_of(path))?;
    Ok((parent, path.file_name().ok_or(Errno::ISDIR)?))
}
