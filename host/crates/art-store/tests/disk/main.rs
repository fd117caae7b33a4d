//! What the store does when the disk fails: the power is cut, a write or a sync fails, the disk is full.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a failure in a helper fails the test"
)]
#![expect(clippy::print_stdout, reason = "the printed seed lets a person repeat a failed test")]

mod chance;
mod disk;
mod faults;
mod history;
mod image;
mod power;
mod vfs;
