//! `wasi:io`: streams, and waiting until they are ready. It gives access only to what other interfaces have opened.
//!
//! What a guest learns when it waits is recorded. Each answer is an entry of the record, which is called a crossing. When a
//! recorded call is replayed, the guest gets the recorded answers.

mod streams;

use art_core::intake::{Answer, CrossingKind};
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::io;
use wasmtime_wasi::p2::bindings::io::poll;

use crate::state::{CallState, HostFunctions, Tables};

/// Links the streams, the errors of streams, and the functions with which a guest waits.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    // `ctx` and `count_call` each count the guest's call into the host.
    io::error::add_to_linker::<CallState, Tables>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)?;
    io::poll::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)
}

impl poll::Host for CallState {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        let count = pollables.len();
        // A replay does not poll, except for an empty list: the table returns an error for it, which the replay must get too.
        let ready_now = if self.outside.is_replay() && count > 0 {
            Vec::new()
        } else {
            self.table.poll(pollables).await?
        };
        let kind = CrossingKind::Polled;
        let ready = self.outside.ask(
            kind,
            || Answer::Polled(ready_now),
            |answer| match answer {
                Answer::Polled(ready) => Some(ready.clone()),
                _ => None,
            },
        )?;
        if ready.is_empty() || ready.iter().any(|index| *index as usize >= count) {
            return Err(self.outside.unfit_answer_error(kind));
        }
        Ok(ready)
    }
}

impl poll::HostPollable for CallState {
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        let ready_now = !self.outside.is_replay() && self.table.ready(pollable).await?;
        self.outside.ask(
            CrossingKind::Ready,
            || Answer::Ready(ready_now),
            |answer| match answer {
                Answer::Ready(is_ready) => Some(*is_ready),
                _ => None,
            },
        )
    }

    async fn block(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        if !self.outside.is_replay() {
            self.table.block(pollable).await?;
        }
        self.outside.ask(
            CrossingKind::Waited,
            || Answer::Waited,
            |answer| (*answer == Answer::Waited).then_some(()),
        )
    }

    fn drop(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<()> {
        poll::HostPollable::drop(&mut self.table, pollable)
    }
}
