//! A crash between the decision of a person and the end of the run does no harm.

use art_store::{FailPoint, RunRecord};
use serde_json::Value;

use super::judge;
use super::world::{Kill, World};

/// Exit code of a command whose run waits for a decision of a person.
const SUSPENDED: i32 = 7;

/// The named places in the code that a process reaches when it stores a decision and resumes the run.
const PLACES: [FailPoint; 11] = [
    FailPoint::BeforeDecision,
    FailPoint::AfterDecision,
    FailPoint::TakenOver,
    FailPoint::BeforeCommit,
    FailPoint::AfterCommit,
    FailPoint::BeforeIntents,
    FailPoint::AfterIntents,
    FailPoint::BeforeToolEnds,
    FailPoint::AfterToolEnds,
    FailPoint::BeforeRunEnd,
    FailPoint::AfterRunEnd,
];

/// Returns whether only a process that stores a decision reaches this place.
pub(super) fn is_reached_only_by_deciding(place: FailPoint) -> bool {
    matches!(place, FailPoint::BeforeDecision | FailPoint::AfterDecision)
}

/// Returns a world with a call of `tool` that waits for a decision.
pub(super) fn world_with_waiting_call(tool: &str) -> World {
    let world = World::new();
    let rule = format!("[[approval.rule]]\naction = \"ask\"\ntool = \"{tool}\"\n");
    world.home.file("art.toml", &rule);
    let called = world.art(&["tool", "call", tool, r#"{"key": "k", "ms": 0}"#]).output;
    assert_eq!(called.code(), SUSPENDED, "{called}");
    assert_eq!(world.effects(), [], "an effect before the decision");
    world
}

pub(super) fn only_run(world: &World) -> RunRecord {
    let runs: [RunRecord; 1] = world.runs().try_into().unwrap();
    let [run] = runs;
    run
}

/// Returns the status of the waiting call, or `None` if no call waits.
fn status_of_waiting_call(world: &World) -> Option<String> {
    let list = world.art(&["--json", "approve", "list"]).output.json();
    let status = list.pointer("/0/status").and_then(Value::as_str);
    status.map(str::to_owned)
}

/// Returns how often the run applied a decision, and how its calls ended.
fn decisions_and_endings(world: &World) -> (usize, Vec<String>) {
    let journal = world.journal(&only_run(world).trace_id);
    let decisions = journal.iter().filter(|entry| entry.kind == "call_decided").count();
    let ends = journal.iter().filter(|entry| entry.kind == "tool_ended");
    let endings = ends.filter_map(|entry| {
        let payload: Value = serde_json::from_str(&entry.payload).unwrap();
        payload.pointer("/end/ending")?.as_str().map(str::to_owned)
    });
    (decisions, endings.collect())
}

/// Approves the call if nobody has decided about it. Otherwise resumes the run, unless it has ended.
fn decide_or_resume(world: &World, place: FailPoint) {
    let status = status_of_waiting_call(world);
    let continued = match status.as_deref() {
        Some("open") => world.art(&["approve", "yes", "last"]).output,
        _ if only_run(world).status.is_final() => return,
        Some("decided") => world.art(&["runs", "resume", "last"]).output,
        // The call no longer waits, but its run has not ended, so the run must have applied the decision.
        _ => {
            assert_eq!(decisions_and_endings(world).0, 1, "{place:?}: the decision is lost");
            world.art(&["runs", "resume", "last"]).output
        }
    };
    assert_ne!(
        continued.code(),
        SUSPENDED,
        "{place:?}: the call still waits: {continued}"
    );
}

/// Kills the deciding process when it reaches `place`, and then finishes the run. Returns the number of effects, and how the
/// calls ended.
fn crash_at(tool: &str, place: FailPoint) -> (usize, Vec<String>) {
    let world = world_with_waiting_call(tool);
    let killed = world.art_with_kill(&["approve", "yes", "last"], Some(Kill::At(place, 1)));
    assert!(killed.was_killed(), "{place:?} was not reached:\n{}", killed.output);
    let journal_after_kill = world.journal(&only_run(&world).trace_id);
    decide_or_resume(&world, place);
    let run = only_run(&world);
    judge::check_entries_kept(&journal_after_kill, &world.journal(&run.trace_id));
    judge::check(&world, &run);
    judge::check_home(&world);
    assert_eq!(status_of_waiting_call(&world), None, "{place:?}");
    let (decisions, endings) = decisions_and_endings(&world);
    assert_eq!(decisions, 1, "{place:?}: {:?}", world.journal(&run.trace_id));
    (world.effects().len(), endings)
}

// A crash between the decision and its effect (contract A38).
#[test]
fn an_approved_call_that_must_not_be_repeated_acts_once_or_its_outcome_is_unknown() {
    for place in PLACES {
        let expected = match place {
            // The call is announced, but was not made.
            FailPoint::AfterIntents => (0, "unknown_outcome"),
            // The call had its effect, but its end is not stored. This is so even just before the end of the run is stored,
            // because `art tool call` stores the end of the call and the end of the run in one commit.
            FailPoint::BeforeToolEnds | FailPoint::BeforeRunEnd => (1, "unknown_outcome"),
            _ => (1, "success"),
        };
        let (effects, endings) = crash_at("effect", place);
        let ending = endings.last().map(String::as_str).unwrap_or_default();
        assert_eq!((effects, ending), expected, "{place:?}: {endings:?}");
    }
}

#[test]
fn an_approved_call_that_may_be_repeated_always_succeeds() {
    for place in PLACES {
        let expected_effects = match place {
            // The call had its effect, but its end is not stored, so it is made again.
            FailPoint::BeforeToolEnds | FailPoint::BeforeRunEnd => 2,
            _ => 1,
        };
        let (effects, endings) = crash_at("repeatable_effect", place);
        let ending = endings.last().map(String::as_str);
        assert_eq!(
            (effects, ending),
            (expected_effects, Some("success")),
            "{place:?}: {endings:?}"
        );
    }
}

#[test]
fn a_waiting_call_is_open_before_its_decision_is_stored_and_decided_afterwards() {
    for (place, status) in [
        (FailPoint::BeforeDecision, "open"),
        (FailPoint::AfterDecision, "decided"),
    ] {
        let world = world_with_waiting_call("effect");
        let killed = world.art_with_kill(&["approve", "yes", "last"], Some(Kill::At(place, 1)));
        assert!(killed.was_killed(), "{place:?} was not reached:\n{}", killed.output);
        assert_eq!(status_of_waiting_call(&world).as_deref(), Some(status), "{place:?}");
        assert_eq!(world.effects(), [], "{place:?}");
    }
}
