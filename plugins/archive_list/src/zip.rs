//! Zip files: the entries of the central directory.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use zip::ZipArchive;

use crate::io::{Entry, EntryKind, Listing};

/// Maximum size of the central directory, in bytes.
const MAX_DIRECTORY: u64 = 8 << 20;
/// Maximum distance of the end record of the central directory from the end of a file: the size of this record and of the longest
/// comment.
const MAX_END_DISTANCE: u64 = 22 + 65_535;

pub(crate) fn list(mut file: File, listing: &mut Listing<'_>) -> Result<(), String> {
    check_directory(&mut file)?;
    let mut archive = ZipArchive::new(file).map_err(|error| error.to_string())?;
    let mut encrypted = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| error.to_string())?;
        encrypted += u64::from(entry.encrypted());
        let kind = match () {
            () if entry.is_dir() => EntryKind::Directory,
            () if entry.is_symlink() => EntryKind::Link,
            () => EntryKind::File,
        };
        let listed = Entry {
            name: String::from_utf8_lossy(entry.name_raw()).into_owned(),
            kind,
            size: entry.size(),
            compressed_size: Some(entry.compressed_size()),
            modified: entry.last_modified().map(|time| time.to_string()),
        };
        if !listing.add(listed) {
            break;
        }
    }
    if encrypted > 0 {
        listing.note(&format!("{encrypted} entries need a password"));
    }
    Ok(())
}

/// Fails if the central directory is missing, or too large to keep in memory.
fn check_directory(file: &mut File) -> Result<(), String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_END_DISTANCE)))
        .and_then(|_| file.take(MAX_END_DISTANCE).read_to_end(&mut end))
        .map_err(|error| error.to_string())?;
    let at = end.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let size = at
        .and_then(|at| end.get(at + 12..at + 16))
        .and_then(|bytes| bytes.try_into().ok());
    let size = u64::from(u32::from_le_bytes(
        size.ok_or("the file is cut off: its directory is missing")?,
    ));
    if size > MAX_DIRECTORY {
        return Err(format!("its directory has {size} bytes, more than {MAX_DIRECTORY}"));
    }
    file.seek(SeekFrom::Start(0))
        .map(drop)
        .map_err(|error| error.to_string())
}
