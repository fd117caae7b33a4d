//! Creating and building tools: `plugin new` and `plugin build`.

pub mod build;
mod cargo;
pub mod examples;
mod linking;
pub mod new;
mod sources;
pub mod target;
