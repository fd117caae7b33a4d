//! `archive_list`: lists the entries of an archive without extracting them.

use art_sdk::prelude::*;

mod io;
mod tar;
mod zip;

#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

use art_sdk::files;

use io::{ArchiveListInput, ArchiveListOutput, Format};

/// Lists what is in an archive (a zip, jar, docx or xlsx file, or a tar, tar.gz or tgz file) without unpacking it. Use it to see which
/// files an archive or a download contains, how many there are, and how large they are. Returns the entries with their sizes and
/// times.
#[tool(
    example(
        ask = "What is in ~/downloads/backup.zip?",
        ask = "What is inside ~/downloads/backup.zip?",
        ask = "What does ~/downloads/backup.zip contain?",
        ask = "What is in the archive ~/downloads/backup.zip?",
        ask = "Which files are in the archive ~/downloads/backup.zip?",
        ask = "List the archive ~/downloads/backup.zip",
        ask = "List the entries of ~/downloads/backup.zip",
        ask = "List the files in the archive ~/downloads/backup.zip",
        ask = "Show the entries of ~/downloads/backup.zip",
        ask = "Entries of ~/downloads/backup.zip",
        input = r#"{"path":"~/downloads/backup.zip"}"#
    ),
    example(
        ask = "What is in the archive ~/downloads/source.tar.gz?",
        ask = "List the archive ~/downloads/source.tar.gz",
        input = r#"{"path":"~/downloads/source.tar.gz"}"#
    ),
    example(
        ask = "List the first 10 entries of ~/downloads/backup.zip",
        ask = "Show the first 10 entries of ~/downloads/backup.zip",
        input = r#"{"path":"~/downloads/backup.zip","limit":10}"#
    ),
    example(
        ask = "Which entries of ~/downloads/backup.zip contain \".txt\"?",
        ask = "List the entries of ~/downloads/backup.zip whose name contains \".txt\"",
        ask = "Is \".txt\" in the archive ~/downloads/backup.zip?",
        input = r#"{"path":"~/downloads/backup.zip","name_contains":".txt"}"#
    ),
    risk = "low",
    capabilities(fs(read, path = "{args.path}", reason = "reads the archive that a call names")),
    limits(fuel = 2_000_000_000, memory = "64 MiB", timeout = "30s")
)]
fn archive_list(input: ArchiveListInput) -> Result<ArchiveListOutput> {
    let explain = |error| files::explain(&input.path, &error);
    let mut file = File::open(&input.path).map_err(explain)?;
    if file.metadata().map_err(explain)?.is_dir() {
        return Err(files::explain(&input.path, &std::io::ErrorKind::IsADirectory.into()));
    }
    let format = detect_format(&mut file).map_err(explain)?;
    // A file that has none of the formats is refused below, so any format will do here.
    let mut listing = io::Listing::new(&input, format.unwrap_or(Format::Tar));
    match format {
        Some(Format::Zip) => zip::list(file, &mut listing),
        Some(Format::Tar) => tar::list(file, &mut listing),
        Some(Format::TarGz) => tar::list_compressed(file, &mut listing),
        None => Err("it is no zip, tar or tar.gz file".to_owned()),
    }
    .map_err(|problem| ToolError::validation(format_args!("`{}` cannot be listed: {problem}", input.path)))?;
    Ok(listing.finish())
}

/// Determines the format from the first bytes of the file, whatever its name is. Returns `None` if the file has none of the
/// formats.
fn detect_format(file: &mut File) -> std::io::Result<Option<Format>> {
    let mut head = Vec::new();
    // A tar file needs the most bytes: it is recognised by its first header, which has 512 bytes.
    file.by_ref().take(512).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(match head.as_slice() {
        // The signature of an entry, of the end record of an empty archive, or of a split archive.
        [b'P', b'K', 3 | 5 | 7, 4 | 6 | 8, ..] => Some(Format::Zip),
        [0x1f, 0x8b, ..] => Some(Format::TarGz),
        head if head.get(257..262) == Some(b"ustar") => Some(Format::Tar),
        _ => None,
    })
}
