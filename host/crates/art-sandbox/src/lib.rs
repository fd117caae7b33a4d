//! Runs tools compiled to WebAssembly components.
//!
//! [`Sandbox::load`] checks a component before it compiles it, links only what is granted, and asks the tool for its schema
//! under tight limits. [`Plugin`] is the loaded tool: every call gets a fresh store and a fresh instance, with fuel, time,
//! memory and output bounded, and ends in one of the kinds of [`art_core::outcome::Ending`] with what it used.
//!
//! This is the only crate that names wasmtime.

mod bindings;
mod cache;
mod call;
mod compile;
mod convert;
mod crossing;
mod engine;
mod error;
mod guard;
mod inspect;
mod limiter;
mod linked;
mod load;
mod log;
mod meter;
mod pieces;
mod plugin;
mod prices;
mod program;
mod sandbox;
mod schema_text;
mod state;
mod stubs;
mod weight;
mod worker;

pub use compile::{CompilerProgram, compile_process};
pub use engine::EngineMode;
pub use error::{CacheError, LoadError, SandboxError};
pub use inspect::{Inspection, MAX_COMPONENT_BYTES, Manifest, inspect};
pub use plugin::Plugin;
pub use program::ComponentSource;
pub use sandbox::{Sandbox, SandboxConfig};
