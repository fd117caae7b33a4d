//! What the crash tests work with: a home, its model, and the file of effects.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use art_store::{FailPoint, JournalEntry, RunFilter, RunRecord, SqliteStore, Store};
use serde_json::Value;

use super::model;
use crate::home::Home;
use crate::program::CommandOutput;

/// The number of the signal `SIGKILL`.
const SIGKILL: i32 = 9;

/// Maximum duration of a command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(120);

/// A home, its model, and a file of effects, to which two tools append a line for each call that they carry out. A call of the
/// tool `effect` must not be repeated, a call of `repeatable_effect` may be. The argument `key` of a call is a text in its line,
/// `ms` is the duration of the call in milliseconds.
pub(super) struct World {
    pub(super) home: Home,
    /// Address of the model.
    base_url: String,
}

/// How a command is killed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kill {
    /// After this time.
    After(Duration),
    /// By the process itself, when it reaches the place for the nth time. The number is n.
    At(FailPoint, u32),
}

/// How a command ended.
#[derive(Debug)]
pub(super) struct EndedCommand {
    pub(super) output: CommandOutput,
}

/// A line of the file of effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EffectLine {
    pub(super) run: String,
    pub(super) call: String,
    pub(super) tool: String,
    pub(super) key: String,
}

impl World {
    pub(super) fn new() -> Self {
        let home = Home::empty();
        // Making a command creates the link from the home to the cache. The link must exist before several processes need it.
        drop(home.command(&[]));
        Self {
            home,
            base_url: model::start(),
        }
    }

    /// Returns the command `art` with the model and the tools that have effects.
    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = self
            .home
            .command(&["--model", "compatible:m", "--base-url", &self.base_url]);
        command.args(args).env("ART_TEST_EFFECTS", self.effects_file());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs `art` to its end.
    pub(super) fn art(&self, args: &[&str]) -> EndedCommand {
        self.art_with_kill(args, None)
    }

    /// Runs `art` until it ends or is killed.
    pub(super) fn art_with_kill(&self, args: &[&str], kill: Option<Kill>) -> EndedCommand {
        let mut command = self.command(args);
        let max_duration = match kill {
            Some(Kill::At(place, count)) => {
                command.env("ART_TEST_STOP_AT", format!("{}:{count}", place.name()));
                COMMAND_TIMEOUT
            }
            Some(Kill::After(duration)) => duration,
            None => COMMAND_TIMEOUT,
        };
        let mut child = command.spawn().unwrap();
        // The pipes are read all the time, because a process that prints more than a pipe holds would wait forever for a reader.
        let (stdout, stderr) = (read_all(child.stdout.take()), read_all(child.stderr.take()));
        let start = Instant::now();
        while start.elapsed() < max_duration && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(2));
        }
        child.kill().unwrap();
        let output = CommandOutput(Output {
            status: child.wait().unwrap(),
            stdout: stdout.join().unwrap(),
            stderr: stderr.join().unwrap(),
        });
        assert!(
            start.elapsed() < COMMAND_TIMEOUT,
            "`art {args:?}` does not end:\n{output}"
        );
        EndedCommand { output }
    }

    fn effects_file(&self) -> PathBuf {
        self.home.dir.path().join("effects")
    }

    /// Returns the effects so far.
    pub(super) fn effects(&self) -> Vec<EffectLine> {
        let text = fs::read_to_string(self.effects_file()).unwrap_or_default();
        text.lines().map(parse_effect).collect()
    }

    pub(super) fn database(&self) -> PathBuf {
        self.home.dir.path().join("state/art.db")
    }

    /// Opens the store for reading, or returns `None` if it does not exist yet.
    pub(super) fn store(&self) -> Option<SqliteStore> {
        let database = self.database();
        database
            .exists()
            .then(|| SqliteStore::open_read_only(database).unwrap())
    }

    /// Returns all runs.
    pub(super) fn runs(&self) -> Vec<RunRecord> {
        self.list(RunFilter::default())
    }

    /// Returns the runs that a crash left unfinished.
    pub(super) fn interrupted_runs(&self) -> Vec<RunRecord> {
        self.list(RunFilter {
            abandoned: true,
            ..RunFilter::default()
        })
    }

    fn list(&self, filter: RunFilter) -> Vec<RunRecord> {
        let runs = self.store().map(|store| block_on(store.list_runs(filter)));
        runs.unwrap_or_default()
    }

    /// Returns the run of a question, if it began.
    pub(super) fn run_of(&self, question: &str) -> Option<RunRecord> {
        let mut runs = self.runs().into_iter().filter(|run| run.query == question);
        let run = runs.next();
        assert!(runs.next().is_none(), "`{question}` has several runs");
        run
    }

    /// Returns the journal of a run.
    pub(super) fn journal(&self, run: &str) -> Vec<JournalEntry> {
        self.store()
            .map(|store| block_on(store.read_journal(run)))
            .unwrap_or_default()
    }
}

/// Starts a thread that reads all that a process prints.
fn read_all(pipe: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    let mut pipe = pipe.expect("the command has pipes");
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}

/// Waits for a read of a store.
pub(super) fn block_on<T, E: std::fmt::Debug>(future: impl Future<Output = Result<T, E>>) -> T {
    let executor = tokio::runtime::Builder::new_current_thread().build().unwrap();
    executor.block_on(future).unwrap()
}

fn parse_effect(line: &str) -> EffectLine {
    let words: Vec<_> = line.split(' ').map(str::to_owned).collect();
    let [run, call, tool, key] = words.try_into().expect("a line of the effects has four words");
    EffectLine { run, call, tool, key }
}

impl EndedCommand {
    pub(super) fn was_killed(&self) -> bool {
        self.output.0.status.signal() == Some(SIGKILL)
    }

    /// Returns the report of a run that the command printed, or `None` if it printed none.
    pub(super) fn report(&self) -> Option<Value> {
        let report: Value = serde_json::from_slice(&self.output.0.stdout).ok()?;
        report.get("traceId").is_some().then_some(report)
    }
}
