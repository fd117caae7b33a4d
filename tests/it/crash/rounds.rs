//! Rounds of crashes at random moments, with several workers on the same homes.

use std::sync::Mutex;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use art_store::{FailPoint, RunRecord};

use super::chance::Chance;
use super::judge::{self, Tally};
use super::model::ONE_STEP;
use super::world::{Kill, World};

/// Number of rounds, unless `ART_CRASH_ROUNDS` sets another.
const ROUNDS: u64 = 200;
/// Number of processes that work at the same time, on [`HOMES`] homes.
const WORKERS: u64 = 4;
const HOMES: u64 = 2;
/// Number of rounds after which the homes are replaced by new ones, so that the creation of a home is interrupted as well.
const ROUNDS_PER_HOME: u64 = 25;
/// In this number of first attempts to resume a run, the process may be killed. In later attempts it is not killed.
const KILLABLE_ATTEMPTS: u32 = 4;
/// Maximum accepted duration of a recovery, in milliseconds. A recovery usually takes a few hundredths of a second.
const MAX_RECOVERY_MS: u64 = 20_000;

/// Asks questions, kills the hosts of their runs, and resumes the runs.
struct Worker<'a> {
    world: &'a World,
    chance: Chance,
    tally: &'a Mutex<Tally>,
    /// A conversation of this home in which other workers ask as well, or `None` before a run has ended.
    shared_thread: &'a Mutex<Option<String>>,
}

impl Worker<'_> {
    /// Asks a question, kills some of the hosts of its run, and checks the run after it has ended.
    fn run_round(&mut self, number: u64) {
        // Any word other than `ONE_STEP` leads to a plan with all steps.
        let manner = if self.chance.true_in_percent(30) {
            ONE_STEP
        } else {
            "fully"
        };
        let question = format!("Act {manner} in round {number}");
        let thread = self
            .shared_thread
            .lock()
            .unwrap()
            .clone()
            .filter(|_| self.chance.true_in_percent(30));
        let mut args = vec!["--json", "run"];
        args.extend(thread.iter().flat_map(|thread| ["--thread", thread.as_str()]));
        args.push(&question);
        let kill = self.choose_kill();
        let asked = self.world.art_with_kill(&args, kill);
        let mut tally = Tally::default();
        tally.add_kill(kill, &asked);
        match self.world.run_of(&question) {
            Some(run) => self.finish(&run, asked.report(), &mut tally),
            // The first host was killed before it stored anything.
            None => assert!(asked.was_killed() && asked.report().is_none(), "{}", asked.output),
        }
        self.tally.lock().unwrap().add(&tally);
    }

    /// Resumes a run until it has ended, and checks it.
    fn finish(&mut self, run: &RunRecord, report: Option<serde_json::Value>, tally: &mut Tally) {
        let mut reports = Vec::from_iter(report);
        for attempt in 0.. {
            let record = self.world.run_of(&run.query).expect("a run is not lost");
            if record.status.is_final() {
                break;
            }
            assert!(attempt < 100, "a run cannot be brought to its end: {record:?}");
            let kill = self
                .choose_kill()
                .filter(|_| attempt < KILLABLE_ATTEMPTS && self.chance.true_in_percent(50));
            reports.extend(self.resume(&record, kill, tally));
        }
        let record = self.world.run_of(&run.query).expect("a run is not lost");
        reports
            .iter()
            .for_each(|report| judge::check_printed_report(report, &record));
        tally.add_calls(&judge::check(self.world, &record));
        self.shared_thread.lock().unwrap().get_or_insert(record.thread_id);
    }

    /// Resumes a run, and measures how long it takes until the journal has a new entry. Returns the report, if one was printed.
    fn resume(&self, run: &RunRecord, kill: Option<Kill>, tally: &mut Tally) -> Option<serde_json::Value> {
        let seen = self.world.journal(&run.trace_id);
        let start = now();
        let resumed = self
            .world
            .art_with_kill(&["--json", "runs", "resume", &run.trace_id], kill);
        let journal = self.world.journal(&run.trace_id);
        judge::check_entries_kept(&seen, &journal);
        tally.add_kill(kill, &resumed);
        let (output, code) = (&resumed.output, resumed.output.0.status.code());
        if let Some(first) = journal.get(seen.len()) {
            let recovery_ms = first.timestamp.saturating_sub(start);
            assert!(
                recovery_ms < MAX_RECOVERY_MS,
                "the run went on only after {recovery_ms} ms"
            );
            tally.slowest_recovery_ms = tally.slowest_recovery_ms.max(recovery_ms);
        } else if code.is_some() {
            // The process was not killed: another question in the same conversation is in progress, or has ended the run.
            let text = output.to_string();
            assert!(text.contains("is in use") || text.contains("has ended"), "{text}");
            std::thread::sleep(Duration::from_millis(50));
        }
        resumed.report()
    }

    /// Chooses how the next process is killed, or `None` if it is not killed.
    fn choose_kill(&mut self) -> Option<Kill> {
        if self.chance.true_in_percent(15) {
            return None;
        }
        if self.chance.true_in_percent(40) {
            let places = FailPoint::ALL.len() as u64;
            let place = usize::try_from(self.chance.number_below(places)).unwrap();
            let times = u32::try_from(self.chance.number_below(3)).unwrap() + 1;
            return FailPoint::ALL.get(place).map(|place| Kill::At(*place, times));
        }
        // An answer takes about 170 ms on an idle machine, and longer on a busy one.
        let max_ms = if self.chance.true_in_percent(50) { 150 } else { 500 };
        Some(Kill::After(Duration::from_millis(self.chance.number_below(max_ms))))
    }
}

/// Returns the current time in milliseconds since the Unix epoch, the unit of the journal.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

/// Finishes the runs that their workers did not see in the store. If a process is killed during its first commit while others
/// have the database open, the commit may become visible only after all of them have closed the database and SQLite has recovered
/// the log.
fn finish_unseen_runs(world: &World) {
    for run in world.interrupted_runs() {
        let resumed = world.art(&["--json", "runs", "resume", &run.trace_id]);
        assert!(resumed.report().is_some(), "{}", resumed.output);
        judge::check(world, &world.run_of(&run.query).unwrap());
    }
}

/// Runs `rounds` rounds on new homes. `first_round` is the number of the first of them.
fn run_rounds(seed: u64, first_round: u64, rounds: u64, tally: &Mutex<Tally>) {
    let worlds: Vec<_> = (0..HOMES).map(|_| (World::new(), Mutex::new(None))).collect();
    std::thread::scope(|scope| {
        for (index, (world, shared_thread)) in (0..WORKERS).zip(worlds.iter().cycle()) {
            scope.spawn(move || {
                let chance = Chance::new(seed ^ (first_round << 8) ^ index);
                let mut worker = Worker {
                    world,
                    chance,
                    tally,
                    shared_thread,
                };
                let own_rounds = (first_round..first_round + rounds).filter(|number| number % WORKERS == index);
                own_rounds.for_each(|number| worker.run_round(number));
            });
        }
    });
    for (world, _) in &worlds {
        finish_unseen_runs(world);
        judge::check_home(world);
    }
}

#[test]
fn crashes_at_random_moments_lose_no_run_and_repeat_only_repeatable_calls() {
    let seed = Chance::seed();
    let rounds = std::env::var("ART_CRASH_ROUNDS").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    println!("ART_CRASH_SEED={seed} ART_CRASH_ROUNDS={rounds}");
    let tally = Mutex::new(Tally::default());
    for first_round in (0..rounds).step_by(ROUNDS_PER_HOME as usize) {
        run_rounds(seed, first_round, ROUNDS_PER_HOME.min(rounds - first_round), &tally);
    }
    let tally = tally.into_inner().unwrap();
    println!("{tally:?}");
    // Fewer rounds than usual may interrupt too little.
    assert!(
        rounds < ROUNDS || tally.is_conclusive(),
        "the crashes came at harmless moments only: {tally:?}"
    );
}
