//! The input and the output of the tool, and the [`Listing`] that fills the output.

use art_sdk::{args, never_null, output};
use jiff::Timestamp;

/// Maximum number of entries of an archive that are looked at.
const MAX_ENTRIES: u64 = 100_000;
/// Maximum size of all names in the output together, in bytes.
const MAX_NAMES_BYTES: usize = 256 << 10;
/// Number of characters after which a name in the output is cut off; `..` marks the cut.
const MAX_NAME_CHARS: usize = 500;

/// An archive, and which of its entries to return.
#[args]
pub(crate) struct ArchiveListInput {
    /// The path of the archive.
    pub(crate) path: String,
    /// The maximum number of entries to return.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 2000))]
    pub(crate) limit: usize,
    /// A text that the names of the entries contain, in any letter case: `.txt`, `src/`.
    pub(crate) name_contains: Option<String>,
}

fn default_limit() -> usize {
    200
}

/// The format of an archive.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    Zip,
    Tar,
    TarGz,
}

/// The entries of an archive.
#[output]
// `never_null` declares in the schema that a field that may be absent is never null.
#[schemars(transform = never_null)]
pub(crate) struct ArchiveListOutput {
    /// The format of the archive.
    pub(crate) format: Format,
    /// The entries, in the order of the archive.
    pub(crate) entries: Vec<Entry>,
    /// How many entries the archive has or, if `name_contains` is given, how many of them have a name that contains it.
    pub(crate) entry_count: u64,
    /// The sum of the uncompressed sizes of the entries that `entry_count` counts, in bytes, as the archive states them.
    pub(crate) total_size: u64,
    /// Whether entries are missing in the list or in the count.
    pub(crate) truncated: bool,
    /// What the caller should know: that entries need a password, may be written outside of the directory into which the archive
    /// is unpacked, or are missing because of a limit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// An entry of an archive.
#[output]
pub(crate) struct Entry {
    /// The name, with its directories.
    pub(crate) name: String,
    /// What it is.
    pub(crate) kind: EntryKind,
    /// The size without compression, in bytes.
    pub(crate) size: u64,
    /// The size in the archive, in bytes. In a zip file only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) compressed_size: Option<u64>,
    /// When it was changed last: in UTC in a tar file, without a zone in a zip file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) modified: Option<String>,
}

/// What an entry is.
#[output]
#[derive(Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum EntryKind {
    File,
    Directory,
    Link,
    Other,
}

/// Collects the entries of an archive for the output.
pub(crate) struct Listing<'a> {
    input: &'a ArchiveListInput,
    /// The text that the names of the wanted entries contain, in lower case; `None` if all entries are wanted.
    wanted_text: Option<String>,
    output: ArchiveListOutput,
    /// Number of entries that were looked at, wanted or not.
    seen_entries: u64,
    /// Size of the names in the output, in bytes.
    names_bytes: usize,
    /// Number of entries that may be written outside of the directory into which somebody unpacks the archive.
    unsafe_names: u64,
}

impl<'a> Listing<'a> {
    pub(crate) fn new(input: &'a ArchiveListInput, format: Format) -> Self {
        Self {
            input,
            wanted_text: input.name_contains.as_ref().map(|text| text.to_lowercase()),
            output: ArchiveListOutput {
                format,
                entries: Vec::new(),
                entry_count: 0,
                total_size: 0,
                truncated: false,
                notes: Vec::new(),
            },
            seen_entries: 0,
            names_bytes: 0,
            unsafe_names: 0,
        }
    }

    /// Counts an entry if its name is wanted, and adds it to the output if there is room. Ignores the entry and returns false if
    /// [`MAX_ENTRIES`] entries were looked at before, so that the caller looks at no further ones.
    pub(crate) fn add(&mut self, mut entry: Entry) -> bool {
        if self.seen_entries == MAX_ENTRIES {
            self.mark_incomplete(&format!("only the first {MAX_ENTRIES} entries were looked at"));
            return false;
        }
        self.seen_entries += 1;
        self.unsafe_names += u64::from(leads_outside(&entry.name));
        let is_wanted = self
            .wanted_text
            .as_ref()
            .is_none_or(|text| entry.name.to_lowercase().contains(text));
        if is_wanted {
            self.output.entry_count += 1;
            self.output.total_size = self.output.total_size.saturating_add(entry.size);
            if let Some((cut_at, _)) = entry.name.char_indices().nth(MAX_NAME_CHARS) {
                entry.name.truncate(cut_at);
                entry.name.push_str("..");
            }
            if self.output.entries.len() < self.input.limit && self.names_bytes + entry.name.len() <= MAX_NAMES_BYTES {
                self.names_bytes += entry.name.len();
                self.output.entries.push(entry);
            } else {
                self.output.truncated = true;
            }
        }
        true
    }

    pub(crate) fn note(&mut self, note: &str) {
        self.output.notes.push(note.to_owned());
    }

    /// Marks the list as incomplete, and notes why it may lack entries.
    pub(crate) fn mark_incomplete(&mut self, reason: &str) {
        self.output.truncated = true;
        self.note(reason);
    }

    pub(crate) fn finish(mut self) -> ArchiveListOutput {
        if self.unsafe_names > 0 {
            let count = self.unsafe_names;
            self.note(&format!(
                "{count} names are absolute or contain `..`: unpacking them may write outside of the directory"
            ));
        }
        self.output
    }
}

/// Returns whether an entry of this name may be written outside of the directory into which somebody unpacks the archive: whether
/// the name is absolute or has a part `..`.
fn leads_outside(name: &str) -> bool {
    let has_drive = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.get(1..2) == Some(":");
    has_drive || name.starts_with(['/', '\\']) || name.split(['/', '\\']).any(|part| part == "..")
}

/// Returns the time that is this number of seconds after the start of 1970, in UTC, or `None` if it is out of range.
pub(crate) fn utc_text(seconds: u64) -> Option<String> {
    let time = Timestamp::from_second(i64::try_from(seconds).ok()?).ok()?;
    Some(time.to_string())
}
