//! Lists the entries of a directory.

use std::cmp::Reverse;
use std::fs::{self, Metadata};
use std::io;
use std::time::SystemTime;

use art_sdk::{Result, ToolError, files};
use jiff::Timestamp;

use crate::io::{Entry, FileReadInput, FileReadOutput, Kind, Sort};

/// Maximum number of entries of a directory that are looked at.
const MAX_SEEN: usize = 20_000;
/// Number of entries that are returned by default.
const DEFAULT_LIMIT: u32 = 1000;

/// An entry that was found in the directory, with the metadata by which it is sorted.
struct FoundEntry {
    name: String,
    metadata: Metadata,
}

impl FoundEntry {
    fn modified(&self) -> SystemTime {
        self.metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// Lists a directory.
pub(crate) fn list(input: &FileReadInput) -> Result<FileReadOutput> {
    if input.from_line.or(input.to_line).or(input.last_lines).is_some() {
        return Err(ToolError::validation(format_args!(
            "`{}` is a directory and has no lines: name a file in it, or leave out the lines",
            input.path
        )));
    }
    let Listing {
        mut found,
        unreadable,
        has_more,
    } = read_entries(input).map_err(|error| files::explain(&input.path, &error))?;
    sort(&mut found, input.sort);
    let limit = input.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let mut output = FileReadOutput {
        entry_count: Some(found.len()),
        truncated: found.len() > limit || has_more,
        ..FileReadOutput::empty(Kind::Directory)
    };
    if has_more {
        output.notes.push(format!(
            "only {MAX_SEEN} entries were looked at: the directory has more"
        ));
    }
    if unreadable > 0 {
        output
            .notes
            .push(format!("{unreadable} entries could not be read and are left out"));
    }
    let entries = found
        .iter()
        .take(limit)
        .map(|found_entry| to_entry(&input.path, found_entry));
    output.entries = Some(entries.collect());
    Ok(output)
}

/// What was found in a directory.
struct Listing {
    /// The entries that the input asks for.
    found: Vec<FoundEntry>,
    /// Number of entries that could not be read.
    unreadable: usize,
    /// Whether the directory has entries that were not looked at.
    has_more: bool,
}

/// Reads the entries of a directory, at most [`MAX_SEEN`], and returns those that the input asks for.
fn read_entries(input: &FileReadInput) -> io::Result<Listing> {
    let (mut found, mut unreadable) = (Vec::new(), 0);
    let mut entries = fs::read_dir(&input.path)?;
    for entry in entries.by_ref().take(MAX_SEEN) {
        match entry.and_then(|entry| Ok((entry.file_name(), entry.metadata()?))) {
            Ok((_, metadata)) if input.files_only && !metadata.is_file() => {}
            Ok((name, metadata)) => found.push(FoundEntry {
                name: name.to_string_lossy().into_owned(),
                metadata,
            }),
            Err(_) => unreadable += 1,
        }
    }
    Ok(Listing {
        found,
        unreadable,
        has_more: entries.next().is_some(),
    })
}

fn sort(entries: &mut [FoundEntry], order: Sort) {
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    match order {
        Sort::Name => {}
        Sort::Newest => entries.sort_by_key(|entry| Reverse(entry.modified())),
        Sort::Oldest => entries.sort_by_key(FoundEntry::modified),
        Sort::Largest => entries.sort_by_key(|entry| Reverse(entry.metadata.len())),
        Sort::Smallest => entries.sort_by_key(|entry| entry.metadata.len()),
    }
}

/// Converts an entry to the form of the output.
fn to_entry(directory: &str, found: &FoundEntry) -> Entry {
    let kind = match found.metadata.file_type() {
        file_type if file_type.is_file() => Kind::File,
        file_type if file_type.is_dir() => Kind::Directory,
        file_type if file_type.is_symlink() => Kind::Link,
        _ => Kind::Other,
    };
    Entry {
        name: found.name.clone(),
        path: format!("{}/{}", directory.trim_end_matches('/'), found.name),
        kind,
        size: (kind == Kind::File).then_some(found.metadata.len()),
        modified: modification_time(&found.metadata),
    }
}

/// Returns when a file was changed last, to the second, or `None` if that is unknown.
pub(crate) fn modification_time(metadata: &Metadata) -> Option<String> {
    let time = Timestamp::try_from(metadata.modified().ok()?).ok()?;
    Some(Timestamp::from_second(time.as_second()).ok()?.to_string())
}
