//! Blobs: bytes of a run that are stored once and identified by their digest.

use std::sync::Arc;

use crate::check;
use crate::error::StoreError;
use crate::limits::{BLOB_OVERHEAD_BYTES, MAX_RUN_BLOB_BYTES, MAX_VALUE_BYTES};

/// Bytes with their digest. A run stores equal bytes only once. Clones share the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blob {
    digest: String,
    bytes: Arc<[u8]>,
}

impl Blob {
    /// Creates a blob.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self {
            digest: digest(&bytes),
            bytes,
        }
    }

    /// Returns the [digest](crate::digest()), by which the blob is found.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Returns the digest of `bytes`: `blake3:` and 64 hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Returns how many bytes a run that has blobs of these sizes can still store in blobs, including the overhead of each blob.
pub(crate) fn remaining_room(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.fold(MAX_RUN_BLOB_BYTES, |room, size| room.saturating_sub(counted_size(size)))
}

/// Returns how much of `room`, the number of bytes that a run can still store in blobs, is left after the run stores the blob
/// `bytes`. Fails if the blob is larger than any blob may be, or than the room.
pub(crate) fn take_room(trace_id: &str, room: u64, bytes: &[u8]) -> Result<u64, StoreError> {
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(StoreError::TooLarge {
            what: "a blob",
            id: check::truncate_id(trace_id),
            maximum: MAX_VALUE_BYTES,
        });
    }
    room.checked_sub(counted_size(bytes.len() as u64))
        .ok_or_else(|| StoreError::BlobsFull {
            trace_id: check::truncate_id(trace_id),
        })
}

/// Refuses bytes that do not have the digest under which they are stored.
pub(crate) fn verify_digest(expected: &str, bytes: Vec<u8>) -> Result<Vec<u8>, StoreError> {
    if digest(&bytes) == expected {
        return Ok(bytes);
    }
    Err(StoreError::ChangedBlob {
        digest: expected.to_owned(),
    })
}

/// Returns the size with which a blob counts: its bytes and an overhead.
fn counted_size(bytes: u64) -> u64 {
    bytes.saturating_add(BLOB_OVERHEAD_BYTES)
}
