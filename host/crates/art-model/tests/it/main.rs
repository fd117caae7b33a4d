//! The embedded model from the outside: whole prompts in, whole replies out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod measure;
mod prompts;
mod replies;
mod robust;
mod scenarios;
mod tools;
