//! A host that is paused with `SIGSTOP`, and continues after another host has taken over its run.

use std::process::Child;
use std::time::{Duration, Instant};

use art_store::RunRecord;
use rustix::process::{Pid, Signal, kill_process};

use super::judge;
use super::model::{ONE_STEP, SLOWLY};
use super::world::{EndedCommand, World};
use crate::program::CommandOutput;

/// Maximum time that the test waits for the run to call a tool. It also waits at most this time for another host to take over the
/// run, which is possible when the lease of the stopped host expires, after 15 seconds.
const WAIT_TIMEOUT: Duration = Duration::from_secs(60);

fn send_signal(process: &Child, signal: Signal) {
    kill_process(Pid::from_child(process), signal).unwrap();
}

/// Waits until the run of the question calls a tool, and returns the run.
fn wait_for_tool_call(world: &World, question: &str) -> RunRecord {
    let start = Instant::now();
    loop {
        assert!(start.elapsed() < WAIT_TIMEOUT, "no tool is called");
        std::thread::sleep(Duration::from_millis(20));
        let Some(run) = world.run_of(question) else { continue };
        let journal = world.journal(&run.trace_id);
        if journal.iter().any(|entry| entry.kind == "tool_called") {
            return run;
        }
    }
}

/// Tries to resume a run until it succeeds, which it can when the lease of the other host has expired. Returns the number of
/// refusals, and the result of the last attempt.
fn resume_when_possible(world: &World, run: &RunRecord) -> (usize, EndedCommand) {
    let start = Instant::now();
    for refusals in 0.. {
        let resumed = world.art(&["--json", "runs", "resume", &run.trace_id]);
        if resumed.report().is_some() {
            return (refusals, resumed);
        }
        let text = resumed.output.to_string();
        assert!(text.contains("is in use by another turn: wait for it"), "{text}");
        assert!(start.elapsed() < WAIT_TIMEOUT, "the lease does not expire");
        std::thread::sleep(Duration::from_millis(500));
    }
    unreachable!("the loop ends only by a return");
}

#[test]
fn a_host_that_was_stopped_says_that_it_lost_its_run_and_writes_nothing() {
    let world = World::new();
    // The run has one long call, so that the host is stopped while it waits for this call, and not during a write. A host that is
    // stopped during a write blocks the writes of all others.
    let question = format!("Act {SLOWLY}, {ONE_STEP}");
    let stopped_host = world.command(&["run", &question]).spawn().unwrap();
    let run = wait_for_tool_call(&world, &question);
    send_signal(&stopped_host, Signal::STOP);
    let (refusals, resumed) = resume_when_possible(&world, &run);
    assert!(refusals > 0, "the run was taken over while its lease lasted");
    let ended = world.run_of(&question).unwrap();
    judge::check_printed_report(&resumed.report().unwrap(), &ended);
    let journal = world.journal(&run.trace_id);
    send_signal(&stopped_host, Signal::CONT);
    let output = CommandOutput(stopped_host.wait_with_output().unwrap());
    assert_ne!(output.code(), 0, "{output}");
    assert!(output.stderr().contains("was taken over by another turn"), "{output}");
    assert_eq!(
        (world.journal(&run.trace_id), world.run_of(&question)),
        (journal, Some(ended.clone()))
    );
    judge::check(&world, &ended);
}
