//! Crashes: the program is killed at named places and at random moments, and goes on with what it left behind. Several processes
//! use one home, and one of them is stopped for a while.
//!
//! The judge of side effects is a file outside the home, to which tools of `art-under-test` append a line for each call.
//!
//! - `ART_CRASH_ROUNDS=2000` runs more rounds of random crashes than the 200 of each build. `ART_CRASH_SEED=N` repeats the choices of
//!   a failed test, which prints its seed; the moments at which processes get the processor still differ.
//! - `ART_RACERS=200` lets more processes than 20 decide about one call at the same time, in waves of 50.
//! - `ART_PROCESSES_SECONDS=60` lets the processes that share a home run longer than the 10 seconds of each build.

#![expect(
    clippy::print_stdout,
    reason = "a person who runs more rounds reads the seed and what the crashes came upon"
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
