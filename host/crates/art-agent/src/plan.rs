//! Plans. The items of a plan, which are its steps, are checked, merged with the items of a changed plan, compared and scheduled.
//! References, by which the planned calls of the items take outputs of other calls, are replaced by values.
//!
//! Some words are used throughout: an earlier step is one of an earlier question of the thread, a saved plan is one that a person
//! saved to run it again, and a promise is what a tool says about the output of a call with a certain input.

mod calls;
mod check;
mod describe;
mod diff;
mod earlier;
mod flow;
mod merge;
mod output;
mod parameter;
mod promise;
mod reference;
mod review;
mod sample;
mod saved;
mod schedule;
mod show;

pub(crate) use calls::{CallCheck, CallCheckInput, Fault, check_calls, source_steps};
pub(crate) use check::{check_steps, excess_step_faults, fault_texts, give_unique_ids, item_count_problem};
pub(crate) use describe::similar_name_hint;
pub(crate) use diff::{all_added, diff};
pub(crate) use earlier::{EarlierStep, archive_question, earlier_steps, find_earlier_step, question_steps};
pub(crate) use merge::{has_ended, items_for_question, requeue_interrupted_items, update_items};
pub(crate) use promise::without_promises;
pub use reference::constant_arguments;
pub(crate) use reference::{
    OutputReference, PlannedValue, escape_pointer_key, find_output, planned_arguments, resolve,
};
pub use review::{CheckedReference, Fit, PlanCheck, PlanFault, PlanResources};
pub use sample::sample_output;
pub use saved::{PlannedStep, SavedPlan, ToolStamp};
pub(crate) use schedule::{all_dependencies, blocked_items, blocked_reason, next_ready, unfinished_reason};
pub use show::value_text;

#[cfg(test)]
pub(crate) use merge::tests;
