//! Tar files, compressed or not.

use std::fs::File;
use std::io::{BufReader, Read};

use flate2::read::MultiGzDecoder;
use tar::{Archive, EntryType};

use crate::io::{Entry, EntryKind, Listing, utc_text};

/// Maximum size of the decompressed content that is read, in bytes.
const MAX_DECOMPRESSED: u64 = 128 << 20;
/// Maximum number of compressed bytes that one read gets. It is large, because each read is a call into the host.
const READ_SIZE: usize = 256 << 10;

/// Lists an uncompressed file; the content of the entries is skipped.
pub(crate) fn list(file: File, listing: &mut Listing<'_>) -> Result<(), String> {
    let mut archive = Archive::new(file);
    let entries = archive.entries_with_seek().map_err(|error| error.to_string())?;
    for entry in entries {
        let entry = entry.map_err(|error| error.to_string())?;
        if !listing.add(to_entry(&entry)) {
            // The maximum number of entries was reached.
            break;
        }
    }
    Ok(())
}

/// Lists a file that is compressed with gzip, until the limit on decompressed bytes is reached.
pub(crate) fn list_compressed(file: File, listing: &mut Listing<'_>) -> Result<(), String> {
    let decoder = MultiGzDecoder::new(BufReader::with_capacity(READ_SIZE, file));
    let mut archive = Archive::new(BoundedReader {
        decoder,
        remaining: MAX_DECOMPRESSED,
    });
    let entries = archive.entries().map_err(|error| error.to_string())?;
    for (index, entry) in entries.enumerate() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) if is_limit_error(&error) => {
                listing.mark_incomplete(
                    "only the first 128 MiB of the content were decompressed; there may be further entries",
                );
                return Ok(());
            }
            Err(error) if index == 0 => return Err(format!("the content is no tar file ({error})")),
            Err(error) => return Err(error.to_string()),
        };
        if !listing.add(to_entry(&entry)) {
            // The maximum number of entries was reached.
            break;
        }
    }
    Ok(())
}

fn to_entry<R: Read>(entry: &tar::Entry<'_, R>) -> Entry {
    let header = entry.header();
    let kind = match header.entry_type() {
        EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => EntryKind::File,
        EntryType::Directory => EntryKind::Directory,
        EntryType::Symlink | EntryType::Link => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Entry {
        name: String::from_utf8_lossy(&entry.path_bytes()).into_owned(),
        kind,
        size: entry.size(),
        compressed_size: None,
        modified: header.mtime().ok().and_then(utc_text),
    }
}

/// A reader that fails after a given number of decompressed bytes.
struct BoundedReader<R> {
    decoder: R,
    /// Number of bytes that may still be read.
    remaining: u64,
}

impl<R: Read> Read for BoundedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.remaining == 0 {
            return Err(std::io::Error::new(
                std::io::ErrorKind::FileTooLarge,
                "too much to decompress",
            ));
        }
        let length = usize::try_from(self.remaining).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.decoder.read(buffer.get_mut(..length).unwrap_or_default())?;
        self.remaining -= read as u64;
        Ok(read)
    }
}

/// Returns whether an error was caused by a [`BoundedReader`] that had reached its limit. `tar` may have wrapped the error of the
/// reader in errors of its own.
fn is_limit_error(error: &std::io::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        let io_error = error.downcast_ref::<std::io::Error>();
        if io_error.is_some_and(|error| error.kind() == std::io::ErrorKind::FileTooLarge) {
            return true;
        }
        source = error.source();
    }
    false
}
