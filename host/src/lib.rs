//! The program `art`: its command line, what it shows, and how it makes components.
//!
//! Everything else is in `art-runtime`, the library that other programs embed. `ARCHITECTURE.md` beside this crate has the
//! whole picture.

mod bounded;
pub mod cli;
pub mod commands;
pub mod error;
mod executor;
pub mod exit;
pub mod plugins;
pub mod render;
mod spent;
