//! What a call may add under one grant.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use art_core::capability::{Capability, Denial, FsGrant};

use super::bindings::types::ErrorCode;

/// The bytes and files that a call may still add under one grant. All open files of the grant share one quota.
#[derive(Debug)]
pub(super) struct Quota {
    grant: Arc<FsGrant>,
    remaining_bytes: AtomicU64,
    remaining_files: AtomicU64,
    /// Whether the call wanted to add more than remained.
    is_exceeded: AtomicBool,
}

impl Quota {
    pub(super) fn new(grant: &Arc<FsGrant>) -> Self {
        Self {
            grant: Arc::clone(grant),
            remaining_bytes: AtomicU64::new(grant.max_bytes),
            remaining_files: AtomicU64::new(grant.max_files),
            is_exceeded: AtomicBool::new(false),
        }
    }

    /// Returns whether this is the quota of `grant`.
    pub(super) fn belongs_to(&self, grant: &Arc<FsGrant>) -> bool {
        Arc::ptr_eq(&self.grant, grant)
    }

    /// Takes bytes that are about to be added. They stay taken even if they are removed from the file again.
    pub(super) fn take_bytes(&self, bytes: u64) -> Result<(), ErrorCode> {
        self.take(&self.remaining_bytes, bytes)
    }

    /// Takes one file or directory that is about to be created.
    pub(super) fn take_file(&self) -> Result<(), ErrorCode> {
        self.take(&self.remaining_files, 1)
    }

    /// Returns a denial if the call wanted to add more than remained, and `None` otherwise. The tool itself gets only an error
    /// code.
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

    fn take(&self, remaining: &AtomicU64, wanted: u64) -> Result<(), ErrorCode> {
        let subtract = |remaining: u64| remaining.checked_sub(wanted);
        let taken = remaining.fetch_update(Ordering::Relaxed, Ordering::Relaxed, subtract);
        if taken.is_err() {
            self.is_exceeded.store(true, Ordering::Relaxed);
            return Err(ErrorCode::InsufficientSpace);
        }
        Ok(())
    }

    /// Gives back what was taken for a file or directory that then was not created.
    pub(super) fn give_back_file(&self) {
        self.remaining_files.fetch_add(1, Ordering::Relaxed);
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
    fn bytes_that_exceed_the_quota_are_refused_and_none_of_them_is_taken() {
        let (max_bytes, max_files) = (10, 1);
        let quota = quota(max_bytes, max_files);
        quota.take_bytes(8).unwrap();
        assert_eq!(quota.denial(), None);
        quota.take_bytes(3).unwrap_err();
        quota.take_bytes(2).unwrap();
        quota.take_bytes(1).unwrap_err();
        quota.take_bytes(u64::MAX).unwrap_err();
        assert!(quota.denial().unwrap().reason.contains("at most 10 bytes"));
    }

    #[test]
    fn a_file_that_is_given_back_can_be_taken_again() {
        let (max_bytes, max_files) = (0, 1);
        let quota = quota(max_bytes, max_files);
        quota.take_file().unwrap();
        quota.take_file().unwrap_err();
        quota.give_back_file();
        quota.take_file().unwrap();
    }
}
