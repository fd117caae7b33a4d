//! `wasi:cli`: the granted environment variables, the exit of the guest, and its standard streams. The host captures what the
//! guest writes to standard output and standard error.

use wasmtime::component::{Linker, Resource};
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::cli;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use crate::state::{CallState, HostFunctions};

/// Links the interfaces of `wasi:cli`.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
    cli::stdin::add_to_linker::<CallState, HostFunctions>(linker, |state| state)?;
    cli::stdout::add_to_linker::<CallState, HostFunctions>(linker, |state| state)?;
    cli::stderr::add_to_linker::<CallState, HostFunctions>(linker, |state| state)?;
    cli::exit::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::environment::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_input::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_output::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stdin::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stdout::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)?;
    cli::terminal_stderr::add_to_linker::<CallState, WasiCli>(linker, CallState::cli)
}

impl CallState {
    /// Notes that a stream is a standard stream. Operations on it are not recorded, because a replay carries them out again.
    fn note_standard_stream<T: 'static>(&mut self, stream: Resource<T>) -> Resource<T> {
        self.standard_streams.insert(stream.rep());
        stream
    }
}

impl cli::stdin::Host for CallState {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<DynInputStream>> {
        let stream = self.cli().get_stdin()?;
        Ok(self.note_standard_stream(stream))
    }
}

impl cli::stdout::Host for CallState {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        let stream = self.cli().get_stdout()?;
        Ok(self.note_standard_stream(stream))
    }
}

impl cli::stderr::Host for CallState {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<DynOutputStream>> {
        let stream = self.cli().get_stderr()?;
        Ok(self.note_standard_stream(stream))
    }
}
