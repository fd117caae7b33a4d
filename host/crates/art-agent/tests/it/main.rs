//! Tests of the agent through its public interface: model replies from a script, a stand-in for all tools, and a replay
//! of the journal after every event.
//!
//! A step of a plan is also called an item. A planned call is a tool call that the plan itself contains, so that no model has to
//! request it. The journal of a run is the list of its events, and a replay applies them to a new run.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    unreachable_pub,
    reason = "tests"
)]

mod harness;

mod answers;
mod any_events;
mod assist;
mod budget;
mod calls;
mod direct;
mod ending;
mod estimates;
mod fallback;
mod follow_up;
mod items;
mod journal;
mod manifest;
mod old_journals;
mod plan_corpus;
mod planned_calls;
mod planner;
mod planning;
mod prompts;
mod raw;
mod replies;
mod saved_plan;
mod schedule;
mod suspended;
// Reminders for steps that did not call their required tools. TAEF stands for tool-aware execution framework.
mod taef;
mod tasks;
mod together;
mod update;
