//! Stores threads, conversations, observations (records of what runs did), agent state and run journals.
//!
//! [`Store`] is the interface, and [`MemoryStore`] and [`SqliteStore`] implement it and pass the same conformance
//! suite. A write is acknowledged only when it is durable: for SQLite that means committed and synced. Every value that
//! is passed in or returned is a copy (contract M2). The store itself assigns and checks all sequences and versions
//! (contract B19). `host/CONTRACTS.md` has the contracts.
//!
//! One step of a run is one [`Commit`], which is stored as a whole or not at all. A [`Lease`] makes its holder the only writer of
//! a thread, until it expires. If the process of the holder is paused until then and somebody else takes the thread over, the
//! fencing number of the old lease keeps the former holder from writing.
//!
//! A thread has an owner, which never changes. Reads for a user pass an [`Owner`], which is a condition on the owner of the
//! thread, and find only that user's threads and runs (contract B23). Writes to a thread do not check the owner: before such a
//! write, the host has looked up the thread for the user. The host creates the identifiers of threads, and never uses one again.

mod blob;
mod chain;
mod check;
pub mod clock;
mod commit;
mod error;
pub mod fail_point;
mod json;
mod lease;
pub mod limits;
mod memory;
mod record;
mod sqlite;
mod store;
mod suspension;

pub use blob::{Blob, digest};
pub use chain::verify_journal;
pub use clock::Clock;
pub use commit::{Commit, Committed, NewEvent, RunEnd};
pub use error::StoreError;
pub use fail_point::FailPoint;
pub use json::JsonText;
pub use lease::Lease;
pub use memory::MemoryStore;
pub use record::{
    CallRecord, JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, Owner, RunFilter, RunRecord,
    RunState, Thread, ThreadFilter, WorkRecord,
};
pub use sqlite::{SqliteStore, WriteStats};
pub use store::{Store, StoreFuture};
pub use suspension::{NewSuspension, SuspensionFilter, SuspensionRecord, SuspensionStatus, UsedDecision};
