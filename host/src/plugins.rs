//! Creates and builds tools: `art plugin new` and `art plugin build`.

pub mod build;
mod cargo;
pub mod examples;
mod linking;
pub mod new;
mod settings;
mod sources;
pub mod target;
