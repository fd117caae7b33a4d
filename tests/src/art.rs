//! The program `art` as the tests run it. Three environment variables, which only tests set, change what it does:
//!
//! - `ART_TEST_STOP_AT=PLACE:COUNT` makes the process kill itself when it reaches the [`FailPoint`] with the name `PLACE` for the
//!   `COUNT`th time.
//! - `ART_TEST_STOP_BEFORE_RENAME=NAME` makes the process kill itself when a file that it replaces is complete and about to get its
//!   name, `NAME`.
//! - `ART_TEST_EFFECTS=FILE` adds the tools `effect` and `repeatable_effect`, which append a line to `FILE` for each call.

mod effects;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering};

use art_host::cli::Extension;
use art_store::{FailPoint, fail_point};
use rustix::process::{Signal, getpid, kill_process};

const STOP_VARIABLE: &str = "ART_TEST_STOP_AT";
const RENAME_VARIABLE: &str = "ART_TEST_STOP_BEFORE_RENAME";

fn main() -> ExitCode {
    if std::env::var_os(STOP_VARIABLE).is_some() {
        fail_point::install(kill_at_chosen_place);
    }
    if std::env::var_os(RENAME_VARIABLE).is_some() {
        art_files::set_before_rename(kill_before_chosen_rename);
    }
    art_host::commands::main_with(Extension(effects::add_tools))
}

/// Kills this process without any cleanup, if it reaches the place of [`STOP_VARIABLE`] for the `COUNT`th time.
fn kill_at_chosen_place(reached: FailPoint) {
    static TIMES_REACHED: AtomicU32 = AtomicU32::new(0);
    let place_and_count = std::env::var(STOP_VARIABLE).unwrap_or_default();
    let Some((place, count)) = place_and_count.split_once(':') else {
        return;
    };
    // `TIMES_REACHED` counts only the chosen place: for other places, `&&` skips `fetch_add`.
    if place == reached.name() && Ok(TIMES_REACHED.fetch_add(1, Ordering::SeqCst) + 1) == count.parse() {
        kill();
    }
}

/// Kills this process without any cleanup, if the path has the name of [`RENAME_VARIABLE`].
fn kill_before_chosen_rename(path: &Path) {
    if path.file_name() == std::env::var_os(RENAME_VARIABLE).as_deref() {
        kill();
    }
}

fn kill() {
    kill_process(getpid(), Signal::KILL).unwrap_or_else(|_| std::process::abort());
}
