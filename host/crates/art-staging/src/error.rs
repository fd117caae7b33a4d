//! Errors of staged changes.

use std::io;
use std::path::PathBuf;

use crate::commit::Conflict;

/// An operation on staged changes failed.
#[derive(Debug, thiserror::Error)]
pub enum StagingError {
    /// A file or folder cannot be used.
    #[error("cannot {action} `{}`", path.display())]
    Io {
        /// What was tried, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The description of a change set is not valid.
    #[error("`{}` is no description of staged changes", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: serde_json::Error,
    },
    /// There is neither a change set nor a run with staged changes whose identifier begins with this text.
    #[error("there are no staged changes of a run or a change set `{0}`; `art changes list` shows all")]
    Unknown(String),
    /// The identifiers of several runs or change sets begin with this prefix.
    #[error("several runs or change sets begin with `{0}`; type a longer prefix, or `last` for the newest run")]
    Ambiguous(String),
    /// A change set has no change at this path.
    #[error("the staged changes `{id}` have no file `{}`; `art changes show {id}` shows all", path.display())]
    NoSuchFile {
        /// The change set.
        id: String,
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The staged content of a file is not what the tool wrote.
    #[error(
        "the staged content of `{}` is not what the tool wrote, so nothing was committed; drop it with `art changes drop {id}`",
        path.display()
    )]
    ContentChanged {
        /// The change set.
        id: String,
        /// The file.
        path: PathBuf,
    },
    /// Files changed after the call had first looked at them. Nothing was committed.
    #[error("{}", conflicts_text(.0))]
    Conflicts(Vec<Conflict>),
}

impl StagingError {
    /// Returns a function for `map_err` that turns an error of the operating system into [`Io`](Self::Io).
    pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path, source }
    }
}

fn conflicts_text(conflicts: &[Conflict]) -> String {
    let files: Vec<_> = conflicts.iter().map(ToString::to_string).collect();
    format!("nothing was committed: {}", files.join("; "))
}
