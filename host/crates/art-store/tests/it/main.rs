//! Tests of the store in memory and of the store in SQLite through their public interface.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a failure in a helper fails the test"
)]

mod children;
mod conformance;
mod equivalence;
mod files;
mod fixture;
mod groups;
mod integrity;
mod kill;
mod migration;
mod old_homes;
mod processes;
mod transitions;
