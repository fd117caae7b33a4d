//! Models: the trait they implement, the engine that calls them by name, the protocols of the providers, and the evaluation
//! of models.
//!
//! A model reads a prompt and streams a reply. It never runs a tool: a reply only requests tool calls. A model call is sent
//! only to the provider that it names.
//!
//! A contract that a comment cites is a rule in `host/CONTRACTS.md`.

mod breaker;
mod catalog;
mod engine;
pub mod eval;
mod fault;
mod http;
mod key;
mod model;
mod price;
mod protocol;
mod provider;
mod queue;
mod remote;
mod retry;
mod settings;
mod sse;
#[cfg(test)]
mod testing;

pub use art_core::price::{LongPrice, Price};
pub use engine::{LocalServer, ModelInfo, Probe, ProviderInfo, ReasoningEngine};
pub use model::{Model, collect, reply};
pub use price::PriceTable;
pub use protocol::{Protocol, replay};
pub use settings::{CapabilityOverrides, EngineLimits, ModelSettings, ProviderSettings};
