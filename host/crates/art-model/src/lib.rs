//! The models of the host: the trait they share, how one is looked up, the embedded model, and how models are measured.
//!
//! A model reads a prompt and streams a reply (C38 to C43). It never runs a tool: a reply only asks for calls. The crate
//! does no I/O.

mod embedded;
pub mod eval;
mod model;
mod provider;

pub use embedded::EmbeddedModel;
pub use model::{Model, reply};
pub use provider::{available, open, parse};
