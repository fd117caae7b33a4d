//! The types that all crates of the host share: tools, prompts, runs, observations, outcomes, errors.
//!
//! The crate does no I/O, is not asynchronous and does not depend on WebAssembly. Types that cross a process boundary
//! have fixed names in JSON, mostly in camelCase.
//!
//! A thread is a conversation, and a run is the work on one of its questions. A `trace_id` is the identifier of a run, except in
//! `span`, where it is derived from that identifier. A contract that a comment cites is a rule in `host/CONTRACTS.md`.
//!
//! `hitl` stands for human in the loop (questions to a person), and `pes` for plan, execute, synthesise (the plan of a
//! conversation).

pub mod agent;
pub mod capability;
pub mod conversation;
pub mod error;
pub mod examples;
pub mod hitl;
pub mod id;
pub mod intake;
pub mod json;
pub mod limits;
pub mod observation;
pub mod outcome;
pub mod pes;
pub mod price;
pub mod prompt;
pub mod provider;
pub mod rank;
pub mod secret;
pub mod shared;
pub mod show;
pub mod span;
pub mod stream;
pub mod suspension;
pub mod task;
pub mod text;
pub mod think;
pub mod tool;
pub mod usage;
mod wire;

/// Milliseconds since the Unix epoch, UTC.
pub type Timestamp = u64;

/// A map of JSON values that keeps insertion order.
pub type JsonObject = serde_json::Map<String, serde_json::Value>;
