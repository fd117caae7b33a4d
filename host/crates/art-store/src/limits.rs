//! Limits of the store. They are constants because no caller needs other values.

/// Maximum size of an identifier, of the kind of a journal entry and of a model's name, in bytes. Identifiers that the
/// host generates have 36 bytes; a caller may use longer ones.
pub const MAX_NAME_BYTES: usize = 256;

/// Maximum size of a stored value, such as a message, an observation, a state, a blob or a journal payload, in bytes. The output
/// of a tool has at most 4 MiB, and an observation can contain a few of them.
pub const MAX_VALUE_BYTES: usize = 16 << 20;

/// Maximum depth of nested arrays and objects. `serde_json` writes any depth but parses at most 127, so deeper JSON could be
/// stored but not read again.
pub const MAX_JSON_DEPTH: usize = 120;

/// Maximum number of characters of the query that is stored with a run. The conversation has the whole query.
pub const MAX_QUERY_CHARS: usize = 1_000;

/// Maximum number of entries in a list, so that one request cannot read a whole database.
pub const MAX_LIST: usize = 10_000;

/// Maximum number of entries in the journal of a run. A journal is always read as a whole.
pub const MAX_JOURNAL_ENTRIES: u64 = 100_000;

/// Maximum size of all payloads in the journal of a run together, in bytes.
pub const MAX_JOURNAL_BYTES: u64 = 256 << 20;

/// Maximum size of all blobs of a run together, in bytes. Each blob counts as its size plus
/// [`BLOB_OVERHEAD_BYTES`].
pub const MAX_RUN_BLOB_BYTES: u64 = 64 << 20;

/// Time after which another caller can take a lease that was not renewed, in milliseconds.
pub const LEASE_MS: u64 = 15_000;

/// Number of bytes that each blob counts in addition to its size for [`MAX_RUN_BLOB_BYTES`], so that the number of empty blobs is
/// bounded too.
pub const BLOB_OVERHEAD_BYTES: u64 = 1 << 10;

/// Maximum timestamp, in milliseconds. It is 2^53 - 1, the largest integer that every JSON parser can represent.
pub const MAX_TIMESTAMP: u64 = (1 << 53) - 1;
