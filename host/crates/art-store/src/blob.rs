//! Blobs: bytes of a run that are stored once and identified by their digest.

use crate::error::StoreError;
use crate::limits::{MAX_NAME_BYTES, MAX_RUN_BLOB_BYTES, MAX_VALUE_BYTES};

/// Number of bytes that is added to the size of each blob when it is counted towards the limit of its run, so that the
/// number of empty blobs is bounded too.
const OVERHEAD_BYTES: u64 = 1 << 10;

/// Returns the digest of `bytes`: `blake3:` and 64 hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Returns how many bytes `count` blobs with `bytes` bytes in total count towards the limit of a run.
pub(crate) fn counted_size(bytes: u64, count: u64) -> u64 {
    bytes.saturating_add(count.saturating_mul(OVERHEAD_BYTES))
}

/// Refuses a blob that is too large by itself, or for which its run has no room. `stored` is the counted size of the blobs
/// of the run.
pub(crate) fn check_size(trace_id: &str, stored: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let id = || art_core::text::byte_prefix(trace_id, MAX_NAME_BYTES).to_owned();
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(StoreError::TooLarge {
            what: "a blob",
            id: id(),
            maximum: MAX_VALUE_BYTES,
        });
    }
    if stored.saturating_add(counted_size(bytes.len() as u64, 1)) > MAX_RUN_BLOB_BYTES {
        return Err(StoreError::BlobsFull { trace_id: id() });
    }
    Ok(())
}
