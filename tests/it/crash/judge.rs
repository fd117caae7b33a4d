//! Checks what a run left behind, however often its hosts were killed.

use std::collections::BTreeMap;

use art_store::{JournalEntry, ObservationFilter, RunRecord, SqliteStore, Store};
use rusqlite::Connection;
use serde_json::Value;

use super::world::{EffectLine, EndedCommand, Kill, World, block_on};

/// Counts of the killed processes of a test, and of what became of the calls of its runs.
#[derive(Clone, Debug, Default)]
pub(super) struct Tally {
    /// Number of processes that were killed: by the test, or by themselves at a named place.
    killed: u32,
    /// Number of processes that killed themselves at a named place.
    killed_at_places: u32,
    /// Number of calls that ended.
    pub(super) calls: usize,
    /// Number of calls that ended with an unknown outcome.
    unknown: usize,
    /// Number of calls that a later host made again.
    repeated: usize,
    /// Longest time from the start of a process until it resumed a run, in milliseconds.
    pub(super) slowest_recovery_ms: u64,
}

impl Tally {
    /// Counts a process that ended, if it was killed. `kill` is the kill that the test had planned for it, if there was one.
    pub(super) fn add_kill(&mut self, kill: Option<Kill>, ended: &EndedCommand) {
        let killed = u32::from(ended.was_killed());
        self.killed += killed;
        if let Some(Kill::At(..)) = kill {
            self.killed_at_places += killed;
        }
    }

    /// Adds the calls of a run.
    pub(super) fn add_calls(&mut self, calls_of_run: &Tally) {
        self.calls += calls_of_run.calls;
        self.unknown += calls_of_run.unknown;
        self.repeated += calls_of_run.repeated;
    }

    /// Adds another tally.
    pub(super) fn add(&mut self, other: &Tally) {
        self.killed += other.killed;
        self.killed_at_places += other.killed_at_places;
        self.slowest_recovery_ms = self.slowest_recovery_ms.max(other.slowest_recovery_ms);
        self.add_calls(other);
    }

    /// Returns whether some processes were killed at named places, and whether the crashes led to unknown outcomes as well as to
    /// repeated calls. Otherwise a test proves little.
    pub(super) fn is_conclusive(&self) -> bool {
        self.killed > 0 && self.killed_at_places > 0 && self.unknown > 0 && self.repeated > 0
    }
}

/// A call of a tool in a journal.
#[derive(Debug, Default)]
struct Call {
    tool: String,
    /// Sequence number of the last entry that announced the call. An entry announces a call before the tool runs.
    announced: u64,
    /// Number of entries that announced the call.
    announcements: u32,
    /// Sequence number of the entry that ended the call, and the ending.
    ended: Option<(u64, String)>,
}

/// The store of a home and the effects of its runs, read once to check several runs.
pub(super) struct Evidence {
    store: SqliteStore,
    /// The effects of each run, by its trace identifier.
    effects: BTreeMap<String, Vec<EffectLine>>,
}

impl Evidence {
    /// Opens the store and reads the effects. Opening the store checks the whole database, which takes time.
    pub(super) fn read(world: &World) -> Self {
        let mut effects = BTreeMap::<_, Vec<_>>::new();
        for effect in world.effects() {
            effects.entry(effect.run.clone()).or_default().push(effect);
        }
        Self {
            store: world.store().unwrap(),
            effects,
        }
    }

    /// Returns the effects of a run.
    pub(super) fn effects(&self, run: &RunRecord) -> &[EffectLine] {
        self.effects.get(&run.trace_id).map_or(&[], Vec::as_slice)
    }

    /// Checks that a run has ended, that its journal has no gaps, and that the journal agrees with the effects. Returns counts of
    /// its calls.
    pub(super) fn check_run(&self, run: &RunRecord) -> Tally {
        assert!(run.status.is_final(), "{run:?} has not ended");
        let journal = block_on(self.store.read_journal(&run.trace_id));
        check_gapless(run, &journal);
        let calls = calls(&journal);
        check_effects(self.effects(run), &calls);
        check_ends(&journal, &calls);
        count_calls(&calls)
    }

    /// Checks that no observation of a thread is missing or stored twice. An observation is a record of what a run did.
    pub(super) fn check_thread(&self, thread: &str) {
        let observations = block_on(self.store.list_observations(thread, ObservationFilter::default()));
        let sequences = observations.iter().map(|observation| observation.sequence);
        assert!(sequences.eq(1..=observations.len() as u64), "{observations:?}");
    }
}

/// Checks a run, its thread, and the digests of its journal. Returns counts of the calls of the run.
pub(super) fn check(world: &World, run: &RunRecord) -> Tally {
    let evidence = Evidence::read(world);
    let tally = evidence.check_run(run);
    evidence.check_thread(&run.thread_id);
    let verified = world.art(&["runs", "verify", &run.trace_id]).output;
    assert_eq!(verified.code(), 0, "{verified}");
    tally
}

/// Checks that all runs of a home have ended, and that its database is sound.
pub(super) fn check_home(world: &World) {
    let running: Vec<_> = world.runs().into_iter().filter(|run| !run.status.is_final()).collect();
    assert!(running.is_empty(), "these runs have not ended: {running:?}");
    let database = Connection::open(world.database()).unwrap();
    let report = database.query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0));
    assert_eq!(report.unwrap(), "ok");
}

fn count_calls(calls: &BTreeMap<String, Call>) -> Tally {
    let count = |which: &dyn Fn(&Call) -> bool| calls.values().filter(|call| which(call)).count();
    Tally {
        calls: count(&|call| call.ended.is_some()),
        unknown: count(&|call| {
            call.ended
                .as_ref()
                .is_some_and(|(_, ending)| ending == "unknown_outcome")
        }),
        repeated: count(&|call| call.announcements > 1),
        ..Tally::default()
    }
}

/// Checks that a journal still begins with the entries that were read earlier.
pub(super) fn check_entries_kept(seen: &[JournalEntry], now: &[JournalEntry]) {
    assert_eq!(Some(seen), now.get(..seen.len()), "entries of a journal were lost");
}

/// Checks that a report that was printed agrees with the stored run.
pub(super) fn check_printed_report(report: &Value, run: &RunRecord) {
    assert_eq!(
        report.get("traceId").and_then(Value::as_str),
        Some(run.trace_id.as_str())
    );
    assert!(
        run.status.is_final(),
        "an answer was printed, but the run goes on: {run:?}"
    );
    assert_eq!(report.get("answer"), run.summary.get("answer"), "{report}\n{run:?}");
}

fn check_gapless(run: &RunRecord, journal: &[JournalEntry]) {
    let sequences = journal.iter().map(|entry| entry.sequence);
    assert!(sequences.eq(1..=run.last_sequence), "{journal:?}");
}

/// Returns the calls that a journal announces, by identifier.
fn calls(journal: &[JournalEntry]) -> BTreeMap<String, Call> {
    let mut calls = BTreeMap::<String, Call>::new();
    for entry in journal {
        let payload: Value = serde_json::from_str(&entry.payload).unwrap();
        let (field, at) = (|pointer| text(&payload, pointer), entry.sequence);
        match entry.kind.as_str() {
            "tool_called" => {
                let call = calls.entry(field("/callId")).or_default();
                (call.tool, call.announced) = (field("/toolName"), at);
                call.announcements += 1;
            }
            "tool_ended" => {
                let call = calls.entry(field("/end/result/callId")).or_default();
                assert!(call.ended.is_none(), "a call ended twice: {journal:?}");
                call.ended = Some((at, field("/end/ending")));
            }
            _ => {}
        }
    }
    calls
}

/// Returns the text at `pointer` in a payload, or an empty text.
fn text(payload: &Value, pointer: &str) -> String {
    let text = payload.pointer(pointer).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Checks that each effect was announced, that each call that succeeded had an effect, and that only calls of `repeatable_effect`
/// had more than one effect.
fn check_effects(effects: &[EffectLine], calls: &BTreeMap<String, Call>) {
    let mut counts = BTreeMap::<&str, u32>::new();
    for effect in effects {
        let call = calls.get(&effect.call);
        assert!(
            call.is_some_and(|call| call.tool == effect.tool),
            "{effect:?} was not announced"
        );
        let count = counts.entry(&effect.call).or_default();
        *count += 1;
        assert!(
            *count == 1 || effect.tool == "repeatable_effect",
            "a call was repeated: {calls:?}"
        );
    }
    for (id, call) in calls {
        let succeeded = call.ended.as_ref().is_some_and(|(_, ending)| ending == "success");
        assert!(
            !succeeded || counts.contains_key(id.as_str()),
            "a call succeeded without effect: {call:?}"
        );
    }
}

/// Checks that each call ended, unless the journal says that its host could not continue the run (`host_failed`). Checks that no
/// host resumed the run between the last announcement and the end of a call that must not be repeated: such a call would have
/// gone on after a crash. (A host that takes over a run first ends such a call with an unknown outcome, and then resumes the
/// run.) Checks that only calls that must not be repeated have an unknown outcome.
fn check_ends(journal: &[JournalEntry], calls: &BTreeMap<String, Call>) {
    let host_failed = journal.iter().any(|entry| entry.kind == "host_failed");
    let resumed: Vec<_> = journal
        .iter()
        .filter(|entry| entry.kind == "resumed")
        .map(|entry| entry.sequence)
        .collect();
    for call in calls.values() {
        let Some((end, ending)) = &call.ended else {
            assert!(host_failed, "a call has no end: {call:?}\n{journal:?}");
            continue;
        };
        let was_interrupted = resumed.iter().any(|resumed| (call.announced..*end).contains(resumed));
        assert!(
            !was_interrupted || call.tool == "repeatable_effect",
            "a call went on after a crash: {call:?}"
        );
        let is_unknown = ending == "unknown_outcome";
        assert!(!is_unknown || call.tool == "effect", "{call:?} could be repeated");
    }
}
