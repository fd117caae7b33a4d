//! Limits of the store. They are constants because no caller needs other ones.

/// Bytes of an identifier, an entry's kind or a model's name. Ours are 36 bytes; a caller's own may be longer.
pub const MAX_NAME_BYTES: usize = 256;

/// Bytes of one message, observation, state, configuration or journal payload. A tool's output is at most 4 MiB, and an
/// observation can hold a few of them.
pub const MAX_VALUE_BYTES: usize = 16 << 20;

/// How deep arrays and objects may be nested. JSON nested deeper than 127 can be written but not read back.
pub const MAX_JSON_DEPTH: usize = 120;

/// Maximum characters kept of the query of a run; the conversation has all of it.
pub const MAX_QUERY_CHARS: usize = 1_000;

/// Maximum length of a listing, so that one request cannot read a whole database.
pub const MAX_LIST: usize = 10_000;

/// Entries of one run's journal. A journal is always read as a whole.
pub const MAX_JOURNAL_ENTRIES: u64 = 100_000;

/// Bytes of all payloads of one run's journal together.
pub const MAX_JOURNAL_BYTES: u64 = 256 << 20;

/// Bytes of all blobs of one run together. Each counts a KiB more than it has.
pub const MAX_RUN_BLOB_BYTES: u64 = 64 << 20;

/// The latest timestamp, in milliseconds: every JSON reader can represent it (2^53 - 1).
pub const MAX_TIMESTAMP: u64 = (1 << 53) - 1;
