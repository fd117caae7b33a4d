//! The standing approvals of persons: a folder with one file for each approval. A standing approval is made once, in advance, and
//! holds for all calls that match it, so that the person is not asked about them again.

use std::fs::{self, DirBuilder};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use art_core::suspension::{SuspendedCall, SuspensionCause};
use art_core::text::quote_for_shell;
use art_files::{open_regular, read_text, writable_by_others};
use art_store::digest;
use art_tools::approval::MAX_STANDING_BYTES;
use art_tools::{AdmittedCall, StandingApproval};
use serde::Serialize;
use serde_json::Value;

use crate::config::Config;
use crate::secrets::remove_left_behind;

/// Maximum number of standing approvals in a folder.
const MAX_APPROVALS: usize = 1_000;
/// Maximum size of a file, in bytes. The file contains the approval as indented JSON, which is longer than the compact JSON that
/// [`MAX_STANDING_BYTES`] limits.
const MAX_FILE_BYTES: u64 = 4 * MAX_STANDING_BYTES as u64;
/// Number of hexadecimal digits in an identifier.
const ID_DIGITS: usize = 12;

/// The standing approvals of a folder.
#[derive(Clone, Debug)]
pub struct StandingApprovals {
    folder: PathBuf,
}

/// A standing approval with its identifier, which is computed from its content.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct StoredApproval {
    /// Identifier by which it is removed.
    pub id: String,
    /// The calls that are approved.
    #[serde(flatten)]
    pub approval: StandingApproval,
}

/// An operation on the folder of standing approvals failed.
#[derive(Debug, thiserror::Error)]
pub enum StandingFolderError {
    /// No folder is configured.
    #[error("this host has no folder for standing approvals")]
    NoFolder,
    /// There are too many standing approvals.
    #[error("there are {MAX_APPROVALS} standing approvals already: remove some, or write a rule instead")]
    Full,
    /// Others could add standing approvals.
    #[error(
        "others could change the standing approvals `{}`: {problem} (hint: make the folder yours, and run `chmod go-w {}`)",
        path.display(),
        quote_for_shell(&path.to_string_lossy())
    )]
    NotPrivate {
        /// The folder.
        path: PathBuf,
        /// Why others could change it.
        problem: &'static str,
    },
    /// The folder or a file cannot be read or written.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// The folder or the file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl StandingApprovals {
    /// Returns the standing approvals of the configuration.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            folder: config.standing_approvals.clone(),
        }
    }

    /// Returns the folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns all standing approvals, in the order of their identifiers. A file that is not a valid approval, that others can write
    /// to, or whose content does not have the identifier in its name, for example because a person has changed it, is logged and
    /// left out, so that a person is asked about its calls.
    ///
    /// # Errors
    /// Fails if the folder cannot be read, or if others can write to it.
    pub fn list(&self) -> Result<Vec<StoredApproval>, StandingFolderError> {
        let mut ids = self.ids()?;
        ids.sort();
        let approvals = ids.into_iter().filter_map(|id| match self.read(&id) {
            Ok(approval) => Some(StoredApproval { id, approval }),
            Err(error) => {
                tracing::warn!(%error, "a standing approval is left out: `{}`", self.path(&id).display());
                None
            }
        });
        Ok(approvals.collect())
    }

    /// Adds an approval. Returns it with its identifier. An approval that exists already is not added a second time.
    ///
    /// # Errors
    /// Fails if no folder is configured, if there are too many approvals, or if the file cannot be written.
    pub fn add(&self, approval: StandingApproval) -> Result<StoredApproval, StandingFolderError> {
        if self.folder.as_os_str().is_empty() {
            return Err(StandingFolderError::NoFolder);
        }
        let id = approval_id(&approval);
        if self.ids()?.len() >= MAX_APPROVALS && !self.path(&id).exists() {
            return Err(StandingFolderError::Full);
        }
        self.write(&id, &approval)
            .map_err(|source| self.io_error("write into", self.folder.clone(), source))?;
        Ok(StoredApproval { id, approval })
    }

    /// Removes an approval. Returns whether there was one.
    ///
    /// # Errors
    /// Fails if its file cannot be removed.
    pub fn remove(&self, id: &str) -> Result<bool, StandingFolderError> {
        if !is_id(id) {
            return Ok(false);
        }
        match fs::remove_file(self.path(id)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.io_error("remove", self.path(id), error)),
        }
    }

    /// Returns the identifier of this person's approval that covers a call which already waits for a decision, or `None` if there
    /// is none. Only a call that waits because of a rule of the operator or the risk of its tool can be covered. The approval was
    /// added after the call began to wait; otherwise the call would not wait.
    #[must_use]
    pub fn find_for(&self, suspended: &SuspendedCall, user_id: Option<&str>) -> Option<String> {
        let (digest, call) = (suspended.tool_digest.as_deref(), &suspended.call);
        match suspended.cause {
            SuspensionCause::Rule { .. } => self.find_matching(user_id, &call.tool_name, digest, &call.arguments),
            SuspensionCause::Tool | SuspensionCause::Grant { .. } => None,
        }
    }

    /// Returns the identifier of this person's approval that covers a new call, or `None` if there is none.
    pub(crate) fn find_for_admitted(&self, call: &AdmittedCall, user_id: Option<&str>) -> Option<String> {
        self.find_matching(user_id, &call.schema().name, call.tool_digest(), &call.call().arguments)
    }

    /// Returns the identifier of the first approval that matches a call. `digest` is that of the tool's component. A folder that
    /// cannot be read counts as empty.
    fn find_matching(
        &self,
        user_id: Option<&str>,
        tool: &str,
        digest: Option<&str>,
        arguments: &Value,
    ) -> Option<String> {
        let approvals = self.list().unwrap_or_else(|error| {
            tracing::warn!(%error, "no standing approval is used");
            Vec::new()
        });
        let mut approvals = approvals.into_iter();
        let found = approvals.find(|stored| stored.approval.matches(user_id, tool, digest, arguments))?;
        Some(found.id)
    }

    /// Returns at most [`MAX_APPROVALS`] identifiers, in any order.
    fn ids(&self) -> Result<Vec<String>, StandingFolderError> {
        if self.folder.as_os_str().is_empty() {
            return Ok(Vec::new());
        }
        let entries = match fs::read_dir(&self.folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(self.io_error("read", self.folder.clone(), error)),
        };
        let metadata = fs::metadata(&self.folder).map_err(|error| self.io_error("read", self.folder.clone(), error))?;
        if let Some(problem) = writable_by_others(&metadata) {
            let path = self.folder.clone();
            return Err(StandingFolderError::NotPrivate { path, problem });
        }
        let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let ids = names.filter_map(|name| Some(name.strip_suffix(".json")?.to_owned()));
        Ok(ids.filter(|id| is_id(id)).take(MAX_APPROVALS).collect())
    }

    fn path(&self, id: &str) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }

    fn read(&self, id: &str) -> io::Result<StandingApproval> {
        let file = open_regular(&self.path(id))?;
        if let Some(problem) = writable_by_others(&file.metadata()?) {
            return Err(io::Error::other(format!("others could change it: {problem}")));
        }
        let text = read_text(file, MAX_FILE_BYTES)?;
        let approval = serde_json::from_str(&text).map_err(io::Error::other)?;
        match approval_id(&approval) == id {
            true => Ok(approval),
            false => Err(io::Error::other("its content is another one than its name says")),
        }
    }

    /// Writes the file so that nobody reads a part of it.
    fn write(&self, id: &str, approval: &StandingApproval) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let text = serde_json::to_vec_pretty(approval).map_err(io::Error::other)?;
        remove_left_behind(&self.folder);
        art_files::replace_with(&self.path(id), &text)
    }

    fn io_error(&self, action: &'static str, path: PathBuf, source: io::Error) -> StandingFolderError {
        StandingFolderError::Io { action, path, source }
    }
}

fn approval_id(approval: &StandingApproval) -> String {
    let text = serde_json::to_vec(approval).unwrap_or_default();
    let digest = digest(&text);
    let digits = digest.rsplit(':').next().unwrap_or_default();
    digits.chars().take(ID_DIGITS).collect()
}

fn is_id(text: &str) -> bool {
    text.len() == ID_DIGITS
        && text
            .bytes()
            .all(|byte| byte.is_ascii_hexdigit() && !byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests;
