//! `wasi:http`: requests to the granted addresses.

mod body;
mod exchange;
mod limits;
mod network;
mod objects;
mod record;
mod request;
mod secret;
mod sender;
#[cfg(test)]
mod tests;
mod wire;

use std::sync::Arc;

use art_core::capability::{Denial, GrantUse};
use http::HeaderMap;
use wasmtime::component::Linker;
use wasmtime_wasi_http::p2::bindings::LinkOptions;
use wasmtime_wasi_http::p2::bindings::http::types;
use wasmtime_wasi_http::{FieldMap, WasiHttp, WasiHttpCtx, WasiHttpCtxView};

pub(crate) use network::Network;
use objects::Objects;
use sender::{Gate, Sender};

use crate::state::CallState;

/// Links the types of requests and responses, which give no access to anything. Their functions whose results depend on the
/// network record these results, and those that fill an object charge for it.
pub(super) fn link_types(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    types::add_to_linker::<CallState, WasiHttp>(linker, &LinkOptions::default().into(), CallState::http)?;
    objects::link(linker)?;
    record::link(linker)
}

/// Links the sending of requests to granted addresses.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    objects::link_handler(linker, CallState::http)
}

/// Links a sender that denies every request.
pub(super) fn link_denied(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    objects::link_handler(linker, CallState::denied_http)
}

/// The requests of one call.
pub(crate) struct Http {
    ctx: WasiHttpCtx,
    sender: Sender,
    /// What the objects of the guest take of the memory of the host.
    objects: Objects,
}

impl Http {
    pub(crate) fn new(state: &CallState) -> Self {
        let mut ctx = WasiHttpCtx::new();
        ctx.set_field_size_limit(limits::MAX_FIELD_BYTES);
        // A replay of a recorded call sends nothing: the guest gets the recorded responses.
        let network = state.network.as_ref().filter(|_| !state.outside.is_replay());
        Self {
            ctx,
            sender: Sender::new(
                Arc::clone(&state.grants),
                Arc::clone(&state.secrets),
                network.map(Arc::clone),
            ),
            objects: Objects::new(state.host_memory.clone()),
        }
    }

    /// Converts headers or trailers into the form in which the guest gets them.
    pub(crate) fn fields(&mut self, map: HeaderMap) -> FieldMap {
        FieldMap::new_immutable(&mut self.sender, map)
    }

    /// Returns how many requests of the call were admitted: a grant allows them, and the maximum number was not yet reached.
    pub(crate) const fn requests(&self) -> u64 {
        self.sender.gate.admitted_requests()
    }

    /// Returns the number of bytes in the bodies that were sent and received, together.
    pub(crate) fn bytes(&self) -> u64 {
        self.sender.traffic.bytes()
    }

    /// Returns the name of the first canary, a decoy secret, that was seen in a request.
    pub(crate) fn canary(&self) -> Option<String> {
        self.sender.gate.canary()
    }

    /// Returns which grants the call used and for which requests, and clears this list.
    pub(crate) fn take_uses(&mut self) -> Vec<GrantUse> {
        self.sender.gate.take_uses()
    }

    /// Returns the denials, and clears them.
    pub(crate) fn take_denials(&self) -> Vec<Denial> {
        self.sender.gate.take_denials()
    }
}

impl CallState {
    pub(super) fn http(&mut self) -> WasiHttpCtxView<'_> {
        let (http, table) = self.http_and_table();
        WasiHttpCtxView {
            hooks: &mut http.sender,
            table,
            ctx: &mut http.ctx,
        }
    }

    /// Same as [`http`](Self::http), with only the gate of the sender, which checks each request and then denies it.
    fn denied_http(&mut self) -> WasiHttpCtxView<'_> {
        let (http, table) = self.http_and_table();
        let gate: &mut Gate = &mut http.sender.gate;
        WasiHttpCtxView {
            hooks: gate,
            table,
            ctx: &mut http.ctx,
        }
    }
}
