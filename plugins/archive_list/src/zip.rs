//! Zip files. The central directory near the end of the file lists the entries. The end record follows it, and states the size of
//! the central directory. In a large archive, a ZIP64 record, which has room for larger numbers, and a locator of this record
//! stand between the directory and the end record.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use zip::ZipArchive;

use crate::io::{Entry, EntryKind, Listing};

/// Maximum size of the central directory, in bytes.
const MAX_CENTRAL_DIRECTORY_SIZE: u64 = 8 << 20;
/// Number of bytes at the end of a file in which the records are searched: the sizes of the ZIP64 record, of its locator, of the
/// end record, and of the longest comment, which follow each other.
const MAX_TAIL_SIZE: u64 = 56 + 20 + 22 + 65_535;

pub(crate) fn list(mut file: File, listing: &mut Listing<'_>) -> Result<(), String> {
    check_central_directory(&mut file)?;
    let mut archive = ZipArchive::new(file).map_err(|error| error.to_string())?;
    let mut encrypted_entries = 0;
    for index in 0..archive.len() {
        let entry = archive.by_index_raw(index).map_err(|error| error.to_string())?;
        encrypted_entries += u64::from(entry.encrypted());
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
            // The maximum number of entries was reached.
            break;
        }
    }
    if encrypted_entries > 0 {
        listing.note(&format!("{encrypted_entries} entries need a password"));
    }
    Ok(())
}

/// Fails if the central directory is missing, or too large to keep in memory.
fn check_central_directory(file: &mut File) -> Result<(), String> {
    let length = file.metadata().map_err(|error| error.to_string())?.len();
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL_SIZE)))
        .and_then(|_| file.take(MAX_TAIL_SIZE).read_to_end(&mut tail))
        .map_err(|error| error.to_string())?;
    // The end record begins with this signature, and has the size of the central directory in its bytes 12 to 15.
    let end_record = tail.windows(4).rposition(|bytes| bytes == b"PK\x05\x06");
    let size_bytes = end_record
        .and_then(|start| tail.get(start + 12..start + 16))
        .and_then(|bytes| bytes.try_into().ok());
    let size = u32::from_le_bytes(size_bytes.ok_or("the file is cut off: its directory is missing")?);
    let size = match size {
        // If all bits are set, the size is in the ZIP64 record.
        u32::MAX => zip64_directory_size(&tail).ok_or("the file is damaged: its ZIP64 record is missing")?,
        size => u64::from(size),
    };
    if size > MAX_CENTRAL_DIRECTORY_SIZE {
        return Err(format!(
            "its directory has {size} bytes, more than {MAX_CENTRAL_DIRECTORY_SIZE}"
        ));
    }
    file.seek(SeekFrom::Start(0))
        .map(drop)
        .map_err(|error| error.to_string())
}

/// Returns the size of the central directory that the ZIP64 record states. Large archives have this record before the end record.
fn zip64_directory_size(tail: &[u8]) -> Option<u64> {
    // The ZIP64 record begins with this signature, and has the size of the central directory in its bytes 40 to 47.
    let record = tail.windows(4).rposition(|bytes| bytes == b"PK\x06\x06")?;
    let size = tail.get(record + 40..record + 48)?.try_into().ok()?;
    Some(u64::from_le_bytes(size))
}
