//! Lists of plan items: checking, merging, comparing and scheduling.

mod calls;
mod check;
mod describe;
mod diff;
mod earlier;
mod flow;
mod kept;
mod merge;
mod output;
mod parameter;
mod promise;
mod reference;
mod review;
mod sample;
mod schedule;
mod show;

pub(crate) use calls::{CallCheck, Fault, Surroundings, check_calls, sources};
pub(crate) use check::{check, give_own_ids, texts, too_long, too_many_open};
pub(crate) use describe::nearest;
pub(crate) use diff::{added, diff};
pub(crate) use earlier::{EarlierStep, archive, earlier_steps, find_earlier, steps_of};
pub use kept::{KeptPlan, PlannedStep, ToolStamp};
pub(crate) use merge::{has_ended, plan_question, requeue_orphans, update};
pub(crate) use promise::without_promises;
pub use reference::constant_arguments;
pub(crate) use reference::{Origin, Template, data, escape, output_of, resolve};
pub use review::{Available, CheckedReference, Fit, PlanCheck, PlanFault};
pub use sample::sample_output;
pub(crate) use schedule::{blocked_items, next_ready, unfinished_reason, upstream};
pub use show::value_text;

#[cfg(test)]
pub(crate) use merge::tests;
