//! The ART host: plans a question, runs each tool in a sandbox of its own, and answers.
//!
//! The crate is both the library behind the binary `art` and a library to embed: [`compose::Host`] puts the parts together
//! and [`drive::answer`] carries a question through them. `ARCHITECTURE.md` beside this crate has the whole picture.
//!
//! A program that embeds it needs a profile for its debug builds, in which the compiler of components is optimised: without it
//! the first start takes minutes. `examples/embed/README.md` has that profile. [`plugins::OnCompiled`] hears of what is compiled.

mod bounded;
pub mod cli;
pub mod commands;
pub mod compose;
pub mod config;
pub mod drive;
pub mod error;
pub mod exit;
pub mod plugins;
mod recover;
pub mod rehearse;
pub mod render;
mod spent;
