//! What shows a change of a file without reading it.

use cap_std::fs::{Metadata, MetadataExt as _};

use super::mount::identity;

/// The identity, size and times of a file. If they are the same at two times, nobody has changed or replaced the file between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The device and inode numbers.
    pub(super) id: (u64, u64),
    pub(super) bytes: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            id: identity(metadata),
            bytes: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}
