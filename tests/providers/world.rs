//! One test: a mock, a home of its own, and the program as its users run it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::components;
use crate::connection::{Connection, KEY, Mode};
use crate::fixture::{Fixture, QUERY};
use crate::mock::{Mock, Request};
use crate::program::{self, Ran};

/// A mock of one provider and a home that uses it.
#[derive(Debug)]
pub(crate) struct World {
    connection: Connection,
    pub(crate) mock: Mock,
    home: TempDir,
}

impl World {
    /// The mock knows `fixtures` and wants the key that the program has.
    pub(crate) fn new(connection: Connection, mode: Mode, fixtures: &[Fixture]) -> Self {
        Self::with_key(connection, mode, fixtures, connection.key.map(|_| KEY))
    }

    /// The mock wants `key`; the program has [`KEY`] when its provider has keys at all.
    pub(crate) fn with_key(connection: Connection, mode: Mode, fixtures: &[Fixture], key: Option<&str>) -> Self {
        let home = TempDir::new().unwrap();
        fs::create_dir(home.path().join("plugins")).unwrap();
        let (_, calculator) = components::PLUGINS
            .iter()
            .find(|(name, _)| *name == "calculator")
            .unwrap();
        fs::copy(calculator, home.path().join("plugins/calculator.wasm")).unwrap();
        fs::write(home.path().join("art.toml"), settings(connection, mode)).unwrap();
        let mock = Mock::start(home.path(), fixtures, key);
        Self { connection, mock, home }
    }

    /// Adds to the configuration, which ends with the table of the provider.
    pub(crate) fn configure(&self, settings: &str) {
        let path = self.home.path().join("art.toml");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + settings).unwrap();
    }

    /// Returns `art run` with the question of every run.
    pub(crate) fn run(&self, flags: &[&str]) -> Ran {
        self.art(&[&["run"], flags, &[QUERY]].concat())
    }

    /// Returns `art chat` that reads `lines`.
    pub(crate) fn chat(&self, lines: &str) -> Ran {
        self.art_reading(lines, &["chat"])
    }

    /// Returns `art` with this provider.
    pub(crate) fn art(&self, args: &[&str]) -> Ran {
        self.art_reading("", args)
    }

    /// Whatever the program does, it must not let the key out.
    fn art_reading(&self, lines: &str, args: &[&str]) -> Ran {
        let input = self.home.path().join("stdin");
        fs::write(&input, lines).unwrap();
        let mut command = self.command();
        command.args(args).stdin(fs::File::open(input).unwrap());
        let ran = Ran(command.output().unwrap());
        if self.connection.key.is_some() {
            self.assert_key_stayed_inside(&ran);
        }
        ran
    }

    fn command(&self) -> Command {
        let Connection {
            provider, model, base, ..
        } = self.connection;
        let mut command = program::art(self.home.path());
        command.envs(self.connection.key.map(|(variable, _)| (variable, KEY)));
        command.args(["--model", &format!("{provider}:{model}")]);
        command.args(["--base-url", &format!("{}{base}", self.mock.url())]);
        command
    }

    fn assert_key_stayed_inside(&self, ran: &Ran) {
        for (name, bytes) in [("stdout", &ran.0.stdout), ("stderr", &ran.0.stderr)] {
            assert!(!contains(bytes, KEY), "the key is on {name}:\n{ran}");
        }
        for path in files(&self.home.path().join("state")) {
            assert!(
                !contains(&fs::read(&path).unwrap(), KEY),
                "the key is in `{}`",
                path.display()
            );
        }
    }

    /// Returns the questions that the mock answered.
    pub(crate) fn requests(&self) -> Vec<Request> {
        self.mock.requests()
    }

    /// Returns what went over the wire, for a person who reads a failure.
    pub(crate) fn wire(&self) -> String {
        let lines = self.requests().into_iter().map(|request| {
            let question = request.messages().last().map(Value::to_string).unwrap_or_default();
            let start: String = question.chars().take(200).collect();
            format!("{} {} {start}\n", request.status(), request.path())
        });
        lines.collect()
    }
}

/// Short timeouts, since the faults of the mock last longer than any test should.
fn settings(connection: Connection, mode: Mode) -> String {
    let api = connection
        .api
        .map(|api| format!("api = \"{api}\"\n"))
        .unwrap_or_default();
    format!(
        "[models]\nheader_timeout_ms = 3000\nidle_timeout_ms = 3000\nretry_base_ms = 50\n\n[providers.{}]\n{api}stream = {}\n",
        connection.provider,
        mode == Mode::Streaming
    )
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Returns every file below `dir`; none if it is not there.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else {
        return Vec::new();
    };
    let below = entries.map(|entry| entry.unwrap().path());
    below
        .flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] })
        .collect()
}
