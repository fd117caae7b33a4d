//! The program `art`, built together with the tests that run it.

use std::process::ExitCode;

fn main() -> ExitCode {
    art_host::commands::main()
}
