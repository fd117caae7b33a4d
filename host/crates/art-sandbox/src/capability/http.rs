//! `wasi:http`: requests to the granted addresses.

use wasmtime::component::Linker;

use crate::state::CallState;

/// Links the types of requests and responses, which give no access to anything.
pub(super) fn link_types(_linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    Ok(())
}

/// Links the sending of requests to granted addresses.
pub(super) fn link(_linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    Ok(())
}

/// Links a sender that denies every request.
pub(super) fn link_denied(_linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    Ok(())
}
