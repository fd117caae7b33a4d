//! What a call may add under one grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use art_core::capability::FsGrant;

use super::bindings::types::ErrorCode;

/// The bytes and files that a call may still add under one grant. All its open files share it.
#[derive(Debug)]
pub(super) struct Quota {
    grant: Arc<FsGrant>,
    bytes: AtomicU64,
    files: AtomicU64,
}

impl Quota {
    pub(super) fn new(grant: &Arc<FsGrant>) -> Self {
        Self {
            grant: Arc::clone(grant),
            bytes: AtomicU64::new(grant.max_bytes),
            files: AtomicU64::new(grant.max_files),
        }
    }

    /// Returns whether this is the quota of `grant`.
    pub(super) fn is_of(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Takes bytes that are about to be added. What was added stays counted, also if it is removed again.
    pub(super) fn add_bytes(&self, bytes: u64) -> Result<(), ErrorCode> {
        take(&self.bytes, bytes)
    }

    /// Takes one file or directory that is about to be created.
    pub(super) fn add_file(&self) -> Result<(), ErrorCode> {
        take(&self.files, 1)
    }

    /// Gives back a file that was not created.
    pub(super) fn return_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }
}

fn take(left: &AtomicU64, wanted: u64) -> Result<(), ErrorCode> {
    let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(wanted));
    taken.map(drop).map_err(|_| ErrorCode::InsufficientSpace)
}

#[cfg(test)]
mod tests {
    use art_core::capability::Access;

    use super::*;

    fn quota(max_bytes: u64, max_files: u64) -> Quota {
        Quota::new(&Arc::new(FsGrant {
            max_bytes,
            max_files,
            ..FsGrant::new("/data".into(), Access::ReadWrite)
        }))
    }

    #[test]
    fn what_fits_is_taken_and_what_does_not_fit_takes_nothing() {
        let quota = quota(10, 1);
        quota.add_bytes(8).unwrap();
        quota.add_bytes(3).unwrap_err();
        quota.add_bytes(2).unwrap();
        quota.add_bytes(1).unwrap_err();
        quota.add_bytes(u64::MAX).unwrap_err();
    }

    #[test]
    fn a_file_that_was_not_created_is_given_back() {
        let quota = quota(0, 1);
        quota.add_file().unwrap();
        quota.add_file().unwrap_err();
        quota.return_file();
        quota.add_file().unwrap();
    }
}
