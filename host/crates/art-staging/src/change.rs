//! Change sets: what one call wants to change, and what was there before.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// Identifies the call that made a change set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Origin {
    /// Identifier of the run.
    pub run: String,
    /// Identifier of the call in the run.
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
    /// The path, relative to the granted directory.
    pub path: PathBuf,
    /// What changes.
    pub action: Action,
    /// What was at the path when the call first looked at it.
    pub before: PathState,
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

/// What is at a path, or was there before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "kind", content = "digest")]
pub enum PathState {
    /// Nothing.
    Nothing,
    /// A file with this digest.
    File(Digest),
    /// A directory.
    Directory,
    /// Something that is neither a file nor a directory, or that changed while the call ran. A commit of a change there fails.
    Unclear,
}

impl ChangeSet {
    /// Returns the full path of a change.
    #[must_use]
    pub fn full_path(&self, change: &Change) -> PathBuf {
        self.directory.join(&change.path)
    }

    /// Returns the identifiers by which a person finds the change set: its own and that of the run.
    pub(crate) fn identifiers(&self) -> [&str; 2] {
        [&self.id, &self.origin.run]
    }
}

impl Change {
    /// Returns what the change does, in one or two words.
    #[must_use]
    pub const fn verb(&self) -> &'static str {
        match (&self.action, self.before) {
            (Action::Write { .. }, PathState::Nothing) => "created",
            (Action::Write { .. }, _) => "changed",
            (Action::CreateDirectory, _) => "created directory",
            (Action::RemoveFile, _) => "removed",
            (Action::RemoveDirectory, _) => "removed directory",
        }
    }

    /// Returns whether the change makes no difference to what was there before.
    pub(crate) fn changes_nothing(&self) -> bool {
        match &self.action {
            Action::Write { digest, .. } => self.before == PathState::File(*digest),
            Action::RemoveFile | Action::RemoveDirectory => self.before == PathState::Nothing,
            Action::CreateDirectory => self.before == PathState::Directory,
        }
    }

    /// Returns whether `path` is the path of this change, as a person writes it: relative to the directory, or in full.
    pub(crate) fn is_at(&self, directory: &Path, path: &Path) -> bool {
        self.path == path || directory.join(&self.path) == path
    }
}

/// The BLAKE3 digest of a file. JSON has it in hexadecimal.
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
