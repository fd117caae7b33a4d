//! Several processes use one home at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use art_store::{FailPoint, RunState};
use serde_json::Value;

use super::chance::Chance;
use super::judge::{self, Evidence};
use super::model::{ANSWER, ONE_STEP};
use super::world::{EndedCommand, Kill, World};

/// Number of workers, each of which runs one process at a time.
const WORKERS: u64 = 4;
/// Duration of the work in seconds, unless `ART_PROCESSES_SECONDS` sets another.
const SECONDS: u64 = 10;

/// Runs one command after the other, and remembers which runs must be in the store at the end.
struct Worker<'a> {
    number: u64,
    world: &'a World,
    chance: Chance,
    /// The conversation in which all workers ask. Each worker also asks in conversations of its own.
    shared_thread: &'a str,
    /// Number of commands so far.
    commands: u64,
    /// Number of commands that failed because another process was using the thread or the database.
    busy: u64,
    /// The runs that were answered and not deleted, with their threads.
    answered: BTreeMap<String, String>,
}

impl<'a> Worker<'a> {
    fn new(number: u64, world: &'a World, shared_thread: &'a str, seed: u64) -> Self {
        Self {
            number,
            world,
            chance: Chance::new(seed ^ number),
            shared_thread,
            commands: 0,
            busy: 0,
            answered: BTreeMap::new(),
        }
    }

    fn work(mut self, until: Instant) -> Self {
        while Instant::now() < until {
            match self.chance.number_below(8) {
                0..3 => self.ask(&[]),
                3 => self.ask(&["--thread", self.shared_thread]),
                4 => self.read(&["--json", "runs", "list"]),
                5 => self.read(&["--json", "thread", "show", self.shared_thread]),
                6 => self.show_run(),
                _ => self.delete_thread(),
            }
        }
        self
    }

    /// Runs a command. Returns how it ended, or `None` if it failed because another process was using the thread or the database.
    fn art(&mut self, args: &[&str]) -> Option<EndedCommand> {
        self.commands += 1;
        let ended = self.world.art(args);
        if ended.output.code() == 0 {
            return Some(ended);
        }
        let text = ended.output.to_string();
        let was_busy = text.contains("is in use by another turn: wait for it") || text.contains("try again");
        assert!(was_busy, "`art {args:?}` failed: {text}");
        self.busy += 1;
        None
    }

    fn ask(&mut self, options: &[&str]) {
        // Any word other than `ONE_STEP` leads to a plan with all steps.
        let manner = if self.chance.true_in_percent(50) {
            ONE_STEP
        } else {
            "fully"
        };
        let question = format!("Act {manner}, question {} of {}", self.commands, self.number);
        let Some(ended) = self.art(&[&["--json", "run"], options, &[question.as_str()]].concat()) else {
            return;
        };
        let report = ended.report().unwrap();
        let text = |field: &str| report.get(field).and_then(Value::as_str).unwrap().to_owned();
        assert_eq!(text("answer"), ANSWER);
        self.answered.insert(text("traceId"), text("threadId"));
    }

    fn read(&mut self, args: &[&str]) {
        self.art(args);
    }

    /// Shows one of the answered runs.
    fn show_run(&mut self) {
        let run = self.answered.keys().next_back().cloned();
        if let Some(run) = run {
            self.art(&["--json", "runs", "show", &run]);
        }
    }

    /// Deletes one of the conversations in which only this worker asks.
    fn delete_thread(&mut self) {
        let own_thread = self
            .answered
            .values()
            .find(|thread| thread.as_str() != self.shared_thread);
        if let Some(thread) = own_thread.cloned()
            && self.art(&["thread", "delete", &thread]).is_some()
        {
            self.answered.retain(|_, other| *other != thread);
        }
    }
}

/// Checks that exactly the answered runs are stored, each with all its effects. Reads the store itself instead of running a
/// command for each run.
fn check(world: &World, answered: &BTreeMap<String, String>) {
    let runs = world.runs();
    let stored: BTreeMap<_, _> = runs
        .iter()
        .map(|run| (run.trace_id.clone(), run.thread_id.clone()))
        .collect();
    assert_eq!(stored, *answered);
    let evidence = Evidence::read(world);
    for run in &runs {
        assert_eq!(run.status, RunState::Success, "{run:?}");
        let calls = evidence.check_run(run).calls;
        assert!(calls > 0 && evidence.effects(run).len() == calls, "{run:?}");
    }
    let threads: BTreeSet<_> = stored.values().collect();
    threads.into_iter().for_each(|thread| evidence.check_thread(thread));
    // Closes the store before `check_home` opens the database.
    drop(evidence);
    judge::check_home(world);
    println!("{} runs are stored with all their effects", runs.len());
}

#[test]
fn four_processes_on_one_home_lose_no_run_and_double_no_effect() {
    let seed = Chance::seed();
    let seconds = std::env::var("ART_PROCESSES_SECONDS").map_or(SECONDS, |seconds| seconds.parse().unwrap());
    println!("ART_CRASH_SEED={seed} ART_PROCESSES_SECONDS={seconds}");
    let world = World::new();
    // The first question begins the conversation that all workers share. The number of its worker is above those of the others.
    let mut first = Worker::new(WORKERS, &world, "", seed);
    first.ask(&[]);
    let mut answered = first.answered;
    let shared_thread = answered.values().next().unwrap().clone();
    let until = Instant::now() + Duration::from_secs(seconds);
    let workers = std::thread::scope(|scope| {
        let start = |number| {
            let (world, shared_thread) = (&world, &shared_thread);
            scope.spawn(move || Worker::new(number, world, shared_thread, seed).work(until))
        };
        let started: Vec<_> = (0..WORKERS).map(start).collect();
        started
            .into_iter()
            .map(|worker| worker.join().unwrap())
            .collect::<Vec<_>>()
    });
    for worker in workers {
        println!(
            "{} commands, {} of them found others busy",
            worker.commands, worker.busy
        );
        answered.extend(worker.answered);
    }
    check(&world, &answered);
}

#[test]
fn exactly_one_of_several_processes_resumes_a_run() {
    for _ in 0..5 {
        let world = World::new();
        let question = "Act and act again";
        // The process is killed when the first calls are in the journal, but not made yet.
        let killed = world.art_with_kill(&["run", question], Some(Kill::At(FailPoint::AfterIntents, 1)));
        assert!(killed.was_killed(), "{}", killed.output);
        let run = world.run_of(question).unwrap();
        let reports = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..WORKERS {
                scope.spawn(|| {
                    let resumed = world.art(&["--json", "runs", "resume", &run.trace_id]);
                    let text = resumed.output.to_string();
                    let report = resumed.report();
                    let refused = text.contains("is in use by another turn") || text.contains("has ended");
                    assert!(report.is_some() || refused, "{text}");
                    reports.lock().unwrap().extend(report);
                });
            }
        });
        assert_eq!(reports.lock().unwrap().len(), 1);
        let journal = world.journal(&run.trace_id);
        assert_eq!(journal.iter().filter(|entry| entry.kind == "resumed").count(), 1);
        judge::check(&world, &world.run_of(question).unwrap());
    }
}
