//! The binary `art`: parses the command line and calls the library.

use std::process::ExitCode;

use art_host::cli::Cli;
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    art_host::commands::start(cli).into()
}
