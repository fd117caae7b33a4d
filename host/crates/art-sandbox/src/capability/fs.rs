//! `wasi:filesystem`: the granted files.

use wasmtime::component::Linker;

use crate::state::CallState;

/// Links the granted files.
pub(super) fn link(_linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    Ok(())
}
