//! The plugins folder: which files are tools, and why the others are not.

pub mod build;
mod cargo;
pub mod examples;
mod linking;
pub mod new;
pub mod scan;
mod sources;
pub mod target;

pub use scan::{Compiled, Compiling, Loaded, OnCompiled, Refused, load_folder};
