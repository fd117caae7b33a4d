//! Processes race to decide about one call.

use std::process::Child;

use super::decisions::{only_run, world_with_waiting_call};
use super::judge;
use crate::program::CommandOutput;

/// Number of processes that race, unless `ART_RACERS` sets another.
const RACERS: usize = 20;
/// Maximum number of processes that race at the same time.
const WAVE: usize = 50;

fn racers() -> usize {
    let from_environment = std::env::var("ART_RACERS").ok();
    from_environment.map_or(RACERS, |number| number.parse().expect("`ART_RACERS` is a number"))
}

// Several processes decide about the same call (contract A38).
#[test]
fn exactly_one_of_many_processes_approves_the_same_call() {
    let world = world_with_waiting_call("effect");
    let list = world.art(&["--json", "approve", "list"]).output.json();
    let id = list.pointer("/0/call/suspensionId").and_then(|id| id.as_str()).unwrap();
    let mut remaining = racers();
    let (mut winners, mut losers) = (0, 0);
    while remaining > 0 {
        let wave = remaining.min(WAVE);
        remaining -= wave;
        let start = |_| world.command(&["approve", "yes", id]).spawn().unwrap();
        // All processes of a wave are started before the test waits for the first of them.
        let started: Vec<Child> = (0..wave).map(start).collect();
        for racer in started {
            let output = CommandOutput(racer.wait_with_output().unwrap());
            match output.code() {
                0 => winners += 1,
                1 if output
                    .stderr()
                    .contains("was decided already: the first decision holds") =>
                {
                    losers += 1
                }
                _ => panic!("neither won nor lost: {output}"),
            }
        }
    }
    assert_eq!((winners, losers), (1, racers() - 1));
    assert_eq!(world.effects().len(), 1);
    let run = only_run(&world);
    let journal = world.journal(&run.trace_id);
    assert_eq!(journal.iter().filter(|entry| entry.kind == "call_decided").count(), 1);
    judge::check(&world, &run);
    judge::check_home(&world);
}
