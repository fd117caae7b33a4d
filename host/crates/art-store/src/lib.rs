//! Where the host keeps threads, conversations, observations, agent state and run journals.
//!
//! [`Store`] is the contract; [`MemoryStore`] and [`SqliteStore`] pass the same conformance suite. A write is
//! acknowledged only once it is kept: for SQLite that means committed and synced. Every value that goes in or comes out is
//! a copy (M2), and every sequence and version is checked and counted by the store, not by its callers (B19).
//!
//! The store does not check access. [`Thread::user_id`] is stored for the host to check (B23).

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
    JournalEntry, MessageOptions, NewRun, NewThread, ObservationFilter, RunFilter, RunRecord, RunState, Thread,
    ThreadFilter,
};
pub use sqlite::{SqliteStore, WriteStats};
pub use store::{Store, StoreFuture};
