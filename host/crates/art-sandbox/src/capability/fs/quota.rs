//! What a call may add under one grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use art_core::capability::{Capability, Denial, FsGrant};

use super::bindings::types::ErrorCode;

/// The bytes and files that a call may still add under one grant. All open files of the grant share one quota.
#[derive(Debug)]
pub(super) struct Quota {
    grant: Arc<FsGrant>,
    bytes: AtomicU64,
    files: AtomicU64,
    /// Whether something did not fit.
    is_exceeded: AtomicBool,
}

impl Quota {
    pub(super) fn new(grant: &Arc<FsGrant>) -> Self {
        Self {
            grant: Arc::clone(grant),
            bytes: AtomicU64::new(grant.max_bytes),
            files: AtomicU64::new(grant.max_files),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// Returns whether this is the quota of `grant`.
    pub(super) fn belongs_to(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Takes bytes that are about to be added. What was added stays counted, also if it is removed again.
    pub(super) fn add_bytes(&self, bytes: u64) -> Result<(), ErrorCode> {
        self.take(&self.bytes, bytes)
    }

    /// Takes one file or directory that is about to be created.
    pub(super) fn add_file(&self) -> Result<(), ErrorCode> {
        self.take(&self.files, 1)
    }

    /// Returns a denial if something did not fit, or `None` if everything did. The tool itself gets only an error code.
    pub(super) fn denial(&self) -> Option<Denial> {
        let FsGrant {
            path,
            max_bytes,
            max_files,
            ..
        } = self.grant.as_ref();
        let reason = format!(
            "a call may add at most {max_bytes} bytes and {max_files} files there (`max_bytes` and `max_files` of the grant)"
        );
        let denial = || Denial::new(Capability::Fs, "write", &path.to_string_lossy(), &reason);
        self.is_exceeded.load(Ordering::Relaxed).then(denial)
    }

    fn take(&self, left: &AtomicU64, wanted: u64) -> Result<(), ErrorCode> {
        let taken = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(wanted));
        if taken.is_err() {
            self.is_exceeded.store(true, Ordering::Relaxed);
            return Err(ErrorCode::InsufficientSpace);
        }
        Ok(())
    }

    /// Gives back a file that was not created.
    pub(super) fn return_file(&self) {
        self.files.fetch_add(1, Ordering::Relaxed);
    }
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
    fn bytes_beyond_the_quota_are_refused_and_use_none_of_it() {
        let quota = quota(10, 1);
        quota.add_bytes(8).unwrap();
        assert_eq!(quota.denial(), None);
        quota.add_bytes(3).unwrap_err();
        quota.add_bytes(2).unwrap();
        quota.add_bytes(1).unwrap_err();
        quota.add_bytes(u64::MAX).unwrap_err();
        assert!(quota.denial().unwrap().reason.contains("at most 10 bytes"));
    }

    #[test]
    fn a_returned_file_can_be_added_again() {
        let quota = quota(0, 1);
        quota.add_file().unwrap();
        quota.add_file().unwrap_err();
        quota.return_file();
        quota.add_file().unwrap();
    }
}
