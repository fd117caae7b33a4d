//! The models of the host: the trait they share, the engine that calls them by name, the dialects of the
//! services, and how models are measured.
//!
//! A model reads a prompt and streams a reply. It never runs a tool: a reply only asks for calls. Only the engine sends
//! anything, and only to the provider that a call names.

mod breaker;
mod catalog;
mod engine;
pub mod eval;
mod fault;
mod http;
mod key;
mod model;
mod price;
mod provider;
mod queue;
mod remote;
mod retry;
mod settings;
mod sse;
#[cfg(test)]
mod testing;
mod wire;

pub use engine::{LocalServer, ModelInfo, Probe, ProviderInfo, ReasoningEngine};
pub use model::{Model, collect, reply};
pub use price::{LongPrice, Price, PriceTable};
pub use settings::{EngineLimits, ModelAbilities, ModelSettings, ProviderSettings};
pub use wire::{Api, replay};
