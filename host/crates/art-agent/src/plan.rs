//! Lists of plan items: checking, merging, comparing and scheduling.

mod calls;
mod check;
mod describe;
mod diff;
mod flow;
mod merge;
mod output;
mod reference;
mod schedule;

pub(crate) use calls::{CallCheck, Fault, Surroundings, check_calls, sources};
pub(crate) use check::check;
pub(crate) use diff::{added, diff};
pub(crate) use merge::{Keep, merge, requeue_orphans, reused_ids};
pub(crate) use reference::{Origin, resolve};
pub(crate) use schedule::{blocked_items, next_ready, unfinished_reason, upstream};

#[cfg(test)]
pub(crate) use merge::tests;
