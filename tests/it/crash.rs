//! Crashes: the program is killed at named places and at random moments, and later processes resume its runs. In other tests,
//! several processes use one home at the same time, or a process is stopped for a while.
//!
//! Side effects are observed in a file outside the sandbox. The tests run the program `art-under-test`: `art` with tools that
//! append a line to this file for each call.
//!
//! - `ART_CRASH_ROUNDS=2000` runs 2000 rounds of random crashes instead of the default 200.
//! - `ART_CRASH_SEED=N` repeats the random choices of a failed test, which prints its seed. The scheduling of processes still
//!   differs.
//! - `ART_RACERS=200` starts 200 processes, instead of 20, that all decide about one call. At most 50 of them run at the same
//!   time.
//! - `ART_PROCESSES_SECONDS=60` makes the processes that share a home run for 60 seconds instead of 10.

#![expect(
    clippy::print_stdout,
    reason = "a person who runs more rounds reads the seed and what the crashes interrupted"
)]

mod chance;
mod decisions;
mod judge;
mod model;
mod places;
mod processes;
mod race;
mod rounds;
mod stopped;
mod world;
