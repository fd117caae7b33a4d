//! The embedded model from the outside: whole prompts in, whole replies out.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test may stop at the first surprise"
)]

mod conversions;
mod dates;
mod follow_ups;
mod left_over;
mod measure;
mod prompts;
mod replies;
mod robust;
mod rows;
mod scenarios;
mod tools;
mod typos;
