//! `wasi:clocks`: the time, and waiting. Each value that a guest reads from a clock is recorded, and a replayed call gets the
//! values from this record: `outside.ask` calls `read_clock` only if the call is no replay.

use std::time::{Duration, SystemTime};

use art_core::intake::{Answer, CrossingKind};
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::clocks::{WasiClocksCtx, WasiClocksCtxView};
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::{self, Datetime};

use crate::state::{CallState, HostFunctions};

/// Resolution of both clocks, in nanoseconds. It is the same on every machine, so that a guest behaves the same.
const CLOCK_RESOLUTION: u32 = 1;

/// Links the clocks.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    wall_clock::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)?;
    monotonic_clock::add_to_linker::<CallState, HostFunctions>(linker, CallState::count_call)
}

impl wall_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        let read_clock = || {
            let now = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            Answer::WallClock(now.as_secs(), now.subsec_nanos())
        };
        self.outside
            .ask(CrossingKind::WallClock, read_clock, |answer| match answer {
                Answer::WallClock(seconds, nanoseconds) => Some(Datetime {
                    seconds: *seconds,
                    nanoseconds: *nanoseconds,
                }),
                _ => None,
            })
    }

    fn resolution(&mut self) -> wasmtime::Result<Datetime> {
        Ok(Datetime {
            seconds: 0,
            nanoseconds: CLOCK_RESOLUTION,
        })
    }
}

impl monotonic_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<monotonic_clock::Instant> {
        let start = self.meter.time_slice().call_start();
        let read_clock = || Answer::MonotonicClock(nanoseconds(start.elapsed()));
        self.outside
            .ask(CrossingKind::MonotonicClock, read_clock, |answer| match answer {
                Answer::MonotonicClock(nanoseconds) => Some(*nanoseconds),
                _ => None,
            })
    }

    fn resolution(&mut self) -> wasmtime::Result<monotonic_clock::Duration> {
        Ok(CLOCK_RESOLUTION.into())
    }

    fn subscribe_instant(&mut self, when: monotonic_clock::Instant) -> wasmtime::Result<Resource<DynPollable>> {
        let now = nanoseconds(self.meter.time_slice().call_start().elapsed());
        self.subscribe_duration(when.saturating_sub(now))
    }

    fn subscribe_duration(&mut self, duration: monotonic_clock::Duration) -> wasmtime::Result<Resource<DynPollable>> {
        // The function of `wasmtime_wasi` that is called here uses only the table, and does not read the clocks in `ctx`.
        let mut clocks = WasiClocksCtxView {
            ctx: &mut WasiClocksCtx::default(),
            table: &mut self.table,
        };
        clocks.subscribe_duration(duration)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
