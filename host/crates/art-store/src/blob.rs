//! Bytes stored once and named by their digest.

use crate::error::StoreError;
use crate::limits::{MAX_NAME_BYTES, MAX_RUN_BLOB_BYTES, MAX_VALUE_BYTES};

/// Counted for each blob beside its bytes, so that the number of empty blobs is bounded too.
const OVERHEAD: u64 = 1 << 10;

/// Returns the name of `bytes`: `blake3:` and 64 hexadecimal digits.
#[must_use]
pub fn digest(bytes: &[u8]) -> String {
    format!("blake3:{}", blake3::hash(bytes).to_hex())
}

/// Returns what blobs of that many bytes count together.
pub(crate) fn weight(bytes: u64, blobs: u64) -> u64 {
    bytes.saturating_add(blobs.saturating_mul(OVERHEAD))
}

/// Refuses bytes that are too many for one blob, or for a run that already has `kept` bytes of blobs.
pub(crate) fn fits(trace_id: &str, kept: u64, bytes: &[u8]) -> Result<(), StoreError> {
    let id = || art_core::text::byte_prefix(trace_id, MAX_NAME_BYTES).to_owned();
    if bytes.len() > MAX_VALUE_BYTES {
        return Err(StoreError::TooLarge {
            what: "a blob",
            id: id(),
            maximum: MAX_VALUE_BYTES,
        });
    }
    if kept.saturating_add(weight(bytes.len() as u64, 1)) > MAX_RUN_BLOB_BYTES {
        return Err(StoreError::BlobsFull { trace_id: id() });
    }
    Ok(())
}
