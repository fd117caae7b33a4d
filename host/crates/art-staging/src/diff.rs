//! Shows staged changes to a person.

mod signs;

use std::io::Read as _;
use std::path::Path;

use art_core::text::printable;
use cap_std::fs::Dir;
use similar::TextDiff;

use crate::change::{Action, Change, ChangeSet, PathState};
use crate::commit::open_granted_directory;
use crate::disk::{digest, open_regular};
use crate::error::StagingError;
use crate::staging::Staging;

/// Maximum size of a file whose contents are compared and shown, in bytes.
const MAX_SHOWN_BYTES: u64 = 1 << 20;
/// Number of unchanged lines that are shown before and after a change.
const CONTEXT_LINES: usize = 3;

/// The contents of a file, as far as they can be compared.
enum Contents {
    Text(String),
    /// The contents cannot be compared. The words are the reason; they complete a sentence that begins with "the file is".
    NotComparable(&'static str),
}

impl Staging {
    /// Returns the difference that a change makes, as a unified diff. Line endings and a byte order mark are shown if they change.
    /// Characters that could control a terminal are escaped. For a file that is no text or is larger than 1 MiB, returns only its
    /// path and why it is not shown.
    ///
    /// # Errors
    /// Fails if the staged contents or the granted directory cannot be read.
    pub fn diff(&self, set: &ChangeSet, change: &Change) -> Result<String, StagingError> {
        let path = set.full_path(change);
        let old = || match change.before {
            PathState::Nothing | PathState::Directory => Ok(Contents::Text(String::new())),
            PathState::File(_) | PathState::Unclear => open_granted_directory(set)
                .map(|dir| read_contents(&dir, &change.path).unwrap_or(Contents::NotComparable("not there any more"))),
        };
        let new = match &change.action {
            Action::Write {
                blob, digest: written, ..
            } => {
                let contents = read_contents(&self.folder(&set.id)?, Path::new(blob));
                match contents.map_err(StagingError::io("read", &path))? {
                    Contents::Text(text) if digest(text.as_bytes()).ok() != Some(*written) => {
                        Contents::NotComparable("not what the tool wrote")
                    }
                    contents => contents,
                }
            }
            _ => Contents::Text(String::new()),
        };
        let (from, to) = labels(change, &path);
        let text = match (&change.action, old()?, new) {
            (Action::CreateDirectory | Action::RemoveDirectory, ..) => {
                format!("{}: {}\n", change.verb(), in_one_line(&path))
            }
            (_, Contents::Text(old), Contents::Text(new)) => unified_diff(&old, &new, &from, &to),
            (_, Contents::NotComparable(why), _) | (_, _, Contents::NotComparable(why)) => {
                format!("--- {from}\n+++ {to}\nthe file is {why}\n")
            }
        };
        Ok(printable(&text))
    }
}

/// Returns a path with its line breaks replaced.
fn in_one_line(path: &Path) -> String {
    path.display().to_string().replace(['\n', '\r'], "?")
}

/// Returns the names of the old and the new file in the head of a diff. A file that does not exist is `/dev/null`.
fn labels(change: &Change, path: &Path) -> (String, String) {
    let (nothing, path) = ("/dev/null".to_owned(), in_one_line(path));
    match (&change.action, change.before) {
        (Action::RemoveFile, _) => (path, nothing),
        (_, PathState::Nothing) => (nothing, path),
        _ => (path.clone(), path),
    }
}

fn unified_diff(old: &str, new: &str, from: &str, to: &str) -> String {
    let shown = signs::show(old, new);
    let diff = TextDiff::from_lines(&shown.old, &shown.new);
    let mut unified = diff.unified_diff();
    let unified = unified.context_radius(CONTEXT_LINES).header(from, to).to_string();
    let notes = shown.notes.iter().map(|note| format!("{note}\n"));
    notes.chain([unified]).collect()
}

fn read_contents(dir: &Dir, path: &Path) -> std::io::Result<Contents> {
    let file = open_regular(dir, path)?;
    if file.metadata()?.len() > MAX_SHOWN_BYTES {
        return Ok(Contents::NotComparable("too large to be shown"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_SHOWN_BYTES).read_to_end(&mut bytes)?;
    let is_utf_16 = bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff");
    let reason = if is_utf_16 {
        "UTF-16 text, which is not compared"
    } else {
        "no text"
    };
    Ok(String::from_utf8(bytes).map_or(Contents::NotComparable(reason), Contents::Text))
}
