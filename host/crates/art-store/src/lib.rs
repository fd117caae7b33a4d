//! Stores threads, conversations, observations, agent state and run journals.
//!
//! [`Store`] is the interface, and [`MemoryStore`] and [`SqliteStore`] implement it and pass the same conformance
//! suite. A write is acknowledged only when it is durable: for SQLite that means committed and synced. Every value that
//! is passed in or returned is a copy (M2). The store itself assigns and checks all sequences and versions (B19).
//!
//! The store does not check access. The host has to compare [`Thread::user_id`] (B23).

mod blob;
mod check;
pub mod clock;
mod error;
pub mod limits;
mod memory;
mod record;
mod sqlite;
mod store;

pub use blob::digest;
pub use clock::Clock;
pub use error::StoreError;
pub use memory::MemoryStore;
pub use record::{
    CallRecord, JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, RunState,
    Thread, ThreadFilter, WorkRecord,
};
pub use sqlite::{SqliteStore, WriteStats};
pub use store::{Store, StoreFuture};
