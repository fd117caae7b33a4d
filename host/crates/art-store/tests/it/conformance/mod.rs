//! The conformance suite, which both stores have to pass.

use crate::world::{World, block_on};

/// Creates a test for each function and each store.
macro_rules! suite {
    ($($name:ident,)*) => {
        mod memory {
            $(#[test] fn $name() { super::super::block_on(super::$name(super::super::World::memory())); })*
        }
        mod sqlite {
            $(#[test] fn $name() { super::super::block_on(super::$name(super::super::World::sqlite())); })*
        }
    };
}

mod blobs;
mod bounds;
mod conversation;
mod observations;
mod runs;
mod state;
mod threads;
