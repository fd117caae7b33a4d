//! Reads files without waiting for pipes or devices, and writes files so that they survive a crash.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::fs::{Dir, OpenOptions, OpenOptionsExt as _};
use rustix::fs::OFlags;

use crate::change::{Digest, PathState};

/// Opens a regular file beneath a directory. Follows no link in the last part of the path. Does not wait, even if there is a pipe
/// at the path.
pub(crate) fn open_regular(dir: &Dir, path: &Path) -> io::Result<File> {
    open_without_waiting(dir, path, OpenOptions::new().read(true))
}

/// Opens a regular file beneath a directory to read it and write over it, as [`open_regular`] opens one to read.
pub(crate) fn open_to_overwrite(dir: &Dir, path: &Path) -> io::Result<File> {
    open_without_waiting(dir, path, OpenOptions::new().read(true).write(true))
}

fn open_without_waiting(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options
        .custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
        .follow(FollowSymlinks::No);
    let file = dir.open_with(path, options)?.into_std();
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
    }
}

/// Returns the digest of all bytes that `from` has left.
pub(crate) fn digest(from: impl Read) -> io::Result<Digest> {
    copy(from, io::sink())
}

/// Writes all bytes that `from` has left to `to`, and returns their digest.
pub(crate) fn copy(mut from: impl Read, mut to: impl Write) -> io::Result<Digest> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finalize().into()),
            Ok(read) => {
                let bytes = buffer.get(..read).unwrap_or_default();
                hasher.update(bytes);
                to.write_all(bytes)?;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Reads a file to its end in pieces, to find its digest.
#[derive(Debug)]
pub struct DigestReader {
    file: File,
    hasher: blake3::Hasher,
    buffer: Vec<u8>,
}

impl DigestReader {
    /// Maximum number of bytes of a piece.
    pub const PIECE_BYTES: usize = 1 << 20;

    /// Starts at the position of `file`.
    #[must_use]
    pub fn new(file: File) -> Self {
        Self {
            file,
            hasher: blake3::Hasher::new(),
            buffer: vec![0; Self::PIECE_BYTES],
        }
    }

    /// Reads a piece, and returns its bytes. There are none at the end of the file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read_piece(&mut self) -> io::Result<&[u8]> {
        let read = loop {
            match self.file.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        let piece = self.buffer.get(..read).unwrap_or_default();
        self.hasher.update(piece);
        Ok(piece)
    }

    /// Returns the file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the digest of all pieces that were read.
    #[must_use]
    pub fn digest(&self) -> Digest {
        self.hasher.finalize().into()
    }
}

/// Returns what is at a path now. A link, a pipe or a device is [`PathState::Unclear`], which is always a conflict.
pub(crate) fn current_state(dir: &Dir, path: &Path) -> io::Result<PathState> {
    let metadata = match dir.symlink_metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PathState::Nothing),
        Err(error) => return Err(error),
    };
    if metadata.is_dir() {
        return Ok(PathState::Directory);
    }
    if !metadata.is_file() {
        return Ok(PathState::Unclear);
    }
    open_regular(dir, path).and_then(digest).map(PathState::File)
}

/// Writes a file of the host's own data. After a crash, the file is complete, or as it was before.
pub(crate) fn write_durably(dir: &Dir, name: &str, bytes: &[u8]) -> io::Result<()> {
    let temporary = format!("{name}.tmp");
    let mut file = dir.create(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    dir.rename(&temporary, dir, name)?;
    sync_directory(dir, Path::new("."))
}

/// Waits until the entries of a directory are stored.
pub(crate) fn sync_directory(dir: &Dir, path: &Path) -> io::Result<()> {
    let path = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    let directory = dir.open(path)?;
    match directory.sync_all() {
        // Some file systems can wait only for files, not for directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        result => result,
    }
}

/// Removes a file if it exists.
pub(crate) fn remove_file(dir: &Dir, path: &Path) -> io::Result<()> {
    match dir.remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}
