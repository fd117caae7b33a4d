//! The parts of WASI through which a guest learns something from outside: clocks, random numbers and readiness. Each
//! answer goes through [`Outside`](crate::outside::Outside), which records it.

use std::time::{Duration, SystemTime};

use art_core::intake::{Answer, CrossingKind};
use chacha20::rand_core::Rng;
use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::WasiView;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::clocks::WasiClocksCtxView;
use wasmtime_wasi::p2::DynPollable;
use wasmtime_wasi::p2::bindings::clocks::monotonic_clock;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::{self, Datetime};
use wasmtime_wasi::p2::bindings::io::poll;
use wasmtime_wasi::p2::bindings::{cli, io, random};

use crate::state::{CallState, HostFunctions, Tables};

/// Maximum number of random bytes that a guest gets from one call.
const MAX_RANDOM_BYTES: u64 = 64 << 10;
/// Resolution of both clocks, in nanoseconds. It is the same on every machine, so that a guest behaves the same.
const CLOCK_RESOLUTION: u32 = 1;

/// Links the parts of WASI that give no access to anything outside of the sandbox.
pub(crate) fn link_wasi(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    io::error::add_to_linker::<CallState, Tables>(linker, |state| state.ctx().table)?;
    io::streams::add_to_linker::<CallState, Tables>(linker, |state| state.ctx().table)?;
    io::poll::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    wall_clock::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    monotonic_clock::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    random::random::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    random::insecure::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    random::insecure_seed::add_to_linker::<CallState, HostFunctions>(linker, CallState::called)?;
    cli::stdin::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::stdout::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::stderr::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::exit::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::environment::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_input::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_output::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stdin::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stdout::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stderr::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)
}

impl wall_clock::Host for CallState {
    fn now(&mut self) -> wasmtime::Result<Datetime> {
        let live = || {
            let now = SystemTime::now()
                .duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or_default();
            Answer::WallClock(now.as_secs(), now.subsec_nanos())
        };
        self.outside.ask(CrossingKind::WallClock, live, |answer| match answer {
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
        let live = || Answer::MonotonicClock(nanoseconds(start.elapsed()));
        self.outside
            .ask(CrossingKind::MonotonicClock, live, |answer| match answer {
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
        let view = self.wasi();
        let mut clocks = WasiClocksCtxView {
            ctx: view.ctx.clocks(),
            table: view.table,
        };
        clocks.subscribe_duration(duration)
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

impl poll::Host for CallState {
    async fn poll(&mut self, pollables: Vec<Resource<DynPollable>>) -> wasmtime::Result<Vec<u32>> {
        let entries = pollables.len();
        // An empty list is an error, also in a replay.
        let live = if self.outside.is_replay() && entries > 0 {
            Vec::new()
        } else {
            self.table.poll(pollables).await?
        };
        let kind = CrossingKind::Polled;
        let ready = self.outside.ask(
            kind,
            || Answer::Polled(live),
            |answer| match answer {
                Answer::Polled(ready) => Some(ready.clone()),
                _ => None,
            },
        )?;
        if ready.is_empty() || ready.iter().any(|index| *index as usize >= entries) {
            return Err(self.outside.unfit(kind));
        }
        Ok(ready)
    }
}

impl poll::HostPollable for CallState {
    async fn ready(&mut self, pollable: Resource<DynPollable>) -> wasmtime::Result<bool> {
        let live = !self.outside.is_replay() && self.table.ready(pollable).await?;
        self.outside.ask(
            CrossingKind::Ready,
            || Answer::Ready(live),
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

impl CallState {
    fn random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        if length > MAX_RANDOM_BYTES {
            let message = format!("{length} random bytes were asked for, more than the {MAX_RANDOM_BYTES} allowed");
            return Err(wasmtime::Error::msg(message));
        }
        let mut bytes = vec![0; usize::try_from(length)?];
        self.outside.random()?.fill_bytes(&mut bytes);
        Ok(bytes)
    }

    fn random_number(&mut self) -> wasmtime::Result<u64> {
        Ok(self.outside.random()?.next_u64())
    }
}

impl random::random::Host for CallState {
    fn get_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_number()
    }
}

impl random::insecure::Host for CallState {
    fn get_insecure_random_bytes(&mut self, length: u64) -> wasmtime::Result<Vec<u8>> {
        self.random_bytes(length)
    }

    fn get_insecure_random_u64(&mut self) -> wasmtime::Result<u64> {
        self.random_number()
    }
}

impl random::insecure_seed::Host for CallState {
    fn insecure_seed(&mut self) -> wasmtime::Result<(u64, u64)> {
        Ok((self.random_number()?, self.random_number()?))
    }
}
