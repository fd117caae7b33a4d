//! `wasi:filesystem`: the granted files.
//!
//! With a *grant*, the operator allows a tool to use a directory or a file of the host. The *rights* of a call are the parts of
//! the grants that its tool may use; each maps a path of the guest to a path on the host. A guest sees one tree, and at first
//! gets only its root. A path in the tree leads to the right that covers the path, to a directory in which only the names that
//! lead to rights are visible, or to a denial. The directory that the operator granted is opened before the guest runs, without
//! following a link. A file that a right covers is opened with `cap-std` beneath it, so neither `..` nor a link leads out of this
//! directory. Every operation blocks the worker until it is done.
//!
//! Changes under a grant with `stage = true` are *staged*: they go to a draft, and the files of the host stay as they are until a
//! person commits the changes.

mod base;
mod bindings;
mod change;
mod descriptor;
mod fault;
mod host;
mod listing;
mod mount;
mod name;
mod open;
mod overlay;
mod path;
mod protected;
mod quota;
mod record;
mod stamp;
mod status;
mod stream;
mod system;
#[cfg(test)]
mod tests;
mod tree;
mod work;
mod writes;

#[expect(unreachable_pub, reason = "the generated bindings export it again")]
pub use descriptor::Descriptor;
pub(crate) use fault::Fault;
#[expect(unreachable_pub, reason = "the generated bindings export it again")]
pub use listing::Listing;
pub(crate) use overlay::StagingArea;
pub(crate) use protected::ProtectedPlaces;
pub(crate) use record::error_code_named;
pub(crate) use stream::StreamFault;
pub(crate) use tree::FileTree;
pub(crate) use writes::WriteNotes;

use wasmtime::component::Linker;

use crate::state::{CallState, HostFunctions};

/// Links the granted files.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    bindings::types::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)?;
    bindings::preopens::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)
}
