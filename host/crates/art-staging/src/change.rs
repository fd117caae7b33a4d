//! What a change set contains.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Identifies the call that made a change set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// The run.
    pub run: String,
    /// The call in the run.
    pub call: String,
    /// Name of the tool.
    pub tool: String,
}

/// The changes that one call made beneath one granted directory, and that wait for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeSet {
    /// Identifies the change set.
    pub id: String,
    /// The call that made it.
    pub origin: Origin,
    /// When the call ended, in seconds since the Unix epoch.
    pub created: u64,
    /// The directory that was granted. All changes are beneath it.
    pub directory: PathBuf,
    /// The changes, sorted by path: a directory comes before what is in it.
    pub changes: Vec<Change>,
}

/// One change of a file or directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The path below the granted directory.
    pub path: PathBuf,
    /// What changes.
    pub action: Action,
    /// What was there when the call first looked.
    pub before: Before,
}

/// What a change does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub enum Action {
    /// The file gets new contents.
    Write {
        /// Name of the file with the contents, in the folder of the change set.
        blob: String,
        /// Digest of the contents.
        digest: Digest,
        /// Size of the contents.
        bytes: u64,
    },
    /// The directory is created.
    CreateDirectory,
    /// The file is removed.
    RemoveFile,
    /// The empty directory is removed.
    RemoveDirectory,
}

/// What was at the path of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "digest")]
pub enum Before {
    /// Nothing.
    Nothing,
    /// A file with this digest.
    File(Digest),
    /// A directory.
    Directory,
    /// It changed while the call ran, or is neither a file nor a directory. The change is always a conflict.
    Unclear,
}

impl ChangeSet {
    /// Returns the full path of a change.
    #[must_use]
    pub fn full_path(&self, change: &Change) -> PathBuf {
        self.directory.join(&change.path)
    }

    /// Returns the names by which a person finds the change set: its identifier and that of the run.
    pub(crate) fn names(&self) -> [&str; 2] {
        [&self.id, &self.origin.run]
    }
}

impl Change {
    /// Returns what the change does, in one or two words.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match (&self.action, self.before) {
            (Action::Write { .. }, Before::Nothing) => "created",
            (Action::Write { .. }, _) => "changed",
            (Action::CreateDirectory, _) => "created directory",
            (Action::RemoveFile, _) => "removed",
            (Action::RemoveDirectory, _) => "removed directory",
        }
    }

    /// Returns whether the change leaves everything as it was.
    pub(crate) fn changes_nothing(&self) -> bool {
        match &self.action {
            Action::Write { digest, .. } => self.before == Before::File(*digest),
            Action::RemoveFile | Action::RemoveDirectory => self.before == Before::Nothing,
            Action::CreateDirectory => self.before == Before::Directory,
        }
    }

    /// Returns whether `path` is the path of this change, as a person writes it: below the directory, or in full.
    pub(crate) fn is_at(&self, directory: &Path, path: &Path) -> bool {
        self.path == path || directory.join(&self.path) == path
    }
}

/// The BLAKE3 digest of a file, in hexadecimal as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Digest(pub(crate) blake3::Hash);

impl From<blake3::Hash> for Digest {
    fn from(hash: blake3::Hash) -> Self {
        Self(hash)
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0.to_hex().to_string()
    }
}

impl TryFrom<String> for Digest {
    type Error = blake3::HexError;

    fn try_from(text: String) -> Result<Self, blake3::HexError> {
        blake3::Hash::from_hex(text).map(Self)
    }
}
