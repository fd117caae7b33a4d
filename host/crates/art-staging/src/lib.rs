//! Staged changes: changes of files that are not made until a person commits them.
//!
//! A grant lets a tool use a directory. A tool whose grant has `stage = true` does not change the granted files. What it writes
//! goes to a [`Draft`]. When its call ends, the draft becomes a [`ChangeSet`] in the folder of the [`Staging`]. A person looks at
//! the change set ([`Staging::diff`]), and commits or drops it, as a whole or file by file.
//!
//! A commit changes all of its files or none, also if the process is killed in the middle: when a staging is opened, an
//! interrupted commit is carried out if its journal (the list of its changes) was stored, and is undone otherwise. A file that
//! is not what it was when the call first looked at it is a conflict, and is never overwritten. The only exception to all or none:
//! if somebody else changes a file during the commit, its change is not made and stays in the change set.

mod change;
mod commit;
mod diff;
mod disk;
mod draft;
mod error;
mod overwrite;
mod staging;
#[cfg(test)]
mod tests;

pub use change::{Action, Change, ChangeSet, Digest, Origin, PathState};
pub use commit::{Committed, Conflict};
pub use disk::DigestReader;
pub use draft::{Draft, DraftedAction};
pub use error::StagingError;
pub use staging::Staging;
