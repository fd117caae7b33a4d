//! The program `art`: its command line, its output, and the building of components.
//!
//! Everything else is in `art-runtime`, the library that other programs embed. See `ARCHITECTURE.md` in the folder of this
//! crate.

mod bounded_read;
pub mod cli;
pub mod commands;
pub mod error;
pub mod exit;
mod new_file;
pub mod plugins;
pub mod render;
mod tokio_runtime;
mod usage_summary;
