//! Changes of files that wait for a person.
//!
//! A tool whose grant has `stage = true` writes into a [`Draft`]. When its call ends, what it changed becomes a [`ChangeSet`] in
//! the folder of the [`Staging`]: a person looks at it ([`Staging::diff`]), and commits or drops it, as a whole or by file.
//!
//! A commit changes all of its files or none, also if the process is killed in the middle: when a staging is opened, a commit
//! whose journal is complete is carried out, and the traces of any other are removed. A file that is not what it was when the call
//! first looked at it is a conflict, and is never overwritten. One that somebody else changes during the commit stays as it is.

mod change;
mod commit;
mod diff;
mod disk;
mod draft;
mod error;
mod staging;
#[cfg(test)]
mod tests;

pub use change::{Action, Before, Change, ChangeSet, Digest, Origin};
pub use commit::{Committed, Conflict};
pub use draft::{Draft, Drafted};
pub use error::StagingError;
pub use staging::Staging;
