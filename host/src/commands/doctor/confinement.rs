//! Checks the confinement of this process and of the compiler process, in which the host compiles components: what the kernel
//! would refuse to them even if an attacker controlled them.

use std::process::Command;

use art_sandbox::ConfinementProbe;

use super::{Check, Verdict};
use crate::commands::CONFINEMENT_PROBE_ARGUMENT;

/// Checks the confinement of both processes. Missing confinement is only a warning, because the sandbox already isolates tools.
pub(super) fn check() -> [Check; 2] {
    [check_this_process(), check_compiler_process()]
}

fn check_this_process() -> Check {
    const NAME: &str = "confined host";
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    // Mode 2 is a filter.
    let has_filter = status
        .lines()
        .any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() == "2"));
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let forbids_core_dumps = limits
        .lines()
        .filter_map(|line| line.strip_prefix("Max core file size"))
        .any(|values| values.split_whitespace().next() == Some("0"));
    match (has_filter, forbids_core_dumps) {
        (true, true) => Check::new(
            NAME,
            Verdict::Ok,
            "a filter of system calls (seccomp) is active, and core dumps are forbidden",
        ),
        (true, false) => Check::new(
            NAME,
            Verdict::Warn,
            "a filter of system calls (seccomp) is active, but core dumps are possible, which would contain secrets",
        ),
        (false, _) => Check::new(NAME, Verdict::Warn, "no filter of system calls (seccomp) is active"),
    }
}

/// Starts this program as a process that is confined like the compiler process, and lets it try what it must not be able to do.
fn check_compiler_process() -> Check {
    const NAME: &str = "confined compiler";
    let probe = match run_probe() {
        Ok(probe) => probe,
        Err(reason) => return Check::new(NAME, Verdict::Warn, format!("could not be checked: {reason}")),
    };
    let attempts = [
        (probe.read_file, "read a file"),
        (probe.connect, "connect to a port"),
        (probe.start_program, "start a program"),
    ];
    let possible: Vec<_> = attempts
        .iter()
        .filter(|(succeeded, _)| *succeeded)
        .map(|(_, what)| *what)
        .collect();
    // The reasons why Landlock and seccomp are not active, if they are not.
    let why_inactive = [&probe.landlock, &probe.seccomp];
    let why_inactive: Vec<_> = why_inactive.into_iter().flatten().map(String::as_str).collect();
    match (possible.is_empty(), why_inactive.is_empty()) {
        (true, true) => Check::new(
            NAME,
            Verdict::Ok,
            "opens no file, no connection and no program (Landlock and seccomp)",
        ),
        (true, false) => Check::new(NAME, Verdict::Ok, format!("opens nothing; {}", why_inactive.join("; "))),
        (false, _) => {
            let why_inactive = match why_inactive.is_empty() {
                true => String::new(),
                false => format!(": {}", why_inactive.join("; ")),
            };
            Check::new(
                NAME,
                Verdict::Warn,
                format!("could {}{why_inactive}", possible.join(" and ")),
            )
        }
    }
}

/// Runs the probe in a process of its own, since the confinement of a process cannot be lifted.
fn run_probe() -> Result<ConfinementProbe, String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .arg(CONFINEMENT_PROBE_ARGUMENT)
        .env_clear()
        .output();
    let output = output.map_err(|error| error.to_string())?;
    serde_json::from_slice(&output.stdout).map_err(|error| error.to_string())
}
