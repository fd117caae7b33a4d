//! What a store promises, checked from outside.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests; a failure is a failed test"
)]

mod conformance;
mod files;
mod groups;
mod kill;
mod sameness;
mod world;
