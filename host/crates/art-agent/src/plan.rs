//! Lists of plan items: checking, merging, comparing and scheduling.

mod check;
mod diff;
mod merge;
mod schedule;

pub(crate) use check::check;
pub(crate) use diff::{added, diff};
pub(crate) use merge::{Keep, merge, requeue_orphans, reused_ids};
pub(crate) use schedule::{blocked_items, next_ready, unfinished_reason, upstream};

#[cfg(test)]
pub(crate) use merge::tests;
