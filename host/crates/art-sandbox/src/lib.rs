//! Runs tools compiled to WebAssembly components.
//!
//! [`Sandbox::load`] checks a component and returns a [`Plugin`], the loaded tool. The component is compiled when its code is
//! first needed. It is linked with the interfaces that are granted, and with stubs, which give no access to anything, in place of
//! the others. Its function `schema()`, which describes the tool, is called under tight limits. Each call of a tool runs in a
//! fresh store and a fresh instance, with bounded fuel, time, memory and output, and returns an
//! [`art_core::outcome::Outcome`]: how the call ended, its usage and its log.
//!
//! This is the only crate that depends on wasmtime.

mod bindings;
mod cache;
mod call;
mod capability;
mod catalog;
mod compile;
mod confine;
mod convert;
mod crossing;
mod denials;
mod engine;
mod error;
mod footprint;
mod fuel_basis;
mod guard;
mod host_memory;
mod inspect;
mod instrument;
mod limiter;
mod linked;
mod load;
mod log;
mod meter;
mod outside;
mod plugin;
mod prices;
mod program;
mod resident;
mod sandbox;
mod schema_text;
mod secrets;
mod state;
mod stubs;
mod worker;

pub use catalog::{Catalog, FileStamp, ListedComponent};
pub use compile::{CompilerProgram, compile_process};
pub use confine::{Confinement, ConfinementProbe, confine_host};
pub use engine::EngineMode;
pub use error::{CacheError, LoadError, SandboxError};
pub use inspect::{Inspection, MAX_COMPONENT_BYTES, Manifest, inspect};
pub use plugin::Plugin;
pub use program::ComponentSource;
pub use sandbox::{Sandbox, SandboxConfig};
pub use secrets::SecretSource;
