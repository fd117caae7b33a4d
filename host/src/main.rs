//! The binary `art`: calls the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    art_host::commands::main()
}
