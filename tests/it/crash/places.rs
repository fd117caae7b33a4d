//! A crash at a [`FailPoint`], a named place in the code of the host, does no harm.

use art_store::FailPoint;

use super::world::{Kill, World};
use super::{decisions, judge};

const QUESTION: &str = "Act and act again";

/// Kills a host at `place` while it runs a question, finishes the run, and checks it.
fn crash_at(place: FailPoint) {
    let world = World::new();
    // The place `TakenOver` is reached only after an earlier crash.
    let first_place = match place {
        FailPoint::TakenOver => FailPoint::AfterIntents,
        place => place,
    };
    let killed = world.art_with_kill(&["--json", "run", QUESTION], Some(Kill::At(first_place, 1)));
    assert!(
        killed.was_killed(),
        "{first_place:?} was not reached:\n{}",
        killed.output
    );
    if let (FailPoint::TakenOver, Some(run)) = (place, world.run_of(QUESTION)) {
        let killed = world.art_with_kill(&["runs", "resume", &run.trace_id], Some(Kill::At(place, 1)));
        assert!(killed.was_killed(), "{place:?} was not reached:\n{}", killed.output);
    }
    finish_run(&world);
    let run = world.run_of(QUESTION).unwrap();
    judge::check(&world, &run);
}

/// Resumes the run if it has not ended, or asks the question again if no run is stored.
fn finish_run(world: &World) {
    let Some(run) = world.run_of(QUESTION) else {
        assert_eq!(world.effects(), [], "effects of a run that is not stored");
        let asked = world.art(&["run", QUESTION]).output;
        assert_eq!(asked.code(), 0, "{asked}");
        return;
    };
    let journal_after_kill = world.journal(&run.trace_id);
    if !run.status.is_final() {
        let resumed = world.art(&["--json", "runs", "resume", &run.trace_id]);
        let report = resumed
            .report()
            .unwrap_or_else(|| panic!("no report: {}", resumed.output));
        judge::check_printed_report(&report, &world.run_of(QUESTION).unwrap());
    }
    judge::check_entries_kept(&journal_after_kill, &world.journal(&run.trace_id));
}

#[test]
fn a_crash_at_each_named_place_loses_no_run_and_repeats_only_repeatable_calls() {
    let places = FailPoint::ALL.into_iter();
    places
        .filter(|place| !decisions::is_reached_only_by_deciding(*place))
        .for_each(crash_at);
}
