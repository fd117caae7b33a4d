//! Writes a content over a file that keeps its identity, and tells how far that came.
//!
//! The one who writes keeps the old and the new content in other files until the new one is stored. After a crash, [`compare`] finds
//! which of them the file has.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt as _;

use rustix::fs::{AtFlags, FallocateFlags, RenameFlags, fallocate, linkat, renameat_with};
use rustix::io::Errno;

/// Maximum number of bytes that are copied at once.
const PIECE_BYTES: usize = 1 << 20;
/// Number of bytes that a disk writes at once. Each of them has the old or the new content after a crash.
const SECTOR_BYTES: usize = 512;
/// Number of bytes that are read at once to compare contents.
const COMPARED_BYTES: usize = 256 << 10;
/// Number of names that are tried for old content that is put beside its file.
const MAX_NAMES: u32 = 100;

/// What a file contains that was being written over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FoundContent {
    /// All of the old content.
    Old,
    /// All of the new content.
    New,
    /// Some of the old content and some of the new.
    Mixed,
    /// Something else: a person has repaired or changed the file meanwhile.
    Other,
}

/// Reserves space, so that writing there does not fail because the disk is full. Does nothing on file systems that cannot.
///
/// # Errors
/// Fails if there is not enough space.
pub fn reserve(file: &File, offset: u64, bytes: u64) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    match fallocate(file, FallocateFlags::KEEP_SIZE, offset, bytes) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        result => Ok(result?),
    }
}

/// Copies at most 1 MiB from one file to the same position in another. Returns how many bytes: 0 at the end.
///
/// # Errors
/// Fails if one of the files cannot be read or written.
pub fn copy_piece(from: &File, to: &File, offset: u64) -> io::Result<usize> {
    let mut buffer = vec![0; PIECE_BYTES];
    let read = loop {
        match from.read_at(&mut buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => break read?,
        }
    };
    to.write_all_at(buffer.get(..read).unwrap_or_default(), offset)?;
    Ok(read)
}

/// Writes the whole content of one file over another, and waits until it is stored.
///
/// # Errors
/// Fails if one of the files cannot be read or written; `target` may have a part of the content then.
pub fn overwrite(target: &File, from: &File) -> io::Result<()> {
    let mut offset = 0;
    loop {
        match copy_piece(from, target, offset)? {
            0 => break,
            copied => offset += copied as u64,
        }
    }
    target.set_len(offset)?;
    target.sync_all()
}

/// Compares the content of a file with the old and the new one.
///
/// # Errors
/// Fails if one of the files cannot be read.
pub fn compare(target: &File, old: &File, new: &File) -> io::Result<FoundContent> {
    let lengths = (target.metadata()?.len(), old.metadata()?.len(), new.metadata()?.len());
    let (length, old_length, new_length) = lengths;
    let (mut is_old, mut is_new) = (length == old_length, length == new_length);
    if length < old_length.min(new_length) || length > old_length.max(new_length) {
        return Ok(FoundContent::Other);
    }
    let mut readers =
        [target, old, new].map(|file| io::BufReader::with_capacity(COMPARED_BYTES, SectorReader(file, 0)));
    let mut position = 0;
    while position < length {
        let [found, old, new] = readers.each_mut().map(read_sector);
        let (found, old, new) = (found?, old?, new?);
        let equals = |other: &[u8]| other.get(..found.len()) == Some(found.as_slice());
        let (equals_old, equals_new) = (equals(&old), equals(&new));
        // What lies beyond the old content may have been extended and not written yet.
        let is_empty = position >= old_length && found.iter().all(|byte| *byte == 0);
        if !equals_old && !equals_new && !is_empty && !is_torn_at_end(&found, &old, &new) {
            return Ok(FoundContent::Other);
        }
        is_old &= equals_old;
        is_new &= equals_new;
        position += found.len().max(1) as u64;
    }
    Ok(match (is_old, is_new) {
        (true, _) => FoundContent::Old,
        (_, true) => FoundContent::New,
        _ => FoundContent::Mixed,
    })
}

/// Returns whether a sector in which one of the contents ends has the other one, or nothing, behind this end.
fn is_torn_at_end(found: &[u8], old: &[u8], new: &[u8]) -> bool {
    let new_then_old = new.iter().chain(old.get(new.len()..).unwrap_or_default());
    let old_then_nothing = old.iter().chain(std::iter::repeat(&0));
    found.iter().eq(new_then_old.take(found.len())) || found.iter().eq(old_then_nothing.take(found.len()))
}

/// Reads a file from a position of its own, since handles share theirs.
struct SectorReader<'a>(&'a File, u64);

impl Read for SectorReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.0.read_at(buffer, self.1)?;
        self.1 += read as u64;
        Ok(read)
    }
}

fn read_sector(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut sector = Vec::with_capacity(SECTOR_BYTES);
    reader.take(SECTOR_BYTES as u64).read_to_end(&mut sector)?;
    Ok(sector)
}

/// Puts a file with kept old content beside the file that had it, because somebody else has changed that one. Returns the name that it
/// gets, which says so.
///
/// # Errors
/// Fails if the file cannot be renamed, or if a hundred such names are taken.
pub fn put_beside(folder: impl AsFd, kept: &OsStr, parent: impl AsFd, changed: &OsStr) -> io::Result<OsString> {
    for number in 0..MAX_NAMES {
        let mut beside = changed.to_owned();
        beside.push(match number {
            0 => ".before-art".to_owned(),
            _ => format!(".before-art-{number}"),
        });
        match rename_to_free_name(&folder, kept, &parent, &beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            renamed => return renamed.map(|()| beside),
        }
    }
    Err(Errno::EXIST.into())
}

/// Renames a file to a name that no other file has.
///
/// # Errors
/// Fails with [`io::ErrorKind::AlreadyExists`] if there is a file with this name, and if the file cannot be renamed.
pub fn rename_to_free_name(from: impl AsFd, old: &OsStr, to: impl AsFd, name: &OsStr) -> io::Result<()> {
    match renameat_with(&from, old, &to, name, RenameFlags::NOREPLACE) {
        // The file system cannot do this.
        Err(Errno::INVAL | Errno::NOSYS) => Ok(linkat(&from, old, &to, name, AtFlags::empty())?),
        renamed => Ok(renamed?),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn file_with(content: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content).unwrap();
        file
    }

    /// Compares a content with an old one of 1,300 bytes and a new one of 2,100 bytes.
    fn found(content: &[u8]) -> FoundContent {
        let (old, new) = (file_with(&[b'o'; 1_300]), file_with(&[b'n'; 2_100]));
        compare(&file_with(content), &old, &new).unwrap()
    }

    #[test]
    fn a_file_that_is_written_over_has_the_whole_new_content() {
        for (old, new) in [(1_300, 2_100), (2_100, 1_300), (5, 0), (3 << 20, 2 << 20)] {
            let (target, new) = (file_with(&vec![b'o'; old]), file_with(&vec![b'n'; new]));
            overwrite(&target, &new).unwrap();
            assert_eq!(
                compare(&target, &file_with(&vec![b'o'; old]), &new).unwrap(),
                FoundContent::New
            );
        }
    }

    #[test]
    fn each_sector_may_have_the_old_or_the_new_content() {
        assert_eq!(found(&[b'o'; 1_300]), FoundContent::Old);
        assert_eq!(found(&[b'n'; 2_100]), FoundContent::New);
        let mut mixed = vec![b'o'; 1_300];
        mixed.get_mut(512..1_024).unwrap().fill(b'n');
        assert_eq!(found(&mixed), FoundContent::Mixed);
        // The file got its new length, and what lies beyond the old one was not written.
        mixed.resize(2_100, 0);
        assert_eq!(found(&mixed), FoundContent::Mixed);
    }

    #[test]
    fn what_is_neither_old_nor_new_was_written_by_somebody_else() {
        assert_eq!(found(b"short"), FoundContent::Other);
        assert_eq!(found(&[b'o'; 2_200]), FoundContent::Other);
        let mut changed = vec![b'o'; 1_300];
        *changed.get_mut(700).unwrap() = b'x';
        assert_eq!(found(&changed), FoundContent::Other);
    }

    #[test]
    fn kept_content_gets_a_name_that_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let directory = File::open(folder.path()).unwrap();
        for expected in ["a.before-art", "a.before-art-1"] {
            std::fs::write(folder.path().join("kept"), expected).unwrap();
            let name = put_beside(&directory, "kept".as_ref(), &directory, "a".as_ref()).unwrap();
            assert_eq!(name, expected);
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), expected);
        }
    }
}
