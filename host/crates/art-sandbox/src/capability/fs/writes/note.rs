//! Notes about the folders of parts, in a folder of the host's own. A host that starts finds with them what killed processes have
//! left, wherever that is.

use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use art_files::open_directory_without_links;
use cap_std::fs::Dir;
use rustix::fs::{FlockOperation, flock};

use super::folder::{is_call_folder, open_user_folder};
use super::recovery;

/// Maximum size of a note, in bytes.
const MAX_NOTE_BYTES: u64 = 64 << 10;
/// Number of times that a note is made again because a starting host took it for one that was left.
const MAX_TRIES: u32 = 100;

/// The folder with the notes of all calls of a host.
#[derive(Debug)]
pub(crate) struct WriteNotes {
    path: PathBuf,
}

/// The note about one folder of parts. It is locked while it is in use, and removed when it is dropped.
#[derive(Debug)]
pub(super) struct Note {
    path: PathBuf,
    file: File,
    /// Whether the note stays, because its folder does.
    pub(super) must_be_kept: bool,
}

impl WriteNotes {
    /// Returns the notes in a folder, which is created for the first one.
    pub(crate) fn new(path: PathBuf) -> Self {
        Self { path }
    }

    /// Makes the note about the folder of parts with this name, which is about to be created in a directory.
    pub(super) fn add(&self, name: &str, place: &Dir) -> io::Result<Note> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.path)?;
        let text = note_text(place)?;
        let path = self.path.join(name);
        for _ in 0..MAX_TRIES {
            let mut options = OpenOptions::new();
            let mut file = options.write(true).create_new(true).mode(0o600).open(&path)?;
            art_files::lock(&file)?;
            // A host that starts may have removed the note before it was locked.
            if file.metadata()?.nlink() > 0 {
                file.write_all(&text)?;
                let must_be_kept = false;
                return Ok(Note {
                    path,
                    file,
                    must_be_kept,
                });
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Clears what the calls have left that the unlocked notes are about.
    pub(crate) fn recover(&self) {
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let Some(name) = name.to_str().filter(|name| is_call_folder(name)) else {
                continue;
            };
            match recover_note(&entry.path(), name) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => tracing::error!(%error, note = name, "what a call left unfinished cannot be cleared"),
            }
        }
    }
}

impl Note {
    /// Waits until the note is stored.
    pub(super) fn store(&self) -> io::Result<()> {
        self.file.sync_all()?;
        self.path
            .parent()
            .map_or(Ok(()), |folder| File::open(folder)?.sync_all())
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if !self.must_be_kept {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Returns the text of a note: the device of the directory, and its path.
fn note_text(place: &Dir) -> io::Result<Vec<u8>> {
    // The directory may be open only as a place, and was opened without following links.
    let path = fs::read_link(format!("/proc/self/fd/{}", place.as_fd().as_raw_fd()))?;
    let mut text = format!("{}\n", device(place)?).into_bytes();
    text.extend(path.as_os_str().as_bytes());
    Ok(text)
}

fn device(place: &Dir) -> io::Result<u64> {
    Ok(rustix::fs::fstat(place)?.st_dev)
}

/// Clears what one note is about, and removes it. A note stays while it is in use, and while its directory is not mounted.
fn recover_note(path: &Path, name: &str) -> io::Result<()> {
    let file = art_files::open_regular(path)?;
    if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
        return Ok(());
    }
    let mut text = Vec::new();
    (&file).take(MAX_NOTE_BYTES).read_to_end(&mut text)?;
    if clear(&text, name)? {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Clears what the note with this text is about. Returns whether nothing is left of it.
fn clear(text: &[u8], name: &str) -> io::Result<bool> {
    let mut parts = text.splitn(2, |byte| *byte == b'\n');
    let number = parts
        .next()
        .and_then(|number| std::str::from_utf8(number).ok()?.parse().ok());
    // A note that is not complete was made by a call that had not created its folder yet.
    let Some((noted_device, directory)) = number.zip(parts.next()) else {
        return Ok(true);
    };
    let opened = open_directory_without_links(Path::new(OsStr::from_bytes(directory)));
    let place = match opened {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        opened => Dir::from_std_file(opened?.into()),
    };
    let noted_device: u64 = noted_device;
    if device(&place)? != noted_device {
        return Ok(false);
    }
    recovery::recover(&place);
    Ok(open_user_folder(&place).map_or(true, |user| user.symlink_metadata(name).is_err()))
}
