//! The models of the host: the trait they share, the engine that calls them by name, the embedded model, the dialects of the
//! services, and how models are measured.
//!
//! A model reads a prompt and streams a reply (C38 to C43). It never runs a tool: a reply only asks for calls. Nothing is
//! sent anywhere but by the engine, and by it only to the provider that a call names.

mod breaker;
mod catalog;
mod embedded;
mod engine;
pub mod eval;
mod fault;
mod http;
mod key;
mod manager;
mod model;
mod price;
mod provider;
mod remote;
mod retry;
mod settings;
mod sse;
#[cfg(test)]
mod testing;
mod wire;

pub use embedded::EmbeddedModel;
pub use engine::{ModelInfo, Probe, ProviderInfo, ReasoningEngine};
pub use model::{Model, collect, reply};
pub use price::{LongPrice, Price, PriceTable};
pub use provider::open;
pub use settings::{EngineLimits, ModelAbilities, ModelSettings, ProviderSettings};
pub use wire::{Api, replay};
