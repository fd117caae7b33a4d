//! The agent as a driver sees it: a scripted model, scripted tools, and a replay after every event.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "tests"
)]

mod harness;

mod answers;
mod ending;
mod follow_up;
mod items;
mod journal;
mod planning;
mod prompts;
mod schedule;
mod taef;
mod update;
