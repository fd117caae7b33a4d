//! The interfaces of the host, one module for each kind of authority. In place of an interface that is not granted, a component
//! that imports it gets [stubs](crate::stubs) or, for `wasi:http`, a sender that denies every request.

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

/// Returns a linker with what every tool may use, and with the interfaces of `set`.
pub(crate) fn linker(engine: &Engine, set: LinkSet) -> wasmtime::Result<Linker<CallState>> {
    let mut linker = Linker::new(engine);
    host::link(&mut linker)?;
    io::link(&mut linker)?;
    cli::link(&mut linker)?;
    http::link_types(&mut linker)?;
    if set.clock {
        clock::link(&mut linker)?;
    }
    if set.random {
        random::link(&mut linker)?;
    }
    if set.fs {
        fs::link(&mut linker)?;
    }
    if set.http {
        http::link(&mut linker)?;
    } else {
        http::link_denied(&mut linker)?;
    }
    Ok(linker)
}
