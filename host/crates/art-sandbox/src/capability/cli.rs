//! `wasi:cli`: the granted variables, standard streams that are captured, and the end of the guest.

use wasmtime::component::Linker;
use wasmtime_wasi::cli::{WasiCli, WasiCliView};
use wasmtime_wasi::p2::bindings::cli;

use crate::state::CallState;

/// Links what a command imports.
pub(super) fn link(linker: &mut Linker<CallState>) -> wasmtime::Result<()> {
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
