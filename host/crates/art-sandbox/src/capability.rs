//! The interfaces that a component can import, one module for each kind of authority. A component that imports an interface
//! which is not granted gets [stubs](crate::stubs) in place of the interface or, for `wasi:http`, a sender that denies every
//! request.

pub(crate) mod cli;
pub(crate) mod clock;
pub(crate) mod fs;
pub(crate) mod host;
pub(crate) mod http;
pub(crate) mod io;
pub(crate) mod random;

use art_core::capability::LinkSet;
use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::state::CallState;

/// Returns a linker with the interfaces that every tool may use, and with those that are granted.
pub(crate) fn linker(engine: &Engine, granted: LinkSet) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    host::link(&mut linker)?;
    io::link(&mut linker)?;
    cli::link(&mut linker)?;
    http::link_types(&mut linker)?;
    if granted.clock {
        clock::link(&mut linker)?;
    }
    if granted.random {
        random::link(&mut linker)?;
    }
    if granted.fs {
        fs::link(&mut linker)?;
    }
    if granted.http {
        http::link(&mut linker)?;
    } else {
        http::link_denied(&mut linker)?;
    }
    Ok(linker)
}
