//! The plugins folder: which files are tools, and why the others are not.

pub mod build;
pub mod examples;
pub mod new;
pub mod scan;
pub mod target;

pub use scan::{Compiled, Compiling, Loaded, OnCompiled, Refused, load_folder};
