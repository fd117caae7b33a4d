//! The conformance tests, which the store in memory and the store in an SQLite database both have to pass.

use crate::fixture::{TestStore, block_on};

/// Makes two tests of each listed function: with a store in memory and with one in an SQLite database.
macro_rules! test_each_store {
    ($($name:ident,)*) => {
        mod memory {
            $(#[test] fn $name() { super::super::block_on(super::$name(super::super::TestStore::memory())); })*
        }
        mod sqlite {
            $(#[test] fn $name() { super::super::block_on(super::$name(super::super::TestStore::sqlite())); })*
        }
    };
}

mod blobs;
mod bounds;
mod calls;
mod commits;
mod conversation;
mod leases;
mod observations;
mod runs;
mod state;
pub(crate) mod suspensions;
mod threads;
mod visibility;
mod work;
